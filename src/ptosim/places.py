"""Places: sources, places in them, and places that a text gives its operations by `loc` or comments.

A kernel that was written out by another program (a lowering, a compiler, a front end) names for each operation the file
that its author wrote. Everything inside works on the text that was loaded, where edits belong; what is shown is the
author's place (`Location.shown`), from which `Location.in_text` leads back.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

LONGEST_FILE = 2_000_000
"""Characters; a kernel that is longer is not read."""

SCRIPT = re.compile(r"(?P<path>.+?\.py)(?::(?P<kernel>[\w.]*))?")
CPP_FILE = re.compile(r"(?P<path>.+?\.(?:cpp|cc|cxx|cce))(?::(?P<kernel>.*))?", re.DOTALL)
"""Files of kernels in Python and C++, with the kernel that is meant behind them."""

MOST_CALLS = 32
"""The most calls of a place that are kept, the innermost ones."""


@dataclass(frozen=True)
class Source:
    """The text of a kernel file. Lines and columns count from 1, columns in characters."""

    name: str
    text: str
    places: "AuthoredPlaces | None" = field(default=None, compare=False, repr=False)
    """The places of its operations in the files that it was made from."""
    is_own: bool = field(default=False, compare=False, repr=False)
    """Whether ptosim wrote it, of a text that was no longer than one may be: it may be longer, and of its syntax errors
    the first is enough."""

    is_recorded: bool = field(default=False, compare=False, repr=False)
    """Whether it is a recording of a program in another language: no file holds it."""

    operations: "Callable[[Source], Any] | None" = field(default=None, compare=False, repr=False)
    """Gives the operations as reading the text would, where they were built before the text was written."""

    @property
    def is_cpp(self) -> bool:
        """Whether the author wrote it in C++."""
        return self.name.endswith((".cpp", ".cc", ".cxx", ".cce"))

    @cached_property
    def line_starts(self) -> list[int]:
        starts = [0]
        while (newline := self.text.find("\n", starts[-1])) >= 0:
            starts.append(newline + 1)
        return starts

    def line(self, number: int) -> str:
        """The text of a line without its line break; empty for a line that the file does not have."""
        starts = self.line_starts
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].removesuffix("\r")

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of a character offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The character offset of a line and column."""
        starts = self.line_starts
        return starts[min(max(line, 1), len(starts)) - 1] + column - 1

    def location(self, offset: int, length: int = 1) -> "Location":
        line, column = self.position(offset)
        return Location(self.name, line, column, length, self)

    def shown(self, line: int) -> "Location":
        """The place to show for a line: the author's, where its first operation has one."""
        text = self.line(line)
        return Location(self.name, line, len(text) - len(text.lstrip()) + 1, source=self).shown

    @property
    def authored(self) -> "Source":
        """The file that the author wrote most of it in: this one, unless it names another."""
        return (self.places.main if self.places else None) or self


@dataclass(frozen=True)
class Location:
    """A stretch of one source line. It compares by place; the source is there only to quote from."""

    file: str
    line: int
    column: int
    length: int = 1
    source: Source | None = field(default=None, compare=False, repr=False)
    turns: tuple[tuple[str, int], ...] = ()
    """The turn of each loop around it that was unrolled when the kernel was written out, outermost first: ("i", 3)."""
    calls: "tuple[Location, ...]" = ()
    """The calls that it was made by, innermost first."""
    text: "Location | None" = field(default=None, compare=False, repr=False)
    """The place in the loaded text of a place in the author's file."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def shown(self) -> "Location":
        """The place to show: the author's, where the text names one."""
        places = self.source.places if self.source is not None else None
        return (places.of(self) or self) if places else self

    @property
    def in_text(self) -> "Location":
        """The place in the text that was loaded."""
        return self.text or self

    @property
    def is_one_of_several(self) -> bool:
        """Whether the same place of the author's file was written out for other turns or calls as well."""
        places = self.text.source.places if self.text is not None and self.text.source is not None else None
        return places is not None and len(places.ways[self.file, self.line, self.column]) > 1

    @property
    def turn(self) -> str:
        """The turns in words: `i = 3, j = 0`."""
        return ", ".join(f"{name} = {number}" for name, number in self.turns)

    def to_json(self) -> dict[str, object]:
        """Plain data; turns and calls only where there are some."""
        known: dict[str, object] = {"file": self.file, "line": self.line, "column": self.column, "length": self.length}
        if self.turns:
            known["turns"] = [list(turn) for turn in self.turns]
        if self.calls:
            known["calls"] = [call.to_json() for call in self.calls]
        return known


