"""The place of an operation among the others of its block."""

from __future__ import annotations

import re

from xdsl.ir import Block, Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.names import Pipe
from ptosim.language.edits import Edit
from ptosim.language.micro.pointer import LoadScalar, StoreScalar
from ptosim.language.micro.scope import Section
from ptosim.language.structure.control import Condition, Yield
from ptosim.language.structure.function import Function, Return
from ptosim.sanitize.program import WrittenProgram

_NAME = re.compile(r"%\w+")


def neighbour(op: Operation, forward: bool) -> Operation | None:
    """The next operation of a block, or the one before, that is more than a computation of the scalar unit; the end of
    a block is none."""
    here = op.next_op if forward else op.prev_op
    while here is not None and not here.regions and not _is_issued(here):
        here = here.next_op if forward else here.prev_op
    return here


def ends_program(op: Operation) -> bool:
    """Whether nothing but computations follows in the program of a core."""
    return isinstance(op.parent_op(), Function | Section) and neighbour(op, forward=True) is None


def _is_issued(op: Operation) -> bool:
    if isinstance(op, Return | Yield | Condition):
        return False
    record = effects().get(op.name)
    return record.timing != "scalar" if record is not None else not op.results


def works(block: Block, pipe: Pipe) -> list[Operation]:
    """The operations of a block in which a pipe has something to do."""
    return [op for op in block.ops if any(_is_work(inner, pipe) for inner in op.walk())]


def work_behind(op: Operation, pipe: Pipe) -> Operation | None:
    """The next operation of a pipe in the block of an instruction."""
    block = op.parent_block()
    found = works(block, pipe) if block is not None else []
    return next((work for work in found if op.is_before_in_block(work)), None)


def _is_work(op: Operation, pipe: Pipe) -> bool:
    record = effects().get(op.name)
    if record is None or record.timing == "sync":
        return False
    return record.pipe is pipe and (pipe is not Pipe.S or isinstance(op, LoadScalar | StoreScalar))


class Visible:
    """The names of values that an edit may use."""

    def __init__(self, program: WrittenProgram) -> None:
        self.program = program
        self._defined: dict[Block, list[tuple[int, str]]] = {}

    def allows(self, edit: Edit) -> bool:
        """Whether all names that it writes are defined above it."""
        text = edit.moved.words if edit.moved else edit.text
        names, line_behind = set(_NAME.findall(text)), edit.line - (edit.where != "after")
        block = edit.place.block
        while names and block is not None:
            names -= {name for line, name in self._of(block) if line <= line_behind}
            parent = block.parent_op()
            block = parent.parent_block() if parent is not None else None
        return not names

    def _of(self, block: Block) -> list[tuple[int, str]]:
        """Names that a block defines, with their lines, and those known where it begins."""
        if block not in self._defined:
            lines = [(self.program.first_line(op), self.program.name_of(op)) for op in block.ops if op.results]
            if (parent := block.parent_op()) is not None:
                head = self.program.first_line(parent)
                lines.append((head, self.program.source.line(head)))
            self._defined[block] = [(line, name) for line, text in lines for name in _NAME.findall(text)]
        return self._defined[block]
