"""Inside a vector function: the quick way through the shadow, and accesses that alias without a fence.

Most vector loads and stores touch blocks about which there is nothing to say: no other pipe is at them out of order,
they are defined, and nothing in the same scope has touched them before. A byte of flags per block, made when the
function starts, tells these from the rest, which the checker then looks at byte by byte.

Hardware does not compare the addresses of accesses in flight, so an earlier and a later access of one scope that
overlap, one of them a store, need a mem_bar between them whose classes cover both.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ptosim.machine.entry import Entry, Site
from ptosim.sanitize.shadow import Memory, Track
from ptosim.sanitize.stamp import FENCE_ONE, MOST_FENCES, Sites, fences_of
from ptosim.sanitize.window import BLOCK, BLOCK_BITS, Window

DIRTY = 1
"""Some byte of the block is undefined or tainted."""
RACY = 2
"""Another pipe touched the block out of order with this function."""
STORED = 4
LOADED = 8
"""This scope stored to the block, or loaded it at an instruction that one of its stores could overtake."""

LONGEST = 64
"""Blocks of the longest access that takes the quick way; the widest dist mode reads 1024 bytes."""
_NOTHING = tuple(bytearray(count) for count in range(LONGEST))
_STORED = tuple(bytes((STORED,)) * count for count in range(LONGEST))
_LOADED = tuple(bytes((LOADED,)) * count for count in range(LONGEST))

Pair = tuple[str, str]

_VECTOR, _SCALAR = ("vld", "vst"), ("ld", "st")


def _covered() -> dict[str, tuple[Pair, ...]]:
    """Which pairs of an earlier and a later class each kind of mem_bar orders."""
    table: dict[str, tuple[Pair, ...]] = {}
    for before, first in (("V", _VECTOR), ("S", _SCALAR)):
        for after, second in (("V", _VECTOR), ("S", _SCALAR)):
            table[f"{before}{after}_ALL"] = tuple((one, other) for one in first for other in second)
            for one in first:
                for other in second:
                    table[f"{one.upper()}_{other.upper()}"] = ((one, other),)
    return table


COVERED = _covered()
"""Of the pairs of two loads the instruction set names none; they need no order."""


def is_scalar(site: Site) -> bool:
    """Whether an instruction of a vector scope accesses memory as scalar code."""
    return site.name in ("pto.load_scalar", "pto.store_scalar")


def class_of(site: Site, writes: bool) -> str:
    """The class of an access in the words of mem_bar."""
    return ("st" if writes else "ld") if is_scalar(site) else ("vst" if writes else "vld")


class Watch:
    """One entry of the vector pipe while it runs."""

    __slots__ = (
        "entry",
        "fences",
        "flag_bytes",
        "flags",
        "last_fence",
        "memory",
        "overtaken",
        "read_stamp",
        "reads",
        "sites",
        "write_stamp",
        "writes",
    )

    def __init__(
        self,
        entry: Entry,
        memory: Memory,
        sites: Sites,
        overtaken: dict[Site, int],
    ) -> None:
        self.entry = entry
        self.memory = memory
        self.sites = sites
        self.overtaken = overtaken  # the number of each load; negative if some store of the scope could overtake it
        reads, writes = memory.track(entry, "read"), memory.track(entry, "write")
        self.reads, self.writes = reads, writes
        self.read_stamp = reads.newest = reads.stamp(entry)
        self.write_stamp = writes.newest = writes.stamp(entry)
        self.fences = 0
        self.last_fence: dict[Pair, int] = {}
        self.flags = bytearray(memory.dirty)
        self.flag_bytes: NDArray[np.uint8] = np.frombuffer(self.flags, np.uint8)

    def find_races(self) -> None:
        """Flag the blocks that other pipes touched out of order with this function."""
        for track in self.memory.tracks.values():
            threshold = track.threshold(self.entry)
            if track.newest >= threshold and track is not self.reads and track is not self.writes:
                touched = slice(track.first, track.last)
                self.flag_bytes[touched] |= (track.blocks[touched] >= threshold).view(np.uint8) * np.uint8(RACY)

    def suspect(self, low: int, high: int) -> None:
        """Flag the blocks of these bytes."""
        self.flag_bytes[low >> BLOCK_BITS : (high + BLOCK - 1) >> BLOCK_BITS] |= RACY

    # --- the quick way ------------------------------------------------------------------------------------------------

    def load(self, site: Site, start: int, width: int) -> bool:
        """Note a load; false when it needs a closer look, and has not been noted."""
        stop = start + width
        first, last = start >> BLOCK_BITS, (stop + BLOCK - 1) >> BLOCK_BITS
        count = last - first
        if count >= LONGEST or self.flags[first:last] != _NOTHING[count]:
            return False
        number = self.overtaken.get(site)
        if number is None:
            return False
        if number < 0:
            number = -number
            self.flags[first:last] = _LOADED[count]
        self.reads.stamps[start:stop] = self.read_stamp + number
        return True

    def store(self, site: Site, start: int, width: int) -> bool:
        """Note a store of clean bytes; false when it needs a closer look, and has not been noted."""
        stop = start + width
        first, last = start >> BLOCK_BITS, (stop + BLOCK - 1) >> BLOCK_BITS
        count = last - first
        if count >= LONGEST or self.flags[first:last] != _NOTHING[count]:
            return False
        self.flags[first:last] = _STORED[count]
        self.writes.stamps[start:stop] = self.write_stamp + self.sites.number(site)
        return True

    # --- the closer look ----------------------------------------------------------------------------------------------

    def about(self, window: Window) -> int:
        """Everything that the flags say about the blocks of an access."""
        return int(np.bitwise_or.reduce(window.blocks().of(self.flag_bytes), axis=None))

    def note(self, site: Site, number: int, window: Window, writes: bool) -> None:
        """Record an access, whatever was found about it."""
        blocks = window.blocks()
        if writes:
            window.put(self.writes.stamps, self.write_stamp + number)
            self._mark(blocks, STORED)
        elif self.overtaken.get(site, 1) < 0:
            if self.about(window) & LOADED:
                self._join(number, window)
            else:
                window.put(self.reads.stamps, self.read_stamp + number)
            self._mark(blocks, LOADED)
        else:
            window.put(self.reads.stamps, self.read_stamp + number)

    def refresh(self, window: Window) -> None:
        """The taint of these bytes has changed."""
        numbers = window.blocks().addresses()
        dirty = np.frombuffer(self.memory.dirty, np.uint8)
        self.flag_bytes[numbers] = self.flag_bytes[numbers] & ~np.uint8(DIRTY) | dirty[numbers]

    def _mark(self, blocks: Window, flag: int) -> None:
        blocks.put(self.flag_bytes, blocks.of(self.flag_bytes) | np.uint8(flag))

    def _join(self, number: int, window: Window) -> None:
        """Another load was here before: the bytes remember both, unless a fence keeps stores behind the earlier one."""
        stamps = window.of(self.reads.stamps).reshape(-1)
        joined = np.full(len(stamps), self.read_stamp + number, np.int64)
        fenced = self.last_fence.get(("vld", "vst"), 0)
        for stamp in np.unique(stamps[stamps >= self._scope_start(self.reads)]):
            if fences_of(int(stamp)) >= fenced:
                joined[stamps == stamp] = self.read_stamp + self.sites.union(int(stamp), number)
        window.put(self.reads.stamps, joined)

    def _scope_start(self, track: Track) -> int:
        return track.stamp(self.entry)

    # --- aliases ------------------------------------------------------------------------------------------------------

    def fence(self, kind: str) -> None:
        """A mem_bar."""
        self.fences += 1
        if self.fences <= MOST_FENCES:  # a scope with more of them is taken to be fenced throughout
            self.read_stamp += FENCE_ONE
            self.write_stamp += FENCE_ONE
        for pair in COVERED[kind]:
            self.last_fence[pair] = self.fences

    def aliases(self, site: Site, window: Window, writes: bool) -> Iterator[tuple[Site, bool, NDArray[np.bool_], bool]]:
        """Earlier accesses of this scope that overlap the bytes, one of the two a store: where they are, whether they
        wrote, on which bytes, and whether a fence lies between."""
        later = class_of(site, writes)
        for track, wrote in ((self.writes, True), (self.reads, False)):
            if not wrote and not writes:
                continue
            stamps = window.of(track.stamps).reshape(-1)
            mine = stamps >= self._scope_start(track)
            if not mine.any():
                continue
            for stamp in np.unique(stamps[mine]):
                for earlier in self.sites.of(int(stamp)):
                    if is_scalar(earlier) and is_scalar(site):
                        continue  # these are in order
                    pair = (class_of(earlier, wrote), later)
                    fenced = fences_of(int(stamp)) < self.last_fence.get(pair, 0)
                    yield earlier, wrote, stamps == stamp, fenced
