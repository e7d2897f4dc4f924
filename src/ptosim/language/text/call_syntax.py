"""Operations that are written like calls: `pto.X(%a, %b, word(%c) : A, B, C) {...} later(%d) -> T`.

FIFOs and communication are; which roles stand in which parentheses is said by the class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Self

from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.operation import SEGMENTS
from ptosim.language.rules.operand_rules import nth
from ptosim.language.text.assembly_format import parse_types, types_of, write
from ptosim.language.text.clauses import Written, by_role
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.tile_syntax import print_dictionary
from ptosim.language.tile.tile_operation import TileOperation


class CallOperation(TileOperation):
    """Operands in parentheses with their types, an attribute dictionary, results after an arrow."""

    outs: ClassVar[tuple[str, ...]] = ()
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Words with parentheses of their own among the operands, and the roles in them."""
    later: ClassVar[tuple[str, ...]] = ()
    """Roles that have a word with parentheses of their own after the dictionary: the role is the word."""
    bare: ClassVar[bool] = False
    """Whether the parentheses may be left out, with all that stands in them."""
    plain: ClassVar[tuple[str, ...]] = ()
    """Attributes that are clauses in braces: their integers have no type."""
    types_in_call: ClassVar[bool] = True
    """Whether the operands are written with their types; they may be in any case."""

    @classmethod
    def leading(cls) -> tuple[str, ...]:
        """The roles in front of the groups."""
        elsewhere = {role for roles in cls.groups.values() for role in roles} | {*cls.later}
        return tuple(role for role in cls.operand_roles if role not in elsewhere)

    @classmethod
    def usage(cls) -> str:
        groups = [f"{word}({cls._usage_of(roles)})" for word, roles in cls.groups.items()]
        called = ", ".join(filter(None, [cls._usage_of(cls.leading()), *groups]))
        types = " : TYPES" if called and cls.types_in_call else ""
        call = f"[({called}{types})]" if cls.bare and called else "" if cls.bare else f"({called}{types})"
        attributes = f" {{{', '.join(cls.property_roles)}}}" if cls.property_roles else ""
        later = "".join(f" [{role}(%{role})]" for role in cls.later)
        results = "%result = " if cls.result_roles else ""
        return f"{results}{cls.name}{call}{attributes}{later}{' -> TYPE' if results else ''}"

    @classmethod
    def _usage_of(cls, roles: Sequence[str]) -> str:
        """The roles, those that may be missing in brackets."""
        shown = [f"%{role}, ..." if role in cls.variadic_roles else f"%{role}" for role in roles]
        first, *rest = zip(roles, shown, strict=True) if roles else [("", "")]
        return first[1] + "".join(f"[, {text}]" if role in cls.optional_roles else f", {text}" for role, text in rest)

    # --- reading ------------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        written: Written = []
        if not cls.bare or parser.at(MLIRTokenKind.L_PAREN):
            cls._parse_call(parser, written)
        attributes = parser.parse_optional_attr_dict()
        properties = cls.settled(parser, attributes)
        for word in cls.later:
            if parser.parse_optional_keyword(word) is not None:
                cls._parse_group(parser, written, (word,))
        return cls.make(by_role(written), cls._parse_results(parser), properties, attributes)

    @classmethod
    def _parse_call(cls, parser: LocatedParser, written: Written) -> None:
        parser.parse_punctuation("(")
        cls._parse_roles(parser, written, cls.leading())
        for word, roles in cls.groups.items():
            if written:
                parser.parse_punctuation(",", f" before {word}(...)")
            parser.parse_keyword(word)
            parser.parse_punctuation("(", f" after {word}")
            cls._parse_roles(parser, written, roles)
            parser.parse_punctuation(")", f" after {word}(...")
        if parser.parse_optional_punctuation(":") is not None:
            cls._compare(parser, written)
        elif cls.types_in_call and written:
            parser.raise_error("expected ':' and the types of the operands")
        parser.parse_punctuation(")")

    @classmethod
    def _parse_group(cls, parser: LocatedParser, written: Written, roles: tuple[str, ...]) -> None:
        """`(%a)` or `(%a : T)`, after its word."""
        here: Written = []
        parser.parse_punctuation("(")
        cls._parse_roles(parser, here, roles)
        if parser.parse_optional_punctuation(":") is not None:
            cls._compare(parser, here)
        parser.parse_punctuation(")")
        written += here

    @classmethod
    def _parse_roles(cls, parser: LocatedParser, written: Written, roles: Sequence[str]) -> None:
        """The values that stand here, each with its role. Optional ones are there from left to right."""
        values, spans = list[SSAValue](), [parser.span_here()]
        while parser.at(MLIRTokenKind.PERCENT_IDENT):
            spans.append(parser.span_here())
            values.append(parser.parse_value())
            if not parser.text_follows(r",\s*%"):
                break
            parser.parse_punctuation(",")
        chosen = list(cls._chosen(roles, len(values)))
        if len(chosen) != len(values):
            shown = ", ".join(f"[{role}]" if role in cls.optional_roles else role for role in roles)
            parser.raise_error(f"{cls.name} has {shown} here; {len(values)} given", spans[-1])
        for role, value, span in zip(chosen, values, spans[1:], strict=True):
            parser.place(role, span)
            written.append((role, value))

    @classmethod
    def _chosen(cls, roles: Sequence[str], count: int) -> Iterator[str]:
        """The roles of that many values."""
        flexible = cls.optional_roles | cls.variadic_roles
        spare = count - sum(role not in flexible for role in roles)
        for role in roles:
            if role in cls.variadic_roles:
                yield from (nth(role, index) for index in range(spare))
                spare = 0
            elif role not in flexible:
                yield role
            elif spare > 0:
                yield role
                spare -= 1

    @classmethod
    def _compare(cls, parser: LocatedParser, written: Written) -> None:
        """Each operand has the type that is written for it."""
        types = parse_types(parser)
        if len(types) != len(written):
            where = types[min(len(types) - 1, len(written))][1] if types else parser.span_here()
            parser.raise_error(f"{cls.name} has {len(written)} operands here, but {len(types)} types", where)
        for (role, value), (type_, span) in zip(written, types, strict=True):
            parser.place(f"{role}_type", span)
            if not parser.same_type(type_, value):
                parser.report(f"{role} has type {value.type}, but the type list says {type_}", span)

    @classmethod
    def _parse_results(cls, parser: LocatedParser) -> list[Attribute]:
        if not cls.result_roles:
            return []
        parser.parse_punctuation("->", f" and the type of the result of {cls.name}")
        return cls._results(parser, parse_types(parser))

    # --- writing ------------------------------------------------------------------------------------------------------

    def print(self, printer: Printer) -> None:
        called = list(self._values(self.leading()))
        if called or self.groups or not self.bare:
            self._print_call(printer, called)
        shown = {name: value for name, value in self.properties.items() if name != SEGMENTS}
        print_dictionary(printer, {**shown, **self.attributes}, self.words, self.plain)
        for role in self.later:
            for value in self.segment(role):
                write(printer, f" {role}(", value, ")")
        if self.results:
            write(printer, " -> ", types_of(self.results))

    def _print_call(self, printer: Printer, values: list[SSAValue]) -> None:
        write(printer, "(", values)
        for word, roles in self.groups.items():
            grouped = list(self._values(roles))
            write(printer, f", {word}(" if values else f"{word}(", grouped, ")")
            values += grouped
        if values and self.types_in_call:
            write(printer, " : ", types_of(values))
        write(printer, ")")

    def _values(self, roles: Iterable[str]) -> Iterator[SSAValue]:
        for role in roles:
            yield from self.segment(role)
