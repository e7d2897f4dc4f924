"""Chains of fences and atomics: accesses of a workitem before its fence precede those of another that has met, by
atomics on one address, an update behind the fence. A barrier carries what one workitem of a launch knows to all of
them, so that chains lead from core to core as well."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ptosim.machine.observer import WorkitemAccess

ALL = -1
"""Stands for the workitems of all launches of a core, up to a barrier."""

Worker = tuple[int, int]
"""A workitem: the index of its core, and its number."""
Clock = dict[Worker, int]
"""By workitem: how far it is known."""


@dataclass
class FenceClocks:
    """The clocks of all workitems; told only of accesses that are kept, because it knows them by their identity."""

    moment: int = 0
    moments: dict[int, int] = field(default_factory=dict[int, int])
    """The moment of each access, by its identity."""
    known: dict[Worker, Clock] = field(default_factory=dict[Worker, Clock])
    released: dict[Worker, Clock] = field(default_factory=dict[Worker, Clock])
    places: dict[tuple[Any, int], Clock] = field(default_factory=dict[tuple[Any, int], Clock])
    seen: dict[tuple[int, int], Clock] = field(default_factory=dict[tuple[int, int], Clock])
    """The clocks of a workitem at an access, by both."""

    def note(self, core: int, access: WorkitemAccess) -> None:
        self.moment += 1
        self.moments[id(access)] = self.moment
        if not self.released:
            return
        is_atomic = access.kind not in ("read", "write")
        for start, workitem in zip(access.starts, access.workitems, strict=True):
            number = int(workitem)
            if is_atomic:
                self._update((access.space, int(start)), (core, number))
            if known := self._of(self.known, core, number):
                self.seen[id(access), number] = known

    def forget(self, access: WorkitemAccess) -> None:
        """The access is not kept any longer."""
        self.moments.pop(id(access), None)
        for workitem in access.workitems if self.seen else ():
            self.seen.pop((id(access), int(workitem)), None)

    @staticmethod
    def _of(clocks: dict[Worker, Clock], core: int, number: int) -> Clock | None:
        return clocks.get((core, number)) or clocks.get((core, ALL))

    def _update(self, place: tuple[Any, int], worker: Worker) -> None:
        before = self.places.get(place)
        if before:
            self.known[worker] = joined(self._of(self.known, *worker), before)
        if released := self._of(self.released, *worker):
            self.places[place] = joined(before, released)

    def fence(self, core: int, workitems: Any) -> None:
        for number in map(int, workitems):
            self.released[core, number] = joined(self._of(self.known, core, number), {(core, number): self.moment})

    def barrier(self, core: int) -> None:
        """All workitems of a core know what one of them knows, and have done what all have done so far."""
        for clocks in (self.known, self.released):
            mine = [worker for worker in clocks if worker[0] == core]
            if mine:
                clocks[core, ALL] = joined(*(clocks.pop(worker) for worker in mine))
        self.known[core, ALL] = joined(self.known.get((core, ALL)), {(core, ALL): self.moment})

    def orders(self, one: WorkitemAccess, first: Worker, other: WorkitemAccess, second: Worker) -> bool:
        """Whether the access of one workitem is ordered before that of another, or the other way round."""
        return self._before(one, first, other, second) or self._before(other, second, one, first)

    def _before(self, one: WorkitemAccess, first: Worker, other: WorkitemAccess, second: Worker) -> bool:
        known = self.seen.get((id(other), second[1]), {})
        return max(known.get(first, -1), known.get((first[0], ALL), -1)) >= self.moments[id(one)]


def joined(*clocks: Clock | None) -> Clock:
    """The later of each workitem's moments."""
    found: Clock = {}
    for number, moment in (pair for clock in clocks if clock for pair in clock.items()):
        found[number] = max(found.get(number, -1), moment)
    return found
