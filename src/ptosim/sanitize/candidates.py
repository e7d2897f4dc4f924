"""Loads that a later write may overtake, kept until it is known whether the loaded bytes matter.

A vector load reads a whole register whatever a later mask selects. When another pipe writes some of these bytes in no
order with the load, the pair is only suspicious; the run is repeated with exactly these bytes tainted at their load,
and the taint tells. A byte remembers its last load only: earlier ones that the write knows as little of are tainted as
well, and count where the last one does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.machine.clock import SLOTS
from ptosim.machine.entry import Entry, Site
from ptosim.machine.signal import Foreseen
from ptosim.sanitize.conflict import Conflict, Findings, party, place_of
from ptosim.sanitize.scope_aliases import ScopeShadow
from ptosim.sanitize.shadow import CLEAN, UnorderedAccess
from ptosim.sanitize.taint import Origins
from ptosim.sanitize.undefined_and_racy import DoubtObserver, Hit, Image, Subject
from ptosim.sanitize.window import Places, ShadowWindow

MOST = 65_536
"""Ranges kept. Beyond these only those of a new pair of lines are: memory must not grow with the steps of a run."""


class CandidateRange(NamedTuple):
    """Bytes that a write in no order with their loads has met, and the vector entries whose loads it is about."""

    first: int
    last: int
    low: int
    high: int
    conflict: Conflict
    """With the last load."""


class _OfCore:
    """The ranges that are about loads of one core."""

    def __init__(self) -> None:
        self.ranges: list[CandidateRange] = []

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        return np.array([each[:4] for each in self.ranges], np.int64).T

    def of(self, n: int) -> list[CandidateRange]:
        """The candidates about an entry."""
        first, last, _, _ = self._bounds
        return [self.ranges[number] for number in np.flatnonzero((first <= n) & (n <= last))]


class Candidates:
    """The suspected loads of a run, by the vector entry they belong to."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self._ranges: dict[int, _OfCore] = {}
        self._at: tuple[Entry | None, list[CandidateRange]] = None, []
        """The entry that was asked for last, and its ranges."""
        self._own: set[object] = set()
        self._stands_for: dict[object, set[object]] = {}
        """Keys of conflicts with earlier loads: those with the last loads of the same bytes."""
        self._count = 0
        self._pairs: set[int] = set()
        self._dropped: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def add(self, conflict: Conflict, first: int, meeting: UnorderedAccess, addresses: Places, where: Hit) -> None:
        """Bytes that were loaded and are written now, in no order with entries of the loading pipe from `first` on."""
        assert conflict.first is not None
        origin = self.origins.number(("race", conflict.first.site, conflict.second.site), lambda: conflict)
        if self._count >= MOST and origin in self._pairs:
            self._dropped.add(origin)
            return
        self._pairs.add(origin)
        self._own.add(conflict.key)
        track = meeting.track
        ranges = self._ranges.setdefault(track.index // SLOTS, _OfCore()).ranges
        for stamp, low, high in _runs(meeting.stamps[where], addresses[where]):
            ranges.append(CandidateRange(first, track.entry_number(stamp), low, high, conflict))
            self._count += 1

    def undecided(self) -> Iterator[Conflict]:
        """The suspicions of which some occurrences were not kept."""
        for origin in sorted(self._dropped):
            yield self.origins[origin]

    def ranges(self, entry: Entry) -> list[CandidateRange]:
        """The suspected bytes of a vector entry."""
        if self._at[0] is not entry:
            of_core = self._ranges.get(entry.core.index)
            self._at = entry, of_core.of(entry.n) if of_core is not None else []
        return self._at[1]

    def met(self, scope: ScopeShadow, site: Site, covered: ShadowWindow) -> Iterator[tuple[Hit, Conflict]]:
        """The suspected bytes of a load, and the conflict that each of them is in."""
        low, high = covered.reach()
        near = [each for each in self.ranges(scope.entry) if each.low < high and low < each.high]
        addresses = covered.addresses() if near else np.zeros(0, np.int64)
        for suspected in near:
            hit = (addresses >= suspected.low) & (addresses < suspected.high)
            if hit.any():
                yield hit, self._meant(suspected.conflict, scope, site, covered, hit)

    def _meant(self, last: Conflict, scope: ScopeShadow, site: Site, covered: ShadowWindow, hit: Hit) -> Conflict:
        """The conflict of a load with the write that has met the last load of its bytes."""
        assert last.first is not None
        if last.first.site is site:
            return last
        place, first = place_of(scope.memory, covered, hit), party(scope.entry, site, "reads")
        conflict = replace(last, first=first, place=place, also=[])
        if conflict.key not in self._own:
            self._stands_for.setdefault(conflict.key, set()).add(last.key)
        return conflict

    def is_spoken_for(self, conflict: Conflict, found: Findings) -> bool:
        """Whether a conflict is with an earlier load, and the last load of these bytes counts as well."""
        return any(key in found.found for key in self._stands_for.get(conflict.key, ()))


class RepeatedRun(DoubtObserver):
    """Observes a run that repeats an earlier one, to see which suspected loads matter: nothing else is doubtful."""

    fresh = CLEAN

    def __init__(self, subject: Subject, planted: Candidates, foreseen: Foreseen) -> None:
        super().__init__(subject, planted.origins, foreseen)
        self.planted = planted

    def suspect(self, scope: ScopeShadow) -> None:
        for suspected in self.planted.ranges(scope.entry):
            scope.suspect(suspected.low, suspected.high)

    def suspected(
        self, scope: ScopeShadow, site: Site, covered: ShadowWindow, by_use: bool, image: Image | None
    ) -> Image | None:
        for hit, conflict in self.planted.met(scope, site, covered):
            assert conflict.first is not None
            if not by_use:
                self.findings.conflict(replace(conflict, also=[]))
                continue
            image = np.zeros(len(hit), np.uint8) if image is None else image
            key = ("race", conflict.first.site, conflict.second.site)
            image[hit] = self.origins.number(key, lambda conflict=conflict: conflict)
        return image

    def confirmed(self, known: Findings) -> Iterator[Conflict]:
        """The conflicts that count, without known ones and those covered by another."""
        for conflict in self.findings.found.values():
            if not isinstance(conflict, Conflict) or self.planted.is_spoken_for(conflict, self.findings):
                continue
            if conflict.use is not None or not known.knows(conflict):
                yield conflict


def _runs(stamps: NDArray[np.int64], addresses: Places) -> Iterator[tuple[int, int, int]]:
    """Ranges of consecutive addresses that have the same stamp, with it."""
    order = np.lexsort((addresses, stamps))
    stamps, addresses = stamps[order], addresses[order]
    breaks = np.flatnonzero((np.diff(stamps) != 0) | (np.diff(addresses) > 1)) + 1
    for begin, end in pairwise((0, *breaks.tolist(), len(order))):
        yield int(stamps[begin]), int(addresses[begin]), int(addresses[end - 1]) + 1
