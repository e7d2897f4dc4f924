"""Scalar arithmetic: constants, and the `arith` and `math` operations that keep the type of their operands.

They are written as in MLIR: `%r = arith.addi %a, %b : i32`. Flags (`overflow<...>`, `fastmath<...>`) are read and
forgotten. Integers are signless and wrap; `si` and `ui` values exist, but only `select` and the sign cast take them.
Comparisons, selection and conversions are in scalar_cast.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Self, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntAttr, IntegerAttr, VectorType, i1
from xdsl.ir import Attribute
from xdsl.printer import Printer
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.element import Element
from ptosim.language.analysis.tile_modules import has_tiles
from ptosim.language.operation import Operand, OptionalProperty, Problem, PTOOperation, Result, lint
from ptosim.language.rules.operand_rules import constants
from ptosim.language.structure import scalar_form
from ptosim.language.text.assembly_format import Parsed, types_of, write
from ptosim.language.text.literals import float_bits, float_of, float_text, integer_bits, integer_of
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import element_name, element_of

# --- constants --------------------------------------------------------------------------------------------------------


class Constant(PTOOperation, name="arith.constant"):
    """A literal.

    A literal: an integer, a float, or `true` / `false`. A hexadecimal literal of a float type is a bit pattern. A list
    `dense<[...]>` of a vector type is for the tile operations that take one; nothing else does.

        %c = arith.constant 64 : index
        %inf = arith.constant 0x7F800000 : f32
        %counts = arith.constant dense<0> : vector<4xi16>
    """

    is_pure = True
    simt = "any"
    bits = OptionalProperty()
    dense = OptionalProperty()
    result = Result()

    @property
    def is_dense(self) -> bool:
        """Whether it is a list, which has no single element, pattern or value."""
        return self.dense is not None

    @property
    def element(self) -> Element:
        return element_of(self.result.type)

    @property
    def pattern(self) -> int:
        """The bits of the value, as an unsigned integer."""
        return cast("IntAttr[int]", self.bits).data

    @property
    def patterns(self) -> tuple[int, ...]:
        """The bits of each element of a list."""
        dense = cast("DenseIntOrFPElementsAttr[Any]", self.dense)
        part = element_of(self.result.type).part
        assert part is not None
        convert = float_bits if part.is_float else integer_bits
        return tuple(convert(number, part) or 0 for number in dense.get_values())

    @cached_property
    def value(self) -> int | float:
        """The value: a signed integer, or a float."""
        return float_of(self.pattern, self.element) if self.element.is_float else integer_of(self.pattern, self.element)

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        if (truth := parser.parse_optional_boolean()) is not None:
            if parser.parse_optional_punctuation(":") is not None and parser.parse_type() != i1:
                parser.raise_error("true and false are of type i1", parser.span_since(start))
            return cls.make({}, [i1], {"bits": IntAttr(int(truth))}, attributes)
        if parser.at_word("dense"):
            return cls._parse_dense(parser, attributes)
        literal, number = _parse_number(parser)
        parser.parse_punctuation(":", " and the type of the constant")
        type_ = parser.parse_type()
        span = parser.span_since(start)
        return cls.make({}, [type_], {"bits": IntAttr(_literal_bits(parser, literal, number, type_, span))}, attributes)

    @classmethod
    def _parse_dense(cls, parser: LocatedParser, attributes: dict[str, Attribute]) -> Self:
        start = parser.pos
        dense = parser.parse_attribute()
        type_ = cast("DenseIntOrFPElementsAttr[Any]", dense).get_type()
        if not _is_list(type_):
            message = "a dense constant is a vector of integers or floats, such as dense<0> : vector<4xi16>"
            parser.raise_error(message, parser.span_since(start))
        return cls.make({}, [type_], {"dense": dense}, attributes)

    def settle(self, parser: LocatedParser) -> None:
        value = self.attribute("value")
        self.attributes.pop("value", None)
        self.properties.pop("value", None)
        types = [result.type for result in self.results]
        if isinstance(value, DenseIntOrFPElementsAttr) and [value.get_type()] == types and _is_list(value.get_type()):
            self.properties["dense"] = value
        if isinstance(value, IntegerAttr | FloatAttr) and [cast("IntegerAttr[Any]", value).type] == types:
            number = cast("IntegerAttr[Any] | FloatAttr[Any]", value).value.data
            bits = _literal_bits(parser, str(number), number, self.results[0].type, parser.place_of(""))
            self.properties["bits"] = IntAttr(bits)
        if not self.properties:
            parser.raise_error(
                "arith.constant needs the attribute 'value' in the type of its result", parser.place_of("")
            )
        super().settle(parser)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        write(printer, " ", *self.literal())

    def literal(self) -> tuple[str | Attribute, ...]:
        """The literal as it is written, with its type unless that is i1."""
        if self.dense is not None:
            return (self.dense,)
        if self.result.type == i1:
            return ("true" if self.pattern else "false",)
        text = float_text(self.pattern, self.element) if self.element.is_float else str(self.value)
        return f"{text} : ", self.result.type


def _is_list(type_: Attribute) -> bool:
    return (
        isinstance(type_, VectorType)
        and element_name(cast("VectorType[Attribute]", type_).element_type) in scalar_form.SCALARS
    )


_WITHOUT_POINT = re.compile(r"([0-9]+)([eE][+-]?[0-9]+)")


def _parse_number(parser: LocatedParser) -> tuple[str, int | float]:
    """A literal as written, and its number."""
    sign = "-" if parser.parse_optional_punctuation("-") is not None else ""
    if not parser.at(MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT):
        parser.raise_error("expected a number, true or false")
    is_integer = parser.at(MLIRTokenKind.INTEGER_LIT)
    if is_integer and (found := _WITHOUT_POINT.match(parser.source.text, parser.pos)) is not None:
        written = f"{sign}{found[1]}.0{found[2]}"
        parser.raise_error(f"a float needs a point: write {written}", found.start(), found.end())
    text = sign + parser.skip_token()
    return text, int(text, 0) if is_integer and "x" in text.lower() else int(text) if is_integer else float(text)


def _literal_bits(parser: LocatedParser, text: str, number: int | float, type_: Attribute, span: Span) -> int:
    """The bits of a literal of a type; a literal that the type does not have is an error."""
    name = element_name(type_)
    if name not in scalar_form.SCALARS:
        hint = "; constants are signless" if name in scalar_form.SIGNED_OR_UNSIGNED else ""
        parser.raise_error(f"arith.constant cannot be of type {type_}{hint}", span)
    element = element_of(type_)
    if isinstance(number, float):
        if not element.is_float:
            parser.raise_error(f"{text} is not an integer, but the type is {type_}", span)
        return float_bits(number, element)
    if element.is_float and "0x" not in text.lower():
        parser.raise_error(f"a constant of type {type_} is written with a point, as {text}.0", span)
    bits = integer_bits(number, element)
    if bits is None or (element.is_float and number < 0):
        parser.raise_error(f"{text} does not fit in {type_}", span)
    return bits


# --- integers ---------------------------------------------------------------------------------------------------------


class AddI(scalar_form.IntegerBinary, name="arith.addi"):
    """Sum modulo 2^w."""


class SubI(scalar_form.IntegerBinary, name="arith.subi"):
    """Difference modulo 2^w."""


class MulI(scalar_form.IntegerBinary, name="arith.muli"):
    """Low half of the product."""


class IntegerDivision(scalar_form.IntegerBinary):
    """A quotient or remainder. Division by zero and the overflow of the least value by -1 are errors; in modules with
    tiles a run goes on with 0 and with the least value, and only a check reports them."""

    def facts(self) -> Mapping[str, Any]:
        return {"goes_on": has_tiles(self)}


class DivSI(IntegerDivision, name="arith.divsi"):
    """Signed quotient, towards zero; division by zero and the overflow of the least value by -1 are errors."""


class DivUI(IntegerDivision, name="arith.divui"):
    """Unsigned quotient; division by zero is an error."""


class RemSI(IntegerDivision, name="arith.remsi"):
    """Signed remainder with the sign of the dividend."""


class RemUI(IntegerDivision, name="arith.remui"):
    """Unsigned remainder."""


class FloorDivSI(IntegerDivision, name="arith.floordivsi"):
    """Signed quotient, towards minus infinity."""


class CeilDivSI(IntegerDivision, name="arith.ceildivsi"):
    """Signed quotient, towards plus infinity."""


class CeilDivUI(IntegerDivision, name="arith.ceildivui"):
    """Unsigned quotient, rounded up."""


class AndI(scalar_form.IntegerBinary, name="arith.andi"):
    """Bitwise and."""


class OrI(scalar_form.IntegerBinary, name="arith.ori"):
    """Bitwise or."""


class XOrI(scalar_form.IntegerBinary, name="arith.xori"):
    """Bitwise exclusive or."""


class _Shift(scalar_form.IntegerBinary):
    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        for place, known in constants(self, "rhs"):
            last = element_of(self.rhs.type).bits - 1
            if not 0 <= known <= last:
                yield lint(f"{self.name} of {self.rhs.type} by {known}: only 0 to {last} are defined", at=place)


class ShLI(_Shift, name="arith.shli"):
    """Shift left; an amount of the width or more gives 0."""


class ShRSI(_Shift, name="arith.shrsi"):
    """Shift right, filled with the sign; an amount of the width or more leaves only sign bits."""


class ShRUI(_Shift, name="arith.shrui"):
    """Shift right, filled with zeros; an amount of the width or more gives 0."""


class MaxSI(scalar_form.IntegerBinary, name="arith.maxsi"):
    """The greater, as signed integers."""


class MinSI(scalar_form.IntegerBinary, name="arith.minsi"):
    """The lesser, as signed integers."""


class MaxUI(scalar_form.IntegerBinary, name="arith.maxui"):
    """The greater, as unsigned integers."""


class MinUI(scalar_form.IntegerBinary, name="arith.minui"):
    """The lesser, as unsigned integers."""


class _Extended(scalar_form.ScalarOperation):
    form = "$lhs, $rhs"
    takes = scalar_form.INTEGERS_AND_INDEX
    lhs = Operand()
    low = Result()


class AddUIExtended(_Extended, name="arith.addui_extended"):
    """Sum with carry.

    Sum and carry.

        %sum, %carry = arith.addui_extended %a, %b : i32, i1
    """

    carry = Result()

    @classmethod
    def parse_signature_of(cls, parser: LocatedParser, parsed: Parsed) -> list[Attribute]:
        (type_,) = super().parse_signature_of(parser, parsed)
        parser.parse_punctuation(",", " and i1, the type of the carry")
        return [type_, parser.parse_type()]

    def print_signature(self, printer: Printer) -> None:
        write(printer, types_of(self.results))

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if self.carry.type != i1:
            yield Problem(f"the carry has type i1, not {self.carry.type}")
        if self.low.type != self.lhs.type:
            yield Problem(f"low has type {self.low.type}, but lhs has type {self.lhs.type}")


class _MulExtended(_Extended):
    high = Result()

    @classmethod
    def parse_signature_of(cls, parser: LocatedParser, parsed: Parsed) -> list[Attribute]:
        return super().parse_signature_of(parser, parsed) * 2

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from scalar_form.same_operand_types(self)


class MulSIExtended(_MulExtended, name="arith.mulsi_extended"):
    """Signed product in full.

    Both halves of the signed product.

        %low, %high = arith.mulsi_extended %a, %b : i32
    """


class MulUIExtended(_MulExtended, name="arith.mului_extended"):
    """Unsigned product in full.

    Both halves of the unsigned product.

        %low, %high = arith.mului_extended %a, %b : i32
    """


# --- floats -----------------------------------------------------------------------------------------------------------


class AddF(scalar_form.FloatBinary, name="arith.addf"):
    """Sum, rounded to the type."""


class SubF(scalar_form.FloatBinary, name="arith.subf"):
    """Difference, rounded to the type."""


class MulF(scalar_form.FloatBinary, name="arith.mulf"):
    """Product, rounded to the type."""


class DivF(scalar_form.FloatBinary, name="arith.divf"):
    """Quotient, rounded to the type."""


class RemF(scalar_form.FloatBinary, name="arith.remf"):
    """Remainder of the division towards zero, with the sign of the dividend."""


class MaximumF(scalar_form.FloatBinary, name="arith.maximumf"):
    """The greater; NaN if either is NaN, and +0 is greater than -0."""


class MinimumF(scalar_form.FloatBinary, name="arith.minimumf"):
    """The lesser; NaN if either is NaN, and -0 is less than +0."""


class MaxNumF(scalar_form.FloatBinary, name="arith.maxnumf"):
    """The greater; of a number and NaN, the number."""


class MinNumF(scalar_form.FloatBinary, name="arith.minnumf"):
    """The lesser; of a number and NaN, the number."""


class NegF(scalar_form.FloatUnary, name="arith.negf"):
    """The sign bit flipped."""


class Exp(scalar_form.FloatUnary, name="math.exp"):
    """e^x."""


class Log(scalar_form.FloatUnary, name="math.log"):
    """Natural logarithm."""


class Sqrt(scalar_form.FloatUnary, name="math.sqrt"):
    """Square root."""


class AbsF(scalar_form.FloatUnary, name="math.absf"):
    """The sign bit cleared."""


class AbsI(scalar_form.ScalarUnary, name="math.absi"):
    """Absolute value; the least value stays itself."""

    takes = scalar_form.INTEGERS_AND_INDEX


class Floor(scalar_form.FloatUnary, name="math.floor"):
    """Rounded to an integer, towards minus infinity."""


class Ceil(scalar_form.FloatUnary, name="math.ceil"):
    """Rounded to an integer, towards plus infinity."""
