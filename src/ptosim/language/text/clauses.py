"""Clauses after the leading operands, such as `nburst(%n, %s, %d)`: their order, and their part of the type list.

Which clauses an instruction has, and what they mean, is said by its class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.text.assembly_format import compare_types, parse_comma, parse_listed_type, write
from ptosim.language.text.located_parser import LocatedParser

Written = list[tuple[str, SSAValue]]
"""Operands with their roles, in the order of the text."""


@dataclass
class ClauseOrder:
    """The clauses that may follow, in their fixed order; the words of one slot exclude each other."""

    parser: LocatedParser
    slots: Sequence[Sequence[str]]
    repeated: frozenset[str] = frozenset()
    _slot: int = field(default=0, init=False)
    _last: str | None = field(default=None, init=False)

    def next(self) -> str | None:
        """The name of the next clause, read; None where the text goes on with something else."""
        if not self.parser.at_name():
            return None
        span = self.parser.span_here()
        word = self.parser.skip_token()
        slot = next((index for index, words in enumerate(self.slots) if word in words), None)
        if slot is None:
            known = ", ".join(word for words in self.slots for word in words)
            self.parser.raise_error(f"unknown clause '{word}'; known, in this order: {known}", span)
        if self._last is not None and slot == self._slot and word not in self.repeated:
            self.parser.raise_error(f"clause '{word}' after '{self._last}': only one of them may be given", span)
        if slot < self._slot:
            self.parser.raise_error(f"clause '{word}' must come before '{self._last}'", span)
        self._slot, self._last = slot, word
        self.parser.place(word, span)
        return word


def parse_group(parser: LocatedParser, written: Written, *roles: str) -> list[SSAValue]:
    """`(%a, %b, ...)`, one operand for each role."""
    parser.parse_punctuation("(")
    values: list[SSAValue] = []
    for role in roles:
        if values:
            parse_comma(parser, "this clause", roles, len(values))
        values.append(parser.parse_value(role))
        written.append((role, values[-1]))
    parser.parse_punctuation(")")
    return values


def parse_leading(parser: LocatedParser, written: Written, *roles: str) -> None:
    """The operands in front of the clauses, separated by commas."""
    for index, role in enumerate(roles):
        if index:
            parse_comma(parser, parser.place_of("").text, roles, index)
        written.append((role, parser.parse_value(role)))


def parse_operand_list(parser: LocatedParser) -> list[tuple[SSAValue, Span]]:
    """Operands separated by commas, as many as there are."""
    found: list[tuple[SSAValue, Span]] = []
    while True:
        span = parser.span_here()
        found.append((parser.parse_value(), span))
        if parser.parse_optional_punctuation(",") is None:
            return found


def parse_clause_types(parser: LocatedParser, written: Written, words: Iterable[str] = ()) -> list[tuple[str, Span]]:
    """The type list of an instruction with clauses; returns the words among the types that name a clause or mode."""
    seen: list[tuple[str, Span]] = []
    if parser.parse_optional_punctuation(":") is None:
        if parser.at(MLIRTokenKind.COMMA, MLIRTokenKind.L_PAREN, MLIRTokenKind.R_PAREN):
            parser.raise_error("expected ':' and the types of the operands")
        return seen
    names = frozenset(words)
    types: list[tuple[Attribute, Span]] = []
    while True:
        span = parser.span_here()
        if span.text in names:
            seen.append((parser.skip_token(), span))
            if parser.parse_optional_punctuation(",") is not None:
                continue
            parser.parse_optional_punctuation("(")
        start = parser.pos
        type_ = parse_listed_type(parser)
        types.extend([(type_, parser.span_since(start))] * parser.parse_repetition())
        parser.parse_optional_punctuation(")")
        if parser.parse_optional_punctuation(",") is None:
            break
    compare_types(parser, types, written)
    return seen


def print_group(printer: Printer, word: str, values: Sequence[SSAValue]) -> None:
    """` word(%a, %b, ...)`, or nothing for no values."""
    if values:
        write(printer, f" {word}(", values, ")")


def print_clause_types(printer: Printer, groups: Iterable[tuple[str, Sequence[SSAValue]]]) -> None:
    """` : types`, each group introduced by its word (none for the leading operands)."""
    separator = " : "
    for word, values in groups:
        for index, value in enumerate(values):
            write(printer, separator + (f"{word} " if word and not index else ""), value.type)
            separator = ", "


def by_role(written: Written) -> dict[str, list[SSAValue]]:
    """The operands of each role, numbered roles such as `loop_counts[1]` gathered."""
    gathered: dict[str, list[SSAValue]] = {}
    for role, value in written:
        gathered.setdefault(role.partition("[")[0], []).append(value)
    return gathered


def transposed(*columns: Sequence[SSAValue]) -> Iterator[tuple[SSAValue, ...]]:
    """Parallel variadic roles, one group at a time."""
    return zip(*columns, strict=True)
