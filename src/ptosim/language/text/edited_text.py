"""The writer of edits for `.pto`: the text with edits carried out, and the lines that they change.

An operation that has its lines for itself is inserted and deleted by whole lines, with the indentation of its
neighbour; one that shares a line with others gets a line break. What no edit speaks of stays, comments included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ptosim.diagnostics import Replacement, Source
from ptosim.language.edits import Edit, EditWriter, OperationPlace

LOCATION = re.compile(r"\s+loc\(.*\)\s*\Z", re.S)
"""The location at the end of an operation that was recorded."""
_GAP = " \t\r"


@dataclass(frozen=True)
class EditedText:
    """A text after edits."""

    text: str
    origins: tuple[int, ...]
    """For each of its lines the number that it had before, 0 for an added one."""

    def origin(self, line: int) -> int:
        return self.origins[line - 1]


@dataclass(frozen=True)
class _Splice:
    """A stretch of the text, and what stands there instead."""

    start: int
    end: int
    text: str
    origin: int = 0
    """The line that the text was moved from."""


def edited(text: str, edits: Iterable[Edit]) -> EditedText:
    """The text with these edits carried out."""
    numbered: list[tuple[str, int]] = []  # finished lines with their numbers
    line, number = "", 0
    source = Source("", text)
    for chunk, start, origin in _chunks(text, [each for edit in edits for each in _splices(edit)]):
        pieces = chunk.split("\n")
        here = source.position(start)[0] if start >= 0 else 0
        for index, piece in enumerate(pieces):
            if index:
                numbered.append((line, number))
                line, number = "", 0
            if piece or index < len(pieces) - 1:
                number = number or (here + index if start >= 0 else origin)
            line += piece
    numbered.append((line, number if line else len(source.line_starts)))
    return EditedText("\n".join(line for line, _ in numbered), tuple(number for _, number in numbered))


def _chunks(text: str, splices: list[_Splice]) -> Iterator[tuple[str, int, int]]:
    """The text in pieces: each with its old offset, -1 for new text, and the line that it was moved from."""
    removed = {(each.start, each.end): each for each in splices if each.end > each.start}  # the last one counts
    added = [each for each in splices if each.end == each.start]
    at = 0
    for each in sorted([*added, *removed.values()], key=lambda each: (each.start, each.end > each.start)):
        if each.start < at:  # in something that is removed
            continue
        yield text[at : each.start], at, 0
        yield each.text, -1, each.origin
        at = each.end
    yield text[at:], at, 0


class TextWriter(EditWriter):
    """Says what changes in the `.pto` text itself."""

    def hint(self, edits: Sequence[Edit]) -> str:
        return "\n".join(map(str, edits))

    def replacements(self, edits: Sequence[Edit]) -> tuple[Replacement, ...]:
        return tuple(_replacement(edit.place.source, splice) for edit in edits for splice in _splices(edit))


def _replacement(source: Source, splice: _Splice) -> Replacement:
    """Whole lines, where a splice has parts of them."""
    first, column = source.position(splice.start)
    last, end = source.position(splice.end)
    if column == end == 1 and (not splice.text or splice.text.endswith("\n")):
        return Replacement(first, last - first, splice.text)
    lines = source.text[source.offset(first, 1) : splice.start] + splice.text + source.line(last)[end - 1 :]
    return Replacement(first, last - first + 1, f"{lines}\n")


def _splices(edit: Edit) -> Iterator[_Splice]:
    place = edit.place
    if edit.where == "at":
        yield _replaced(place, edit.text) if edit.text else _deleted(place)
        return
    origin, text = 0, edit.text.replace("\n", f"\n{_indentation(place)}")
    if edit.moved is not None:
        deleted = _deleted(edit.moved)
        yield deleted
        origin, text = edit.moved.line, edit.place.source.text[deleted.start : deleted.end].strip()
    yield _before(place, text, origin) if edit.where == "before" else _after(place, text, origin)


def _replaced(place: OperationPlace, text: str) -> _Splice:
    """The edited line; the location at its end stays."""
    location = LOCATION.search(place.words) if "loc(" in place.words else None
    return _Splice(place.start, place.end, text + (location[0] if location else ""))


def _deleted(place: OperationPlace) -> _Splice:
    """With its lines, and a comment behind it, where it has them for itself."""
    text, start, end = place.source.text, _line_start(place), _line_end(place)
    if start is None or end is None:
        return _Splice(place.start, place.end, "")
    return _Splice(start, min(end + 1, len(text)), "")


def _before(place: OperationPlace, text: str, origin: int) -> _Splice:
    indent, start = _indentation(place), _line_start(place)
    if start is not None:
        return _Splice(start, start, f"{indent}{text}\n", origin)
    start = len(place.source.text[: place.start].rstrip(_GAP))
    return _Splice(start, place.start, f"\n{indent}{text}\n{indent}", origin)


def _after(place: OperationPlace, text: str, origin: int) -> _Splice:
    indent, end = _indentation(place), _line_end(place)
    whole = place.source.text
    if end is not None:
        return (
            _Splice(end + 1, end + 1, f"{indent}{text}\n", origin)
            if end < len(whole)
            else _Splice(end, end, f"\n{indent}{text}", origin)
        )
    end = len(whole) - len(whole[place.end :].lstrip(_GAP))
    return _Splice(place.end, end, f"\n{indent}{text}\n{indent}", origin)


def _line_start(place: OperationPlace) -> int | None:
    """The start of the line on which it is the first; None where something stands before it."""
    start = place.source.offset(place.line, 1)
    return None if place.source.text[start : place.start].strip() else start


def _line_end(place: OperationPlace) -> int | None:
    """The end of the line on which it is the last; None where more than a comment stands behind it."""
    text = place.source.text
    end = text.find("\n", place.end)
    end = len(text) if end < 0 else end
    behind = text[place.end : end].strip()
    return None if behind and not behind.startswith("//") else end


def _indentation(place: OperationPlace) -> str:
    line = place.source.line(place.line)
    return line[: len(line) - len(line.lstrip())]
