"""Operations that are written like calls: `pto.X(%a, %b, word(%c) : A, B, C) {...} -> T`.

FIFOs and communication are; which roles stand in which parentheses is said by the class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.clauses import by_role
from ptosim.language.located import LocatedParser
from ptosim.language.operands import nth
from ptosim.language.operation import SEGMENTS
from ptosim.language.syntax import parse_types
from ptosim.language.tile_operation import TileOperation
from ptosim.language.tile_syntax import print_dictionary, print_typed

Written = list[tuple[str, SSAValue, Span]]


class CallOperation(TileOperation):
    """Operands in parentheses with their types, an attribute dictionary, results after an arrow."""

    outs: ClassVar[tuple[str, ...]] = ()
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Words with parentheses of their own among the operands, and the roles in them."""
    bare: ClassVar[bool] = False
    """Whether the parentheses may be left out."""

    @classmethod
    def leading(cls) -> tuple[str, ...]:
        """The roles in front of the groups."""
        grouped = {role for roles in cls.groups.values() for role in roles}
        return tuple(role for role in cls.operand_roles if role not in grouped)

    # --- reading ----------------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        assert isinstance(parser, LocatedParser)
        written: Written = []
        if not cls.bare or parser.at(MLIRTokenKind.L_PAREN):
            cls._parse_call(parser, written)
        attributes = parser.parse_optional_attr_dict()
        properties = cls.settled(parser, attributes)
        operands = by_role([(role, value) for role, value, _ in written])
        return cls.make(operands, cls._parse_results(parser), properties, attributes)

    @classmethod
    def _parse_call(cls, parser: LocatedParser, written: Written) -> None:
        parser.parse_punctuation("(")
        cls._parse_roles(parser, written, cls.leading(), tuple(cls.groups))
        for word, roles in cls.groups.items():
            if written:
                parser.parse_punctuation(",", f" before {word}(...)")
            parser.parse_keyword(word)
            parser.parse_punctuation("(")
            cls._parse_roles(parser, written, roles)
            parser.parse_punctuation(")", f" after {word}")
        if parser.parse_optional_punctuation(":") is not None:
            cls._compare(parser, written)
        elif written:
            parser.raise_error("expected ':' and the types of the operands")
        parser.parse_punctuation(")")

    @classmethod
    def _parse_roles(
        cls, parser: LocatedParser, written: Written, roles: tuple[str, ...], ends: tuple[str, ...] = ()
    ) -> None:
        """One value for each role; the optional ones may be missing, the last may be several."""
        for index, role in enumerate(roles):
            optional = role in cls.optional_roles | cls.variadic_roles
            here = parser.at(MLIRTokenKind.PERCENT_IDENT) if not index else parser.text_follows(r",\s*%")
            if optional and not here:
                return
            if index:
                parser.parse_punctuation(",", f" before {role}")
            if role not in cls.variadic_roles:
                span = parser.span_here()
                written.append((role, parser.parse_value(role), span))
                continue
            for number, value in enumerate(parser.parse_values(role)):
                written.append((nth(role, number), value, parser.place_of(nth(role, number))))

    @classmethod
    def _compare(cls, parser: LocatedParser, written: Written) -> None:
        """Each operand has the type that is written for it."""
        types = parse_types(parser)
        if len(types) != len(written):
            where = types[min(len(types), len(written) + 1) - 1][1] if types else parser.span_here()
            parser.raise_error(f"{cls.name} has {len(written)} operands here, but {len(types)} types", where)
        for (role, value, _), (type_, span) in zip(written, types, strict=True):
            parser.place(f"{role}_type", span)
            if not parser.same_type(type_, value):
                parser.report(f"{role} has type {value.type}, but the type list says {type_}", span)

    @classmethod
    def _parse_results(cls, parser: LocatedParser) -> list[Attribute]:
        if not cls.result_roles:
            return []
        parser.parse_punctuation("->", f" and the type of the result of {cls.name}")
        return cls._results(parser, parse_types(parser))

    # --- writing ----------------------------------------------------------------------------------

    def print(self, printer: Printer) -> None:
        if self.operands or not self.bare:
            self._print_call(printer)
        shown = {name: value for name, value in self.properties.items() if name != SEGMENTS}
        print_dictionary(printer, {**shown, **self.attributes}, self.words)
        if self.results:
            printer.print_string(" -> ")
            printer.print_list([result.type for result in self.results], printer.print_attribute)

    def _print_call(self, printer: Printer) -> None:
        printer.print_string("(")
        values = list(self._values(self.leading()))
        printer.print_list(values, printer.print_ssa_value)
        for word, roles in self.groups.items():
            printer.print_string(f", {word}(" if values else f"{word}(")
            grouped = list(self._values(roles))
            printer.print_list(grouped, printer.print_ssa_value)
            printer.print_string(")")
            values += grouped
        if values:
            print_typed(printer, values)
        printer.print_string(")")

    def _values(self, roles: tuple[str, ...]) -> Iterator[SSAValue]:
        for role in roles:
            yield from self.segment(role)
