"""From the text of a `.pto` file to xDSL operations with positions; older spellings and the verifier come after."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnregisteredAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.diagnostics import Diagnostic, Location, PTOError, Source, error
from ptosim.language.catalogue import dialects
from ptosim.language.edits import EditWriter
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.structure.function import Call, link
from ptosim.language.text.cpp_edits import CppWriter
from ptosim.language.text.edited_text import TextWriter
from ptosim.language.text.located_parser import LocatedParser, Unsupported
from ptosim.language.text.location_forms import Locations, NamedPlace, Position
from ptosim.language.text.page_spellings import written_instead
from ptosim.language.text.python_edits import PythonWriter
from ptosim.language.text.recovery import MOST_ERRORS, RecoveringParser
from ptosim.language.text.structured_blocks import BRANCHES
from ptosim.places import LONGEST_FILE, AuthoredPlaces

DEEPEST_NESTING = 200
LONGEST_MESSAGE = 2_000
_FRAMES_PER_LEVEL = 40
"""Python frames that xDSL's recursive descent needs at most for one level of nesting."""


@dataclass(frozen=True)
class NamedTile:
    """A tile at a known address: its bytes, and those from one row to the next where rows lie one behind the other."""

    name: str
    space: str
    address: int
    size: int
    pitch: int | None

    def holds(self, space: str, low: int, high: int) -> bool:
        return space == self.space and self.address <= low and high <= self.address + self.size

    def rows(self, low: int, high: int) -> str:
        """Some bytes of it as rows: `%sum rows 0:16`."""
        if self.pitch is None:
            return self.name
        first, last = (low - self.address) // self.pitch, -(-(high - self.address) // self.pitch)
        return f"{self.name} row {first}" if last == first + 1 else f"{self.name} rows {first}:{last}"


class VectorLanes(NamedTuple):
    """Lanes of a logical vector that one instruction loads or stores."""

    vector: str
    first: int
    last: int
    """One past the last."""
    width: int = 0
    """The bytes of memory that each lane takes, one behind the other; 0 where they lie otherwise."""

    def within(self, low: int, high: int) -> VectorLanes:
        """The lanes of some bytes, counted from the first byte of the access."""
        if not self.width or low < 0:
            return self
        first, last = self.first + low // self.width, self.first - (-high // self.width)
        return self._replace(first=first, last=last) if first < last <= self.last else self

    def __str__(self) -> str:
        return f"lanes {self.first}:{self.last} of {self.vector}"


