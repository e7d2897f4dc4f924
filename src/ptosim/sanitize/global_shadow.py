"""The shadow of global memory: who read and wrote which byte of an argument last, in this block and in others.

Unless blocks wait for each other they run one after the other here and at the same time on hardware, so an access of an
earlier block is in no order with any of the present one. A track is one pipe's history in one buffer; its floor tells
accesses of the present block from earlier ones. Where a read (or an atomic update) of the present block covers one of
an earlier block, which a write would still have to answer for, the earlier one is kept aside.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import Pipe
from ptosim.machine.clock import entry_index
from ptosim.machine.entry import Entry
from ptosim.machine.memory import Region, decode
from ptosim.sanitize.granules import Cover, Granules, Room, Stamps, cover
from ptosim.sanitize.stamp import ENTRY_ONE, entry_of, first_stamp
from ptosim.sanitize.track import AccessHistory
from ptosim.sanitize.unwritten import Stretches
from ptosim.sanitize.window import GRANULE, GRANULE_BITS, Places, Starts, WindowPart, inside, shifted

READ, WRITE, NOTICE = "read", "write", "notice"
"""Kinds of access; an atomic update has its operation and type as its kind ("add f32"), a signal is a notice."""

ROOM = 64 << 20
"""Bytes that the shadow may take beyond twice the arguments."""


def compatible(kind: str, other: str) -> bool:
    """Whether two accesses to the same byte need no order: two reads, or two atomic updates of one kind."""
    return kind == other and kind != WRITE


LOOK = {READ, NOTICE}
"""A scalar unit sees a word before or after a notice, which matters if it uses the value."""

ORDER_MATTERS = frozenset(("add f32", "add f16", "add bf16"))
"""Atomic updates that do not race with each other, but whose result depends on their order."""


class GlobalTrack(AccessHistory):
    """One pipe's accesses of one kind in one buffer."""

    __slots__ = ("aside", "blocks", "floors", "kind", "present", "rank")

    def __init__(self, size: int, kind: str, entry: Entry) -> None:
        super().__init__(size, entry)
        self.aside: Granules | None = None
        self.kind = kind
        self.rank = entry.core.rank
        self.index = -1
        self.present = ENTRY_ONE  # stamps below belong to earlier blocks
        self.floors: list[int] = []  # the floor of each block that used the track, and the block
        self.blocks: list[int] = []

    def enter(self, entry: Entry, index: int) -> None:
        """The track is used by this entry's core, perhaps for the first time; `index` is that of its clocks."""
        if index != self.index:
            self.index = index
            self.floor = entry_of(self.newest)
            self.present = first_stamp(self.floor + 1)
            self.floors.append(self.floor)
            self.blocks.append(entry.core.block)

    @property
    def nbytes(self) -> int:
        return self.table.nbytes + (self.aside.nbytes if self.aside is not None else 0)

    def block_of(self, stamp: int) -> int:
        return self.blocks[bisect_left(self.floors, entry_of(stamp)) - 1]


@dataclass(frozen=True, eq=False, slots=True)
class Clash:
    """Bytes that an earlier access touched in no order with the present one."""

    track: GlobalTrack
    places: Places
    stamps: Stamps


@dataclass(frozen=True, eq=False, slots=True)
class ClashOutcome:
    """The outcome of an access that clashes with others."""

    buffer: RegionShadow
    clashes: list[Clash]
    fresh: bool
    """Nothing had written any of the bytes before."""
    part: WindowPart
    """The bytes of the access that this is about."""
    width: int
    """The width of the pieces of the access."""

    def is_equal(self, clash: Clash, equal: NDArray[np.bool_]) -> bool:
        """Whether the bytes of a clash already were what the access stores, by those of the access that were."""
        same = self.part.of(equal, self.width)
        return bool(same[np.isin(self.part.window().addresses(), clash.places)].all())


