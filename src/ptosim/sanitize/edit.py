"""Edits of a kernel's text: lines added, replaced, deleted or moved; and the text with several of them carried out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.ir import Block, Operation

from ptosim.diagnostics import Replacement
from ptosim.sanitize.program import WrittenProgram


@dataclass(frozen=True)
class Edit:
    """All edits speak of the lines as they are; those of one place come in the order in which they are listed."""

    where: Literal["after", "before", "at"]
    line: int
    text: str
    """What is written there; at a line, in place of it: nothing deletes it."""
    moved: int = 0
    """The line that goes there, where it is not a new one."""
    block: Block | None = field(default=None, compare=False, repr=False)
    """Where what is written belongs."""

    def __str__(self) -> str:
        if self.where == "at":
            return f"replace line {self.line} by {self.text}" if self.text else f"delete line {self.line}"
        if self.moved:
            return f"move line {self.moved} {self.where} line {self.line}"
        return f"{self.where} line {self.line} add {' ' if self.where == 'after' else ''}{self.text}"

    @property
    def place(self) -> int:
        """The line behind which it goes; 0 is the beginning of the text."""
        return self.line if self.where == "after" else self.line - 1

    @property
    def removed(self) -> int:
        """The line that is no longer where it was; 0 for none."""
        return self.line if self.where == "at" else self.moved

    def replacements(self, lines: Sequence[str]) -> tuple[Replacement, ...]:
        """The same as stretches of lines with what they become."""
        if self.where == "at":
            return (Replacement(self.line, 1, f"{_replaced(lines, self)}\n" if self.text else ""),)
        put = Replacement(self.place + 1, 0, f"{_added(lines, self)}\n")
        return (put, Replacement(self.moved, 1, "")) if self.moved else (put,)


def before(program: WrittenProgram, op: Operation, text: str = "", moved: int = 0) -> Edit:
    return Edit("before", program.first_line(op), text, moved, op.parent_block())


def after(program: WrittenProgram, op: Operation, text: str = "", moved: int = 0) -> Edit:
    return Edit("after", program.last_line(op), text, moved, op.parent_block())


def instead(program: WrittenProgram, op: Operation, text: str) -> Edit:
    """Another text for a line, or none."""
    return Edit("at", program.first_line(op), text, block=op.parent_block())


@dataclass(frozen=True)
class Edited:
    """A text after edits."""

    text: str
    origins: tuple[int, ...]
    """For each of its lines the number that it had before, 0 for an added one."""

    def origin(self, line: int) -> int:
        return self.origins[line - 1]


def edited(text: str, edits: Iterable[Edit]) -> Edited:
    """The text with these edits carried out, each new line indented like the one it goes next to."""
    lines = text.split("\n")
    added: dict[int, list[tuple[str, int]]] = {}
    replaced: dict[int, list[tuple[str, int]]] = {}
    for edit in edits:
        if edit.removed:
            replaced[edit.removed] = [(_replaced(lines, edit), edit.line)] if edit.where == "at" and edit.text else []
        if edit.where != "at":
            added.setdefault(edit.place, []).append((_added(lines, edit), edit.moved))
    numbered = added.get(0, [])
    for number, line in enumerate(lines, 1):
        numbered = [*numbered, *replaced.get(number, [(line, number)]), *added.get(number, ())]
    return Edited("\n".join(line for line, _ in numbered), tuple(number for _, number in numbered))


def _added(lines: Sequence[str], edit: Edit) -> str:
    return _indentation(lines[edit.line - 1]) + (lines[edit.moved - 1].strip() if edit.moved else edit.text)


def _replaced(lines: Sequence[str], edit: Edit) -> str:
    """A comment behind what was there stays."""
    code, slashes, comment = lines[edit.line - 1].partition("//")
    gap = " " * (len(code) - len(code.rstrip()))
    return f"{_indentation(code)}{edit.text}{gap}{slashes}{comment}"


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
