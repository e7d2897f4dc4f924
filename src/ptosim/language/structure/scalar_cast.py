"""Scalar comparisons, selection and conversions: operations whose result has a type of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i1
from xdsl.ir import Attribute
from xdsl.printer import Printer

from ptosim.language.logical_types import LOGICAL_TYPES
from ptosim.language.operation import Operand, Problem, Result
from ptosim.language.structure import scalar_form
from ptosim.language.text.assembly_format import Parsed, Vocabulary, parse_listed_type, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.tile.tile_types import TileBufType
from ptosim.language.types import MaskType, PtrType, VregType, element_name, element_of, like_packed, scalar_name

# --- comparison and selection -----------------------------------------------------------------------------------------


class _Compare(scalar_form.ScalarOperation):
    form = "@predicate, $lhs, $rhs"
    lhs = Operand()
    rhs = Operand()
    result = Result()

    @classmethod
    def parse_signature_of(cls, parser: LocatedParser, parsed: Parsed) -> list[Attribute]:
        (type_,) = super().parse_signature_of(parser, parsed)
        return [like_packed(type_, i1)]

    def settle(self, parser: LocatedParser) -> None:
        number = self.attribute("predicate")
        words = self.words["predicate"].words
        if isinstance(number, IntegerAttr):
            value = cast("IntegerAttr[Any]", number).value.data
            if not 0 <= value < len(words):
                parser.raise_error(f"predicates are numbered 0 to {len(words) - 1}", parser.place_of("predicate"))
            self.attributes.pop("predicate", None)
            self.properties["predicate"] = StringAttr(words[value])
        super().settle(parser)

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if self.lhs.type != self.rhs.type:
            yield Problem(f"rhs has type {self.rhs.type}, but lhs has type {self.lhs.type}", at="rhs")
        if self.result.type != (wanted := like_packed(self.lhs.type, i1)):
            yield Problem(f"the result of {self.name} has type {wanted}, not {self.result.type}")


class CmpI(_Compare, name="arith.cmpi"):
    """Compare integers.

    Compare integers: eq, ne, and signed (s) or unsigned (u) lt, le, gt, ge.

        %b = arith.cmpi slt, %a, %c : i32
    """

    words = {"predicate": Vocabulary(tuple("eq ne slt sle sgt sge ult ule ugt uge".split()), printed="{}")}
    takes = scalar_form.INTEGERS_AND_INDEX


class CmpF(_Compare, name="arith.cmpf"):
    """Compare floats.

    Compare floats; the ordered predicates (o) are false when either is NaN, the unordered ones (u) true.

        %b = arith.cmpf olt, %a, %c : f32
    """

    words = {
        "predicate": Vocabulary(
            tuple("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()), printed="{}"
        )
    }
    takes = scalar_form.FLOATS


class Select(scalar_form.ScalarOperation, name="arith.select"):
    """Choose a value.

    One of two values by a condition; they may be of any type that a value can have.

        %r = arith.select %condition, %a, %b : i32
    """

    form = "$condition, $if_true, $if_false"
    condition = Operand()
    if_true = Operand()
    if_false = Operand()
    result = Result()

    @classmethod
    def parse_signature_of(cls, parser: LocatedParser, parsed: Parsed) -> list[Attribute]:
        type_ = parse_listed_type(parser)
        if parser.parse_optional_punctuation(",") is not None:
            type_ = parse_listed_type(parser)
        scalar_form.compare(parser, parsed, type_, "condition")
        return [type_]

    def print_signature(self, printer: Printer) -> None:
        if self.condition.type != i1:
            write(printer, self.condition.type, ", ")
        printer.print_attribute(self.result.type)

    def rules(self, target: str) -> Iterator[Problem]:
        type_ = self.result.type
        if self.condition.type not in (i1, like_packed(type_, i1)):
            yield Problem(f"the condition has type i1, not {self.condition.type}", at="condition")
        is_scalar = scalar_name(type_) in scalar_form.SCALARS | scalar_form.SIGNED_OR_UNSIGNED
        if not is_scalar and not isinstance(type_, (PtrType, VregType, MaskType, TileBufType, *LOGICAL_TYPES)):
            yield Problem(f"{self.name} does not select values of type {type_}")
        for role in ("if_true", "if_false"):
            if (found := getattr(self, role).type) != type_:
                yield Problem(f"{role} has type {found}, but the result has type {type_}", at=role)


# --- conversions ------------------------------------------------------------------------------------------------------


class Cast(scalar_form.ScalarOperation):
    """`%r = arith.OP %a : T1 to T2`."""

    form = "$operand"
    gives: ClassVar[frozenset[str]] = scalar_form.SCALARS
    operand = Operand()
    result = Result()

    @classmethod
    def parse_signature_of(cls, parser: LocatedParser, parsed: Parsed) -> list[Attribute]:
        scalar_form.compare(parser, parsed, parser.parse_type())
        parser.parse_keyword("to")
        return [parser.parse_type()]

    def print_signature(self, printer: Printer) -> None:
        write(printer, self.operand.type, " to ", self.result.type)

    def rules(self, target: str) -> Iterator[Problem]:
        broken = list(super().rules(target))
        yield from broken
        if scalar_name(self.result.type) not in self.gives:
            yield Problem(f"{self.name} gives {scalar_form.type_names(self.gives)}, not {self.result.type}")
        elif not broken and not isinstance(self, _SameWidth) and self._counts_differ():
            yield Problem(f"{self.name} from {self.operand.type} to {self.result.type}: both have as many elements")
        elif not broken and (why := self.objection(self.bits_of("operand"), self.bits_of("result"))):
            yield Problem(f"{self.name} from {self.operand.type} to {self.result.type}: {why}")

    def _counts_differ(self) -> bool:
        return element_of(self.operand.type).count != element_of(self.result.type).count

    def bits_of(self, role: str) -> int:
        return element_of(getattr(self, role).type).bits

    def objection(self, before: int, after: int) -> str | None:
        """The fault of a conversion between these widths, or None."""
        return None


class _Widening(Cast):
    def objection(self, before: int, after: int) -> str | None:
        return "the result must be wider" if after <= before else None


class _Narrowing(Cast):
    def objection(self, before: int, after: int) -> str | None:
        return "the result must be narrower" if after >= before else None


class _SameWidth(Cast):
    def objection(self, before: int, after: int) -> str | None:
        return "both must have the same width" if after != before else None


class _IndexCast(Cast):
    takes = gives = scalar_form.INTEGERS_AND_INDEX

    def objection(self, before: int, after: int) -> str | None:
        names = [element_name(value.type) for value in (self.operand, self.result)]
        return "exactly one of the two must be index" if names.count("index") != 1 else None


class IndexCast(_IndexCast, name="arith.index_cast"):
    """Integer to index or back, signed.

    Integer to index or back: the sign is extended, or the high bits are dropped.

        %r = arith.index_cast %a : i64 to index
    """


class IndexCastUI(_IndexCast, name="arith.index_castui"):
    """Integer to index or back, unsigned.

    Integer to index or back: extended with zeros, or the high bits are dropped.

        %r = arith.index_castui %a : i64 to index
    """


class ExtSI(_Widening, name="arith.extsi"):
    """Sign extension.

    Wider integer, filled with the sign.

        %r = arith.extsi %a : i8 to i32
    """

    takes = gives = scalar_form.INTEGERS


class ExtUI(_Widening, name="arith.extui"):
    """Zero extension.

    Wider integer, filled with zeros.

        %r = arith.extui %a : i8 to i32
    """

    takes = gives = scalar_form.INTEGERS


class TruncI(_Narrowing, name="arith.trunci"):
    """Integer truncation.

    Narrower integer: the low bits.

        %r = arith.trunci %a : i64 to i32
    """

    takes = gives = scalar_form.INTEGERS


class SIToFP(Cast, name="arith.sitofp"):
    """Signed integer to float.

    Signed integer to float, to nearest even.

        %r = arith.sitofp %a : i32 to f32
    """

    takes = scalar_form.INTEGERS
    gives = scalar_form.FLOATS


class UIToFP(Cast, name="arith.uitofp"):
    """Unsigned integer to float.

    Unsigned integer to float, to nearest even.

        %r = arith.uitofp %a : i32 to f32
    """

    takes = scalar_form.INTEGERS
    gives = scalar_form.FLOATS


class FPToSI(Cast, name="arith.fptosi"):
    """Float to signed integer.

    Float to signed integer, towards zero; out of range it saturates.

        %r = arith.fptosi %a : f32 to i32
    """

    takes = scalar_form.FLOATS
    gives = scalar_form.INTEGERS


class FPToUI(Cast, name="arith.fptoui"):
    """Float to unsigned integer.

    Float to unsigned integer, towards zero; out of range it saturates.

        %r = arith.fptoui %a : f32 to i32
    """

    takes = scalar_form.FLOATS
    gives = scalar_form.INTEGERS


class ExtF(_Widening, name="arith.extf"):
    """Float extension.

    Wider float, exactly.

        %r = arith.extf %a : f16 to f32
    """

    takes = gives = scalar_form.FLOATS


class TruncF(_Narrowing, name="arith.truncf"):
    """Float truncation.

    Narrower float, to nearest even.

        %r = arith.truncf %a : f32 to f16
    """

    takes = gives = scalar_form.FLOATS


class Bitcast(_SameWidth, name="arith.bitcast"):
    """Reinterpret bits.

    The same bits as another type of the same width.

        %r = arith.bitcast %a : f32 to i32
    """

    takes = gives = scalar_form.INTEGERS | scalar_form.FLOATS


class SignCast(_SameWidth, name="builtin.unrealized_conversion_cast"):
    """Change the signedness of an integer.

    The same bits as a signless, signed or unsigned integer.

        %r = builtin.unrealized_conversion_cast %a : i32 to ui32
    """

    takes = gives = scalar_form.INTEGERS | scalar_form.SIGNED_OR_UNSIGNED
