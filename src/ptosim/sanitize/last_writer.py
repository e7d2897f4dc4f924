"""Last writers: an observer that follows some bytes of an argument back to the instructions behind them.

It remembers which instruction last wrote each byte on the chip, and when a copy writes the wanted bytes to GM, looks up
where it took them from. What a vector store computed its value from is not followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import Space
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, Site
from ptosim.machine.observer import Change, Footprint, Observer

NO_SITE = -1


@dataclass(frozen=True)
class LastWrite:
    """One execution of an instruction that wrote."""

    site: Site
    core: str
    block: int
    loops: tuple[int, ...]
    source: LastWrite | None = None
    """The writer of the copied bytes, if the last write was a copy."""


class LastWriter(Observer):
    """Follows the bytes [low, high) of GM, given as addresses; `written` is who wrote them last, in the end."""

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high
        self.written: LastWrite | None = None
        self._writers: list[LastWrite] = []
        self._memories: dict[tuple[Space, int], NDArray[np.int32]] = {}
        """For each byte on the chip: a number in `_writers`."""
        self._copying: Entry | None = None
        self._copied: list[Footprint] = []
        """The footprints that the entry has read so far, in order."""

    def begin(self, core: Core) -> None:
        """Memories are cleared for a block, and no block reads those of another."""
        cores = {other.index for other in core.cluster.cores}
        self._memories = {key: writers for key, writers in self._memories.items() if key[1] not in cores}
        if not self._memories:
            self._writers = []

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> Any:
        if entry is not self._copying:
            self._copying, self._copied = entry, []
        self._copied.append(footprint)
        return None

    def store(self, entry: Entry, site: Site, footprint: Footprint, change: Change | None = None) -> None:
        if footprint.space is not Space.GM:
            self._remember(entry, site, footprint)
            return
        addresses = _addresses(footprint)
        hits = np.flatnonzero((addresses >= self.low) & (addresses < self.high))
        if len(hits):
            source = self._source(entry, int(hits[-1]), len(addresses))
            self.written = _written(entry, site, source)

    def _remember(self, entry: Entry, site: Site, footprint: Footprint) -> None:
        owner, key = footprint.owner, _memory(footprint)
        assert owner is not None
        if key not in self._memories:
            self._memories[key] = np.full(owner.target.memory[footprint.space], NO_SITE, np.int32)
        self._writers.append(_written(entry, site, None))
        memory, addresses = self._memories[key], _addresses(footprint)
        memory[addresses[(addresses >= 0) & (addresses < len(memory))]] = len(self._writers) - 1

    def _source(self, entry: Entry, position: int, size: int) -> LastWrite | None:
        """The writer of the byte that an entry, which has written `size` bytes, put into this one of them."""
        if entry is not self._copying:
            return None
        total = sum(len(_addresses(footprint)) for footprint in self._copied)
        position = position * total // size  # a copy may convert elements to another width
        for footprint in self._copied:
            addresses = _addresses(footprint)
            if position < len(addresses):
                return self._writer(footprint, int(addresses[position]))
            position -= len(addresses)
        return None

    def _writer(self, footprint: Footprint, address: int) -> LastWrite | None:
        memory = self._memories.get(_memory(footprint))
        if memory is None or not 0 <= address < len(memory) or memory[address] == NO_SITE:
            return None
        return self._writers[int(memory[address])]


def _memory(footprint: Footprint) -> tuple[Space, int]:
    """L1 belongs to a whole cluster, the others to a core; GM belongs to no core."""
    owner = footprint.owner
    if owner is None:
        return footprint.space, NO_SITE
    return footprint.space, owner.cluster.cores[0].index if footprint.space is Space.L1 else owner.index


def _written(entry: Entry, site: Site, source: LastWrite | None) -> LastWrite:
    """In a vector scope the loops are those of the core that executes it, otherwise those of the issue."""
    core = entry.core
    loops = entry.loops if entry.site is site else tuple(core.loops)
    return LastWrite(site, core.name, core.block, loops, source)


def _addresses(footprint: Footprint) -> NDArray[np.int64]:
    """Every byte of an access, in order."""
    starts = np.atleast_1d(np.asarray(footprint.starts, np.int64))
    return (starts[:, np.newaxis] + np.arange(footprint.width)).reshape(-1)
