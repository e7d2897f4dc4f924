"""The syntax of tile operations: `ins(...)`, `outs(...)`, and attributes in the spellings of the dialect.

    clause := word '(' group { [','] group } ')'            group := [keyword] item {',' item} [words] ':' types

A group is read whatever operation it belongs to: values, an attribute dictionary, words such as `no_tmp` or "row", then
one type for each value. Which value plays which role is said by the class (tile_operation.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, UnregisteredAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.text.assembly_format import Vocabulary, check_word, given_twice, parse_listed_type, word_in, write
from ptosim.language.text.located_parser import LocatedParser

_BARE_NAME = re.compile(r"[A-Za-z_][\w$.]*")


# --- attributes that are words ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AttributeKind(Vocabulary):
    """The values of one kind of attribute; both `#pto.kind<value>` and `#pto<kind value>` are read."""

    kind: str = ""
    older: tuple[str, ...] = ()
    """Older names of the kind."""


def pretty(kind: str, words: str, aliases: Mapping[str, str] | None = None) -> AttributeKind:
    """A kind that is printed as `#pto.kind<value>`."""
    return AttributeKind(tuple(words.split()), aliases or {}, f"#pto.{kind}<{{}}>", kind=kind)


def opaque(kind: str, words: str, aliases: Mapping[str, str] | None = None) -> AttributeKind:
    """A kind that is printed as `#pto<kind value>`."""
    return AttributeKind(tuple(words.split()), aliases or {}, f"#pto<{kind} {{}}>", kind=kind)


def read_word(parser: LocatedParser, name: str, attribute: Attribute, vocabulary: Vocabulary) -> str:
    """The word of an attribute, of whichever spelling; another kind of attribute or an unknown word is an error."""
    span = parser.place_of(name)
    if isinstance(vocabulary, AttributeKind) and isinstance(attribute, UnregisteredAttr):
        kind = attribute.attr_name.data.removeprefix("pto.")
        if kind not in (vocabulary.kind, *vocabulary.older):
            expected = vocabulary.printed.format("...")
            parser.raise_error(f"{name} must be {expected}, not of kind {kind}", span)
    return check_word(parser, name, word_in(attribute), vocabulary, span)


# --- clauses ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """A value in a clause: where it stands, the type written for it, and the keyword of its group."""

    value: SSAValue
    span: Span
    listed: Attribute
    type_span: Span
    keyword: str | None = None


@dataclass
class Clause:
    """The content of one `ins(...)` or `outs(...)`."""

    word: str
    items: list[Item] = field(default_factory=list[Item])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    words: dict[str, Span] = field(default_factory=dict[str, Span])
    """Words that are no values, such as `no_tmp`, or "row" among the types."""
    end: Span | None = None
    """The closing parenthesis."""

    @property
    def types(self) -> list[Attribute]:
        """The types of the values, as they were defined."""
        return [item.value.type for item in self.items]


def parse_clause(parser: LocatedParser, word: str, keywords: Iterable[str] = ()) -> Clause:
    """`word(...)`; `keywords` may begin a group of their own."""
    if not parser.at_word(word):
        parser.raise_error(f"expected '{word}('")
    parser.skip_token()
    parser.parse_punctuation("(", f" after {word}")
    clause, known = Clause(word), frozenset(keywords)
    keyword = _keyword(parser, known)
    while True:
        _parse_group(parser, clause, keyword, known)
        comma = parser.parse_optional_punctuation(",")
        keyword = _keyword(parser, known)
        if comma is None and keyword is None:
            break
    clause.end = parser.span_here()
    parser.parse_punctuation(")", f" at the end of {word}(...)")
    return clause


def _keyword(parser: LocatedParser, known: frozenset[str]) -> str | None:
    return parser.skip_token() if any(parser.at_word(word) for word in known) else None


def _parse_group(parser: LocatedParser, clause: Clause, keyword: str | None, known: frozenset[str]) -> None:
    values: list[tuple[SSAValue, Span]] = []
    while not parser.at(MLIRTokenKind.COLON):
        span = parser.span_here()
        if parser.at(MLIRTokenKind.L_BRACE):
            _join(parser, clause.attributes, parser.parse_optional_attr_dict())
        elif (word := parser.parse_optional_str_literal()) is not None:
            clause.words[word] = span
        elif parser.at_name() and span.text not in known:
            clause.words[parser.skip_token()] = span
        else:
            values.append((parser.parse_value(), span))
        if parser.parse_optional_punctuation(",") is None and parser.at(MLIRTokenKind.PERCENT_IDENT):
            parser.raise_error(f"expected ',' or ':' in {clause.word}(...)")
    _parse_types(parser, clause, values, keyword)


def _join(parser: LocatedParser, into: dict[str, Attribute], more: Mapping[str, Attribute]) -> None:
    for name, value in more.items():
        if name in into:
            given_twice(parser, name, parser.place_of(name))
        into[name] = value


def _parse_types(
    parser: LocatedParser, clause: Clause, values: list[tuple[SSAValue, Span]], keyword: str | None
) -> None:
    """The types of a group; a value after a comma begins the next group."""
    parser.parse_punctuation(":", f" and the types in {clause.word}(...)")
    types: list[tuple[Attribute, Span]] = []
    while True:
        start = parser.span_here()
        if (word := parser.parse_optional_str_literal()) is not None:
            clause.words[word] = start
        else:
            type_ = parse_listed_type(parser)
            span = parser.span_since(start.start)
            types.extend([(type_, span)] * parser.parse_repetition())
        if not parser.at(MLIRTokenKind.COMMA) or parser.text_follows(r",\s*%"):
            break
        parser.skip_token()
    if len(types) != len(values):
        message = f"{clause.word}(...) has {_counted(len(values), 'value')}, but {_counted(len(types), 'type')}"
        parser.raise_error(message, types[-1][1] if types else parser.span_here())
    for (value, span), (type_, type_span) in zip(values, types, strict=True):
        clause.items.append(Item(value, span, type_, type_span, keyword))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


# --- printing ---------------------------------------------------------------------------------------------------------


def print_dictionary(
    printer: Printer,
    entries: Mapping[str, Attribute],
    words: Mapping[str, Vocabulary],
    plain: Collection[str] = (),
) -> None:
    """` {name = value, ...}`, words in the spelling of their kind, integers of `plain` names without their type."""
    if not entries:
        return
    printer.print_string(" ")
    with printer.in_braces():
        printer.print_list(entries.items(), lambda entry: _print_entry(printer, *entry, words, plain))


def _print_entry(
    printer: Printer, name: str, value: Attribute, words: Mapping[str, Vocabulary], plain: Collection[str]
) -> None:
    printer.print_string(name if _BARE_NAME.fullmatch(name) else f'"{name}"')
    if name in words:
        printer.print_string(f" = {words[name].printed.format(word_in(value))}")
    elif name in plain and isinstance(value, IntegerAttr):
        printer.print_string(f" = {cast('IntegerAttr[Any]', value).value.data}")
    elif not isinstance(value, UnitAttr):
        write(printer, " = ", value)
