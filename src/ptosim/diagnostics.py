"""Diagnostics of a kernel: the place, the fault, its reason, its repair.

Everything that goes wrong with a kernel, at load, in a run or under the sanitizer, is a `Diagnostic`. Those that stop
the work travel in a `PTOError`; those that a check collects are its findings. Colour and output formats belong to the
command line and to the reports.
"""

import unicodedata
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Literal, NamedTuple, TypedDict, Unpack

from ptosim.places import Location, Source

Severity = Literal["error", "warning", "note"]

# The severity of a kind unless its reporter knows better (a race whose writes store equal bytes is a warning).
SEVERITY: dict[str, Severity] = {
    "race": "error",
    "scope-alias": "error",
    "deadlock": "error",
    "unmatched-wait": "error",
    "undrained": "warning",
    "double-set": "warning",
    "semaphore-overflow": "error",
    "buffer-misuse": "error",
    "id-range": "error",
    "wrong-pipe": "error",
    "wrong-target": "error",
    "out-of-bounds": "error",
    "misaligned": "error",
    "uninitialized": "error",
    "stale-signal": "warning",
    "signal-overrun": "warning",
    "stale-cache": "warning",
    "wrong-rank": "error",
    "stream-misuse": "error",
    "overlap": "warning",
    "clobbered": "warning",
    "lint": "warning",
    "syntax": "error",
    "invalid": "error",
    "unsupported": "error",
    "argument": "error",
    "arithmetic": "error",
    "limit": "error",
    "trap": "error",
}


@dataclass(frozen=True)
class Related:
    """Another place that takes part; its role is shown under the quoted line ("V writes here")."""

    location: Location
    role: str

    @property
    def line(self) -> int:
        return self.location.line


class Workitem(NamedTuple):
    """One of a launch: its number, and its coordinates."""

    number: int
    x: int
    y: int
    z: int

    def __str__(self) -> str:
        return f"workitem {self.number} (tx {self.x}, ty {self.y}, tz {self.z})"


@dataclass(frozen=True)
class Replacement:
    """Whole lines of a text, and what they become: `count` of them from `line` on; none are only added to."""

    line: int
    count: int
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong, with everything known about it."""

    kind: str
    severity: Severity
    message: str
    location: Location | None = None
    label: str | None = None  # said after the caret of the primary line
    related: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    hint: str | None = None
    core: str | None = None
    pipe: str | None = None
    bytes: tuple[int, int] | None = None  # first byte, and the one after the last
    block: int | None = None
    loops: tuple[int, ...] = ()  # loop indices of the first occurrence, outermost first
    count: int = 1
    consequences: tuple["Diagnostic", ...] = ()  # findings that go with this one
    edits: tuple[Replacement, ...] = ()  # what the hint says, for those who carry it out
    workitem: Workitem | None = None  # of a launch, the lowest that is concerned
    lanes: tuple[int, ...] = ()  # those of its warp, or of a logical vector, that are concerned

    def __post_init__(self) -> None:
        if self.kind not in SEVERITY:
            raise ValueError(f"{self.kind!r} is not a kind of diagnostic")

    @property
    def line(self) -> int | None:
        return self.location.line if self.location else None

    @property
    def rank(self) -> int | None:
        """The name of a core with its rank, where there are several: r1.b0.aiv0 is on rank 1."""
        first = self.core.partition(".")[0] if self.core else ""
        return int(first[1:]) if first.startswith("r") and first[1:].isdecimal() else None

    @property
    def places(self) -> set[tuple[str, int]]:
        """Its kind at every line that takes part."""
        others = [other.location for other in self.related]
        return {(self.kind, place.line) for place in (self.location, *others) if place is not None}

    def __str__(self) -> str:
        return render(self)

    def to_json(self) -> dict[str, object]:
        """Plain data; every key is always there."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "message": self.message,
            "location": self.location.to_json() if self.location else None,
            "label": self.label,
            "related": [{"location": other.location.to_json(), "role": other.role} for other in self.related],
            "notes": list(self.notes),
            "hint": self.hint,
            "core": self.core,
            "pipe": self.pipe,
            "bytes": list(self.bytes) if self.bytes else None,
            "block": self.block,
            "rank": self.rank,
            "loops": list(self.loops),
            "count": self.count,
            "consequences": [each.to_json() for each in self.consequences],
            "edits": [{"line": each.line, "count": each.count, "text": each.text} for each in self.edits],
            "workitem": None if self.workitem is None else self.workitem._asdict(),
            "lanes": list(self.lanes),
        }


