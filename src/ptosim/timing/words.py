"""When words in global memory become what somebody waits for: notices by the time at which they are seen."""

from __future__ import annotations

from dataclasses import dataclass

from ptosim.machine.entry import Entry
from ptosim.machine.memory import decode
from ptosim.machine.signal import Watched, wrapped
from ptosim.target.profile import Latency

Moment = tuple[int, int]
"""A time, and the row whose end led to it."""


@dataclass(frozen=True, eq=False)
class Said:
    """A notice: when it was given, when it is seen, and what it does."""

    address: int
    moment: Moment
    seen: int
    entry: Entry
    value: int
    adds: bool


class Words:
    """The notices of a run by word."""

    def __init__(self, latency: Latency) -> None:
        self.latency = latency
        self._said: dict[int, list[Said]] = {}
        self._first: dict[int, int] = {}

    def notify(self, entry: Entry, moment: Moment) -> None:
        notice = entry.notice
        assert notice is not None
        region = entry.core.regions.all.get(decode(notice.address)[0])
        is_remote = region is not None and region.rank != entry.core.rank
        seen = moment[0] + (self.latency.notify if is_remote else self.latency.inter_core)
        if notice.address not in self._first:
            self._first[notice.address] = wrapped(notice.words.read(0) - notice.value) if notice.adds else 0
        said = Said(notice.address, moment, seen, entry, notice.value, notice.adds)
        self._said.setdefault(notice.address, []).append(said)

    def satisfied(self, watched: Watched) -> Said | None:
        """The notice that satisfies a wait as the last of those it needs; None if it needed none."""
        needed = [self._when(address, watched) for address in watched.words.addresses]
        return max((said for said in needed if said is not None), key=lambda said: said.seen, default=None)

    def _when(self, address: int, watched: Watched) -> Said | None:
        """Notices in the order in which they are seen, until the word satisfies the condition."""
        word = self._first.get(address)
        if word is None or watched.allows(word):
            return None
        for said in sorted(self._said[address], key=lambda said: said.seen):
            word = wrapped(word + said.value) if said.adds else said.value
            if watched.allows(word):
                return said
        return None
