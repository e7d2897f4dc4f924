"""Accesses of a warp: bytes at an address for each active lane, checked, and told to an observer.

An access that breaks a rule names the lowest workitem that does. Where the run goes on, bytes outside read as zero and
are not written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import GM, Space
from ptosim.machine.memory import FARTHEST, OFFSET_BITS, misaligned, outside
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.memories import NOTHING
from ptosim.reference.workitems.values import Active, LaneTaint
from ptosim.reference.workitems.warp import Warp

Ints = NDArray[np.int64]


UPDATES = "updates"
"""The verb of atomic accesses."""


class Place(NamedTuple):
    """The addresses of some lanes in one memory, all of them inside of it."""

    memory: Bytes
    offsets: Ints
    which: Ints
    """Their numbers among the active lanes."""

    def cells(self, width: int) -> Ints:
        """The numbers of the bytes, a row for each lane."""
        return self.offsets[:, np.newaxis] + np.arange(width)


class WarpAccess:
    """One instruction of a warp that touches `width` bytes at each of `starts`, those of the active lanes."""

    def __init__(
        self, warp: Warp, verb: str, space: Space, addresses: Ints, active: Active, width: int, alignment: int
    ) -> None:
        self.warp, self.space, self.width = warp, space, width
        self.lanes = np.flatnonzero(active)
        self.starts: Ints = addresses[self.lanes]
        if warp.launch.tally is not None and verb != UPDATES:
            warp.launch.tally.access(warp.number, space, self.starts, verb, warp.site.line)
        self._aligned(verb, alignment)
        self.places = list(self._located(verb))

    # --- rules --------------------------------------------------------------------------------------------------------

    def _mask(self, which: NDArray[np.bool_]) -> Active:
        """The lanes of a warp, by their numbers among the active ones."""
        mask = np.zeros(len(self.warp.existing), np.bool_)
        mask[self.lanes[which]] = True
        return mask

    def _aligned(self, verb: str, alignment: int) -> None:
        odd = self.starts % alignment != 0
        if odd.any():
            start = int(self.starts[np.argmax(odd)])
            offset = (start + FARTHEST) % (1 << OFFSET_BITS) - FARTHEST if self.space is GM else start
            self.warp.complain("misaligned", misaligned(verb, self.space, offset, alignment), self._mask(odd))

    def _located(self, verb: str) -> Iterator[Place]:
        if self.space is not GM:
            memory = self.warp.core.memories[self.space]
            inside = (self.starts >= 0) & (self.starts <= len(memory) - self.width)
            if not inside.all():
                start = int(self.starts[np.argmin(inside)])
                message = outside(verb, self.space.value, len(memory), start, self.width)
                self.warp.complain("out-of-bounds", message, self._mask(~inside), (start, start + self.width))
            yield Place(memory, self.starts[inside], np.flatnonzero(inside))
            return
        numbers: Ints = ((self.starts + FARTHEST) >> OFFSET_BITS) - 1
        for number in np.unique(numbers):
            yield self._in_region(verb, numbers == number, int(number))

    def _in_region(self, verb: str, mine: NDArray[np.bool_], number: int) -> Place:
        """Lanes that point into one region of GM."""
        known = self.warp.core.memories.global_memory
        memory = known.buffers.get(number, NOTHING)
        offsets: Ints = self.starts - (number + 1 << OFFSET_BITS)
        inside = mine & (offsets >= 0) & (offsets <= len(memory) - self.width)
        if (wrong := mine & ~inside).any():
            start = int(self.starts[np.argmax(wrong)])
            message, extent = known.regions.stray(verb, start, self.width)
            is_stray = number in known.buffers
            self.warp.complain("out-of-bounds", message, self._mask(wrong), extent, is_stray)
        self.warp.core.memories.reached(verb, number, offsets[inside], self.width)
        return Place(memory, offsets[inside], np.flatnonzero(inside))

    # --- bytes --------------------------------------------------------------------------------------------------------

    def present(self) -> Bytes:
        """The bytes there, a row for each active lane."""
        data = np.zeros((len(self.starts), self.width), np.uint8)
        for place in self.places:
            data[place.which] = place.memory[place.cells(self.width)]
        return data

    def told(self) -> LaneTaint | None:
        """An observer is told of a load; the taint of the bytes."""
        taint: LaneTaint | None = None
        if self.warp.onlooker is not None:
            for place in self.places:
                starts, lanes = self.starts[place.which], self.lanes[place.which]
                if not len(starts):
                    continue
                found = self.warp.onlooker.loaded(self.warp, self.space, starts, self.width, lanes)
                if found is not None:
                    taint = np.zeros((len(self.starts), self.width), np.uint8) if taint is None else taint
                    taint[place.which] = found
        return taint

    def seen(self) -> LaneTaint | None:
        """The taint that an atomic update finds, which is no load of its own."""
        if self.space is GM or self.warp.onlooker is None:
            return None
        found = np.zeros((len(self.starts), self.width), np.uint8)
        for place in self.places:
            if len(place.which):
                taint = self.warp.onlooker.seen(self.warp, self.space, self.starts[place.which], self.width)
                found[place.which] = 0 if taint is None else taint
        return found if found.any() else None

    def store(self, data: Bytes, taint: LaneTaint | None) -> None:
        """A row for each active lane; where several meet, the highest lane stays."""
        self.warp.launch.changes += 1
        for place in self.places:
            rows, cells = data[place.which], place.cells(self.width)
            if self.warp.onlooker is not None and len(cells):
                marks = None if taint is None else taint[place.which]
                starts, lanes = self.starts[place.which], self.lanes[place.which]

                def before(place: Place = place, cells: Ints = cells) -> Bytes:
                    return place.memory[cells].reshape(-1)

                self.warp.onlooker.stored(self.warp, self.space, starts, rows, lanes, before, marks)
            place.memory[cells] = rows


def whole(data: Bytes | LaneTaint, lanes: Ints, count: int) -> Bytes:
    """A row for every lane, of which only the active ones have been accessed."""
    rows = np.zeros((count, data.shape[1]), np.uint8)
    rows[lanes] = data
    return rows


def taint_of_bytes(taint: LaneTaint | None, lanes: Ints, count: int, parts: int, is_packed: bool) -> LaneTaint | None:
    """The taint of values whose bytes have been loaded."""
    if taint is None or not taint.any():
        return None
    found: LaneTaint = whole(taint, lanes, count).reshape(count, parts, -1).max(axis=2)
    return found if is_packed else found[:, 0]


def bytes_of_taint(taint: LaneTaint | None, width: int) -> LaneTaint | None:
    """The taint of the bytes of a value, a row for each lane."""
    if taint is None:
        return None
    rows = taint if taint.ndim == 2 else taint[:, np.newaxis]
    return np.repeat(rows, width // rows.shape[1], axis=1)
