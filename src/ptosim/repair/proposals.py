"""Proposals that may repair a finding, as edits of the text.

The half of a pair that is missing (missing_partner.py), a line that is written wrongly (line_variants.py), a pair
(missing_pairs.py), and what order does not insert: signals between cores, buffers, barriers and atomics of workitems,
fences. A pair stands in the innermost block that holds both accesses, so that its halves are executed equally often. A
buffer is for a kernel that uses buffers, or has no event left: it needs neither prime nor drain. A trial decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain, product

from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import Pipe
from ptosim.language.edits import Edit
from ptosim.language.micro.pointer import LoadScalar, StoreScalar
from ptosim.language.micro.sync import EVENT_IDS
from ptosim.repair.balance import Balance
from ptosim.repair.balancing_lines import additions
from ptosim.repair.deadlock_cycle import circles
from ptosim.repair.free_ids import Taken, UsedIds
from ptosim.repair.line_variants import Variants
from ptosim.repair.missing_pairs import CommonBlock, FlagPairs
from ptosim.repair.missing_partner import Halves
from ptosim.repair.missing_signal import SignalHalves
from ptosim.repair.overlap import overlap
from ptosim.repair.places import Visible
from ptosim.repair.proposal import Proposal
from ptosim.repair.signals import SignalRepair
from ptosim.repair.trials import ORDER
from ptosim.repair.whole_core_signals import WholeCoreSignals
from ptosim.repair.workitem_atomics import atomics
from ptosim.repair.workitem_barriers import barriers, fences
from ptosim.repair.written import WrittenSync, event_of, in_classes, read
from ptosim.sanitize.conflict import Conflict, Party
from ptosim.sanitize.observation import Observation
from ptosim.sanitize.program import ancestors, launched


class Proposals:
    """Proposes edits for the findings of one run. Edges between cores are found in signals.py."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self.program = observation.program
        self.used = UsedIds(self.program, observation.flags)
        self.signals = SignalRepair(self.program, observation.semaphores, self.used.free_event)
        self.balance = Balance(observation)
        self.variants = Variants(self.balance)
        self.flags = FlagPairs(self.balance, self.used)
        self.visible = Visible(self.program)
        self.halves = Halves(observation)
        self.signal_halves = SignalHalves(observation)
        self.whole_core = WholeCoreSignals(observation)
        self._held = list(chain.from_iterable(map(self._too_early, observation.found)))

    def propose(self, number: int, taken: Taken) -> Iterator[Proposal]:
        """Lines to add for a finding, by its number, the fewest first; nothing where none are known. Ids that other
        edits have taken are left alone."""
        for each in map(self._spelled, self._proposed(number, taken)):
            if all(read(edit.text) is None or self.visible.allows(edit) for edit in each.edits):
                yield each

    def _spelled(self, proposal: Proposal) -> Proposal:
        """A kernel whose flags are all written as events of operation classes is told of events."""
        like = self._event
        if like is None:
            return proposal
        edits = (replace(edit, operation=in_classes(edit.operation, like)) for edit in proposal.edits)
        return replace(proposal, edits=tuple(edits))

    @cached_property
    def _event(self) -> WrittenSync | None:
        return event_of(self.balance.written.values())

    def _proposed(self, number: int, taken: Taken) -> Iterator[Proposal]:
        found = self.observation.found[number]
        if isinstance(found, Conflict):
            if found.kind == "race":
                yield from fences(self.program, found)
                yield from self._halves(self._too_early(found))
            for each in product(*(list(self._of_conflict(one, taken)) for one in (found, *found.also))):
                yield each[0] if len(each) == 1 else _joined(each)
        elif found.kind == "race":
            yield from atomics(self.program, found)
            yield from barriers(self.program, found)
        elif found.kind in ORDER:
            if found.kind == "deadlock":
                yield from circles(self.balance, self._blamed)
            yield from self._halves([])
        elif found.location in self.observation.endings and found.kind == "lint":
            yield Proposal((self.observation.endings[found.location],))

    def lines(self, number: int) -> Iterator[Proposal]:
        """Single lines that may be all that is wrong, given the gravest finding; each once, the likeliest first."""
        seen: set[Proposal] = set()
        for each in map(self._spelled, self._lines(number)):
            if each not in seen and all(map(self.visible.allows, each.edits)):
                seen.add(each)
                yield each

    def _lines(self, number: int) -> Iterator[Proposal]:
        """One that is there twice, the missing half of a pair, one that was written wrongly, stands wrongly, or is too
        much."""
        variants, balance = self.variants, self.balance
        halves = [
            each for each in self._halves(self._too_early(self.observation.found[number])) if len(each.edits) == 1
        ]
        ranked: dict[int, list[Proposal]] = {rank: [] for rank in range(4)}
        for each in halves:
            ranked[self._rank(*each.edits)].append(each)
        added = self.propose(number, frozenset())
        new = [each for each in added if len(each.edits) == 1 and not each.reason and each not in halves]
        yield from variants.repetitions()
        yield from self.whole_core.proposals()
        yield from variants.computed()
        yield from variants.estranged()
        yield from variants.modes()
        yield from variants.turned(self._blamed) if not balance.is_whole else ()
        yield from ranked[0]
        yield from additions(balance)
        yield from variants.replacements(0)
        yield from variants.moves(self._concerned) if balance.off else new
        yield from ranked[1] if not balance.is_whole else ()
        yield from variants.deletions(0)
        yield from new if balance.off else variants.moves(self._concerned)
        yield from ranked[2]
        for rank in (2,) if balance.is_whole else (1, 2):
            yield from variants.replacements(rank)

    def _halves(self, own: list[tuple[Operation, Pipe]]) -> Iterator[Proposal]:
        """The missing half of a pair, first in front of the entry that a finding calls too early."""
        early = list(dict.fromkeys((*own, *self._held)))
        yield from self.halves.proposals(early)
        yield from self.signal_halves.proposals(early)

    def _rank(self, edit: Edit) -> int:
        """A grade of a line to be added."""
        words = read(edit.text)
        return self.balance.rank(self.balance.foretold(words, edit.place.block) if words else None)

    @cached_property
    def _blamed(self) -> list[Operation]:
        """Halves that the run has found without a partner."""
        ops = [self.program.of(each.site) for each in self.observation.imbalances]
        return list(dict.fromkeys(op for op in ops if op is not None))

    @cached_property
    def _concerned(self) -> set[Operation]:
        """Operations that take part in the findings, and those around them."""
        findings = self.observation.findings
        places = [place for each in findings for place in (each.location, *(one.location for one in each.related))]
        places += [each.site.location for each in self.observation.imbalances]
        return {step for place in places for op in self.program.placed(place) for _, step in ancestors(op)}

    def advice(self, conflict: Conflict) -> str | None:
        """Advice where no edit is known to help."""
        first, second = conflict.first, conflict.second
        if first is None or conflict.kind != "race":
            return None
        if first.block != second.block:
            barrier = "pto.barrier #pto.pipe<PIPE_ALL>"
            return f"let each block work on bytes of its own, or put {barrier} and pto.syncall between the two"
        return self.signals.wish(conflict) if first.role != second.role else None

    def overlap(self, conflict: Conflict) -> str | None:
        """Advice where the addresses are at fault rather than the order."""
        return overlap(self.program, conflict) if conflict.kind == "race" else None

    def _too_early(self, found: Conflict | Diagnostic) -> list[tuple[Operation, Pipe]]:
        """The entry that has to wait, and its pipe: where the two meet, and what the scalar unit issues of the later
        access."""
        if not isinstance(found, Conflict) or found.first is None or found.kind != "race":
            return []
        meeting, op = self._meeting(found.first, found.second), self.program.of(found.second.site)
        early = [*([meeting.second] if meeting else []), *([launched(op)] if op else [])]
        return [(each, found.second.pipe) for each in early]

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
                yield Proposal((self.program.before(meeting.second, barrier),))
            else:
                yield from self._edge(conflict, first, second, meeting, taken)

    def used_up(self, conflict: Conflict, taken: Taken = frozenset()) -> str:
        """Said where no event is free for a pair between the pipes of a conflict."""
        first, second = conflict.first, conflict.second
        if (
            first is None
            or first.pipe is second.pipe
            or self.used.free_event(first.pipe, second.pipe, taken) is not None
        ):
            return ""
        pair = f"from {first.pipe} to {second.pipe}"
        if (first.pipe, second.pipe) in self.used.computed:
            return f"events {pair} are computed, so none is known to be free"
        return f"all {EVENT_IDS} events {pair} are in use"

    # --- edits --------------------------------------------------------------------------------------------------------

    def _fence(self, first: Party, second: Party) -> Iterator[Proposal]:
        op = self.program.of(second.site)
        if op is not None:
            kind = f"{_fence_class(first)}_{_fence_class(second)}"
            yield Proposal((self.program.before(op, f'pto.mem_bar "{kind}"'),))

    def _edge(
        self, conflict: Conflict, first: Party, second: Party, meeting: CommonBlock, taken: Taken
    ) -> Iterator[Proposal]:
        """A pair of flags between two pipes; a buffer where the kernel uses buffers, or no event is free."""
        event, reason = self.used.free_event(first.pipe, second.pipe, taken), self.used_up(conflict, taken)
        if event is not None:
            yield from self.flags.in_turn(first.pipe, second.pipe, meeting)
        if reason or self.used.has_buffers:
            yield from self._brackets(first, second, meeting, taken, reason and f"{reason}; take a buffer:\n")
        if event is not None:
            yield self.flags.added(first.pipe, second.pipe, meeting, event)

    def _brackets(
        self, first: Party, second: Party, meeting: CommonBlock, taken: Taken, reason: str
    ) -> Iterator[Proposal]:
        """A buffer around both, which needs neither prime nor drain."""
        number = self.used.free_buffer(taken)
        if number is None or Pipe.S in (first.pipe, second.pipe) or meeting.first is meeting.second:
            return
        edits = [
            where(op, f'pto.{name} "PIPE_{side.pipe}", {number}, 0')
            for op, side in ((meeting.first, first), (meeting.second, second))
            for where, name in ((self.program.before, "get_buf"), (self.program.after, "rls_buf"))
        ]
        yield Proposal(tuple(edits), reason, frozenset({("buffer", number)}))

    # --- places -------------------------------------------------------------------------------------------------------

    def _meeting(self, first: Party, second: Party) -> CommonBlock | None:
        one, other = self.program.of(first.site), self.program.of(second.site)
        if one is None or other is None:
            return None
        around = dict(ancestors(launched(one)))
        for block, op in ancestors(launched(other)):
            if block in around:
                return CommonBlock(block, around[block], op)
        return None


def _joined(several: tuple[Proposal, ...]) -> Proposal:
    """All of them at once."""
    edits = tuple(dict.fromkeys(chain.from_iterable(each.edits for each in several)))
    return Proposal(edits, several[0].reason, frozenset(chain.from_iterable(each.takes for each in several)))


def _fence_class(side: Party) -> str:
    scalar = "" if side.site.name in (LoadScalar.name, StoreScalar.name) else "V"
    return f"{scalar}{'LD' if side.verb == 'reads' else 'ST'}"
