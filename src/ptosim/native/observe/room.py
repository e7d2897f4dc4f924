"""The room for records of GM accesses: as large as may ever be needed, of which the host gives what is touched."""

from __future__ import annotations

import ctypes
import mmap

from ptosim.machine.sync import PIPES
from ptosim.native.memory import Memory
from ptosim.native.observe.layout import (
    COUNT,
    LAST_RECORD,
    LATEST,
    NEXT_RECORD,
    READABLE,
    RECORD_BYTES,
    SITES,
    WRITABLE,
)

MOST_RECORDS = 1 << 22
"""A block that would need more is suspicious."""
MANY_ENTRIES = 1 << 30
"""Where so many were counted, counting begins anew with the next run."""


LEAST_BYTES = 1 << 16
"""What has to be there."""


def _reserved(size: int) -> mmap.mmap:
    """Memory of whole records, less than was asked for where a process may not have so much."""
    while True:
        try:
            return mmap.mmap(-1, size)
        except OSError:
            if size <= LEAST_BYTES:
                raise
        size = size // 2 // RECORD_BYTES * RECORD_BYTES


class Room:
    """Memory for the records of one worker, which keeps `state`."""

    def __init__(self, state: Memory) -> None:
        self._state = state
        self._pages = _reserved(MOST_RECORDS * RECORD_BYTES)
        self._view = ctypes.c_char.from_buffer(self._pages)
        self.address = ctypes.addressof(self._view)
        self._begin()

    def _begin(self) -> None:
        """No records, and counts that are far from their end."""
        counts = (ctypes.c_uint32 * PIPES).from_address(self._state.address + COUNT)
        if max(counts) > MANY_ENTRIES:
            ctypes.memset(self._state.address, 0, self._state.size)
        ctypes.memset(self._state.address + LATEST, 0, 8 * SITES)
        self._word(NEXT_RECORD).value = self.address
        self._word(LAST_RECORD).value = self.address + len(self._pages)

    def allow(self, readable: int, writable: int) -> None:
        """Let code read and write these buffers."""
        self._word(READABLE).value = readable
        self._word(WRITABLE).value = writable

    def taken(self) -> bytes:
        """All that was written."""
        return ctypes.string_at(self.address, self._word(NEXT_RECORD).value - self.address)

    def _word(self, offset: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self._state.address + offset)
