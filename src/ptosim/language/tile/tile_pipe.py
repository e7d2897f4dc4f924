"""FIFOs by handles: the form into which the assembler turns those of tile_fifo.py; only its tests write it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import CoreKind, Pipe
from ptosim.language import operation
from ptosim.language.rules.operand_rules import nth
from ptosim.language.rules.tile_rules import at_type
from ptosim.language.text.assembly_format import parse_listed_type, write
from ptosim.language.text.call_syntax import CallOperation
from ptosim.language.text.clauses import Written, by_role
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.tile_syntax import print_dictionary
from ptosim.language.tile.tile_types import PipeHandleType, TensorViewType, tile_of

_DIRECTIONS = (1, 2, 3)
_SPLITS = range(5)


class Initialize(CallOperation):
    """`X {dir_mask = 1, slot_size = N, ...} (%a : A, %b : B) -> !pto.pipe`."""

    pipes = (Pipe.S,)
    absorbed = "the operations on its entries signal, move and count as it says"
    untyped = ("buffers",)
    numbers = ("dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base")
    plain = numbers
    flags = ("nosplit",)
    buffers = operation.VariadicOperand()
    dir_mask = operation.Property()
    slot_size = operation.Property()
    slot_num = operation.OptionalProperty()
    local_slot_num = operation.OptionalProperty()
    flag_base = operation.OptionalProperty()
    nosplit = operation.OptionalProperty()
    result = operation.Result()

    @classmethod
    def usage(cls) -> str:
        return f"%result = {cls.name} {{{', '.join(cls.property_roles)}}} (%buffer : TYPE, ...) -> !pto.pipe"

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        written: Written = []
        parser.parse_punctuation("(")
        while parser.at(MLIRTokenKind.PERCENT_IDENT):
            cls._parse_buffer(parser, written)
            if parser.parse_optional_punctuation(",") is None:
                break
        parser.parse_punctuation(")")
        attributes |= parser.parse_optional_attr_dict()
        properties = cls.settled(parser, attributes)
        return cls.make(by_role(written), cls._parse_results(parser), properties, attributes)

    @classmethod
    def _parse_buffer(cls, parser: LocatedParser, written: Written) -> None:
        place = nth("buffers", len(written))
        value = parser.parse_value(place)
        parser.parse_punctuation(":", " and the type of the buffer")
        span = parser.span_here()
        type_ = parse_listed_type(parser)
        parser.place(f"{place}_type", span)
        if not parser.same_type(type_, value):
            parser.report(f"{place} has type {value.type}, but the type list says {type_}", span)
        written.append((place, value))

    def print(self, printer: Printer) -> None:
        shown = {name: value for name, value in self.properties.items() if name != operation.SEGMENTS}
        print_dictionary(printer, {**shown, **self.attributes}, self.words, self.plain)
        printer.print_string(" (")
        for index, value in enumerate(self.buffers):
            write(printer, ", " if index else "", value, " : ", value.type)
        write(printer, ") -> ", self.result.type)

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        if (mask := self.integer("dir_mask")) not in _DIRECTIONS:
            yield operation.Problem(f"dir_mask is {mask}; it must be 1, 2 or 3", at="dir_mask")
        for name in ("slot_size", "slot_num", "local_slot_num"):
            if (number := self.integer(name)) is not None and number <= 0:
                yield operation.Problem(f"{name} is {number}; it must be positive", at=name)
        if not self.buffers:
            yield operation.Problem(f"{self.name} needs the buffer where entries arrive")
        if not isinstance(self.result.type, PipeHandleType):
            yield operation.Problem(f"{self.name} gives !pto.pipe, not {self.result.type}", at="result")


class InitializeL2LPipe(Initialize, name="pto.initialize_l2l_pipe"):
    """Set up a FIFO between local memories.

    The operand is the buffer where entries arrive; one for each direction.

        %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8} (%a : i32) -> !pto.pipe
    """


class InitializeL2G2LPipe(Initialize, name="pto.initialize_l2g2l_pipe"):
    """Set up a FIFO through global memory.

    The operands are the slots in global memory and the buffers where entries arrive.

        %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 8}
            (%g : !pto.ptr<f32, gm>, %a : i32) -> !pto.pipe
    """


class Handled(CallOperation):
    """`X(%entry, %handle : E, !pto.pipe) {split = 0}`."""

    untyped = ("entry", "handle")
    numbers = ("split",)
    plain = numbers
    entry = operation.Operand()
    handle = operation.Operand()
    split = operation.Property()

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        (handle,) = self.segment("handle")
        if not isinstance(handle.type, PipeHandleType):
            yield at_type(self, "handle", "to be !pto.pipe", handle.type)
        for value in self.segment("entry"):
            if tile_of(value.type) is None and not isinstance(value.type, TensorViewType):
                yield at_type(self, "entry", "to be a tile or a tensor view", value.type)
        if (split := self.integer("split")) not in _SPLITS:
            yield operation.Problem(f"split is {split}; it must be 0..{_SPLITS[-1]}", at="split")


class TPush(Handled, name="pto.tpush"):
    """Push an entry into the FIFO of a handle.

    As pto.tpush_to_aiv and pto.tpush_to_aic.

        pto.tpush(%t, %p : !pto.tile_buf<vec, 16x64xf32>, !pto.pipe) {split = 0}
    """

    pipes = (Pipe.MTE3, Pipe.FIX)

    def pipe(self, target: str) -> Pipe:
        tile = tile_of(self.entry.type)
        return Pipe.FIX if tile is not None and tile.loc == "acc" else Pipe.MTE3


class TPop(Handled, name="pto.tpop"):
    """Pop an entry from the FIFO of a handle.

    The tile, of pto.declare_tile, becomes the slot.

        pto.tpop(%t, %p : !pto.tile_buf<vec, 16x64xf32>, !pto.pipe) {split = 0}
    """

    pipes = (Pipe.V, Pipe.MTE1, Pipe.MTE2)
    outs = ("entry",)

    def pipe(self, target: str) -> Pipe:
        tile = tile_of(self.entry.type)
        if target != "a5" or tile is None:
            return Pipe.MTE2
        return Pipe.V if tile.loc == "vec" else Pipe.MTE1


class TAlloc(Handled, name="pto.talloc"):
    """Take a free slot of the FIFO of a handle.

    The view, of pto.declare_global, becomes the slot.

        pto.talloc(%v, %p : !pto.tensor_view<16x64xf32>, !pto.pipe) {split = 0}
    """

    pipes = (Pipe.MTE3,)
    outs = ("entry",)


class TFree(Handled, name="pto.tfree"):
    """Give a slot of the FIFO of a handle back.

    The entry may be named.

        pto.tfree(%p : !pto.pipe) {split = 0}
    """

    pipes = (Pipe.V, Pipe.MTE1, Pipe.MTE2)
    entry = operation.OptionalOperand()
    handle = operation.Operand()

    def pipe(self, target: str) -> Pipe:
        """The pipe that signals: the one that reads a slot first."""
        if target != "a5" or isinstance(self.handle.owner, InitializeL2G2LPipe):
            return Pipe.MTE2
        return Pipe.MTE1 if operation.core_of(self) is CoreKind.AIC else Pipe.V