@dataclass
class ParsedModule:
    """The operations of a file, where each was written, and the type-list mismatches met on the way."""

    source: Source
    module: ModuleOp
    positions: dict[Operation, Position]
    definitions: dict[SSAValue, Span]
    reports: list[Diagnostic]
    hints: list[tuple[SSAValue, Attribute]] = field(default_factory=list[tuple[SSAValue, Attribute]])
    """Closed types that type lists give to values whose own type is open."""
    origins: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    """In a module that passes rewrite: the operation of the text that each operation serves."""

    spellings: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """In such a module: the name that an operation was written with, where only its spelling has changed."""

    names: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    """The names of values in locations, if they differ from the names in the text."""

    tiles: dict[Operation, list[NamedTile]] = field(default_factory=dict[Operation, "list[NamedTile]"])
    """The memory of the tiles of a written operation, as far as it is known before a run."""

    writer: EditWriter = field(default_factory=TextWriter)
    """Makes lines of edits, for the file that its author wrote."""

    lanes: dict[Operation, VectorLanes] = field(default_factory=dict[Operation, VectorLanes])
    """The lanes that loads and stores serve which logical vectors have become."""

    def tile_at(self, op: Operation, space: str, low: int, high: int) -> str:
        """The tile that these bytes belong to in the eyes of the operation of the text; nothing where none is known."""
        named = self.tiles.get(self.origin(op), ())
        return next((tile.rows(low, high) for tile in named if tile.holds(space, low, high)), "")

    def whole_tiles(self, space: str) -> list[NamedTile]:
        """The tiles that lie in no larger one."""
        known = {
            (tile.address, tile.size): tile for named in self.tiles.values() for tile in named if tile.space == space
        }
        found = list[NamedTile]()
        for address, size in sorted(known, key=lambda each: -each[1]):
            if not any(tile.holds(space, address, address + size) for tile in found):
                found.append(known[address, size])
        return found

    def tile_start(self, op: Operation, space: str, address: int, whole: Iterable[NamedTile]) -> int:
        """The start of the tile that an address belongs to, for the operation of the text: the whole one,
        where it is known to be a part of one of these."""
        named = self.tiles.get(self.origin(op), ())
        own = next((tile for tile in named if tile.holds(space, address, address + 1)), None)
        if own is None:
            return address
        return next(
            (tile.address for tile in whole if tile.holds(space, own.address, own.address + own.size)), own.address
        )

    def origin(self, op: Operation) -> Operation:
        """The operation of the text that this one serves: itself, unless a pass made it."""
        return self.origins.get(op, op)

    def called(self, op: Operation) -> str:
        """The name of an operation in reports."""
        return self.spellings.get(op, op.name)

    @cached_property
    def operations(self) -> list[Operation]:
        """Every operation in the order of the text. Ask when no pass is to come any more."""
        return list(self.module.walk())

    @cached_property
    def numbers(self) -> dict[Operation, int]:
        """The place of each in that list."""
        return {op: number for number, op in enumerate(self.operations)}

    def served(self, op: Operation) -> str:
        """The operation of the text that this one was made for, as its author knows it; nothing for a written one."""
        origin = self.origin(op)
        return (
            ""
            if origin.name == self.called(op) or not isinstance(origin, PTOOperation)
            else origin.heading(self.name_of)
        )

    def name_of(self, value: SSAValue) -> str:
        """A value as its author called it: the name that a location gives, else that in the text."""
        return self.named(value) or "%?"

    def named(self, value: SSAValue) -> str | None:
        """The same; None for a value that has no name."""
        span = self.definitions.get(value)
        return self.names.get(value) or (span.text if span is not None else None)

    def serve(self, new: Operation, old: Operation) -> None:
        """A pass made the new operation, and all inside it, for the old one: it stands where that was written."""
        position, origin = self.positions.get(old), self.origin(old)
        for op in new.walk() if new.regions else (new,):
            if position is not None:
                self.positions[op] = position
            self.origins[op] = origin

    def copied(self, op: Operation, values: dict[SSAValue, SSAValue] | None = None) -> Operation:
        """A copy of an operation that stands where it stands and serves what it serves; `values` take the place of its
        operands, and get the results."""
        values = {} if values is None else values
        new = op.clone(values)
        for old, copy in zip(op.walk(), new.walk(), strict=True):
            if old in self.positions:
                self.positions[copy] = self.positions[old]
            self.origins[copy] = self.origin(old)
            if old in self.spellings:
                self.spellings[copy] = self.spellings[old]
            if isinstance(old, Call) and isinstance(copy, Call):
                copy.function = old.function
        for old, copy in values.items():
            if old in self.names:
                self.names.setdefault(copy, self.names[old])
            if old in self.definitions:  # what takes the place of an operand keeps the name that it has
                self.definitions.setdefault(copy, self.definitions[old])
        return new

    def cloned(self) -> ParsedModule:
        """A copy for passes to rewrite. Its operations stand at the same places and serve those of this module."""
        values: dict[SSAValue, SSAValue] = {}
        module = self.module.clone(values)
        link(module)
        operations = dict(zip(self.module.walk(), module.walk(), strict=True))
        return ParsedModule(
            self.source,
            module,
            {operations[op]: position for op, position in self.positions.items() if op in operations},
            self.definitions | {values[value]: span for value, span in self.definitions.items() if value in values},
            self.reports,
            origins={new: self.origin(old) for old, new in operations.items()},
            spellings={operations[op]: name for op, name in self.spellings.items() if op in operations},
            names=self.names | {values[value]: name for value, name in self.names.items() if value in values},
            writer=self.writer,
        )

    def location(self, op: Operation, role: str | None = None) -> Location | None:
        """The place of an operation, or of the operand that plays a role in it."""
        position = self.positions.get(op)
        if position is None:
            return None
        span = position.name
        if role is not None:
            span = position.roles.get(role) or _unplaced(op, position, role) or span
        return self.source.location(span.start, max(1, span.end - span.start))

    def diagnostic(self, op: Operation, problem: Problem) -> Diagnostic:
        """A broken rule with its place."""
        place = problem.on or op
        if isinstance(problem.at, int):
            location = self.operand_location(place, problem.at)
        else:
            location = self.location(place, problem.at)
        return Diagnostic(problem.kind, problem.severity, problem.message, location, hint=problem.hint)

    def operand_location(self, op: Operation, index: int) -> Location | None:
        """The place of an operand by its number."""
        position = self.positions.get(op)
        if isinstance(op, PTOOperation) and position is not None and position.roles:
            return self.location(op, op.role_at(index))
        if position is None or index >= len(position.operands):
            return self.location(op)
        span = position.operands[index]
        return self.source.location(span.start, span.end - span.start)

    def replaced(self, old: Operation, new: Operation) -> None:
        """A rewritten operation stands where the old one stood."""
        if old in self.positions:
            self.positions[new] = self.positions.pop(old)
        if old in self.origins:
            self.origins[new] = self.origins.pop(old)
        for before, after in zip(old.results, new.results, strict=True):
            if before in self.definitions:
                self.definitions[after] = self.definitions.pop(before)
            if before in self.names:
                self.names[after] = self.names.pop(before)


def _unplaced(op: Operation, position: Position, role: str) -> Span | None:
    """The place of an operand of the generic form, which has operands in the order of the class and no roles."""
    if not isinstance(op, PTOOperation) or len(position.operands) != len(op.operands):
        return None
    played = role.removesuffix("_type")  # of a tile operation; the generic form has its types elsewhere
    numbers = (index for index in range(len(op.operands)) if op.role_at(index) == played)
    index = next(numbers, None)
    return None if index is None else position.operands[index]


