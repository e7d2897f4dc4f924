"""The memory of the stamps of workitems (workitem_stamps.py): two words of 32 bits for each unit of UB and of every
buffer. They are kept from run to run, because an epoch has its number to itself."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

EPOCH = 12
"""Bits of a stamp below the number of its epoch."""
UPDATES = 1 << 11
"""Stands for the first atomic update, in the low bits: lower ones are numbers of workitems."""
SEVERAL = (1 << EPOCH) - 1
"""Stands for several workitems, or for what another one must look at more closely."""
MEETING = 8
"""The place of the barrier of this epoch, and of the epoch itself, above."""
TABLE = 64
"""The place of the addresses of stamps, those of writers and of readers, by the number of a buffer; UB has number 0."""
KEPT = 256 << 20
"""The most bytes that outlive a run."""
_LATE = 1 << 31
"""Stamps from which on the next run begins anew."""
_SLACK = 64
_LARGE = 4 << 20
"""Bytes from which on large pages are asked for."""


@dataclass(frozen=True)
class _Room:
    """The stamps of one memory: where they begin, and how many writers."""

    start: int
    count: int


class StampMemory:
    """Stamps of UB and of buffers of these sizes, for units of so many bytes."""

    def __init__(self, unit: int, sizes: Sequence[int]) -> None:
        self.unit, self.sizes = unit, tuple(sizes)
        self.rooms: list[_Room] = []
        end = -(-(TABLE + 16 * len(sizes)) // _SLACK) * _SLACK
        for size in sizes:
            count = -(-(size // unit + _SLACK) // 16) * 16
            self.rooms.append(_Room(end, count))
            end += 8 * count
        self.size = end
        self._pages = mmap.mmap(-1, end)
        if end > _LARGE and hasattr(mmap, "MADV_HUGEPAGE"):  # warps walk through them with long steps
            self._pages.madvise(mmap.MADV_HUGEPAGE)
        self._view = ctypes.c_char.from_buffer(self._pages)
        self.address = ctypes.addressof(self._view)
        table = np.frombuffer(self._pages, np.int64, 2 * len(sizes), TABLE)
        for number, room in enumerate(self.rooms):
            table[2 * number : 2 * number + 2] = self.address + room.start, self.address + room.start + 4 * room.count
        self._epoch = np.frombuffer(self._pages, np.uint32, 1)

    @property
    def epoch(self) -> int:
        return int(self._epoch[0])

    @property
    def is_worn(self) -> bool:
        return self.epoch > _LATE

    def written(self, number: int, epoch: int) -> tuple[Integers, Integers]:
        """The bytes of a buffer that workitems have written behind an epoch, from and up to offsets."""
        room, size = self.rooms[number], self.sizes[number]
        stamps = np.frombuffer(self._pages, np.uint32, -(-size // self.unit), room.start)
        edges = np.flatnonzero(np.diff(stamps > epoch + SEVERAL, prepend=False, append=False)) * self.unit
        return edges[::2].astype(np.int64), np.minimum(edges[1::2], size).astype(np.int64)


class WrittenByWorkitems:
    """The bytes of GM that workitems have written in one run. They are looked for when asked for, at the latest before
    the next run."""

    def __init__(self, memory: StampMemory) -> None:
        self._memory: StampMemory | None = memory
        self._epoch = memory.epoch
        self._found: dict[int, tuple[Integers, Integers]] = {}

    @property
    def memory(self) -> StampMemory:
        """The stamps, until it has been looked for."""
        assert self._memory is not None
        return self._memory

    @property
    def address(self) -> int:
        """The address of the stamps."""
        return self.memory.address

    def settle(self) -> None:
        """Look now: the stamps will be others."""
        memory, self._memory = self._memory, None
        if memory is not None:
            found = {number - 1: memory.written(number, self._epoch) for number in range(1, len(memory.sizes))}
            self._found = {number: part for number, part in found.items() if len(part[0])}

    def __iter__(self) -> Iterator[tuple[int, tuple[Any, Any]]]:
        """By the number of a buffer, from 0 on."""
        self.settle()
        return iter(self._found.items())


class StampStock:
    """The stamps of one kernel, kept from run to run."""

    def __init__(self, unit: int) -> None:
        self._unit = unit
        self._idle: tuple[StampMemory, ref[WrittenByWorkitems]] | None = None

    def take(self, sizes: Sequence[int]) -> WrittenByWorkitems:
        """Stamps of UB and of buffers of these sizes, for one run."""
        idle, self._idle = self._idle, None
        memory = None
        if idle is not None:
            memory, latest = idle
            if (before := latest()) is not None:
                before.settle()
        if memory is None or memory.sizes != tuple(sizes) or memory.is_worn:
            memory = StampMemory(self._unit, sizes)
        return WrittenByWorkitems(memory)

    def take_back(self, written: WrittenByWorkitems) -> None:
        """The run is over."""
        if written.memory.size <= KEPT:
            self._idle = written.memory, ref(written)