def called(place: Location, callers: Sequence[Location]) -> Location:
    """A place with the calls that led there, innermost first."""
    return replace(place, calls=tuple(callers[:MOST_CALLS]))


def location_from_json(record: Mapping[str, Any], source: Source | None = None) -> Location:
    """A place again; `source` has its text."""
    return Location(
        source.name if source is not None else record["file"],
        record["line"],
        record["column"],
        record["length"],
        source,
        tuple((name, number) for name, number in record.get("turns", ())),
        tuple(location_from_json(call) for call in record.get("calls", ())),
    )


class AuthoredPlaces:
    """For the operations of a text, in its order, the place in the author's file that each was made from, or None.

    Files are quoted only where they lie beside or below the text's own file, or were given; others are named."""

    def __init__(
        self,
        entries: Sequence[tuple[int, Location | None]] = (),
        beside: str | None = None,
        given: Sequence[Source] = (),
    ) -> None:
        """`entries`: where an operation begins, by offset, and its place. `beside`: the file of the text."""
        self.is_written = False
        """Whether the text itself says them."""
        self._entries: list[tuple[int, Location | None]] = []
        self._starts: list[int] = []
        self._files: dict[str, Source | None] = {source.name: source for source in given}
        self._beside = beside
        self._fill(entries)

    def read(self, entries: Sequence[tuple[int, Location | None]]) -> None:
        """Places of a text that has been read to its end: they count before what was known."""
        self.is_written = True
        self._fill(entries)

    def _fill(self, entries: Sequence[tuple[int, Location | None]]) -> None:
        some = any(place is not None for _, place in entries)
        self._entries = sorted(entries, key=lambda entry: entry[0]) if some else []
        self._starts = [start for start, _ in self._entries]

    def __bool__(self) -> bool:
        return bool(self._entries)

    @property
    def entries(self) -> Sequence[tuple[int, Location | None]]:
        """The offset of each operation, and its place."""
        return self._entries

    def of(self, location: Location) -> Location | None:
        """The author's place for a place in the text: that of the last operation that begins there or before."""
        assert location.source is not None
        number = bisect_right(self._starts, location.source.offset(location.line, location.column)) - 1
        place = self._entries[number][1] if number >= 0 else None
        return None if place is None else replace(self._quotable(place), text=location)

    @cached_property
    def ways(self) -> Mapping[tuple[str, int, int], set[Any]]:
        """The turns and calls that each place of the author's files was written out for."""
        found: defaultdict[tuple[str, int, int], set[Any]] = defaultdict(set)
        for _, place in self._entries:
            if place is not None:
                found[place.file, place.line, place.column].add((place.turns, place.calls))
        return found

    @property
    def main(self) -> Source | None:
        """The file that most operations stand in, without its text where that may not be quoted; None where most have
        no place."""
        files = Counter(None if place is None else place.file for _, place in self._entries)
        name = files.most_common(1)[0][0]
        return None if name is None else self._source(name) or Source(name, "")

    def _quotable(self, place: Location) -> Location:
        """The place, and the places of its calls, with the texts that may be quoted."""
        calls = tuple(map(self._quotable, place.calls))
        return replace(place, source=self._source(place.file), calls=calls)

    def _source(self, name: str) -> Source | None:
        if name not in self._files:
            self._files[name] = _read(name, self._beside)
        return self._files[name]

    def to_json(self) -> list[Any]:
        """The parts that the text says: others are known only to its writer."""
        entries = self._entries if self.is_written else []
        return [[start, None if place is None else place.to_json()] for start, place in entries]

    @classmethod
    def from_json(cls, records: Sequence[Any], beside: str | None) -> "AuthoredPlaces | None":
        """The same places again; None where there are none."""
        entries = [(start, None if place is None else location_from_json(place)) for start, place in records]
        places = cls(beside=beside)
        places.read(entries)
        return places if entries else None


def _read(name: str, beside: str | None) -> Source | None:
    """A file that a text names, if it lies beside or below the file of the text: a kernel is untrusted, and what it
    names is shown."""
    if beside is None:
        return None
    try:
        folder = Path(beside).resolve(strict=True).parent
        for path in _candidates(folder, name):
            if path.is_relative_to(folder) and path.is_file():
                with path.open(encoding="utf-8-sig") as file:
                    text = file.read(LONGEST_FILE + 1)
                return Source(name, text) if len(text) <= LONGEST_FILE else None
    except (OSError, ValueError, RuntimeError):  # not there, not readable, no text, a circle of links
        return None
    return None


def _candidates(folder: Path, name: str) -> Iterator[Path]:
    """Files that a name may mean: one seen from the folder of the text, or from where the program runs."""
    yield (folder / name).resolve()
    yield Path(name).resolve()
