"""Stamps for the bytes of a memory: one per granule of 32 bytes, split to bytes where they differ.

The shadow of an on-chip memory asks for the stamp of each byte of an access (a `Window`). That of GM, whose accesses
are large, asks which bytes of its granules (a `Cover`) pass a test, and has to do with the room that it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.sanitize.window import GRANULE, GRANULE_BITS, Places, ShadowWindow, Starts, as_places

Stamps = NDArray[np.int64]
Test = Callable[[Stamps], NDArray[np.bool_]]
Room = Callable[[], int]
"""The bytes that the shadow of GM may still take."""
ROW = 8 * GRANULE
"""Bytes of the stamps of a split granule."""
STEP = 8192
"""Granules by which the reach of a table grows: what lies beyond it has never been touched and takes no memory."""

_NOWHERE: Places = np.zeros(0, np.int64)
_NO_MASKS: NDArray[np.bool_] = np.zeros((0, GRANULE), np.bool_)


class Cover(NamedTuple):
    """The granules of an access: those it covers wholly, and those of which it covers some bytes."""

    whole: Places | slice
    edges: Places
    masks: NDArray[np.bool_]
    """Per edge, which bytes."""
    low: int
    """The lowest granule."""
    high: int
    """One past the highest."""

    def of_whole(self, numbers: Places) -> Places:
        """The granules behind positions among the whole ones."""
        return numbers + self.whole.start if isinstance(self.whole, slice) else self.whole[numbers]


def cover(starts: Starts, width: int) -> Cover:
    """The granules of pieces of `width` bytes at these offsets."""
    if isinstance(starts, int):
        return _cover_one(starts, starts + width)
    starts = as_places(starts)
    stops = starts + width
    low, high = int(starts.min()) >> GRANULE_BITS, ((int(stops.max()) - 1) >> GRANULE_BITS) + 1
    whole = _ranges((starts + GRANULE - 1) >> GRANULE_BITS, stops >> GRANULE_BITS)
    if (starts[1:] < stops[:-1]).any():  # rows overlap, or come in no order
        whole = np.unique(whole)
    if not ((starts | stops) & (GRANULE - 1)).any():
        return Cover(whole, _NOWHERE, _NO_MASKS, low, high)
    edges = np.concatenate((starts >> GRANULE_BITS, (stops - 1) >> GRANULE_BITS))
    lows, highs = np.concatenate((starts, starts)), np.concatenate((stops, stops))
    places = (edges << GRANULE_BITS)[:, np.newaxis] + np.arange(GRANULE)
    masks = (places >= lows[:, np.newaxis]) & (places < highs[:, np.newaxis])
    partial = ~masks.all(axis=1)
    return Cover(whole, *_joined(edges[partial], masks[partial]), low, high)


def _cover_one(start: int, stop: int) -> Cover:
    low, high = start >> GRANULE_BITS, ((stop - 1) >> GRANULE_BITS) + 1
    head, tail = start & (GRANULE - 1), stop & (GRANULE - 1)
    if not head | tail:
        return Cover(slice(low, high), _NOWHERE, _NO_MASKS, low, high)
    if high - low == 1:
        return Cover(slice(low, low), np.array([low]), _mask(head, tail or GRANULE), low, high)
    whole = slice(low + (head > 0), high - (tail > 0))
    if not tail:
        return Cover(whole, np.array([low]), _mask(head, GRANULE), low, high)
    if not head:
        return Cover(whole, np.array([high - 1]), _mask(0, tail), low, high)
    return Cover(whole, np.array([low, high - 1]), _masks(head, tail), low, high)


@cache
def _mask(first: int, last: int) -> NDArray[np.bool_]:
    """One edge of which some bytes in a row are covered."""
    mask = np.zeros((1, GRANULE), np.bool_)
    mask[0, first:last] = True
    return mask


@cache
def _masks(head: int, tail: int) -> NDArray[np.bool_]:
    """The edge where a piece begins, and the one where it ends."""
    return np.concatenate((_mask(head, GRANULE), _mask(0, tail)))


def _ranges(first: Places, last: Places) -> Places:
    """All numbers of all ranges."""
    lengths = np.maximum(last - first, 0)
    total = int(lengths.sum())
    if not total:
        return _NOWHERE
    ends = np.cumsum(lengths)
    return np.arange(total, dtype=np.int64) + np.repeat(first - (ends - lengths), lengths)


def _joined(edges: Places, masks: NDArray[np.bool_]) -> tuple[Places, NDArray[np.bool_]]:
    """Each edge once, with the bytes of all pieces that meet in it."""
    unique, inverse = np.unique(edges, return_inverse=True)
    if len(unique) == len(edges):
        return unique, masks[np.argsort(edges)]
    joined = np.zeros((len(unique), GRANULE), np.bool_)
    np.logical_or.at(joined, inverse, masks)
    return unique, joined


class Granules:
    """One stamp per byte of a memory; 0 where there is none."""

    __slots__ = ("_alive", "_high", "_low", "_rows", "_used", "_words", "stamps")

    def __init__(self, size: int) -> None:
        self.stamps: Stamps = np.zeros(
            ((size + GRANULE - 1) >> GRANULE_BITS) or 1, np.int64
        )  # negative: row -stamp - 1
        self._words = self.stamps.data.cast("B").cast("q")  # the same: single ones are quicker to get here
        self._rows: Stamps = np.zeros((0, GRANULE), np.int64)
        self._used = 0
        self._alive = 0  # of the rows that are used, those that were not given up when somebody last looked
        self._low: int = 0
        self._high: int = 0

    @property
    def nbytes(self) -> int:
        """The memory it takes: the stamps between the lowest and the highest touched granule, and split granules."""
        return (self._high - self._low) * self.stamps.itemsize + self._rows.nbytes

    def _reaches(self, first: int, last: int, room: Room | None) -> bool:
        """Whether there is room for the granules of an access, from the first to the one before the last."""
        if room is None or (self._low <= first and last <= self._high):
            return True
        first, last = first // STEP * STEP, min(-(-last // STEP) * STEP, len(self.stamps))
        if self._high:
            first, last = min(first, self._low), max(last, self._high)
        if (last - first - self._high + self._low) * self.stamps.itemsize > room():
            return False
        self._low, self._high = first, last
        return True

    def hits(self, cover: Cover, test: Test) -> tuple[Places, Stamps]:
        """The offsets of the bytes whose stamps pass the test, and these stamps."""
        places: list[Places] = []
        stamps: list[Stamps] = []
        found = self.stamps[cover.whole]
        if len(found):
            hit = np.flatnonzero(test(found) & (found > 0))
            if len(hit):
                places.append(_bytes_of(cover.of_whole(hit)).reshape(-1))
                stamps.append(np.repeat(found[hit], GRANULE))
            if self._used:
                split = cover.of_whole(np.flatnonzero(found < 0))
                self._byte_hits(split, None, test, places, stamps)
        if len(cover.edges):
            self._byte_hits(cover.edges, cover.masks, test, places, stamps)
        if not places:
            return _NOWHERE, _NOWHERE
        return np.concatenate(places), np.concatenate(stamps)

    def _byte_hits(
        self, granules: Places, masks: NDArray[np.bool_] | None, test: Test, places: list[Places], stamps: list[Stamps]
    ) -> None:
        if not len(granules):
            return
        rows = self._as_rows(granules)
        hit = test(rows) & (rows > 0)
        if masks is not None:
            hit &= masks
        if hit.any():
            places.append(_bytes_of(granules)[hit])
            stamps.append(rows[hit])

    def _as_rows(self, granules: Places) -> Stamps:
        """The stamps of granules, byte by byte."""
        found = self.stamps[granules]
        rows = np.repeat(found[:, np.newaxis], GRANULE, axis=1)
        split = found < 0
        if split.any():
            rows[split] = self._rows[-found[split] - 1]
        return rows

    def of(self, window: ShadowWindow) -> Stamps:
        """The stamp of each byte of an access."""
        if window.is_aligned:
            found = window.granules().of(self.stamps).reshape(-1)
            if not np.count_nonzero(found < 0):
                return np.repeat(found, GRANULE)
        addresses = window.addresses()
        stamps: Stamps = self.stamps[addresses >> GRANULE_BITS]
        split = stamps < 0
        if np.count_nonzero(split):
            stamps[split] = self._rows[-stamps[split] - 1, addresses[split] & (GRANULE - 1)]
        return stamps

    def put(self, starts: Starts, width: int, stamp: int, room: Room | None = None) -> bool:
        """Set the stamps of an access. False when there is no room for all of them: some are not set then."""
        if isinstance(starts, int):
            return self.put_stretch(starts, starts + width, stamp, room)
        if isinstance(starts, range) and not (starts.start | starts.step | width) % GRANULE and starts.step >= width:
            return self._put_rows(starts, width, stamp, room)
        covered = cover(starts, width)
        if not self._reaches(covered.low, covered.high, room):
            return False
        self.stamps[covered.whole] = stamp
        found = self.stamps[covered.edges]
        if not self._split(covered.edges[(found >= 0) & (found != stamp)], room):
            return False
        found = self.stamps[covered.edges]
        split = found < 0
        rows = -found[split] - 1
        self._rows[rows] = np.where(covered.masks[split], stamp, self._rows[rows])
        return True

    def put_each(self, window: ShadowWindow, stamps: Stamps | int) -> None:
        """Set the stamp of each byte of an access, or all to one."""
        granules = window.granules().addresses()
        self._split(granules[self.stamps[granules] >= 0], None)
        addresses = window.addresses()
        self._rows[-self.stamps[addresses >> GRANULE_BITS] - 1, addresses & (GRANULE - 1)] = stamps

    def _put_rows(self, starts: range, width: int, stamp: int, room: Room | None) -> bool:
        """The stamp of rows of whole granules."""
        rows = ShadowWindow(starts[0] >> GRANULE_BITS, width >> GRANULE_BITS, len(starts), starts.step >> GRANULE_BITS)
        if not self._reaches(*rows.reach(), room):
            return False
        rows.put(self.stamps, stamp)
        return True

    def put_stretch(self, start: int, stop: int, stamp: int, room: Room | None = None) -> bool:
        """The stamp of bytes in a row: only the granules at the two ends may have to be split."""
        if room and not self._reaches(start >> GRANULE_BITS, (stop + GRANULE - 1) >> GRANULE_BITS, room):
            return False
        first, last = (start + GRANULE - 1) >> GRANULE_BITS, stop >> GRANULE_BITS  # of the whole ones
        if last < first:
            return self._put_part(start, stop, stamp, room)
        self.stamps[first:last] = stamp
        head = not start % GRANULE or self._put_part(start, first << GRANULE_BITS, stamp, room)
        tail = not stop % GRANULE or self._put_part(last << GRANULE_BITS, stop, stamp, room)
        return head and tail

    def _put_part(self, start: int, stop: int, stamp: int, room: Room | None) -> bool:
        """The stamp of some bytes of a granule."""
        granule = start >> GRANULE_BITS
        found = self._words[granule]
        if found == stamp:
            return True
        if found >= 0:
            if not self._has_rows(1, room):
                return False
            self._rows[self._used] = found
            self._used += 1
            self._words[granule] = found = -self._used
        first = granule << GRANULE_BITS
        self._rows[-found - 1, start - first : stop - first] = stamp
        return True

    def keep(self, other: Granules, cover: Cover, below: int, room: Room) -> bool:
        """Take over the stamps of another table below a limit, where this one has none. False when there is no room."""
        if not self._reaches(cover.low, cover.high, room):
            return False
        found, own = other.stamps[cover.whole], self.stamps[cover.whole]
        moved = (found > 0) & (found < below) & (own == 0)
        own[moved] = found[moved]
        self.stamps[cover.whole] = own
        ragged = np.concatenate((cover.of_whole(np.flatnonzero((found < 0) | (own < 0))), cover.edges))
        if not len(ragged):
            return True
        rows = other._as_rows(ragged)
        wanted = (rows > 0) & (rows < below)
        ragged, rows, wanted = (part[wanted.any(axis=1)] for part in (ragged, rows, wanted))
        if not self._split(ragged[self.stamps[ragged] >= 0], room):
            return False
        split = -self.stamps[ragged] - 1
        own_rows = self._rows[split]
        self._rows[split] = np.where(wanted & (own_rows == 0), rows, own_rows)
        return True

    def _split(self, granules: Places, room: Room | None) -> bool:
        """Give granules a stamp per byte."""
        count = len(granules)
        if not self._has_rows(count, room):
            return False
        self._rows[self._used : self._used + count] = self.stamps[granules][:, np.newaxis]
        self.stamps[granules] = -1 - np.arange(self._used, self._used + count)
        self._used += count
        return True

    def _has_rows(self, count: int, room: Room | None) -> bool:
        """Make room for so many more split granules, if there is any."""
        if self._used + count <= len(self._rows):
            return True
        most = len(self._rows) + (self._used + count if room is None else room() // ROW)
        is_late = 8 * len(self._rows) > len(self.stamps) or self._used + count > most
        if is_late and self._used > 2 * self._alive:
            self._collect()
        needed = self._used + count
        if needed > most:
            return False
        if needed > len(self._rows):
            more = min(max(needed, 2 * len(self._rows), 16), most) - len(self._rows)
            self._rows = np.concatenate((self._rows, np.zeros((more, GRANULE), np.int64)))
        return True

    def _collect(self) -> None:
        """Move the rows together whose granules are still split; others have got a stamp for all bytes."""
        split = np.flatnonzero(self.stamps < 0)
        self._used = self._alive = len(split)
        self._rows[: self._used] = self._rows[-self.stamps[split] - 1]
        self.stamps[split] = -1 - np.arange(self._used)

    def suspects(self, threshold: int) -> NDArray[np.bool_]:
        """Per granule, whether it may have a byte with a stamp from this one on."""
        return (self.stamps >= threshold) | (self.stamps < 0)

    def clear(self) -> None:
        self.stamps[:] = 0
        self._used = self._alive = 0

    def marked(self) -> NDArray[np.bool_]:
        """Per byte of all granules, whether it has a stamp."""
        return (self._as_rows(np.arange(len(self.stamps))) > 0).reshape(-1)


def _bytes_of(granules: Places) -> Places:
    return (granules << GRANULE_BITS)[:, np.newaxis] + np.arange(GRANULE, dtype=np.int64)
