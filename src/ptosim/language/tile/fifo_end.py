"""An end of a FIFO between cube and vector: which core it is on, how it is initialised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from xdsl.ir import SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.language.operation import SEGMENTS, OptionalOperand, OptionalProperty, Problem, Property, core_of
from ptosim.language.rules.tile_rules import at_type
from ptosim.language.text.assembly_format import given_twice, parse_listed_type
from ptosim.language.text.clauses import Written
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.tile_syntax import print_dictionary
from ptosim.language.tile.tile_epilogue import A5_MODES, AccPushEpilogueAttr
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import TensorViewType
from ptosim.language.types import PtrType

C2V, V2C = 1, 2
"""The directions, as bits of `dir_mask`: cube to vector, vector to cube."""
SPLITS = range(5)
"""none; up and down; left and right; the same two for odd extents."""
_SIDES = {CoreKind.AIC: "cube", CoreKind.AIV: "vector"}


def belongs_to_side(op: TileOperation) -> Iterator[Problem]:
    """An end of a FIFO is in code of its own kind of core; code of the other kind is reported for every operation."""
    (side,) = op.cores
    if core_of(op) is None:
        yield Problem(f"{op.name} must be inside a {_SIDES[side]} kernel function or section")


# --- initialisation ---------------------------------------------------------------------------------------------------


class InitializePipe(TileOperation):
    """`X {id = 0, dir_mask = 1, ...} (c2v_consumer_buf = %a : i32, ...)`: operands by name, in any order."""

    pipes = (Pipe.S,)
    absorbed = "the operations on its entries signal, move and count as it says"
    outs = ()
    numbers = ("id", "dir_mask", "slot_size", "slot_num", "local_slot_num")
    flags = ("nosplit",)
    defaults = {"id": 0}
    untyped = ("gm_slot_buffer", "gm_slot_tensor", "c2v_consumer_buf", "v2c_consumer_buf")
    gm_slot_buffer = OptionalOperand()
    gm_slot_tensor = OptionalOperand()
    c2v_consumer_buf = OptionalOperand("i32")
    v2c_consumer_buf = OptionalOperand("i32")
    id = OptionalProperty()
    dir_mask = Property()
    slot_size = Property()
    slot_num = OptionalProperty()
    local_slot_num = OptionalProperty()
    nosplit = OptionalProperty()
    acc_push_epilogue = OptionalProperty()

    @property
    def number(self) -> int:
        return int(self.setting("id") or 0)

    @property
    def slots(self) -> int:
        """Entries of each direction: 8, or 4 where both share."""
        given = self.integer("slot_num")
        return given if given is not None else 4 if self.integer("dir_mask") == C2V | V2C else 8

    def through_gm(self, target: str) -> bool:
        """Whether entries pass through global memory; on a5 a gm_slot_buffer is used only with local_slot_num, which
        kernels in C++ have."""
        return self.gm_slot_tensor is not None or target != "a5" or self.integer("local_slot_num") is not None

    # --- text ---------------------------------------------------------------------------------------------------------

    @classmethod
    def usage(cls) -> str:
        operands = ", ".join(f"{role} = %{role} : TYPE" for role in cls.operand_roles)
        return f"{cls.name} {{{', '.join(cls.property_roles)}}} ({operands})"

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        written: Written = []
        parser.parse_punctuation("(", " before the operands, such as c2v_consumer_buf = %a : i32")
        while not parser.at(MLIRTokenKind.R_PAREN):
            cls._parse_named(parser, written)
            if parser.parse_optional_punctuation(",") is None:
                break
        parser.parse_punctuation(")")
        attributes |= parser.parse_optional_attr_dict()
        properties = cls.settled(parser, attributes)
        return cls.make(dict(written), (), properties, attributes)

    @classmethod
    def _parse_named(cls, parser: LocatedParser, written: Written) -> None:
        span = parser.span_here()
        role = parser.parse_identifier(": one of " + ", ".join(cls.operand_roles))
        if role not in cls.operand_roles:
            parser.raise_error(f"unknown operand '{role}'; known: {', '.join(cls.operand_roles)}", span)
        if role in dict(written):
            given_twice(parser, role, span)
        parser.parse_punctuation("=")
        value = parser.parse_value(role)
        parser.parse_punctuation(":", f" and the type of {role}")
        start = parser.span_here()
        type_ = parse_listed_type(parser)
        parser.place(f"{role}_type", start)
        if not parser.same_type(type_, value):
            parser.report(f"{role} has type {value.type}, but the type list says {type_}", start)
        written.append((role, value))

    def print(self, printer: Printer) -> None:
        shown = {name: value for name, value in self.properties.items() if name != SEGMENTS}
        print_dictionary(printer, {**shown, **self.attributes}, self.words, self.numbers)
        printer.print_string(" (")
        printer.print_list(list(self.roles()), lambda pair: _print_named(printer, *pair))
        printer.print_string(")")

    # --- rules --------------------------------------------------------------------------------------------------------

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from belongs_to_side(self)
        mask = self.integer("dir_mask") or 0
        if mask not in (C2V, V2C, C2V | V2C):
            yield Problem(f"dir_mask is {mask}; it must be 1 (cube to vector), 2 (vector to cube) or 3", at="dir_mask")
        for name in ("slot_size", "slot_num", "local_slot_num"):
            if (number := self.integer(name)) is not None and number <= 0:
                yield Problem(f"{name} is {number}; it must be positive", at=name)
        yield from self._local_slots(target)
        yield from self._memories(target)
        yield from self._consumers(mask)
        yield from self._epilogue(target, mask)

    def _local_slots(self, target: str) -> Iterator[Problem]:
        number = self.integer("local_slot_num")
        if number is not None and target == "a5":
            yield Problem("local_slot_num exists on a2a3 only", at="local_slot_num", by_assembler=True)
        if number is not None and number > self.slots:
            yield Problem(f"local_slot_num is {number}, more than the {self.slots} slots", at="local_slot_num")

    def _memories(self, target: str) -> Iterator[Problem]:
        buffer, tensor = self.gm_slot_buffer, self.gm_slot_tensor
        if buffer is not None and tensor is not None:
            yield Problem("entries pass through gm_slot_buffer or gm_slot_tensor, not both", at="gm_slot_tensor")
        if buffer is not None and not (isinstance(buffer.type, PtrType) and buffer.type.space is Space.GM):
            yield at_type(self, "gm_slot_buffer", "to be a pointer to gm", buffer.type)
        if tensor is not None and not isinstance(tensor.type, TensorViewType):
            yield at_type(self, "gm_slot_tensor", "to be a tensor view", tensor.type)
        if target != "a5" and buffer is None and tensor is None:
            yield Problem(f"a FIFO of {target} passes through global memory: {self.name} needs gm_slot_buffer")

    def _consumers(self, mask: int) -> Iterator[Problem]:
        for role, direction in (("c2v_consumer_buf", C2V), ("v2c_consumer_buf", V2C)):
            if mask & direction and not self.has(role) and self.gm_slot_tensor is None:
                yield Problem(f"dir_mask {mask} needs {role}, where its entries arrive", at="dir_mask")

    def _epilogue(self, target: str, mask: int) -> Iterator[Problem]:
        if (epilogue := self.acc_push_epilogue) is None:
            return
        if not isinstance(epilogue, AccPushEpilogueAttr):
            yield Problem(
                f"acc_push_epilogue must be #pto.acc_push_epilogue<...>, not {epilogue}", at="acc_push_epilogue"
            )
        elif target != "a5" and epilogue.data.quant in A5_MODES:
            message = f"quant = {epilogue.data.quant} does not exist on {target}"
            yield Problem(message, at="acc_push_epilogue", kind="wrong-target")
        if mask != C2V:
            yield Problem(f"acc_push_epilogue is for dir_mask 1, cube to vector, not {mask}", at="acc_push_epilogue")
        if self.setting("nosplit") is False:
            yield Problem("entries with an acc_push_epilogue are not split: nosplit must not be false", at="nosplit")


def _print_named(printer: Printer, role: str, value: SSAValue) -> None:
    printer.print_string(f"{role} = ")
    printer.print_ssa_value(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)
