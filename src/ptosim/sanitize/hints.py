"""The edit that would repair a race: which instructions to add, and before or after which lines.

A set goes behind the earlier access and a wait in front of the later one, both in the innermost block that holds the
two (in front of or behind a whole vector scope, inner loop or branch that only one of them is in), so that they are
executed equally often. Where the later access comes first in that block, the edge leads from one iteration of a loop to
the next: then a set before the loop, and all loops around it, primes it, and a wait behind them drains it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation

from ptosim.effects.names import Pipe
from ptosim.language.operands import constant_of
from ptosim.language.operation import PTOOperation
from ptosim.language.sync import GetBuf, RlsBuf
from ptosim.sanitize.conflict import Conflict, Party
from ptosim.sanitize.edit import after, before
from ptosim.sanitize.program import Program, ancestors, launched, outermost_loop
from ptosim.sanitize.signals import Signals

EVENT_IDS = 8
BUFFER_IDS = 28
"""Of 32; the last ones are the system's."""


@dataclass(frozen=True)
class Meeting:
    """The innermost block around two accesses, and what stands in it for each of them."""

    block: Block
    first: Operation
    second: Operation


class Repairs:
    """Finds edits. `flags` and `semaphores` are the ids that the run has seen in use. Edges between cores are found in
    signals.py."""

    def __init__(self, program: Program, flags: set[tuple[str, str, int]], semaphores: set[int]) -> None:
        self.program = program
        self.flags = flags | set(_written_flags(program))
        self.signals = Signals(program, semaphores, self._free_event)

    def hint(self, conflict: Conflict) -> str | None:
        """The edit in words, one line each."""
        first, second = conflict.first, conflict.second
        if first is None:
            return None
        if conflict.kind == "scope-alias":
            return self._fence(first, second)
        if first.block != second.block:
            return "let each block work on bytes of its own, or put pto.syncall between the two"
        if first.role != second.role:
            return self.signals.edit(conflict)
        meeting = self._meeting(first, second)
        if meeting is None:
            return None
        if first.pipe is second.pipe:
            return str(before(self.program, meeting.second, f"pto.barrier #pto.pipe<PIPE_{first.pipe}>"))
        return self._flag(first, second, meeting)

    # --- edits --------------------------------------------------------------------------------------------------------

    def _fence(self, first: Party, second: Party) -> str | None:
        op = self.program.operation(second.site.location)
        if op is None:
            return None
        kind = f"{_fence_class(first)}_{_fence_class(second)}"
        return str(before(self.program, op, f'pto.mem_bar "{kind}"'))

    def _flag(self, first: Party, second: Party, meeting: Meeting) -> str:
        event = self._free_event(first.pipe, second.pipe)
        if event is None:
            used_up = f"all {EVENT_IDS} events from {first.pipe} to {second.pipe} are in use"
            return f"{used_up}; {self._without_flags(first, second, meeting)}"
        operands = f'["PIPE_{first.pipe}", "PIPE_{second.pipe}", "EVENT_ID{event}"]'
        put, take = f"pto.set_flag{operands}", f"pto.wait_flag{operands}"
        edits = [after(self.program, meeting.first, put), before(self.program, meeting.second, take)]
        loop = None if _comes_before(meeting.first, meeting.second) else outermost_loop(meeting.first)
        if loop is not None:
            edits = [
                before(self.program, loop, f"{put}  // prime"),
                *edits[::-1],
                after(self.program, loop, f"{take}  // drain"),
            ]
        return "\n".join(map(str, edits))

    def _without_flags(self, first: Party, second: Party, meeting: Meeting) -> str:
        """Brackets of a buffer id, which need neither prime nor drain; or a barrier, which holds everything."""
        number = self._free_buffer()
        if number is None or Pipe.S in (first.pipe, second.pipe) or meeting.first is meeting.second:
            return str(before(self.program, meeting.second, "pto.barrier #pto.pipe<PIPE_ALL>"))
        edits = [
            where(self.program, op, f'pto.{name} "PIPE_{side.pipe}", {number}, 0')
            for op, side in ((meeting.first, first), (meeting.second, second))
            for where, name in ((before, "get_buf"), (after, "rls_buf"))
        ]
        return "take a buffer:\n" + "\n".join(map(str, edits))

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

    def _free_buffer(self) -> int | None:
        """A buffer id that no instruction names; none where buffers do not exist, or some ids are computed."""
        if self.program.target != "a5":
            return None
        named = [op for op in self.program.operations() if isinstance(op, GetBuf | RlsBuf)]
        used = {op.integer("id_literal") if op.id is None else constant_of(op.id) for op in named}
        return None if None in used else next((id_ for id_ in range(BUFFER_IDS) if id_ not in used), None)


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


def _fence_class(side: Party) -> str:
    scalar = "" if side.site.name in ("pto.load_scalar", "pto.store_scalar") else "V"
    return f"{scalar}{'LD' if side.verb == 'reads' else 'ST'}"
