"""The shadow of an on-chip memory: per byte, who wrote and read it last on each pipe, and whether its value is defined.

There is a track for the reads of each pipe, and one for its writes; what an earlier block has left in it is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.machine.clock import SLOTS, entry_index
from ptosim.machine.core import Core
from ptosim.machine.entry import Clock, Entry
from ptosim.sanitize.access_hull import Hulls
from ptosim.sanitize.granules import Stamps
from ptosim.sanitize.stamp import MOST_ENTRIES, entry_of, first_stamp
from ptosim.sanitize.track import AccessHistory
from ptosim.sanitize.window import GRANULE, GRANULE_BITS, ShadowWindow

Direction = Literal["read", "write"]

CLEAN = 0
UNDEFINED = 1
"""Taint of a byte that nothing has written; higher numbers name an origin (taint.py)."""


class OnChipTrack(AccessHistory):
    """Bytes that one pipe has read, or written, of one on-chip memory."""

    __slots__ = ("direction", "reach", "size")

    def __init__(self, size: int, direction: Direction, entry: Entry) -> None:
        super().__init__(size, entry)
        self.size = size
        self.direction: Direction = direction
        self.reach: dict[int, tuple[int, int]] = {}
        """By the number of an instruction the lowest byte that it has touched in any block, and the highest."""

    def begin(self) -> None:
        """A new block starts: nothing has been touched."""
        self.floor = entry_of(self.newest)
        if self.floor >= MOST_ENTRIES:
            self.table.clear()
            self.floor = self.newest = 0
            self.hulls = Hulls(self.size)

    def widen(self, number: int, low: int, high: int) -> None:
        """An instruction has touched bytes from one to another."""
        lowest, highest = self.reach.get(number, (low, high))
        self.reach[number] = min(low, lowest), max(high, highest)

    def put(self, window: ShadowWindow, stamp: int | Stamps) -> None:
        """An access has left this stamp, or these, one for each byte."""
        if isinstance(stamp, int) and window.places is None:
            self.table.put(window.starts, window.width, stamp)
        else:
            self.table.put_each(window, stamp)


class UnorderedAccess(NamedTuple):
    """An earlier access of other entries that one is in no order with."""

    track: OnChipTrack
    stamps: Stamps
    """The stamps of all bytes of the access."""
    hit: NDArray[np.bool_]
    """The bytes that the two have in common."""


def of_core(core: Core, latest: Iterable[tuple[int, int]]) -> Clock:
    """Knowledge about the pipes of one core, without those of others."""
    clock: Clock = {}
    for index, count in latest:
        if index // SLOTS == core.index:
            clock[index] = max(clock.get(index, 0), count)
    return clock


class MemoryShadow:
    """The shadow of one memory of one core."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.tracks: dict[tuple[str, int, Direction], OnChipTrack] = {}
        self._taint = bytearray(size)
        self.taint: NDArray[np.uint8] = np.frombuffer(self._taint, np.uint8)
        self._rows = self.taint.reshape(-1, GRANULE)
        self.dirty = bytearray(size >> GRANULE_BITS)  # per granule, whether some byte of it is tainted
        self.granules_dirty: NDArray[np.uint8] = np.frombuffer(self.dirty, np.uint8)

    def begin(self, taint: int) -> None:
        """A new block starts: every byte has this taint."""
        self.taint.fill(taint)
        self.granules_dirty.fill(taint != CLEAN)
        for track in self.tracks.values():
            track.begin()

    def set_taint(self, window: ShadowWindow, taint: NDArray[np.uint8] | int | None) -> None:
        """The taint of bytes that have been stored, or of each of them."""
        if taint is None and self.is_clean(window):
            return
        if taint is None and window.is_stretch:
            self.define(window.start, window.start + window.width)
            return
        window.put(self.taint, CLEAN if taint is None else taint)
        granules = window.granules()
        if isinstance(taint, int):
            granules.put(self.granules_dirty, taint != CLEAN)
            return
        stretch = slice(granules.start, granules.start + granules.width)
        numbers = stretch if granules.is_stretch else granules.addresses()
        self.granules_dirty[numbers] = self._rows[numbers].any(axis=1)

    def is_clean(self, window: ShadowWindow) -> bool:
        """Whether no granule from the first to the last one of the window has a tainted byte."""
        low, high = window.reach()
        return self.dirty.find(1, low >> GRANULE_BITS, (high + GRANULE - 1) >> GRANULE_BITS) < 0

    def define(self, start: int, stop: int) -> None:
        """Bytes in a row have been stored, and are clean."""
        self.taint[start:stop] = CLEAN
        first, last = start >> GRANULE_BITS, (stop + GRANULE - 1) >> GRANULE_BITS
        self.dirty[first:last] = bytes(last - first)
        for granule in {first, last - 1} if (start | stop) % GRANULE else ():
            clean = self._taint.count(CLEAN, granule << GRANULE_BITS, (granule + 1) << GRANULE_BITS)
            self.dirty[granule] = clean != GRANULE

    def track(self, entry: Entry, direction: Direction) -> OnChipTrack:
        """The history of the entry's pipe."""
        index = entry_index(entry)
        key = (entry.core.role, index % 8, direction)
        track = self.tracks.get(key)
        if track is None:
            track = self.tracks[key] = OnChipTrack(self.size, direction, entry)
        track.index = index
        return track

    def out_of_order(self, entry: Entry, direction: Direction, window: ShadowWindow) -> list[UnorderedAccess]:
        """The histories that the access is in conflict with."""
        found: list[UnorderedAccess] = []
        low, high = window.reach()
        for track in self.tracks.values():
            if direction == track.direction == "read":
                continue
            threshold = track.threshold(entry)
            if track.newest < threshold or not track.hulls.meets(threshold, low, high):
                continue
            stamps = track.table.of(window)
            hit = stamps >= threshold
            if track.index == entry_index(entry):
                hit &= stamps < track.stamp(entry)  # an entry is in order with itself
            if np.count_nonzero(hit):
                found.append(UnorderedAccess(track, stamps, hit))
        return found

    def latest(self, window: ShadowWindow) -> Iterator[tuple[int, int]]:
        """By the index of each pipe that touched these bytes in this block: its entries up to the last that did."""
        for track in self.tracks.values():
            newest = int(track.table.of(window).max())
            if newest >= first_stamp(track.floor + 1):
                yield track.index, track.entry_number(newest) + 1

    def record(self, entry: Entry, direction: Direction, number: int, window: ShadowWindow) -> None:
        """The entry touches these bytes at the instruction of this number."""
        track = self.track(entry, direction)
        first = track.stamp(entry)
        stamp = first + number
        low, high = window.reach()
        track.hulls.of(first).widen(low, high)
        track.widen(number, low, high)
        track.put(window, stamp)
        track.newest = max(track.newest, stamp)
