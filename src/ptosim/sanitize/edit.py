"""One line to add to a kernel, as hints name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.ir import Operation

from ptosim.sanitize.program import Program


@dataclass(frozen=True)
class Edit:
    """All edits of a hint speak of the lines as they are; those of one place come in the order of the hint."""

    where: Literal["after", "before"]
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.where} line {self.line} add {' ' if self.where == 'after' else ''}{self.text}"


def before(program: Program, op: Operation, text: str) -> Edit:
    return Edit("before", program.first_line(op), text)


def after(program: Program, op: Operation, text: str) -> Edit:
    return Edit("after", program.last_line(op), text)