class RegionShadow:
    """The shadow of one region: an argument (or several that share memory), or a window on one rank."""

    def __init__(self, number: int, region: Region, together: bool) -> None:
        self.number = number
        self.region = region
        self.size = region.size
        self.together = together  # all blocks run at once, each with tracks of its own
        self.tracks: dict[tuple[object, int, str], GlobalTrack] = {}
        self.full = False  # there was no room to record some access
        self._kinds: dict[str, list[GlobalTrack]] = {}
        self._own: GlobalTrack | None = None  # the track that was used last
        self._others = 0  # bytes of all other tracks: only this one grows

    def access(
        self, entry: Entry, number: int, kind: str, offsets: Starts, width: int, room: Room
    ) -> tuple[list[Clash], bool]:
        """Find what the access is in conflict with, and record it; also says whether the bytes were never written."""
        own = self._track(entry, kind)
        low, high = _reach(offsets, width)
        clashes: list[Clash] = []
        fresh = False
        suspects = [track for track in self._judged(kind) if self._may_clash(track, entry, low, high)]
        if suspects:
            covered = cover(offsets, width)
            clashes = [clash for track in suspects for clash in self._clashes(track, own, entry, covered)]
            fresh = bool(clashes) and not self._was_written(covered)
        if kind != WRITE and own.floor and own.hulls.meets_earlier(own.present, low, high):
            self._keep_aside(own, cover(offsets, width), room)
        first = own.stamp(entry)
        own.hulls.of(first).widen(low, high)
        self.full |= not own.table.put(offsets, width, first + number, room)
        own.newest = max(own.newest, first + number)
        return clashes, fresh

    def _keep_aside(self, own: GlobalTrack, covered: Cover, room: Room) -> None:
        """Stamps of earlier blocks on these bytes."""
        if own.aside is None:
            own.aside = Granules(self.size)
        self.full |= not own.aside.keep(own.table, covered, own.present, room)

    def _was_written(self, covered: Cover) -> bool:
        tables = (track.table for track in self.tracks.values() if track.kind != READ)
        return any(len(table.hits(covered, lambda stamps: stamps > 0)[0]) for table in tables)

    def _track(self, entry: Entry, kind: str) -> GlobalTrack:
        who = entry.core.index if self.together else entry.core.role
        index = entry_index(entry)
        key = (who, index % 8, kind)
        track = self.tracks.get(key)
        if track is None:
            track = self.tracks[key] = GlobalTrack(self.size, kind, entry)
            self._kinds.setdefault(kind, []).append(track)
        if track is not self._own:
            self._others = self.nbytes - track.nbytes
            self._own = track
        track.enter(entry, index)
        return track

    def _judged(self, kind: str) -> Iterator[GlobalTrack]:
        """The tracks with which an access of this kind needs an order."""
        for other, tracks in self._kinds.items():
            if kind in ORDER_MATTERS or not compatible(kind, other):
                yield from tracks

    def _may_clash(self, track: GlobalTrack, entry: Entry, low: int, high: int) -> bool:
        """Whether a closer look at the track is called for."""
        earlier, threshold = self._limits(track, entry)
        hulls = track.hulls
        return (
            (track.newest >= threshold and hulls.meets(threshold, low, high))
            or (earlier > ENTRY_ONE and hulls.meets_earlier(earlier, low, high))
            or track.aside is not None
        )

    def _clashes(self, track: GlobalTrack, own: GlobalTrack, entry: Entry, covered: Cover) -> Iterator[Clash]:
        earlier, threshold = self._limits(track, entry)
        itself = track is own or (entry.pipe is Pipe.V and track.index == own.index)
        upper = track.stamp(entry) if itself else track.newest + 1  # an entry is in order with itself

        def out_of_order(stamps: Stamps) -> NDArray[np.bool_]:
            return ((stamps >= threshold) & (stamps < upper)) | (stamps < earlier)

        found = [track.table.hits(covered, out_of_order)]
        if track.aside is not None:
            found.append(track.aside.hits(covered, lambda stamps: stamps < earlier))
        yield from (Clash(track, places, stamps) for places, stamps in found if len(places))

    def _limits(self, track: GlobalTrack, entry: Entry) -> tuple[int, int]:
        """Stamps below the first value belong to earlier blocks, those from the second on are not known to have
        ended."""
        if self.together or track.blocks[-1] == entry.core.block:
            return track.present, track.threshold(entry)
        return track.newest + 1, track.newest + 1  # the present block has not used this track

    def meets(self, lows: Places, highs: Places, writes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The stretches, some of them written, that have a byte in common with a recorded access."""
        found = np.full(len(lows), self.full)
        for track in self.tracks.values():
            touched = np.concatenate(([0], np.cumsum(track.table.stamps != 0)))
            asked = ~found & (writes | (track.kind != READ))
            asked &= touched[(highs + GRANULE - 1) >> GRANULE_BITS] > touched[lows >> GRANULE_BITS]
            for number in np.flatnonzero(asked):
                covered = cover(int(lows[number]), int(highs[number] - lows[number]))
                found[number] = len(track.table.hits(covered, lambda stamps: stamps > 0)[0]) > 0
        return found

    @property
    def nbytes(self) -> int:
        """The memory that the tracks take."""
        return self._others + (self._own.nbytes if self._own is not None else 0)

    def written(self) -> Iterator[Stretches]:
        """Bytes that blocks have written."""
        for track in self.tracks.values():
            if track.kind != READ:
                marked = np.concatenate(([False], track.table.marked()[: self.size], [False]))
                edges = np.flatnonzero(marked[1:] != marked[:-1])
                yield edges[::2], edges[1::2]


def _reach(offsets: Starts, width: int) -> tuple[int, int]:
    """The lowest byte of an access, and one past the highest."""
    if isinstance(offsets, int):
        return offsets, offsets + width
    if isinstance(offsets, range):
        return offsets[0], offsets[-1] + width
    return int(offsets.min()), int(offsets.max()) + width


class GlobalShadow:
    """The shadow of all regions."""

    def __init__(self, regions: Mapping[int, Region], together: bool) -> None:
        self.buffers = {number: RegionShadow(number, region, together) for number, region in regions.items()}
        self.allowed = 2 * sum(region.size for region in regions.values()) + ROOM

    def access(self, entry: Entry, number: int, kind: str, starts: Any, width: int) -> Iterator[ClashOutcome]:
        """Check and record an access at GM addresses; gives those parts of it that others are in no order with."""
        if not isinstance(starts, int) and not len(starts):
            return
        lowest = starts if isinstance(starts, int) else int(starts[0])
        region, offset = decode(lowest)
        buffer = self.buffers.get(region)
        if buffer is None or not (buffer.region.is_window or buffer.region.rank == entry.core.rank):
            return  # what a core does not reach it does not touch
        for part in inside(shifted(starts, offset - lowest), width, buffer.size):
            clashes, fresh = buffer.access(entry, number, kind, part.starts, part.width, self._room)
            if clashes:
                yield ClashOutcome(buffer, clashes, fresh, part, width)

    def meets(self, number: int, lows: Places, highs: Places, writes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The stretches of a buffer that have a byte in common with a recorded access, one of the two a write."""
        return self.buffers[number].meets(lows, highs, writes)

    def written(self) -> Mapping[int, Sequence[Stretches]]:
        """Bytes of each buffer that were written."""
        return {number: list(buffer.written()) for number, buffer in self.buffers.items()}

    def latest(self, start: int, width: int) -> Iterator[tuple[int, int]]:
        """By the index of each pipe that touched these bytes: its entries up to the last that did."""
        return self._touching(start, width, lambda kind: True)

    def stored(self, start: int, width: int) -> Iterator[tuple[int, int]]:
        """Likewise of those that have stored to these bytes, of any core."""
        return self._touching(start, width, lambda kind: kind not in (READ, NOTICE))

    def is_payload(self, start: int, width: int) -> bool:
        """Whether these bytes have been both stored and read, otherwise than as a signal."""
        was_read = next(self._touching(start, width, lambda kind: kind == READ), None) is not None
        return was_read and next(self.stored(start, width), None) is not None

    def _touching(self, start: int, width: int, wanted: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
        number, offset = decode(start)
        buffer = self.buffers.get(number)
        for part in inside(offset, width, buffer.size) if buffer else ():
            covered = cover(part.starts, part.width)
            for track in buffer.tracks.values() if buffer else ():
                if wanted(track.kind):
                    _, stamps = track.table.hits(covered, lambda stamps, present=track.present: stamps >= present)
                    if len(stamps):
                        yield track.index, track.entry_number(int(stamps.max())) + 1

    def _room(self) -> int:
        """Bytes that the shadow may still take."""
        return self.allowed - sum(buffer.nbytes for buffer in self.buffers.values())
