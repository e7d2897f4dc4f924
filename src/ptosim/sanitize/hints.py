"""The edit that would repair a race: which instructions to add, and before or after which lines.

A set goes behind the earlier access and a wait in front of the later one, both in the innermost block that holds the
two (in front of or behind a whole vector scope, inner loop or branch that only one of them is in), so that they are
executed equally often. Where the later access comes first in that block, the edge leads from one iteration of a loop to
the next: then a set before the loop primes it and a wait behind the loop drains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.ir import Block, Operation

from ptosim.effects.names import Pipe
from ptosim.language.control import For, While
from ptosim.language.operation import PTOOperation
from ptosim.sanitize.conflict import Conflict, Party
from ptosim.sanitize.program import Program, ancestors, launched

EVENT_IDS = 8
SEMAPHORES = 16
SIGNALLING = frozenset({Pipe.FIX, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.V})
"""The pipes that can signal another core."""


@dataclass(frozen=True)
class Edit:
    """One line to add."""

    where: Literal["after", "before"]
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.where} line {self.line} add {' ' if self.where == 'after' else ''}{self.text}"


@dataclass(frozen=True)
class Meeting:
    """The innermost block around two accesses, and what stands in it for each of them."""

    block: Block
    first: Operation
    second: Operation


class Repairs:
    """Finds edits. `flags` and `semaphores` are the ids that the run has seen in use."""

    def __init__(self, program: Program, flags: set[tuple[str, str, int]], semaphores: set[int]) -> None:
        self.program = program
        self.flags = flags | set(_written_flags(program))
        self.semaphores = semaphores

    def hint(self, conflict: Conflict) -> str | None:
        """The edit in words, one line each."""
        first, second = conflict.first, conflict.second
        if first is None:
            return None
        if conflict.kind == "scope-alias":
            return self._fence(first, second)
        if first.block != second.block:
            return "let each block work on bytes of its own, or put pto.syncall between the two"
        meeting = self._meeting(first, second)
        if meeting is None:
            return None
        if first.role != second.role:
            return self._signal(first, second)
        if first.pipe is second.pipe:
            return str(self._before(meeting.second, f"pto.barrier #pto.pipe<PIPE_{first.pipe}>"))
        return self._flag(first, second, meeting)

    # --- edits --------------------------------------------------------------------------------------------------------

    def _before(self, op: Operation, text: str) -> Edit:
        return Edit("before", self.program.first_line(op), text)

    def _after(self, op: Operation, text: str) -> Edit:
        return Edit("after", self.program.last_line(op), text)

    def _fence(self, first: Party, second: Party) -> str | None:
        op = self.program.operation(second.site.location)
        if op is None:
            return None
        kind = f"{_fence_class(first)}_{_fence_class(second)}"
        return str(self._before(op, f'pto.mem_bar "{kind}"'))

    def _flag(self, first: Party, second: Party, meeting: Meeting) -> str:
        event = self._free_event(first.pipe, second.pipe)
        if event is None:
            barrier = self._before(meeting.second, "pto.barrier #pto.pipe<PIPE_ALL>")
            return f"all {EVENT_IDS} events from {first.pipe} to {second.pipe} are in use; {barrier}"
        operands = f'["PIPE_{first.pipe}", "PIPE_{second.pipe}", "EVENT_ID{event}"]'
        put, take = f"pto.set_flag{operands}", f"pto.wait_flag{operands}"
        edits = [self._after(meeting.first, put), self._before(meeting.second, take)]
        loop = None if _comes_before(meeting.first, meeting.second) else _loop_around(meeting.block)
        if loop is not None:
            edits = [self._before(loop, f"{put}  // prime"), *edits[::-1], self._after(loop, f"{take}  // drain")]
        return "\n".join(map(str, edits))

    def _signal(self, first: Party, second: Party) -> str | None:
        """A semaphore between the cube core and the vector cores of its cluster."""
        ends = self.program.operation(first.site.location), self.program.operation(second.site.location)
        number = next((id_ for id_ in range(SEMAPHORES) if id_ not in self.semaphores), None)
        if "aic" not in (first.role, second.role) or ends[0] is None or ends[1] is None:
            return f"let {first.role} signal the cube core, and the cube core {second.role}"
        if not {first.pipe, second.pipe} <= SIGNALLING or number is None:
            return f"signal from {first.role} {first.pipe} to {second.role} {second.pipe} with a semaphore"
        numbers = (number,) if self.program.target == "a2a3" else (number, number + SEMAPHORES)
        edits = [
            self._after(launched(ends[0]), f"pto.sync.set <PIPE_{first.pipe}>, {id_}")
            for id_ in (numbers if first.role == "aic" else numbers[:1])
        ]
        edits += [
            self._before(launched(ends[1]), f"pto.sync.wait <PIPE_{second.pipe}>, {id_}")
            for id_ in (numbers if second.role == "aic" else numbers[:1])
        ]
        return "\n".join(map(str, edits))

    # --- places -------------------------------------------------------------------------------------------------------

    def _meeting(self, first: Party, second: Party) -> Meeting | None:
        one, other = self.program.operation(first.site.location), self.program.operation(second.site.location)
        if one is None or other is None:
            return None
        around = dict(ancestors(launched(one)))
        for block, op in ancestors(launched(other)):
            if block in around:
                return Meeting(block, around[block], op)
        return None

    def _free_event(self, source: Pipe, destination: Pipe) -> int | None:
        used = {id_ for one, other, id_ in self.flags if (one, other) == (source, destination)}
        return next((id_ for id_ in range(EVENT_IDS) if id_ not in used), None)


def _written_flags(program: Program) -> list[tuple[str, str, int]]:
    """The flags that the text names, executed or not."""
    found: list[tuple[str, str, int]] = []
    for op in program.operations():
        if isinstance(op, PTOOperation) and op.name in ("pto.set_flag", "pto.wait_flag"):
            source, destination, event = (op.word(role) or "" for role in ("source", "destination", "event"))
            if event.removeprefix("EVENT_ID").isdecimal():
                number = int(event.removeprefix("EVENT_ID"))
                found.append((source.removeprefix("PIPE_"), destination.removeprefix("PIPE_"), number))
    return found


def _comes_before(first: Operation, second: Operation) -> bool:
    """Whether one operation of a block stands before another."""
    here = first.next_op
    while here is not None and here is not second:
        here = here.next_op
    return here is second and first is not second


def _loop_around(block: Block) -> Operation | None:
    parent = block.parent_op()
    while parent is not None and not isinstance(parent, For | While):
        parent = parent.parent_op()
    return parent


def _fence_class(side: Party) -> str:
    scalar = "" if side.site.name in ("pto.load_scalar", "pto.store_scalar") else "V"
    return f"{scalar}{'LD' if side.verb == 'reads' else 'ST'}"
