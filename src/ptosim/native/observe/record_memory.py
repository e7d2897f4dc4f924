"""The room for records of GM accesses: as large as may ever be needed, of which the host gives what is touched."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Collection, Mapping
from functools import cache
from itertools import product
from threading import Lock
from typing import Any

from ptosim.machine.sync import PIPES, SEMAPHORE_IDS, TO_AIC, TO_AIV
from ptosim.native.observe import layout
from ptosim.native.observe.layout import CORES_OF_PIECES, PIECE, Semaphore
from ptosim.native.run.cores import NativeCluster
from ptosim.native.run.memory import HostMemory

MOST_BYTES = 400 << 20
"""A block that would need more is suspicious: four million records of a core that is alone."""
LEAST_BYTES = 1 << 16
"""The least bytes of the record."""
KEPT_BYTES = 1 << 20
"""The largest memory that is kept for the next check: to get it anew takes longer than to run
many a kernel."""
KEPT = 6
"""The most of them, for all kernels together."""
MANY_ENTRIES = 1 << 30
"""The count of entries from which counting begins anew with the next run."""

Pages = ctypes.Array[ctypes.c_char]


class Reserve:
    """Free memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: list[Pages] = []

    def take(self) -> Pages:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        pages = _reserved(MOST_BYTES)
        return (ctypes.c_char * len(pages)).from_buffer(pages)

    def give_back(self, pages: Pages) -> None:
        with self._lock:
            if len(self._idle) < KEPT:
                self._idle.append(pages)


@cache
def reserve() -> Reserve:
    """The memory of this process."""
    return Reserve()


if hasattr(os, "register_at_fork"):  # a child would share it
    os.register_at_fork(after_in_child=reserve.cache_clear)


def _reserved(size: int) -> mmap.mmap:
    """Less than was asked for where a process may not have so much."""
    while True:
        try:
            return mmap.mmap(-1, size)
        except OSError:
            if size <= LEAST_BYTES:
                raise
        size //= 2


class RecordMemory:
    """Memory for the records of one core, which keeps `state`."""

    def __init__(self, state: HostMemory) -> None:
        self._state = state
        self._pages: Pages | None = None
        """While blocks run: they are many, and a kernel that is no longer needed may live for long."""

    @property
    def is_worn(self) -> bool:
        """Whether so many entries were counted that counting should begin anew."""
        return max((ctypes.c_uint32 * PIPES).from_address(self._state.address + layout.COUNT)) > MANY_ENTRIES

    def reset(self) -> None:
        ctypes.memset(self._state.address, 0, self._state.size)

    def renew(self) -> None:
        """Before a run: no records."""
        ctypes.memset(self._state.address + layout.LATEST, 0, 8 * layout.SITES)
        self._pages = reserve().take()
        self._word(layout.NEXT_RECORD).value = ctypes.addressof(self._pages)
        self._word(layout.LAST_RECORD).value = ctypes.addressof(self._pages) + len(self._pages)

    def taken(self) -> bytes | memoryview:
        """All that was written since `renew`, which ends here; where it is much, the memory itself, which goes with
        it."""
        pages, self._pages = self._pages, None
        assert pages is not None
        first = ctypes.addressof(pages)
        count = self._word(layout.NEXT_RECORD).value - first
        if count > KEPT_BYTES:
            return memoryview(pages)[:count]
        written = ctypes.string_at(first, count)
        reserve().give_back(pages)
        return written

    def _word(self, offset: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self._state.address + offset)


class Rooms:
    """The rooms of the cores of a cluster, and the offsets by which a block finds them."""

    def __init__(self, cluster: NativeCluster, outline: Mapping[str, Any]) -> None:
        self._outline = outline
        self._shared = cluster.state
        self._states = [core.state for core in cluster.cores.values() if core.state is not None]
        self._rooms = [RecordMemory(state) for state in self._states]
        self.used: set[frozenset[int]] = set()
        """The ids of signals that the cube core has used in a block."""

    def renew(self) -> None:
        """Before a run: no records, and counts that are far from their end."""
        if any(room.is_worn for room in self._rooms):
            for room in self._rooms:
                room.reset()
            if self._shared is not None:
                ctypes.memset(self._shared.address, 0, self._shared.size)
        self.used.clear()
        for room in self._rooms:
            room.renew()

    def begin_block(self) -> None:
        """Before a block of several cores: all that earlier ones did has ended, nothing is signalled, and nothing is
        defined. (A core that is alone says so itself.)"""
        assert self._shared is not None
        ctypes.memset(self._shared.address, 0, self._outline["semaphores"])
        for start, size in self._outline["shared_defined"]:
            ctypes.memset(self._shared.address + start, 0, size)
        counts = [ctypes.string_at(state.address + layout.COUNT, PIECE) for state in self._states]
        for place, state in enumerate(self._states):
            clock = b"".join(counts[other] for other in CORES_OF_PIECES[place]) + bytes(PIECE)
            ctypes.memmove(state.address + layout.KNOWN, clock * PIPES, PIPES * len(clock))
            ctypes.memset(state.address + layout.LAST_STORE, 0, PIECE)
            ctypes.memset(state.address + layout.FRESH, 0, layout.EPOCHS - layout.FRESH)
            for start, size in self._outline["defined"]:
                ctypes.memset(state.address + start, 0, size)

    def end_block(self) -> None:
        """After a block of several cores that has ended well: note which signals the cube core has used."""
        assert self._shared is not None
        first = self._shared.address
        used: set[int] = set()
        for base, word in ((TO_AIV, Semaphore.SETS), (TO_AIC, Semaphore.WAITS)):
            for number in range(2 * SEMAPHORE_IDS):
                if ctypes.c_uint32.from_address(first + (base + number) * Semaphore.BYTES + word).value:
                    used.add(number)
        self.used.add(frozenset(used))

    def taken(self) -> list[bytes | memoryview]:
        return [room.taken() for room in self._rooms]


def confuses_cores(used: Collection[frozenset[int]]) -> bool:
    """Whether the ids that the cube core has used in the blocks of a run, or in some of them, may be those of a wrong
    vector core: one that is off by one. All blocks together tell less, since another may use the right one."""
    return any(
        number in one and number + 15 in other and number + 16 not in one | other
        for one, other in product(used, repeat=2)
        for number in range(16)
    )
