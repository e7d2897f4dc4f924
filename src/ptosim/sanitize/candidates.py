"""Loads that a later write may overtake, kept until it is known whether the loaded bytes matter.

A vector load reads a whole register whatever a later mask selects. When another pipe writes some of these bytes in no
order with the load, the pair is only suspicious; the run is repeated with exactly these bytes tainted at their load,
and the taint tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.machine.entry import Entry, Site
from ptosim.machine.sync import PIPES
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.scope_aliases import ScopeShadow
from ptosim.sanitize.shadow import CLEAN, UnorderedAccess
from ptosim.sanitize.taint import Origins
from ptosim.sanitize.undefined_and_racy import Doubtful, DoubtObserver, Hit, Image, Subject
from ptosim.sanitize.window import Places, ShadowWindow

MOST = 65_536
"""Ranges kept. Beyond these only those of a new pair of lines are: memory must not grow with the steps of a run."""


class CandidateRange(NamedTuple):
    site: Site
    low: int
    high: int
    origin: int


class Candidates:
    """The suspected loads of a run, by the vector entry they belong to."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self._ranges: dict[tuple[int, int], list[CandidateRange]] = {}
        self._count = 0
        self._pairs: set[int] = set()
        self._dropped: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def add(self, conflict: Conflict, site: Site, meeting: UnorderedAccess, addresses: Places, where: Hit) -> None:
        """Bytes that were loaded at `site` and are written now, in no order."""
        assert conflict.first is not None
        origin = self.origins.number(("race", conflict.first.site, conflict.second.site), lambda: conflict)
        if self._count >= MOST and origin in self._pairs:
            self._dropped.add(origin)
            return
        self._pairs.add(origin)
        track = meeting.track
        for stamp, low, high in _runs(meeting.stamps[where], addresses[where]):
            key = (track.index // PIPES, track.entry_number(stamp))
            self._ranges.setdefault(key, []).append(CandidateRange(site, low, high, origin))
            self._count += 1

    def undecided(self) -> Iterator[Conflict]:
        """The suspicions of which some occurrences were not kept."""
        for origin in sorted(self._dropped):
            yield self.origins[origin]

    def ranges(self, entry: Entry) -> Iterator[tuple[int, int]]:
        """The suspected bytes of a vector entry."""
        for suspected in self._ranges.get((entry.core.index, entry.n), ()):
            yield suspected.low, suspected.high

    def plant(self, entry: Entry, site: Site, covered: ShadowWindow, image: Image | None) -> Image | None:
        """The taint of a load with its suspected bytes added."""
        addresses = covered.addresses()
        for suspected in self._ranges.get((entry.core.index, entry.n), ()):
            if suspected.site is not site:
                continue
            hit = (addresses >= suspected.low) & (addresses < suspected.high)
            if hit.any():
                image = np.zeros(len(addresses), np.uint8) if image is None else image
                image[hit] = suspected.origin
        return image


class RepeatedRun(DoubtObserver):
    """Observes a run that repeats an earlier one, to see which suspected loads matter: nothing else is doubtful."""

    fresh = CLEAN

    def __init__(self, subject: Subject, planted: Candidates, doubtful: Doubtful) -> None:
        super().__init__(subject, planted.origins, doubtful)
        self.planted = planted

    def suspect(self, scope: ScopeShadow) -> None:
        for low, high in self.planted.ranges(scope.entry):
            scope.suspect(low, high)

    def suspected(
        self, scope: ScopeShadow, site: Site, covered: ShadowWindow, by_use: bool, image: Image | None
    ) -> Image | None:
        return self.planted.plant(scope.entry, site, covered, image)


def _runs(stamps: NDArray[np.int64], addresses: Places) -> Iterator[tuple[int, int, int]]:
    """Ranges of consecutive addresses that have the same stamp, with it."""
    order = np.lexsort((addresses, stamps))
    stamps, addresses = stamps[order], addresses[order]
    breaks = np.flatnonzero((np.diff(stamps) != 0) | (np.diff(addresses) > 1)) + 1
    for begin, end in pairwise((0, *breaks.tolist(), len(order))):
        yield int(stamps[begin]), int(addresses[begin]), int(addresses[end - 1]) + 1
