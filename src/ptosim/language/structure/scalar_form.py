"""Shared forms of scalar operations, and the types that they take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.operation import Operand, Problem, PTOOperation, Result
from ptosim.language.text.assembly_format import Parsed, parse_form, print_form
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import scalar_name

INTEGERS = frozenset({"i1", "i4", "i8", "i16", "i32", "i64"})
INTEGERS_AND_INDEX = INTEGERS | {"index"}
SIGNED_OR_UNSIGNED = frozenset({"si4", "si8", "si16", "si32", "si64", "ui8", "ui16", "ui32", "ui64"})
FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
SCALARS = INTEGERS_AND_INDEX | FLOATS

_NAMES: dict[frozenset[str], str] = {
    INTEGERS: "integers",
    INTEGERS_AND_INDEX: "integers and index",
    FLOATS: "floats",
    SCALARS: "scalars",
    INTEGERS | SIGNED_OR_UNSIGNED: "integers",
    INTEGERS | FLOATS: "integers and floats",
}


class ScalarOperation(PTOOperation):
    """An operation of the scalar unit; also allowed inside a vector scope."""

    is_pure = True
    simt = "any"
    takes: ClassVar[frozenset[str]] = SCALARS
    """The types of its operands."""

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        parsed = parse_form(parser, cls.elements(), cls.words)
        _skip_flags(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":", f" and the type of {cls.name}")
        words = {name: StringAttr(word) for name, word in parsed.words.items()}
        return cls.make(parsed.operands, cls.parse_signature_of(parser, parsed), words, attributes)

    @classmethod
    def parse_signature_of(cls, parser: LocatedParser, parsed: Parsed) -> list[Attribute]:
        """The types after the colon; returns those of the results."""
        type_ = parser.parse_type()
        compare(parser, parsed, type_)
        return [type_]

    def print(self, printer: Printer) -> None:
        print_form(printer, self, self.elements(), self.words)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        self.print_signature(printer)

    def print_signature(self, printer: Printer) -> None:
        printer.print_attribute(self.operands[0].type)

    def rules(self, target: str) -> Iterator[Problem]:
        for role, value in self.roles():
            if scalar_name(value.type) not in self.takes:
                yield Problem(f"{self.name} takes {type_names(self.takes)}, not {value.type}", at=role)


def type_names(names: frozenset[str]) -> str:
    """A set of types in words."""
    return _NAMES[names]


def compare(parser: LocatedParser, parsed: Parsed, type_: Attribute, *but: str) -> None:
    """Report the operands that do not have the type that was written for all of them."""
    for role, value in parsed.operands.items():
        if role not in but and isinstance(value, SSAValue) and not parser.same_type(type_, value):
            parser.report(f"{role} has type {value.type}, but {type_} is written", parser.place_of(role))


_FLAGS = frozenset({"overflow", "fastmath", "nneg", "exact", "to_nearest_even"})
"""Words behind the operands that have no meaning here; other rounding modes have one and are not supported."""


def _skip_flags(parser: LocatedParser) -> None:
    while parser.at(MLIRTokenKind.BARE_IDENT):
        span = parser.span_here()
        if (word := parser.skip_token()) not in _FLAGS:
            parser.raise_error(f"unknown flag '{word}'; known: {', '.join(sorted(_FLAGS))}", span)
        if parser.parse_optional_punctuation("<") is not None:
            parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_identifier)
            parser.parse_punctuation(">")


def same_operand_types(op: PTOOperation) -> Iterator[Problem]:
    """Operands and results have the type of the first result, which is the type that is written."""
    expected = op.results[0].type
    for role, value in (*op.roles(), *zip(op.result_roles, op.results, strict=False)):
        if value.type != expected:
            yield Problem(f"{role} has type {value.type}, but the result has type {expected}", at=role)


class ScalarBinary(ScalarOperation):
    """`%r = arith.OP %a, %b : T`."""

    form = "$lhs, $rhs"
    lhs = Operand()
    rhs = Operand()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from same_operand_types(self)


class IntegerBinary(ScalarBinary):
    takes = INTEGERS_AND_INDEX


class FloatBinary(ScalarBinary):
    takes = FLOATS


class ScalarUnary(ScalarOperation):
    """`%r = arith.OP %a : T`."""

    form = "$operand"
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from same_operand_types(self)


class FloatUnary(ScalarUnary):
    takes = FLOATS
