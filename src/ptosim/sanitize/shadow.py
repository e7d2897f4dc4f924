"""The shadow of an on-chip memory: per byte, who wrote and read it last on each pipe, and whether its value is defined.

A track is the history of one pipe in one memory, for reads or for writes. Blocks reuse the shadow of those before them:
instead of being cleared, a track counts on, and what lies below its floor belongs to an earlier block and is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from mmap import mmap
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ptosim.machine.clock import entry_index
from ptosim.machine.core import Core
from ptosim.machine.entry import Clock, Entry
from ptosim.machine.sync import PIPES
from ptosim.sanitize.hull import Hulls
from ptosim.sanitize.stamp import ENTRY_ONE, MOST_ENTRIES, entry_of, first_stamp
from ptosim.sanitize.window import GRANULE, GRANULE_BITS, Places, Window

Stamps = NDArray[np.int64]
Direction = Literal["read", "write"]

CLEAN = 0
UNDEFINED = 1
"""Taint of a byte that nothing has written; higher numbers name an origin (taint.py)."""


def _untouched(count: int) -> Stamps:
    """Zeros that take neither memory nor time before they are touched: most of a memory never is."""
    return np.frombuffer(mmap(-1, 8 * count), np.int64)


SPLIT = (1 << 63) - 1
"""Instead of the stamp of a granule: its bytes have stamps of their own. It is higher than any stamp."""


class Track:
    """What one pipe has read, or written, of one memory.

    A granule has one stamp for all its bytes until an access touches some of them only.
    """

    __slots__ = (
        *("_bytes", "_words", "direction", "floor", "granules", "hulls", "index", "newest", "pipe", "role", "size"),
    )

    def __init__(self, size: int, direction: Direction, entry: Entry) -> None:
        self.size = size
        count = (size + GRANULE - 1) >> GRANULE_BITS
        self.granules: Stamps = np.zeros(count, np.int64)
        self._words = self.granules.data.cast("B").cast("q")  # the same: single ones are quicker to get here
        self._bytes = _untouched(count << GRANULE_BITS)
        self.direction = direction
        self.role = entry.core.role
        self.pipe = entry.pipe
        self.index = entry_index(entry)  # of its pipe in the clocks of the present block
        self.floor = 0  # entries up to this number belong to earlier blocks
        self.newest = 0  # stamp
        self.hulls = Hulls(size)

    def begin(self) -> None:
        """A new block starts: nothing has been touched."""
        self.floor = entry_of(self.newest)
        if self.floor >= MOST_ENTRIES:
            self.granules[:] = 0
            self.floor = self.newest = 0
            self.hulls = Hulls(self.size)

    def stamps(self, window: Window) -> Stamps:
        """The stamp of each byte of an access."""
        if window.is_aligned:
            found = window.granules().of(self.granules).reshape(-1)
            if not np.count_nonzero(found == SPLIT):
                return np.repeat(found, GRANULE)
        addresses = window.addresses()
        stamps: Stamps = self.granules[addresses >> GRANULE_BITS]
        split = stamps == SPLIT
        stamps[split] = self._bytes[addresses[split]]
        return stamps

    def put(self, window: Window, stamp: int | Stamps) -> None:
        """An access has left this stamp, or these, one for each byte."""
        if isinstance(stamp, int) and window.is_stretch:
            self.put_stretch(window.start, window.start + window.width, stamp)
        elif isinstance(stamp, int) and window.is_aligned:
            window.granules().put(self.granules, stamp)
        else:
            self._split(window.granules().addresses())
            window.put(self._bytes, stamp)

    def put_stretch(self, start: int, stop: int, stamp: int) -> None:
        """The stamp of bytes in a row: only the granules at the two ends may have to be split."""
        first, last = (start + GRANULE - 1) >> GRANULE_BITS, stop >> GRANULE_BITS
        if last < first:
            self._put_part(start, stop, stamp)
            return
        self.granules[first:last] = stamp
        if start % GRANULE:
            self._put_part(start, first << GRANULE_BITS, stamp)
        if stop % GRANULE:
            self._put_part(last << GRANULE_BITS, stop, stamp)

    def _put_part(self, start: int, stop: int, stamp: int) -> None:
        """The stamp of some bytes of a granule."""
        granule = start >> GRANULE_BITS
        found = self._words[granule]
        if found != SPLIT:
            self._bytes[granule << GRANULE_BITS : (granule + 1) << GRANULE_BITS] = found
            self._words[granule] = SPLIT
        self._bytes[start:stop] = stamp

    def _split(self, numbers: Places) -> None:
        """Give the bytes of these granules stamps of their own."""
        whole = numbers[self.granules[numbers] != SPLIT]
        if len(whole):
            self._bytes.reshape(-1, GRANULE)[whole] = self.granules[whole][:, np.newaxis]
            self.granules[whole] = SPLIT

    def stamp(self, entry: Entry) -> int:
        return first_stamp(self.floor + entry.n + 1)

    def entry_number(self, stamp: int) -> int:
        """The number of an entry of the present block on its pipe."""
        return entry_of(stamp) - self.floor - 1

    def threshold(self, entry: Entry) -> int:
        """Stamps from here on are not known to have ended when the entry starts."""
        clock = entry.clock or {}
        return (self.floor + clock.get(self.index, 0) + 1) * ENTRY_ONE


def of_core(core: Core, latest: Iterable[tuple[int, int]]) -> Clock:
    """What was found out about the pipes of one core, those of others left out."""
    clock: Clock = {}
    for index, count in latest:
        if index // PIPES == core.index:
            clock[index] = max(clock.get(index, 0), count)
    return clock


class Memory:
    """The shadow of one memory of one core."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.tracks: dict[tuple[str, int, Direction], Track] = {}
        self._taint = bytearray(size)
        self.taint: NDArray[np.uint8] = np.frombuffer(self._taint, np.uint8)
        self.dirty = bytearray(size >> GRANULE_BITS)  # per granule, whether some byte of it is tainted
        self._dirty: NDArray[np.uint8] = np.frombuffer(self.dirty, np.uint8)

    def begin(self, taint: int) -> None:
        """A new block starts: every byte has this taint."""
        self.taint.fill(taint)
        self._dirty.fill(taint != CLEAN)
        for track in self.tracks.values():
            track.begin()

    def set_taint(self, window: Window, taint: NDArray[np.uint8] | int | None) -> None:
        """The taint of bytes that have been stored, or of each of them."""
        if taint is None and self.is_clean(window):
            return
        if taint is None and window.is_stretch:
            self.define(window.start, window.start + window.width)
            return
        window.put(self.taint, CLEAN if taint is None else taint)
        granules = window.granules()
        if isinstance(taint, int):
            granules.put(self._dirty, taint != CLEAN)
            return
        numbers = granules.addresses()
        self._dirty[numbers] = self.taint.reshape(-1, GRANULE)[numbers].any(axis=1)

    def is_clean(self, window: Window) -> bool:
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

    def track(self, entry: Entry, direction: Direction) -> Track:
        """The history of the entry's pipe."""
        index = entry_index(entry)
        key = (entry.core.role, index % 8, direction)
        track = self.tracks.get(key)
        if track is None:
            track = self.tracks[key] = Track(self.size, direction, entry)
        track.index = index
        return track

    def out_of_order(self, entry: Entry, direction: Direction, window: Window) -> list[tuple[Track, NDArray[np.bool_]]]:
        """The histories that the access is in conflict with, and which bytes of the window each of them touched."""
        found: list[tuple[Track, NDArray[np.bool_]]] = []
        low, high = window.reach()
        for track in self.tracks.values():
            if direction == track.direction == "read":
                continue
            threshold = track.threshold(entry)
            if track.newest < threshold or not track.hulls.meets(threshold, low, high):
                continue
            stamps = track.stamps(window)
            hit = stamps >= threshold
            if track.index == entry_index(entry):
                hit &= stamps < track.stamp(entry)  # an entry is in order with itself
            if np.count_nonzero(hit):
                found.append((track, hit))
        return found

    def latest(self, window: Window) -> Iterator[tuple[int, int]]:
        """By the index of each pipe that touched these bytes in this block: its entries up to the last that did."""
        for track in self.tracks.values():
            newest = int(track.stamps(window).max())
            if newest >= first_stamp(track.floor + 1):
                yield track.index, track.entry_number(newest) + 1

    def record(self, entry: Entry, direction: Direction, number: int, window: Window) -> None:
        """The entry touches these bytes at the instruction of this number."""
        track = self.track(entry, direction)
        first = track.stamp(entry)
        stamp = first + number
        track.hulls.of(first).widen(*window.reach())
        track.put(window, stamp)
        track.newest = max(track.newest, stamp)
