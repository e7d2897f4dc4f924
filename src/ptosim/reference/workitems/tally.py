"""Counts of a timed run of workitems: instructions of each warp by latency, conflicts of banks, sectors of GM."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import GM, Space
from ptosim.effects.simt import WARP
from ptosim.reference.workitems.values import Active

SECTOR = 128
"""Bytes of GM that are requested together."""
WORD, BANKS, SUBBANKS = 8, 8, 4


@dataclass
class WorkitemTally:
    """The counts of one launch."""

    workitems: int
    warps: int
    instructions: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    """By warp and latency."""
    active: int = 0
    """Lanes that took part, over all instructions."""
    idle: Counter[tuple[int, str, int]] = field(default_factory=Counter[tuple[int, str, int]])
    """Lanes that did not, of those that there are, by warp, latency and the line of the branch or loop around."""
    crowded: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])
    """Cycles of the port of UB that conflicts of banks add, by warp and line."""
    barriers: int = 0
    ub: Counter[int] = field(default_factory=Counter[int])
    """Cycles of the port of UB, by warp."""
    ub_requests: Counter[int] = field(default_factory=Counter[int])
    hits: Counter[int] = field(default_factory=Counter[int])
    """Requests of GM, by warp, that find their sectors, and that miss some."""
    misses: Counter[int] = field(default_factory=Counter[int])
    sectors: int = 0
    stored: int = 0
    """Sectors that are missed, and stored to."""
    requests: int = 0
    touched: int = 0
    """Sectors of all requests of GM."""
    ub_atomics: int = 0
    gm_atomics: Counter[int] = field(default_factory=Counter[int])
    """Updates by sector."""
    uses_old: bool = False
    known: set[int] = field(default_factory=set[int])
    """Sectors that were loaded before."""

    def instruct(self, warp: int, latency: str, active: Active, existing: Active, around: int | None) -> None:
        """An instruction of these lanes; `around`: the line of the branch or loop in which it stands."""
        self.instructions[warp, latency] += 1
        lanes = int(np.count_nonzero(active))
        self.active += lanes
        if around is not None and (idle := int(np.count_nonzero(existing)) - lanes):
            self.idle[warp, latency, around] += idle

    def access(self, warp: int, space: Space, starts: NDArray[np.int64], verb: str, line: int | None) -> None:
        """A load or a store of these lanes."""
        if space is not GM:
            words = np.unique(starts // WORD)
            bank = words // SUBBANKS % BANKS * SUBBANKS + words % SUBBANKS
            cycles = int(np.bincount(bank).max(initial=1)) if len(bank) else 1
            self.ub[warp] += cycles
            if cycles > 1 and line is not None:
                self.crowded[warp, line] += cycles - 1
            self.ub_requests[warp] += 1
            return
        sectors: set[int] = set(np.unique(starts // SECTOR).tolist())
        self.requests += 1
        self.touched += len(sectors)
        if verb == "writes":
            self.stored += len(sectors)
            return
        missing = sectors - self.known
        self.known |= missing
        self.sectors += len(missing)
        (self.misses if missing else self.hits)[warp] += 1

    def update(self, space: Space, starts: NDArray[np.int64], uses_old: bool) -> None:
        """Atomics of these lanes."""
        if space is not GM:
            self.ub_atomics += int(np.unique(starts, return_counts=True)[1].max(initial=0))
            return
        self.uses_old |= uses_old
        self.gm_atomics.update((starts // SECTOR).tolist())

    def without_conflicts(self) -> WorkitemTally:
        """The same launch with words in banks of their own."""
        ub = Counter(self.ub)
        for (warp, _), cycles in self.crowded.items():
            ub[warp] -= cycles
        return replace(self, ub=ub)

    def without_divergence(self) -> WorkitemTally:
        """The same launch with as many lanes for each instruction as a warp has."""
        idle = Counter[tuple[int, str]]()
        for (warp, latency, _), lanes in self.idle.items():
            idle[warp, latency] += lanes
        instructions = Counter(self.instructions)
        for place, lanes in idle.items():
            instructions[place] -= lanes // WARP
        return replace(self, instructions=instructions)

    def facts(self) -> dict[str, int]:
        """In short, for a report: whole numbers."""
        issued = sum(self.instructions.values())
        return {
            "workitems": self.workitems,
            "warps": self.warps,
            "instructions": issued,
            "active_lanes": round(self.active / issued) if issued else 0,
            "ub_requests": sum(self.ub_requests.values()),
            "ub_cycles": sum(self.ub.values()),
            "gm_requests": self.requests,
            "gm_sectors": self.touched,
        }
