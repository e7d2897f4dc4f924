"""The shadow of an on-chip memory: per byte, who wrote and read it last on each pipe, and whether its value is defined.

A track is the history of one pipe in one memory, for reads or for writes. Blocks reuse the shadow of those before them:
instead of being cleared, a track counts on, and what lies below its floor belongs to an earlier block and is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ptosim.machine.clock import entry_index
from ptosim.machine.entry import Entry
from ptosim.sanitize.stamp import ENTRY_ONE, MOST_ENTRIES, entry_of, first_stamp
from ptosim.sanitize.window import BLOCK, BLOCK_BITS, Window

Stamps = NDArray[np.int64]
Direction = Literal["read", "write"]

CLEAN = 0
UNDEFINED = 1
"""Taint of a byte that nothing has written; higher numbers name an origin (taint.py)."""


class Track:
    """What one pipe has read, or written, of one memory."""

    __slots__ = ("blocks", "direction", "first", "floor", "index", "last", "newest", "pipe", "role", "stamps")

    def __init__(self, size: int, direction: Direction, entry: Entry) -> None:
        self.stamps: Stamps = np.zeros(size, np.int64)
        self.blocks: Stamps = np.zeros((size + BLOCK - 1) >> BLOCK_BITS, np.int64)
        self.direction = direction
        self.role = entry.core.role
        self.pipe = entry.pipe
        self.index = entry_index(entry)  # of its pipe in the clocks of the present block
        self.floor = 0  # entries up to this number belong to earlier blocks
        self.newest = 0  # stamp
        self.first, self.last = len(self.blocks), 0  # the range of touched blocks

    def begin(self) -> None:
        """A new block starts: nothing has been touched."""
        self.first, self.last = len(self.blocks), 0
        self.floor = entry_of(self.newest)
        if self.floor >= MOST_ENTRIES:
            self.stamps[:] = self.blocks[:] = 0
            self.floor = self.newest = 0

    def stamp(self, entry: Entry) -> int:
        return first_stamp(self.floor + entry.n + 1)

    def entry_number(self, stamp: int) -> int:
        """The number of an entry of the present block on its pipe."""
        return entry_of(stamp) - self.floor - 1

    def threshold(self, entry: Entry) -> int:
        """Stamps from here on are not known to have ended when the entry starts."""
        clock = entry.clock or {}
        return (self.floor + clock.get(self.index, 0) + 1) * ENTRY_ONE


class Memory:
    """The shadow of one memory of one core."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.tracks: dict[tuple[str, int, Direction], Track] = {}
        self.taint: NDArray[np.uint8] = np.zeros(size, np.uint8)
        self.dirty = bytearray(size >> BLOCK_BITS)  # per block, whether some byte of it is tainted
        self._dirty: NDArray[np.uint8] = np.frombuffer(self.dirty, np.uint8)

    def begin(self, taint: int) -> None:
        """A new block starts: every byte has this taint."""
        self.taint.fill(taint)
        self._dirty.fill(taint != CLEAN)
        for track in self.tracks.values():
            track.begin()

    def set_taint(self, window: Window, taint: NDArray[np.uint8] | None) -> None:
        """The taint of bytes that have been stored."""
        blocks = window.blocks()
        if taint is None:
            if not blocks.of(self._dirty).any():
                return
            window.put(self.taint, CLEAN)
        else:
            window.put(self.taint, taint)
        numbers = blocks.addresses()
        self._dirty[numbers] = self.taint.reshape(-1, BLOCK)[numbers].any(axis=1)

    def track(self, entry: Entry, direction: Direction) -> Track:
        """The history of the entry's pipe."""
        index = entry_index(entry)
        key = (entry.core.role, index % 8, direction)
        track = self.tracks.get(key)
        if track is None:
            track = self.tracks[key] = Track(self.size, direction, entry)
        track.index = index
        return track

    def opposing(self, direction: Direction) -> Iterator[Track]:
        """The histories that an access may be in conflict with."""
        for track in self.tracks.values():
            if direction == "write" or track.direction == "write":
                yield track

    def unordered(self, track: Track, entry: Entry, window: Window) -> NDArray[np.bool_] | None:
        """Which bytes of the window the track touched in no order with the entry; None when all are in order."""
        threshold = track.threshold(entry)
        if track.newest < threshold:
            return None
        stamps = window.of(track.stamps)
        hit = stamps >= threshold
        if track.index == entry_index(entry):
            hit &= stamps < track.stamp(entry)  # an entry is in order with itself
        return hit.reshape(-1) if hit.any() else None

    def record(self, entry: Entry, direction: Direction, number: int, window: Window) -> None:
        """The entry touches these bytes at the instruction of this number."""
        track = self.track(entry, direction)
        stamp = track.stamp(entry) + number
        window.put(track.stamps, stamp)
        blocks = window.blocks()
        blocks.put(track.blocks, stamp)
        first, last = blocks.reach()
        track.first, track.last = min(track.first, first), max(track.last, last)
        track.newest = max(track.newest, stamp)
