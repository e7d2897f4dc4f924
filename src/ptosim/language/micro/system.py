"""Queries of the launch, the control register, the special registers of the vector core, and debugging."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from xdsl.dialects.builtin import StringAttr, i16, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import CoreKind
from ptosim.language.operation import (
    Operand,
    OptionalProperty,
    Problem,
    PTOOperation,
    Result,
    VariadicOperand,
    enclosing_scope,
    lint,
)
from ptosim.language.rules.operand_rules import constant_of, in_range, updated_base
from ptosim.language.text.assembly_format import Vocabulary, types_of, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import PtrType, element_name

# --- queries ----------------------------------------------------------------------------------------------------------


class Query(PTOOperation):
    """`%i = NAME`, an i64; the type may be written."""

    typed = False
    simt = "any"
    result = Result("i64")

    @classmethod
    def default_results(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        return [i64]

    def rules(self, target: str) -> Iterator[Problem]:
        if enclosing_scope(self) is not None:
            yield lint(
                f"{self.name} is not available to a vector function on hardware", hint="read it before the vector scope"
            )


class GetBlockIdx(Query, name="pto.get_block_idx"):
    """Block index.

    The number of this block: 0 to the number of blocks - 1.

        %i = pto.get_block_idx
    """


class GetBlockNum(Query, name="pto.get_block_num"):
    """Block count.

    The number of blocks of the launch.

        %n = pto.get_block_num
    """


class GetSubblockIdx(Query, name="pto.get_subblock_idx"):
    """Subblock index.

    Which vector core of its cluster this is: 0 or 1 in a mixed kernel, otherwise 0.

        %i = pto.get_subblock_idx
    """


class GetSubblockNum(Query, name="pto.get_subblock_num"):
    """Subblock count.

    The number of vector cores of a cluster: 2 on the vector cores of a mixed kernel, otherwise 1.

        %n = pto.get_subblock_num
    """


# --- the control register ---------------------------------------------------------------------------------------------


class GetCtrl(PTOOperation, name="pto.get_ctrl"):
    """Read the control register.

    The 64 bits of CTRL, one per core.

        %c = pto.get_ctrl : i64
    """

    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        if self.result.type != i64:
            yield Problem(f"the control register has type i64, not {self.result.type}", at="result")


class SetCtrl(PTOOperation, name="pto.set_ctrl"):
    """Write the control register.

    Write the control register of this core; it is captured by what is issued afterwards.

        pto.set_ctrl %c : i64
    """

    form = "$value:i64"
    value = Operand()


class _BitSet(PTOOperation):
    is_pure = True
    form = "$value:i64, $bit:i64 -> $result:i64"
    value = Operand()
    bit = Operand()


class SBitSet0(_BitSet, name="pto.sbitset0"):
    """Clear a bit.

    d = c & ~(1 << bit), for values of the control register.

        %d = pto.sbitset0 %c, %bit : i64, i64 -> i64
    """


class SBitSet1(_BitSet, name="pto.sbitset1"):
    """Set a bit.

    d = c | (1 << bit), for values of the control register.

        %d = pto.sbitset1 %c, %bit : i64, i64 -> i64
    """


# --- special registers ------------------------------------------------------------------------------------------------


class GetVms4Sr(PTOOperation, name="pto.get_vms4_sr"):
    """Progress of the last merge.

    How many entries of each list the last exhausted `pto.vmrgsort4` has taken.

        %a, %b, %c, %d = pto.get_vms4_sr : i16, i16, i16, i16
    """

    cores = (CoreKind.AIV,)
    placement = "outside"
    form = "-> $first, $second, $third, $fourth"

    def rules(self, target: str) -> Iterator[Problem]:
        for role, result in zip(self.result_roles, self.results, strict=True):
            if result.type != i16:
                yield Problem(f"the {role} count has type i16, not {result.type}", at=role)


class SpecialRegister(PTOOperation):
    """An instruction on a special register of the vector core; the address register AR is the only one."""

    words = {"register": Vocabulary(("AR",))}
    placement = "inside"

    def rules(self, target: str) -> Iterator[Problem]:
        scope = enclosing_scope(self)
        if scope is not None and not scope.name.startswith("pto."):
            yield Problem(f"{self.name} must be inside pto.vecscope or pto.strict_vecscope, not a marked loop")


class SprClr(SpecialRegister, name="pto.sprclr"):
    """Clear a special register.

    AR, the byte offset that pto.vstur and pto.vstar add to their base, becomes 0.

        pto.sprclr "AR"
    """

    form = "@register"


class SpecialRegisterStore(SpecialRegister):
    """Store the 32-bit register to UB; with a result the offset advances the pointer instead of the store."""

    form = "@register, $dest:ub[$offset:i32] -> {$next}"
    scope_is_written = True
    dest = Operand()
    offset = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        pointer = self.dest.type
        if isinstance(pointer, PtrType) and element_name(pointer.element) not in ("i32", "ui32"):
            yield Problem(f"{self.name} stores to a pointer of i32 or ui32, not {pointer.element}", at="dest")
        yield from updated_base(self, "dest")


class SprSti(SpecialRegisterStore, name="pto.sprsti"):
    """Store a special register, constant offset.

    Store the address register to UB at a constant offset in words.

        %c1 = arith.constant 1 : i32
        pto.sprsti "AR", %p[%c1] : !pto.ptr<i32, ub>, i32
    """

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if constant_of(self.offset) is None:
            yield Problem("the offset of pto.sprsti is a constant", at="offset", hint="pto.sprsts takes any offset")
        yield from in_range(self, -128, 127, "offset")


class SprSts(SpecialRegisterStore, name="pto.sprsts"):
    """Store a special register.

    Store the address register to UB at an offset in bytes.

        pto.sprsts "AR", %p[%offset] : !pto.ptr<i32, ub>, i32
    """


# --- debugging --------------------------------------------------------------------------------------------------------


class Trap(PTOOperation, name="pto.trap"):
    """Stop with an error.

    The kernel ends here with an error of kind `trap`.

        pto.trap
    """

    simt = "any"


class Print(PTOOperation, name="pto.print"):
    """Print values.

    Print scalars while the kernel runs; the format is the one of C.

        pto.print "n = %d", %n : i32
    """

    format = OptionalProperty()
    values = VariadicOperand()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        closing = parser.parse_optional_keyword("ins") is not None
        if closing:
            parser.parse_punctuation("(")
        properties: dict[str, Attribute] = {}
        if (text := parser.parse_optional_str_literal()) is not None:
            properties["format"] = StringAttr(text)
            parser.parse_optional_punctuation(",")
        values = parser.parse_values("values") if parser.at(MLIRTokenKind.PERCENT_IDENT) else []
        op = cls.parse_rest(parser, {"values": values}, properties)
        if closing:
            parser.parse_punctuation(")")
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if (text := self.word("format")) is not None:
            printer.print_string_literal(text)
            printer.print_string(", " if self.values else "")
        write(printer, self.values)
        printer.print_op_attributes(self.attributes)
        if self.values:
            write(printer, " : ", types_of(self.values))

    def rules(self, target: str) -> Iterator[Problem]:
        for index, value in enumerate(self.values):
            if element_name(value.type) is None and not isinstance(value.type, PtrType):
                yield Problem(f"pto.print shows scalars and pointers, not {value.type}", at=f"values[{index}]")
