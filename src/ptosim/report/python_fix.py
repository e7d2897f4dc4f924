"""A repair of a kernel in Python: what changes in its text, carried over to the author's file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from ptosim.diagnostics import Source
from ptosim.language.text.python_edits import first_line_of_statement, last_line_of_statement, spelled_in_python
from ptosim.places import Location
from ptosim.report.fix import Fix

_ORDER = re.compile(r"pto\.(set|wait|get|rls|pipe|mem)_")
"""The beginnings of statements of synchronisation."""
_ENDS = ("}", "return", "func.return", "^", "scf.yield")


@dataclass(frozen=True)
class _Change:
    """Lines that go into the author's file, or one that goes."""

    line: int
    is_deleted: bool
    text: str = ""


def in_python(fix: Fix, source: Source) -> Fix:
    """The same repair of the author's file; in words where a line serves several calls or turns."""
    author = source.authored
    if fix.text == fix.before:
        return replace(fix, name=author.name, before=author.text, text=author.text)
    try:
        changes = list(_changes(fix, source, author))
    except _Inexpressible as reason:
        notes = (*fix.notes, str(reason))
        return replace(fix, name=author.name, before=author.text, text=author.text, verified=False, notes=notes)
    return replace(fix, name=author.name, before=author.text, text=_edited(author.text, changes))


class _Inexpressible(Exception):
    """Edits beyond single lines."""


def _changes(fix: Fix, source: Source, author: Source) -> Sequence[_Change]:
    before, after = (list(map(_normal, text.splitlines())) for text in (fix.before, fix.text))
    found: list[_Change] = []
    for tag, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag in ("replace", "delete"):
            found += [_deleted(source, author, number + 1, before[number]) for number in range(start, end)]
        if tag in ("replace", "insert"):
            anchor, is_behind = _anchor(before, start, end)
            place = _place(source, author, anchor)
            line = last_line_of_statement(place) + 1 if is_behind else first_line_of_statement(place)
            indent = _indent(author, first_line_of_statement(place))
            found += [_Change(line, False, indent + _statement(text)) for text in after[first:last] if text.strip()]
    return found


def _normal(line: str) -> str:
    """A line of the text, its synchronisation in one spelling."""
    operation, mark, comment = line.strip().partition("  // ")
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}{spelled_in_python(operation)}{mark}{comment}"


def _statement(text: str) -> str:
    operation, mark, comment = text.strip().partition("  // ")
    words = spelled_in_python(operation)
    if not words.endswith(")"):
        raise _Inexpressible(f"this repair is no statement of the surface: {operation}")
    return f"{words}  # {comment}" if mark else words


def _anchor(before: Sequence[str], start: int, end: int) -> tuple[int, bool]:
    """The line of the text beside which something is added, from 1, and whether it goes behind that."""
    for number in range(end, len(before)):
        if before[number].strip().startswith(_ENDS):
            break
        if not _is_computation(before[number]):
            return number + 1, False
    for number in range(start - 1, -1, -1):
        text = before[number].strip()
        if text and not _is_computation(text):
            if text.startswith(_ENDS):
                return _head(before, number), True
            return number + 1, not text.endswith("{")
    raise _Inexpressible("there is no statement beside which the repair belongs")


def _head(before: Sequence[str], closing: int) -> int:
    """The line that opens what a brace closes."""
    indent = len(before[closing]) - len(before[closing].lstrip())
    for number in range(closing - 1, -1, -1):
        if before[number].strip() and len(before[number]) - len(before[number].lstrip()) == indent:
            return number + 1
    return closing + 1


def _is_computation(text: str) -> bool:
    """Constants and arithmetic of addresses, which stand where an expression needed them."""
    return " = arith." in text or " = pto.castptr" in text or " = pto.addptr" in text


def _place(source: Source, author: Source, line: int) -> Location:
    """The author's line for a line of the text, where it stands for that alone."""
    place = source.shown(line)
    if place.is_one_of_several:
        where = f"with {place.turn}" if place.turns else f"called at line {place.calls[0].line}"
        message = f"line {place.line} serves several turns or calls ({where}); the hints say what is missing in each"
        raise _Inexpressible(message)
    if place.file != author.name:
        raise _Inexpressible(f"the repair belongs into {place.file}, line {place.line}; the hints say what is missing")
    return place


def _deleted(source: Source, author: Source, line: int, text: str) -> _Change:
    place = _place(source, author, line)
    if not _ORDER.match(text.strip()):
        raise _Inexpressible(f"line {place.line} would have to be written otherwise")
    return _Change(first_line_of_statement(place), True)


def _indent(author: Source, line: int) -> str:
    text = author.line(line)
    return text[: len(text) - len(text.lstrip())]


def _edited(text: str, changes: Sequence[_Change]) -> str:
    lines = (text if text.endswith("\n") else f"{text}\n").splitlines(keepends=True)
    gone = {change.line for change in changes if change.is_deleted}
    made: list[str] = []
    for number in range(1, len(lines) + 2):
        made += [f"{change.text}\n" for change in changes if change.line == number and not change.is_deleted]
        if number <= len(lines) and number not in gone:
            made.append(lines[number - 1])
    return "".join(made)
