"""Edits of a program: operations that are inserted, deleted, moved or written otherwise, each at a place.

An edit knows operations and the stretches of text that they take up, not lines. A writer for the language of the text
makes lines of it (`text/edited_text.py` for `.pto`); a front end brings one for the files that its places lead to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from xdsl.ir import Block

from ptosim.diagnostics import Location, Replacement, Source


@dataclass(frozen=True)
class OperationPlace:
    """The extent of an operation in a text: from its first character to the one behind its last."""

    start: int
    end: int
    source: Source = field(compare=False, repr=False)
    block: Block | None = field(default=None, compare=False, repr=False)
    """The block that it belongs to."""

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def last_line(self) -> int:
        return self.source.position(max(self.start, self.end - 1))[0]

    @property
    def words(self) -> str:
        """The operation as it is written."""
        return self.source.text[self.start : self.end]

    @property
    def shown(self) -> Location:
        """The place in the author's file."""
        return self.source.location(self.start, max(1, self.end - self.start)).shown


def whole_line(source: Source, line: int) -> OperationPlace:
    """All that stands on a line, but for a comment."""
    code = source.line(line).partition("//")[0].rstrip()
    start = source.offset(line, 1)
    return OperationPlace(start + len(code) - len(code.lstrip()), start + len(code), source)


@dataclass(frozen=True)
class Edit:
    """All edits of a text speak of it as it is; those of one place come in the order in which they are listed."""

    where: Literal["after", "before", "at"]
    place: OperationPlace
    operation: str = ""
    """The written operation, in the words of `.pto`; at an operation, its replacement: empty deletes it."""
    comment: str = ""
    """Said behind it."""
    moved: OperationPlace | None = None
    """The operation that goes there, where it is not a new one."""

    @property
    def line(self) -> int:
        return self.place.last_line if self.where == "after" else self.place.line

    @property
    def text(self) -> str:
        return f"{self.operation}  // {self.comment}" if self.comment else self.operation

    def __str__(self) -> str:
        """In words."""
        if self.where == "at":
            return f"replace line {self.line} by {self.text}" if self.text else f"delete line {self.line}"
        if self.moved is not None:
            return f"move line {self.moved.line} {self.where} line {self.line}"
        return f"{self.where} line {self.line} add {' ' if self.where == 'after' else ''}{self.text}"


def insert(where: Literal["after", "before"], place: OperationPlace, text: str) -> Edit:
    """A new operation; behind two slashes its comment."""
    operation, _, comment = text.partition("  // ")
    return Edit(where, place, operation, comment)


class EditWriter(Protocol):
    """Makes lines of edits, in the language of the file that the author wrote."""

    def hint(self, edits: Sequence[Edit]) -> str:
        """The edit, in words."""
        ...

    def replacements(self, edits: Sequence[Edit]) -> tuple[Replacement, ...]:
        """The lines that change."""
        ...
