"""Shares of copies between ranks in the links: those that overlap share each cap in proportion to their bandwidth
alone.

Between two ranks, and out of a rank and into it, so many bytes pass in a cycle, one way. A copy alone has the rate of
its core. This says how long copies take that begin at given times; a copy that takes longer delays others, so the
caller asks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ptosim.target import Target

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CLOSE = 1e-6
"""Parts of a cycle that are no time."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A copy between two ranks: the bytes go from the rank `source` to the rank `dest`."""

    lane: tuple[int, int]
    """Core and queue: copies of one lane follow each other."""
    source: int
    dest: int
    start: int
    alone: int
    """Cycles that it takes where nothing else is on the links."""
    bytes: int


@dataclass(frozen=True)
class Caps:
    """Bytes in a cycle, one way."""

    peer: float
    rank: float

    @classmethod
    def of(cls, target: Target) -> Caps:
        clock = target.chip.clock_ghz
        return cls(target.link.peer_gb_s / clock, target.link.rank_gb_s / clock)

    def paces(self, demands: Floats, sources: Ints, dests: Ints, ranks: int) -> Floats:
        """The part of its bandwidth that each of the copies under way gets."""
        rates = demands.copy()
        for cap, users in ((self.peer, sources * ranks + dests), (self.rank, sources), (self.rank, dests)):
            wanted = np.bincount(users, rates)[users]
            rates *= np.minimum(1.0, cap / np.maximum(wanted, cap))
        return np.divide(rates, demands, out=np.ones_like(rates), where=demands > 0)


def taken(crossings: Sequence[Crossing], caps: Caps) -> list[int]:
    """The cycles of each of them, where all begin at their start or when their lane is free."""
    return _Run(crossings, caps).cycles() if crossings else []


class _Run:
    """Time goes from one begin or end of a copy to the next."""

    def __init__(self, crossings: Sequence[Crossing], caps: Caps) -> None:
        self.all = crossings
        self.caps = caps
        self.ranks = 1 + max(max(each.source, each.dest) for each in crossings)
        self.demands = np.array([each.bytes / max(1, each.alone) for each in crossings], np.float64)
        self.sources = np.array([each.source for each in crossings], np.int64)
        self.dests = np.array([each.dest for each in crossings], np.int64)
        self.left = np.array([each.alone for each in crossings], np.float64)
        self.behind: dict[tuple[int, int], list[int]] = {}  # of each lane, those that come later, the last first
        for number in sorted(range(len(crossings)), key=lambda n: crossings[n].start, reverse=True):
            self.behind.setdefault(crossings[number].lane, []).append(number)

    def cycles(self) -> list[int]:
        waiting = [(float(self.all[lane[-1]].start), lane.pop()) for lane in self.behind.values()]
        heapify(waiting)
        begun = np.zeros(len(self.all))
        active = np.zeros(0, np.int64)
        found = [0] * len(self.all)
        done: list[int]
        now = 0.0
        while waiting or len(active):
            paces = self.caps.paces(self.demands[active], self.sources[active], self.dests[active], self.ranks)
            ends = now + float((self.left[active] / paces).min()) if len(active) else np.inf
            until = min(ends, waiting[0][0] if waiting else np.inf)
            self.left[active] -= paces * (until - now)
            now = until
            done = active[self.left[active] <= _CLOSE].tolist()
            for number in done:
                found[number] = ceil(now - begun[number] - _CLOSE)
                lane = self.behind[self.all[number].lane]
                if lane:
                    heappush(waiting, (max(now, float(self.all[lane[-1]].start)), lane.pop()))
            active = active[self.left[active] > _CLOSE]
            new: list[int] = []
            while waiting and waiting[0][0] <= now + _CLOSE:
                new.append(heappop(waiting)[1])
            begun[new] = now
            active = np.concatenate([active, np.array(new, np.int64)])
        return found
