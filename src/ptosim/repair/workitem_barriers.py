"""Repairs for a race of two workitems: a barrier between the two accesses, or a fence before an atomic that hands
over what the first has done."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic
from ptosim.language.simt.simt import SectionSimt, SyncThreads, ThreadFence, ThreadFenceBlock
from ptosim.language.simt.simt_atomic import AtomicOperation
from ptosim.language.structure.control import For, While
from ptosim.repair.proposal import Proposal
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.program import WrittenProgram, ancestors


def barriers(program: WrittenProgram, found: Diagnostic) -> Iterator[Proposal]:
    """For a race between workitems of one launch, the likeliest first."""
    if found.workitem is None or not found.related:
        return
    second, first = (program.operation(place) for place in (found.location, found.related[0].location))
    if first is None or second is None:
        return
    for atomic in _atomics_behind(first):
        yield Proposal((program.before(atomic, ThreadFenceBlock.name),))
    for op in (second, first):
        for place in _places(op):
            yield Proposal((program.before(place, SyncThreads.name),))
    for loop in _loops_around(second):
        end = loop.regions[-1].block.last_op
        if end is not None:
            yield Proposal((program.before(end, SyncThreads.name),))


def fences(program: WrittenProgram, found: Conflict) -> Iterator[Proposal]:
    """For a race between workitems of two blocks: a fence before the atomic by which one hands over to the other."""
    for party in (found.first, found.second):
        op = program.operation(party.site.location) if party is not None and found.launch is not None else None
        if op is not None:
            for atomic in _atomics_behind(op):
                yield Proposal((program.before(atomic, ThreadFence.name),))


def _atomics_behind(op: Operation) -> Iterator[Operation]:
    following = op.next_op
    while following is not None:
        if isinstance(following, AtomicOperation):
            yield following
            return
        following = following.next_op


def _places(op: Operation) -> Iterator[Operation]:
    """The operation, and what it stands in, up to the code of workitems: the outermost first, which all come by."""
    around: list[Operation] = []
    for _, each in ancestors(op):
        if isinstance(each, SectionSimt):
            break
        around.append(each)
    yield from reversed(around)


def _loops_around(op: Operation) -> Iterator[Operation]:
    return (each for each in _places(op) if isinstance(each, For | While))