Finding = Diagnostic


def authored(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic at the author's places, with the calls that led there, and the place in the text beside them."""
    place = diagnostic.location.shown if diagnostic.location is not None else None
    related = tuple(other for each in diagnostic.related for other in _authored_related(each))
    consequences = tuple(map(authored, diagnostic.consequences))
    if place is None or place is diagnostic.location:
        if related == diagnostic.related and consequences == diagnostic.consequences:
            return diagnostic
        return replace(diagnostic, related=related, consequences=consequences)
    in_text = place.in_text
    if in_text.source is not None and in_text.source.is_recorded:
        return replace(
            diagnostic,
            location=place,
            related=(*_circumstance(place), *related),
            notes=(*((f"with {place.turn}",) if place.turns else ()), *diagnostic.notes),
            consequences=consequences,
        )
    if in_text.source is not None:
        in_text = replace(in_text, source=replace(in_text.source, places=None))
    return replace(
        diagnostic,
        location=place,
        related=(*_circumstance(place), *related, Related(in_text, IN_THE_TEXT)),
        notes=(*((f"with {place.turn}",) if place.turns else ()), *diagnostic.notes),
        hint=f"in {in_text.file}:\n{diagnostic.hint}" if diagnostic.hint and diagnostic.edits else diagnostic.hint,
        consequences=consequences,
    )


def once_a_line(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each finding once for a line of the program that was recorded: its operations are repeated there, not by the
    author. The first stays, with the number of times of all."""
    known: dict[object, Diagnostic] = {}
    for number, each in enumerate(diagnostics):
        place = each.location
        recorded = place is not None and place.text is not None and place.text.source is not None
        if place is None or not recorded or not place.in_text.source.is_recorded:  # pyright: ignore[reportOptionalMemberAccess]
            known[number] = each
            continue
        key = each.kind, each.severity, place.file, place.line
        first = known.get(key)
        if first is None:
            known[key] = replace(each, consequences=once_a_line(each.consequences))
            continue
        consequences = once_a_line((*first.consequences, *each.consequences))
        known[key] = replace(first, count=first.count + each.count, consequences=consequences)
    return tuple(known.values())


IN_THE_TEXT = "in the text"
CALLED_HERE = "called here"


def _authored_related(other: Related) -> Iterator[Related]:
    place = other.location.shown
    if place is other.location:
        yield other
        return
    yield Related(place, f"{other.role}, with {place.turn}" if place.turns else other.role)
    yield from _circumstance(place)


def _circumstance(place: Location) -> Iterator[Related]:
    """The calls that a place was made by."""
    for call in place.calls:
        yield Related(call, f"{CALLED_HERE}, with {call.turn}" if call.turns else CALLED_HERE)


class Details(TypedDict, total=False):
    """The fields of a Diagnostic that `error` passes on."""

    label: str | None
    related: tuple[Related, ...]
    notes: tuple[str, ...]
    hint: str | None
    core: str | None
    pipe: str | None
    bytes: tuple[int, int] | None
    block: int | None
    loops: tuple[int, ...]
    count: int
    workitem: Workitem | None
    lanes: tuple[int, ...]


class PTOError(Exception):
    """A kernel or a call of one that cannot go on. Prints as all its diagnostics."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.raised = diagnostics
        """At places of the text that was loaded."""

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """At the places that the author wrote."""
        return tuple(map(authored, self.raised))

    def __str__(self) -> str:
        return "\n".join(map(render, self.diagnostics))


def error(kind: str, message: str, location: Location | None = None, **details: Unpack[Details]) -> PTOError:
    """The PTOError of a single diagnostic, to be raised by the caller."""
    return PTOError(Diagnostic(kind, "error", message, location, **details))


@contextmanager
def writing(path: str | PathLike[str]) -> Generator[None]:
    """A file that cannot be written is an argument that is wrong."""
    try:
        yield
    except (OSError, ValueError) as reason:
        raise error("argument", f"cannot write {path}: {getattr(reason, 'strerror', None) or reason}") from None


# --- rendering --------------------------------------------------------------------------------------------------------

GUTTER = 5  # cells for a line number
INDENT = "   "
TAB = 4
EXCERPT = 110  # characters quoted of a longer line,
BEFORE = 40  # so many of them before the caret
CUT = "..."

# Control characters and bidirectional overrides of an untrusted file must not reach the terminal.
UNPRINTABLE = {
    code: "\ufffd"
    for codes in (range(0x20), range(0x7F, 0xA0), range(0x2028, 0x202F), range(0x2066, 0x206A))
    for code in codes
    if chr(code) not in "\t\n"
}


def render(diagnostic: Diagnostic) -> str:
    """The diagnostic as text, the way a compiler prints one."""
    lines = [headline(diagnostic)]
    if diagnostic.location and diagnostic.location.source:
        lines += _quote(diagnostic.location, diagnostic.location.source, "^", diagnostic.label or "")
    for other in diagnostic.related:
        lines += _related(other, diagnostic.location)
    for note in (*_circumstances(diagnostic), *diagnostic.notes):
        lines += _remark("note: ", note)
    if diagnostic.hint:
        lines += _remark("hint: ", diagnostic.hint)
    if diagnostic.consequences:
        lines += _remark("follows: ", "\n".join(map(headline, diagnostic.consequences)))
    return "\n".join(lines).translate(UNPRINTABLE)


def headline(diagnostic: Diagnostic) -> str:
    """Where, how grave, what kind and what: the first line of the text."""
    where = f"{diagnostic.location}: " if diagnostic.location else ""
    return f"{where}{diagnostic.severity}: {diagnostic.kind}: {diagnostic.message}"


DEPENDS_ON_VALUES = ("out-of-bounds", "misaligned", "id-range", "invalid", "arithmetic", "trap")
"""Kinds of which the same line may be right in another block."""


def _circumstances(diagnostic: Diagnostic) -> Iterator[str]:
    """The count and the first occurrence, where blocks or the turns of a loop leave a choice."""
    decided = diagnostic.block and diagnostic.kind in DEPENDS_ON_VALUES
    if not diagnostic.loops and diagnostic.count == 1 and not decided:
        return
    parts = [f"{diagnostic.count} times, first"] if diagnostic.count > 1 else []
    if diagnostic.core:
        parts.append(f"on {diagnostic.core}")
    if diagnostic.loops:
        noun = "index" if len(diagnostic.loops) == 1 else "indices"
        parts.append(f"at loop {noun} {', '.join(map(str, diagnostic.loops))}")
    yield " ".join(parts)


def _related(other: Related, primary: Location | None) -> Iterator[str]:
    place = other.location
    if place.source is None:
        yield f"{INDENT}{place}: {other.role}"
        return
    if primary is None or place.file != primary.file:
        yield f"{INDENT}{place}:"
    yield from _quote(place, place.source, "-", other.role)


def _quote(place: Location, source: Source, mark: str, text: str) -> Iterator[str]:
    line = source.line(place.line).translate(UNPRINTABLE)  # first, because the replacement may be wider
    shown, indent, width = _excerpt(line, place.column - 1, place.length)
    yield f"{place.line:>{GUTTER}} | {shown}".rstrip()
    yield f"{'':>{GUTTER}} | {' ' * indent}{mark * width} {text}".rstrip()


def _remark(word: str, text: str) -> Iterator[str]:
    first, *others = text.split("\n")
    yield f"{INDENT}{word}{first}"
    for line in others:
        yield f"{INDENT}{'':{len(word)}}{line}"


def _excerpt(line: str, start: int, length: int) -> tuple[str, int, int]:
    """The shown part of a line, how many cells lie before the mark, and how many the mark covers."""
    start = max(0, min(start, len(line)))
    low, high = _window(len(line), start)
    before = _cells((CUT if low > 0 else "") + line[low:start], 0)
    indent = _width(before)
    marked = _cells(line[start : min(start + length, high)], indent)
    behind = _cells(line[start + length : high], indent + _width(marked))
    return before + marked + behind + (CUT if high < len(line) else ""), indent, max(1, _width(marked))


def _window(size: int, start: int) -> tuple[int, int]:
    """The part of a line of `size` characters that is quoted for a mark at `start`."""
    if size <= EXCERPT:
        return 0, size
    low = max(0, min(start - BEFORE, size - EXCERPT))
    return low, low + EXCERPT


def _cells(text: str, column: int) -> str:
    """The text with its tabs filled up, as it looks when it begins at that cell."""
    shown = ""
    for character in text:
        shown += " " * (TAB - (column + _width(shown)) % TAB) if character == "\t" else character
    return shown


def _width(text: str) -> int:
    return sum(map(_cells_of, text))


def _cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):  # accents and joiners sit on their neighbour
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
