"""What may repair a finding: which instructions to add, and before or after which lines.

The least edits come first: the half of a pair that is missing (halves.py), then a pair. A set goes behind the earlier
access and a wait in front of the later one, both in the innermost block that holds the two (in front of or behind a
whole vector scope, inner loop or branch that only one of them is in), so that they are executed equally often. Where
the later access comes first in that block, the edge leads from one iteration of a loop to the next: then a set before
the loop, and all loops around it, primes it, and a wait behind them drains it. A kernel that uses buffers is offered
buffers first. Whether a proposal is any good is for a trial to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product

from xdsl.ir import Block, Operation

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import Pipe
from ptosim.language.pointer import LoadScalar, StoreScalar
from ptosim.language.sync import EVENT_IDS, SetFlag, WaitFlag
from ptosim.sanitize.conflict import Conflict, Party
from ptosim.sanitize.edit import Proposal, after, before
from ptosim.sanitize.halves import Halves, held
from ptosim.sanitize.observation import Observation
from ptosim.sanitize.overlap import overlap
from ptosim.sanitize.program import ancestors, launched, outermost_loop
from ptosim.sanitize.rehearsal import ORDER
from ptosim.sanitize.signal_halves import SignalHalves
from ptosim.sanitize.signals import Signals
from ptosim.sanitize.used import Taken, UsedIds


@dataclass(frozen=True)
class Meeting:
    """The innermost block around two accesses, and what stands in it for each of them."""

    block: Block
    first: Operation
    second: Operation


class Proposals:
    """Proposes edits for the findings of one run. Edges between cores are found in signals.py."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self.program = observation.program
        self.used = UsedIds(self.program, observation.flags)
        self.signals = Signals(self.program, observation.semaphores, self.used.free_event)
        self.halves = Halves(self.program, observation.imbalances)
        self.signal_halves = SignalHalves(self.program, observation.imbalances)
        self._held = list(chain.from_iterable(map(self._too_early, observation.found)))

    def propose(self, number: int, taken: Taken) -> Iterator[Proposal]:
        """For a finding, by its number, the least edits first; nothing where no edit is known. Ids that other edits
        have taken are left alone."""
        found = self.observation.found[number]
        if isinstance(found, Conflict):
            if found.kind == "race":
                yield from self._halves(self._too_early(found))
            for each in product(*(list(self._of_conflict(one, taken)) for one in (found, *found.also))):
                yield each[0] if len(each) == 1 else _joined(each)
        elif found.kind in ORDER:
            yield from self._halves([])
        elif found.location in self.observation.endings and found.kind == "lint":
            yield Proposal((self.observation.endings[found.location],))

    def _halves(self, own: list[tuple[Operation, Pipe]]) -> Iterator[Proposal]:
        """The missing half of a pair, first in front of what a finding itself says to be too early."""
        early = list(dict.fromkeys((*own, *self._held)))
        yield from self.halves.proposals(early)
        yield from self.signal_halves.proposals(early)

    def advice(self, conflict: Conflict) -> str | None:
        """What can be said where no edit is known to help."""
        first, second = conflict.first, conflict.second
        if first is None or conflict.kind != "race":
            return None
        if first.block != second.block:
            return "let each block work on bytes of its own, or put pto.syncall between the two"
        return self.signals.wish(conflict) if first.role != second.role else None

    def overlap(self, conflict: Conflict) -> str | None:
        """That the addresses are at fault rather than the order."""
        return overlap(self.program, conflict) if conflict.kind == "race" else None

    def _too_early(self, found: Conflict | Diagnostic) -> list[tuple[Operation, Pipe]]:
        if not isinstance(found, Conflict) or found.first is None or found.kind != "race":
            return []
        meeting = self._meeting(found.first, found.second)
        own = held(self.program, found.second.site, found.second.pipe)
        return [(meeting.second, found.second.pipe), *own] if meeting else own

    def _of_conflict(self, conflict: Conflict, taken: Taken) -> Iterator[Proposal]:
        first, second = conflict.first, conflict.second
        if first is None or first.block != second.block:
            return
        if conflict.kind == "scope-alias":
            yield from self._fence(first, second)
        elif first.role != second.role:
            yield from self.signals.proposals(conflict, taken)
        elif (meeting := self._meeting(first, second)) is not None:
            if first.pipe is second.pipe:
                barrier = f"pto.barrier #pto.pipe<PIPE_{first.pipe}>"
                yield Proposal((before(self.program, meeting.second, barrier),))
            else:
                yield from self._edge(first, second, meeting, taken)

    # --- edits --------------------------------------------------------------------------------------------------------

    def _fence(self, first: Party, second: Party) -> Iterator[Proposal]:
        op = self.program.operation(second.site.location)
        if op is not None:
            kind = f"{_fence_class(first)}_{_fence_class(second)}"
            yield Proposal((before(self.program, op, f'pto.mem_bar "{kind}"'),))

    def _edge(self, first: Party, second: Party, meeting: Meeting, taken: Taken) -> Iterator[Proposal]:
        """A pair of instructions between two pipes; a barrier, which holds everything, where there is no other way."""
        event = self.used.free_event(first.pipe, second.pipe, taken)
        brackets = list(self._brackets(first, second, meeting, taken))
        if self.used.has_buffers:
            yield from brackets
        if event is not None:
            yield self._flag(first, second, meeting, event)
            return
        reason = self._used_up(first, second)
        if not self.used.has_buffers:
            yield from (Proposal(each.edits, f"{reason}; take a buffer:\n", each.takes) for each in brackets)
        barrier = before(self.program, meeting.second, "pto.barrier #pto.pipe<PIPE_ALL>")
        yield Proposal((barrier,), f"{reason}; ")

    def _used_up(self, first: Party, second: Party) -> str:
        pair = f"from {first.pipe} to {second.pipe}"
        if (first.pipe, second.pipe) in self.used.computed:
            return f"events {pair} are computed, so none is known to be free"
        return f"all {EVENT_IDS} events {pair} are in use"

    def _flag(self, first: Party, second: Party, meeting: Meeting, event: int) -> Proposal:
        operands = f'["PIPE_{first.pipe}", "PIPE_{second.pipe}", "EVENT_ID{event}"]'
        put, take = f"{SetFlag.name}{operands}", f"{WaitFlag.name}{operands}"
        edits = [after(self.program, meeting.first, put), before(self.program, meeting.second, take)]
        loop = None if _comes_before(meeting.first, meeting.second) else outermost_loop(meeting.first)
        if loop is not None:
            edits = [
                before(self.program, loop, f"{put}  // prime"),
                *edits[::-1],
                after(self.program, loop, f"{take}  // drain"),
            ]
        return Proposal(tuple(edits), takes=frozenset({("flag", first.pipe, second.pipe, event)}))

    def _brackets(self, first: Party, second: Party, meeting: Meeting, taken: Taken) -> Iterator[Proposal]:
        """A buffer around both, which needs neither prime nor drain."""
        number = self.used.free_buffer(taken)
        if number is None or Pipe.S in (first.pipe, second.pipe) or meeting.first is meeting.second:
            return
        edits = [
            where(self.program, op, f'pto.{name} "PIPE_{side.pipe}", {number}, 0')
            for op, side in ((meeting.first, first), (meeting.second, second))
            for where, name in ((before, "get_buf"), (after, "rls_buf"))
        ]
        yield Proposal(tuple(edits), takes=frozenset({("buffer", number)}))

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


def _joined(several: tuple[Proposal, ...]) -> Proposal:
    """All of them at once."""
    edits = tuple(dict.fromkeys(chain.from_iterable(each.edits for each in several)))
    return Proposal(edits, several[0].reason, frozenset(chain.from_iterable(each.takes for each in several)))


def _comes_before(first: Operation, second: Operation) -> bool:
    """Whether one operation of a block stands before another."""
    here = first.next_op
    while here is not None and here is not second:
        here = here.next_op
    return here is second and first is not second


def _fence_class(side: Party) -> str:
    scalar = "" if side.site.name in (LoadScalar.name, StoreScalar.name) else "V"
    return f"{scalar}{'LD' if side.verb == 'reads' else 'ST'}"
