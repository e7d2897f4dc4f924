"""The on-chip memories of one core as host memory: zeroed, or poisoned, and laid out so that a confined address stays
inside.

What lies where in them is the kernel's business; GM is the caller's arrays and never passes through here.
"""

import ctypes
import mmap

# A store to UB and a load from GM whose addresses agree in their low 12 bits stall each other, and tiles of both tend
# to begin at multiples of a page. Half a page and a line apart they do not meet.
ALIAS_OFFSET = 2048 + 64

# More than the longest stretch that one instruction touches behind its checked address (2020 bytes, vsld S8_B32).
SLACK = 4096


class HostMemory:
    """`size` bytes that compiled code may address, in an allocation that it cannot leave: zeros, or the `pattern`.

    That holds twice a power of two behind the first byte, for addresses that may lie on either side of it (core.py),
    `SLACK` for what follows a confined address, and `ALIAS_OFFSET` in front. The code writes only the first `written`.
    """

    def __init__(self, size: int, written: int, pattern: bytes | None = None) -> None:
        self.size = size
        self.written = written
        self._pages = mmap.mmap(-1, ALIAS_OFFSET + (2 << (size - 1).bit_length()) + SLACK)
        self._view = ctypes.c_char.from_buffer(self._pages)
        self.address = ctypes.addressof(self._view) + ALIAS_OFFSET
        self._clean = True
        self._pattern = pattern

    def clear(self) -> None:
        """Clears the memory. Bytes that a failed access left behind the end cannot be seen, so they stay."""
        if self._pattern is not None:
            ctypes.memmove(self.address, self._pattern, self.size)
        elif not self._clean:
            ctypes.memset(self.address, 0, self.written)
        self._clean = False

    def read(self, address: int, count: int) -> bytes:
        """Bytes for a report or a test."""
        if not 0 <= address <= address + count <= self.size:
            raise IndexError(f"bytes {address} to {address + count} of a memory of {self.size}")
        return ctypes.string_at(self.address + address, count)
