"""The room for records of GM accesses: as large as may ever be needed, of which the host gives what is touched."""

from __future__ import annotations

import ctypes
import mmap

from ptosim.native.memory import Memory
from ptosim.native.observe.layout import LAST_RECORD, NEXT_RECORD, RECORD_BYTES

MOST_RECORDS = 1 << 22
"""A block that would need more is suspicious."""


class Room:
    """Memory for the records of one worker."""

    def __init__(self) -> None:
        self._pages = mmap.mmap(-1, MOST_RECORDS * RECORD_BYTES)
        self._view = ctypes.c_char.from_buffer(self._pages)
        self.address = ctypes.addressof(self._view)

    def open(self, state: Memory) -> None:
        """Let code write its records here, from the beginning on."""
        _word(state, NEXT_RECORD).value = self.address
        _word(state, LAST_RECORD).value = self.address + MOST_RECORDS * RECORD_BYTES

    def taken(self, state: Memory) -> bytes:
        """All that was written."""
        return ctypes.string_at(self.address, _word(state, NEXT_RECORD).value - self.address)


def _word(state: Memory, offset: int) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(state.address + offset)
