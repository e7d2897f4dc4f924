"""Touches of GM by operation: an observer that records which operations touch the same bytes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import Space
from ptosim.machine.entry import Entry, Site
from ptosim.machine.observer import Change, Footprint, Observer

Pieces = NDArray[np.int64]
"""Bytes of GM as rows of a start and an end."""


class RecordedTouches(Observer):
    """The bytes of GM that entries have touched, by their core and the operation that they come from."""

    def __init__(self) -> None:
        self._touched: defaultdict[tuple[int, Site | None], list[Pieces]] = defaultdict(list)

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> Any:
        self._touch(entry, footprint)
        return None

    def store(self, entry: Entry, site: Site, footprint: Footprint, change: Change | None = None) -> None:
        self._touch(entry, footprint)

    def _touch(self, entry: Entry, footprint: Footprint) -> None:
        if footprint.space is Space.GM:
            starts = np.atleast_1d(np.asarray(footprint.starts, np.int64))
            self._touched[entry.core.index, entry.site].append(np.stack([starts, starts + footprint.width], axis=1))

    def meet(self, one: Site | None, other: Site | None) -> bool:
        """Whether two operations, or two executions of one, have touched the same byte on some core."""
        cores = [core for core, site in self._touched if site is one and (core, other) in self._touched]
        return any(_overlap(self._pieces(core, one), self._pieces(core, other), one is other) for core in cores)

    def _pieces(self, core: int, site: Site | None) -> Pieces:
        return np.concatenate(self._touched[core, site])


def _overlap(a: Pieces, b: Pieces, is_same: bool) -> bool:
    """Whether pieces overlap some others, or each other."""
    a = a[np.argsort(a[:, 0])]
    ends = np.maximum.accumulate(a[:, 1])
    if is_same:
        return bool((a[1:, 0] < ends[:-1]).any())
    before = np.searchsorted(a[:, 0], b[:, 1])  # so many begin before each of the others ends
    return bool((ends[np.maximum(before - 1, 0)] > b[:, 0])[before > 0].any())
