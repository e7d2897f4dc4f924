"""Lines to add to a kernel: single edits, proposals made of them, and the text with a proposal carried out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.ir import Operation

from ptosim.sanitize.program import Program


@dataclass(frozen=True)
class Edit:
    """All edits speak of the lines as they are; those of one place come in the order in which they are listed."""

    where: Literal["after", "before"]
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.where} line {self.line} add {' ' if self.where == 'after' else ''}{self.text}"

    @property
    def place(self) -> int:
        """The line behind which it goes; 0 is the beginning of the text."""
        return self.line if self.where == "after" else self.line - 1


def before(program: Program, op: Operation, text: str) -> Edit:
    return Edit("before", program.first_line(op), text)


def after(program: Program, op: Operation, text: str) -> Edit:
    return Edit("after", program.last_line(op), text)


@dataclass(frozen=True)
class Proposal:
    """Edits that may repair a kernel, to be carried out together; a trial decides."""

    edits: tuple[Edit, ...]
    reason: str = ""
    """Said in front of the edits: why it is not a simpler one."""
    takes: frozenset[tuple[object, ...]] = frozenset()
    """The ids that it uses up: ("flag", source, destination, id), ("buffer", id), ("semaphore", id)."""

    @property
    def hint(self) -> str:
        """In words, a line for each edit."""
        return self.reason + "\n".join(map(str, self.edits))


@dataclass(frozen=True)
class Edited:
    """A text with lines added."""

    text: str
    origins: tuple[int, ...]
    """For each of its lines the number that it had before, 0 for an added one."""

    def origin(self, line: int) -> int:
        return self.origins[line - 1]


def edited(text: str, edits: Sequence[Edit]) -> Edited:
    """The text with these lines added, each indented like the line it goes next to."""
    added: dict[int, list[Edit]] = {}
    for edit in edits:
        added.setdefault(edit.place, []).append(edit)
    lines = text.split("\n")
    numbered: list[tuple[str, int]] = list(_added(added.get(0, ()), lines))
    for number, line in enumerate(lines, 1):
        numbered.append((line, number))
        numbered += _added(added.get(number, ()), lines)
    return Edited("\n".join(line for line, _ in numbered), tuple(number for _, number in numbered))


def _added(edits: Iterable[Edit], lines: Sequence[str]) -> Iterable[tuple[str, int]]:
    for edit in edits:
        neighbour = lines[edit.line - 1]
        yield neighbour[: len(neighbour) - len(neighbour.lstrip())] + edit.text, 0