@irdl_attr_definition(init=False)
class _WrittenAttr(UnregisteredAttr):
    """Any attribute that no dialect knows. xDSL would make a class for each name, and a class is kept for good."""


class _Context(Context):
    """Unknown attributes are kept as they are written; unknown operations and types are errors."""

    def get_optional_attr(self, name: str) -> type[Attribute]:
        return super().get_optional_attr(name) or _WrittenAttr


@cache
def context() -> Context:
    """Every dialect that a `.pto` file may use."""
    known = _Context()
    for dialect in dialects():
        known.load_dialect(dialect)
    for branch in BRANCHES:
        known.load_op(branch)
    return known


def parse(source: Source) -> ParsedModule:
    """Parse a file; raises a PTOError with the first errors, each with its place."""
    if source.operations is not None:
        return source.operations(source)
    _check_size(source)
    if source.places is None:
        source = replace(source, places=AuthoredPlaces(beside=source.name))
    try:
        with deep_recursion():
            parser = LocatedParser(context(), source)
            if parser.at(MLIRTokenKind.EOF):
                raise error("syntax", f"{source.name} is empty: expected a module or a function", source.location(0))
            module = parser.parse_module()
            link(module)
            names = _located(parser, source)
    except ParseError as problem:
        # errors behind the first one are for authors: a text of our own is an attempt
        raise PTOError(*([_diagnostic(source, problem)] if source.is_own else _errors(source, problem))) from None
    writer = _writer(source)
    return ParsedModule(
        source, module, parser.positions, parser.definitions, parser.reports, parser.hints, names=names, writer=writer
    )


def _writer(source: Source) -> EditWriter:
    """Edits are said in the language of the author's file."""
    if not source.is_recorded:
        return TextWriter()
    return CppWriter() if source.is_cpp else PythonWriter()


def _located(parser: LocatedParser, source: Source) -> dict[SSAValue, str]:
    """Applies the locations of a text: its source gets the places; the names of values are returned."""
    assert source.places is not None
    if not any(form for _, form, _ in parser.placed) and not parser.named:
        return {}
    meanings = Locations(parser.location_aliases)
    names: dict[SSAValue, str] = {}
    entries: list[tuple[int, Location | None]] = []
    for start, form, op in parser.placed:
        meaning = meanings.meaning(form) if form is not None else NamedPlace()
        entries.append((start, meaning.place))
        if meaning.name and len(op.results) == 1:
            names[op.results[0]] = meaning.name
    source.places.read(entries)
    return names | {value: name for form, value in parser.named if (name := meanings.meaning(form).name)}


def _errors(source: Source, first: ParseError) -> list[Diagnostic]:
    """The error that ended a reading, and further ones behind it."""
    with deep_recursion():
        try:
            later = RecoveringParser(context(), source).read_on()
        except ParseError:  # of the first token
            later = []
    starts = {problem.span.start: problem for problem in (*later, first)}  # one error a place
    return [_diagnostic(source, starts[start]) for start in sorted(starts)][:MOST_ERRORS]


def _diagnostic(source: Source, problem: ParseError) -> Diagnostic:
    """A syntax error in our words, with its place."""
    span, message = problem.span, problem.msg
    if isinstance(problem, MultipleSpansParseError):  # branches to blocks that there are not
        span = problem.refs[0][0]
        message = f"there is no block {span.text}"
    start = min(span.start, len(source.text))
    message = message.replace("{first_char}", f"'{source.text[start : start + 1]}'")  # xDSL forgets to fill this in
    if len(message) > LONGEST_MESSAGE:  # it quotes a name that is as long as that
        message = f"{message[: LONGEST_MESSAGE - 3]}..."
    kind = "unsupported" if isinstance(problem, Unsupported) else "syntax"
    hint = written_instead(source.text, start, message, context().get_optional_op)
    return Diagnostic(kind, "error", message, source.location(start, max(1, span.end - span.start)), hint=hint)


def _check_size(source: Source) -> None:
    if source.is_own:
        return
    if len(source.text) > LONGEST_FILE:
        raise error("limit", f"{source.name} has more than {LONGEST_FILE} characters")
    depth = 0
    for offset, step in _structure(source.text):
        depth += step
        if depth > DEEPEST_NESTING:
            raise error("limit", f"nested deeper than {DEEPEST_NESTING} levels", source.location(offset))


_BRACKETS = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|->|([{(\[<])|([})\]>])')
"""Brackets, and what may hide them: strings, comments, and the arrow that looks like one."""


def _structure(text: str) -> Iterator[tuple[int, int]]:
    """The brackets of a text: where, and whether they open (1) or close (-1)."""
    for found in _BRACKETS.finditer(text):
        if found[1] or found[2]:
            yield found.start(), 1 if found[1] else -1


@contextmanager
def deep_recursion() -> Generator[None]:
    """The nesting limit, not Python's recursion limit, decides how deep a file may be."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST_NESTING * _FRAMES_PER_LEVEL))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def without_collection() -> Generator[None]:
    """While many objects are made that all stay, Python's garbage collector looks through them again and again and
    finds nothing, which is a third of the time that a long module takes."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
