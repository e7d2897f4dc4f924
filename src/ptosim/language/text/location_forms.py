"""`loc(...)`: the place that a text gives for an operation or a value, in MLIR's forms.

    loc("f.py":1:2)   loc("f.py":1:2 to 1:9)   loc("f.py":1:2 to :9)   loc(unknown)   loc(#loc7)
    loc("sum")   loc("sum"("f.py":1:2))   loc(callsite("g.py":1:2 at "f.py":7:3))   loc(fused<{i = 3}>["f.py":1:2])

A bare name calls the value so in messages. Of fused places the first counts; the numbers beside them are the
turns of loops that were unrolled. Aliases may be defined before or after their use. A comment that is exactly
`// PATH:LINE` or `// PATH:LINE:COLUMN`, on a line of its own, gives the place of the next operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.places import Location, called

if TYPE_CHECKING:
    from ptosim.language.text.located_parser import LocatedParser


@dataclass
class Position:
    """The places of an operation: of its name, its operands in the order of the text, and by role; and where it
    begins and ends, its results included."""

    name: Span
    operands: list[Span] = field(default_factory=list[Span])
    roles: dict[str, Span] = field(default_factory=dict[str, Span])
    start: int = 0
    end: int = 0

    def __post_init__(self) -> None:
        self.start, self.end = self.start or self.name.start, self.end or self.name.end


@dataclass(frozen=True)
class LocationForm:
    """The location in the parentheses of `loc(...)`, its aliases still to be looked up."""

    place: Location | None = None
    name: str | None = None
    parts: tuple[LocationForm, ...] = ()
    """The parts of a fused location; the first that has a place counts."""
    caller: LocationForm | None = None
    turns: tuple[tuple[str, int], ...] = ()
    alias: str | None = None


@dataclass(frozen=True)
class NamedPlace:
    """The meaning of a location: a place, and the name of the value."""

    place: Location | None = None
    name: str | None = None


_NOTHING = NamedPlace()
MOST_ALIASES = 100
"""The most aliases that may lead to a place one after the other."""
_COMMENT = re.compile(
    r"^[ \t]*//[ \t]*([^\s:]*[./\\][^\s:]*):([1-9]\d{0,8})(?::([1-9]\d{0,8}))?[ \t]*\r?$", re.MULTILINE
)
_TURN = re.compile(r"([A-Za-z_]\w*)\s*=\s*(-?\d{1,18})(?!\w)")


def parse_location(parser: LocatedParser) -> LocationForm:
    """A location without its `loc(` and `)`."""
    if parser.at(MLIRTokenKind.STRING_LIT):
        return _file_or_name(parser)
    if parser.at(MLIRTokenKind.HASH_IDENT):
        return LocationForm(alias=parser.skip_token())
    if parser.parse_optional_keyword("unknown") is not None:
        return LocationForm()
    if parser.parse_optional_keyword("callsite") is not None:
        parser.parse_punctuation("(")
        callee = parse_location(parser)
        parser.parse_keyword("at")
        caller = parse_location(parser)
        parser.parse_punctuation(")")
        return LocationForm(parts=(callee,), caller=caller)
    if parser.parse_optional_keyword("fused") is not None:
        turns = _turns(parser)
        parts = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_location(parser))
        return LocationForm(parts=tuple(parts), turns=turns)
    parser.raise_error('expected a location: "FILE":LINE:COLUMN, "NAME", callsite, fused, unknown or an alias')


def _file_or_name(parser: LocatedParser) -> LocationForm:
    text = parser.parse_str_literal()
    if parser.parse_optional_punctuation(":") is None:
        if parser.parse_optional_punctuation("(") is None:
            return LocationForm(name=text)
        inner = parse_location(parser)
        parser.parse_punctuation(")")
        return LocationForm(name=text, parts=(inner,))
    line = _number(parser)
    column = _number(parser) if parser.parse_optional_punctuation(":") is not None else 0
    end_line, end = line, column
    if parser.parse_optional_keyword("to") is not None:
        if not parser.at(MLIRTokenKind.COLON):
            end_line = _number(parser)
        parser.parse_punctuation(":")
        end = _number(parser)
    if line == 0:
        return LocationForm()
    column = max(column, 1)
    return LocationForm(Location(text, line, column, max(1, end - column) if end_line == line else 1))


def _number(parser: LocatedParser) -> int:
    number = parser.parse_integer(allow_boolean=False, allow_negative=False)
    return min(number, 10**9)


def _turns(parser: LocatedParser) -> tuple[tuple[str, int], ...]:
    """`<{i = 3, j = 0}>`, if present; other data are read over."""
    start = parser.mark()
    if parser.parse_optional_punctuation("<") is None:
        return ()
    depth = 1
    while depth:
        if parser.at(MLIRTokenKind.EOF):
            parser.raise_error("expected '>'")
        depth += parser.at(MLIRTokenKind.LESS) - parser.at(MLIRTokenKind.GREATER)
        parser.skip_token()
    text = parser.span_since(start).text
    return tuple((name, int(number)) for name, number in _TURN.findall(text)) if text.startswith("<{") else ()


def comments(text: str) -> Iterator[tuple[int, Location]]:
    """The comments that name a place: where each ends, and the place."""
    for found in _COMMENT.finditer(text):
        yield found.end(), Location(found[1], int(found[2]), int(found[3] or 1))


class Locations:
    """The locations of one text: what its aliases and forms mean, when all of it has been read."""

    def __init__(self, aliases: Mapping[str, LocationForm]) -> None:
        self.aliases = aliases
        self._known: dict[str, NamedPlace | None] = {}
        self._depth = 0

    def meaning(self, form: LocationForm) -> NamedPlace:
        if form.alias is not None:
            return self._alias(form.alias)
        if form.place is not None:
            return NamedPlace(form.place)
        parts = [self.meaning(part) for part in form.parts]
        place = next((part.place for part in parts if part.place is not None), None)
        name = form.name or next((part.name for part in parts if part.name), None)
        if place is not None and form.turns:
            place = replace(place, turns=(*form.turns, *place.turns))
        if form.caller is not None:
            caller = self.meaning(form.caller).place
            if place is None:
                place = caller
            elif caller is not None:
                place = called(place, [*place.calls, replace(caller, calls=()), *caller.calls])
        return NamedPlace(place, name)

    def _alias(self, name: str) -> NamedPlace:
        """The meaning of an alias; nothing where it is not defined, defined by itself, or through too many others."""
        if name not in self._known:
            self._known[name] = None
            self._depth += 1
            deep = self._depth > MOST_ALIASES
            self._known[name] = _NOTHING if deep or name not in self.aliases else self.meaning(self.aliases[name])
            self._depth -= 1
        return self._known[name] or _NOTHING


def quoted(text: str) -> str:
    """A string as the language writes it."""
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return f'"{"".join(plain.get(each, each) for each in text)}"'


def written(place: Location) -> str:
    """The location as text, without `loc(` and `)`."""
    until = f" to :{place.column + place.length}" if place.length > 1 else ""
    text = f"{quoted(place.file)}:{place.line}:{place.column}{until}"
    if place.turns:
        text = f"fused<{{{', '.join(f'{turn} = {number}' for turn, number in place.turns)}}}>[{text}]"
    for caller in place.calls:
        text = f"callsite({text} at {written(caller)})"
    return text
