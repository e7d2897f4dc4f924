"""Chains of fences and atomics: what a workitem has done before a fence is ordered before what another does after it
has met, by atomics on one address, an update that came behind the fence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ptosim.machine.observer import WorkitemAccess

Clock = dict[int, int]
"""By workitem: how far it is known."""


@dataclass
class FenceClocks:
    """The clocks of the workitems of a launch between two barriers; kept where there is a fence."""

    moment: int = 0
    moments: dict[int, int] = field(default_factory=dict[int, int])
    """When each access happened, by its identity."""
    known: dict[int, Clock] = field(default_factory=dict[int, Clock])
    released: dict[int, Clock] = field(default_factory=dict[int, Clock])
    places: dict[tuple[Any, int], Clock] = field(default_factory=dict[tuple[Any, int], Clock])
    seen: dict[tuple[int, int], Clock] = field(default_factory=dict[tuple[int, int], Clock])
    """The clocks of a workitem at an access, by both."""

    def note(self, access: WorkitemAccess) -> None:
        self.moment += 1
        self.moments[id(access)] = self.moment
        if not self.released:
            return
        is_atomic = access.kind not in ("read", "write")
        for start, workitem in zip(access.starts, access.workitems, strict=True):
            number = int(workitem)
            if is_atomic:
                self._update((access.space, int(start)), number)
            if (known := self.known.get(number)) is not None:
                self.seen[id(access), number] = known

    def _update(self, place: tuple[Any, int], workitem: int) -> None:
        before = self.places.get(place)
        if before:
            self.known[workitem] = _joined(self.known.get(workitem), before)
        if (released := self.released.get(workitem)) is not None:
            self.places[place] = _joined(before, released)

    def fence(self, workitems: Any) -> None:
        for number in map(int, workitems):
            self.released[number] = _joined(self.known.get(number), {number: self.moment})

    def orders(self, one: WorkitemAccess, first: int, other: WorkitemAccess, second: int) -> bool:
        """Whether the access of one workitem is ordered before that of another, or the other way round."""
        return self._before(one, first, other, second) or self._before(other, second, one, first)

    def _before(self, one: WorkitemAccess, first: int, other: WorkitemAccess, second: int) -> bool:
        known = self.seen.get((id(other), second))
        return known is not None and known.get(first, -1) >= self.moments[id(one)]


def _joined(first: Clock | None, second: Clock) -> Clock:
    if not first:
        return dict(second)
    found = dict(first)
    for number, moment in second.items():
        found[number] = max(found.get(number, -1), moment)
    return found
