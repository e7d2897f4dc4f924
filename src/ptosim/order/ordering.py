"""The pass that orders a module: inserts what is missing into the functions that leave their order open."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ptosim.effects.names import CoreKind
from ptosim.language.build import Builder, Place, head_of
from ptosim.language.control import While
from ptosim.language.function import Function, Return
from ptosim.language.kinds import cores
from ptosim.language.load import VerifiedModule
from ptosim.order.automatic import unordered
from ptosim.order.confine import confine
from ptosim.order.conflict import Conflicts
from ptosim.order.emit import emit
from ptosim.order.insert import insert
from ptosim.order.model import Flag, GetBuffer, Opaque, Program
from ptosim.order.read import SERIAL, is_entry, is_opaque, read
from ptosim.order.state import State
from ptosim.order.turns import TurnWalker
from ptosim.order.walk import Meeting, Walker

ASSUMED = "assumed"
"""Insert everywhere, copies of unknown length being taken to stay inside of their buffers."""


def order_entries(module: VerifiedModule, sync: str) -> VerifiedModule:
    """Insert synchronisation, so that entries that depend on each other are ordered."""
    for function in unordered(module, sync):
        programs = {core: read(module, function, core, SERIAL[module.target]) for core in cores(function)}
        if sync == ASSUMED:
            for program in programs.values():
                confine(program)
        if all(_is_ordered(program) for program in programs.values()):
            continue
        for core, program in programs.items():
            emit(module, function, core, insert(program), is_mixed=len(programs) > 1)
        for op in _before_everything(function, programs):
            _barrier(module, function, op, behind=False)
        for op in _behind_everything(function):
            _barrier(module, function, op, behind=True)
    return module


def _is_ordered(program: Program) -> bool:
    """Whether what is written suffices: it is followed turn by turn, as a proof does."""
    nodes = list(program.body.walk())
    if not any(isinstance(node, Flag | GetBuffer) for node in nodes) or any(isinstance(node, Opaque) for node in nodes):
        return not program.entries
    missing: list[int] = []

    def note(walker: Walker, state: State, meeting: Meeting, open_: int) -> None:
        missing.append(open_)
        state.open[meeting.later.pipe] &= ~open_

    walker = TurnWalker(program, Conflicts(program), note)
    walker.walk()
    return not (missing or walker.unmatched or walker.unbalanced or walker.end.counts())


def _before_everything(function: Function, programs: dict[CoreKind, Program]) -> Iterator[Operation]:
    """What all entries have to end before: the end of a function that has any, and what cannot be looked into."""
    nodes = [node for program in programs.values() for node in program.body.walk()]
    yield from {node.op: None for node in nodes if isinstance(node, Opaque)}
    if nodes:
        yield from (op for op in function.body.block.ops if isinstance(op, Return))


def _behind_everything(function: Function) -> Iterator[Operation]:
    """What has to end before all that follows: calls and loops with a condition, and every entry in such a loop."""
    for op in list(function.walk()):
        if is_opaque(op) or (is_entry(op) and _is_in_while(op)):
            yield op


def _is_in_while(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, While):
        parent = parent.parent_op()
    return parent is not None


def _barrier(module: VerifiedModule, function: Function, op: Operation, behind: bool) -> None:
    block = op.parent_block()
    assert block is not None
    place = Place(block, op.next_op if behind else op)
    Builder(module.parsed, place, head_of(function.body.block), serves=op).barrier(pipe="PIPE_ALL")
