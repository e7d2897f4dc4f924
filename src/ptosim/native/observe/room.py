"""The room for records of GM accesses: as large as may ever be needed, of which the host gives what is touched."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Collection, Mapping
from typing import Any

from ptosim.machine.sync import CLUSTER_WORDS, PIPES, SEMAPHORE_IDS, TO_AIC, TO_AIV
from ptosim.native.cores import Cluster
from ptosim.native.memory import Memory
from ptosim.native.observe.layout import (
    CORES_OF_PIECES,
    COUNT,
    EPOCHS,
    FRESH,
    KNOWN,
    LAST_RECORD,
    LAST_STORE,
    LATEST,
    NEXT_RECORD,
    PIECE,
    READABLE,
    RECORD_HEAD,
    SITES,
    WRITABLE,
    Semaphore,
)

MOST_RECORDS = 1 << 22
"""A block that would need more is suspicious."""
MANY_ENTRIES = 1 << 30
"""Where so many were counted, counting begins anew with the next run."""


LEAST_BYTES = 1 << 16
"""What has to be there."""


def _reserved(size: int, record_bytes: int) -> mmap.mmap:
    """Memory of whole records, less than was asked for where a process may not have so much."""
    while True:
        try:
            return mmap.mmap(-1, size)
        except OSError:
            if size <= LEAST_BYTES:
                raise
        size = size // 2 // record_bytes * record_bytes


class Room:
    """Memory for the records of one core, which keeps `state`; a record has so many bytes."""

    def __init__(self, state: Memory, record_bytes: int) -> None:
        self._state = state
        self._record_bytes = record_bytes
        self._pages: ctypes.Array[ctypes.c_char] | None = None
        """While blocks run: they are many, and a kernel that nobody needs any more may live for long."""

    @property
    def is_worn(self) -> bool:
        """Whether so many entries were counted that counting should begin anew."""
        return max((ctypes.c_uint32 * PIPES).from_address(self._state.address + COUNT)) > MANY_ENTRIES

    def reset(self) -> None:
        ctypes.memset(self._state.address, 0, self._state.size)

    def renew(self) -> None:
        """Before a run: no records."""
        ctypes.memset(self._state.address + LATEST, 0, 8 * SITES)
        reserved = _reserved(MOST_RECORDS * self._record_bytes, self._record_bytes)
        self._pages = (ctypes.c_char * len(reserved)).from_buffer(reserved)
        self._word(NEXT_RECORD).value = ctypes.addressof(self._pages)
        self._word(LAST_RECORD).value = ctypes.addressof(self._pages) + len(self._pages)

    def allow(self, readable: int, writable: int) -> None:
        """Let code read and write these buffers."""
        self._word(READABLE).value = readable
        self._word(WRITABLE).value = writable

    def taken(self) -> bytes:
        """All that was written since `renew`, which ends here."""
        assert self._pages is not None
        first = ctypes.addressof(self._pages)
        written = ctypes.string_at(first, self._word(NEXT_RECORD).value - first)
        self._pages = None
        return written

    def _word(self, offset: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self._state.address + offset)


class Rooms:
    """Those of the cores of a cluster, and how a block finds what they keep."""

    def __init__(self, cluster: Cluster, outline: Mapping[str, Any]) -> None:
        self._outline = outline
        self._shared = cluster.state
        self._states = [core.state for core in cluster.cores.values() if core.state is not None]
        record_bytes = 8 * RECORD_HEAD + outline["row"]
        self._rooms = [Room(state, record_bytes) for state in self._states]
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

    def allow(self, readable: int, writable: int) -> None:
        for room in self._rooms:
            room.allow(readable, writable)

    def begin_block(self) -> None:
        """Before a block of several cores: all that earlier ones did has ended, nothing is signalled, and nothing is
        defined. (A core that is alone says so itself.)"""
        assert self._shared is not None
        ctypes.memset(self._shared.address, 0, CLUSTER_WORDS * Semaphore.BYTES)
        for start, size in self._outline["shared_defined"]:
            ctypes.memset(self._shared.address + start, 0, size)
        counts = [ctypes.string_at(state.address + COUNT, PIECE) for state in self._states]
        for place, state in enumerate(self._states):
            clock = b"".join(counts[other] for other in CORES_OF_PIECES[place]) + bytes(PIECE)
            ctypes.memmove(state.address + KNOWN, clock * PIPES, PIPES * len(clock))
            ctypes.memset(state.address + LAST_STORE, 0, PIECE)
            ctypes.memset(state.address + FRESH, 0, EPOCHS - FRESH)
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

    def taken(self) -> list[bytes]:
        return [room.taken() for room in self._rooms]


def confuses_cores(used: Collection[frozenset[int]]) -> bool:
    """Whether the ids that the cube core has used in the blocks of a run may be those of a wrong vector core: one that
    is off by one. Where blocks use different ones, the order of blocks decides what is said of them."""
    if len(used) > 1:
        return True
    return any({number, number + 15} <= ids and number + 16 not in ids for ids in used for number in range(16))
