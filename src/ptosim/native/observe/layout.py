"""Where compiled code that is checked keeps what it knows of one core: clocks, tokens and the shadow of memories.

Pipes are numbered as the sync words number them (machine/sync.py); the scalar unit counts its steps in slot 0 and its
stores in slot 7. A clock is a row of eight counts: so many entries of each pipe are known to have ended. A stamp is the
number of an entry, counted on from block to block, so that nothing has to be cleared: what an earlier block left is
below every clock of the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ptosim.effects.names import Pipe, Space
from ptosim.machine.sync import BUFFER_IDS, CORE_WORDS, PIPES, SLOT

STEPS, STORES = SLOT[Pipe.S], 7
"""The slots of the scalar unit."""

BLOCK = 32
"""Bytes of memory that share a stamp."""
WORD = 4
"""Bytes of memory that share a bit, of those that say what is defined and what a scope has stored."""
SLACK = 64
"""Blocks behind the last one, which an access that is out of bounds may touch before the run ends."""

ROW = 4 * PIPES
COUNT = 0
"""How many entries of each pipe have begun."""
KNOWN = 2 * ROW
"""The clock of each pipe."""
LAST_STORE = KNOWN + PIPES * ROW
"""The stamp of the last copy of each pipe into GM."""
NEXT_RECORD = LAST_STORE + ROW
"""Address of the next record of a copy from or to GM (records.py), and of the end of the room for them."""
LAST_RECORD = NEXT_RECORD + 8
FRESH = LAST_RECORD + 8
"""Per direction, whether the sizes of its loop registers were written since the last copy."""
EPOCHS = FRESH + 16
"""In scopes with fences of some classes only: how many ordered stores before loads, and loads before stores."""
READABLE = EPOCHS + 8
WRITABLE = READABLE + 8
"""Bits by the number of a buffer: whether code may read, or write, what lies there in place of the argument."""
LATEST = WRITABLE + 8
"""Per copy of the kernel, up to SITES of them, the address of its latest record, or 0."""
SITES = 64
TOKEN = (LATEST + 8 * SITES + 8 + 63) & -64
"""Per sync word, the clock that a set has left there."""
LAST_WAIT = TOKEN + CORE_WORDS * ROW
"""Per sync word, the stamp of the wait that has consumed the last set."""
RELEASE = (LAST_WAIT + 4 * CORE_WORDS + 63) & -64
"""Per buffer and pipe, the clock that a release has left there."""
SHADOWS = RELEASE + BUFFER_IDS * PIPES * ROW

RECORD_WORDS = 12
"""Of a record, 64 bits each: pointer, bytes of a row, rows, distance, kind (slot and direction), block, stamp, nothing,
and a clock."""
RECORD_BYTES = 8 * RECORD_WORDS
CLOCK_AT = 64

BUFFER_BITS = 64
"""Of READABLE and WRITABLE; the last stands for all buffers beyond. Buffer 0 is none."""

Track = tuple[Space, int, str]
"""A memory, the slot of a pipe, "reads" or "writes"."""


@dataclass
class Layout:
    """Which shadows a kernel needs, and where they lie."""

    sizes: Mapping[str, int]
    tracks: dict[Track, int] = field(default_factory=dict[Track, int])
    """Where the stamps of each track begin."""
    defined: dict[Space, int] = field(default_factory=dict[Space, int])
    """Where the bits of each memory begin that say which words are defined."""
    size: int = SHADOWS

    def add(self, tracks: Iterable[Track]) -> None:
        for track in sorted(tracks):
            self.tracks[track] = self.room(track[0], 4)
            if track[0] not in self.defined:
                self.defined[track[0]] = self.room(track[0], 1)

    def room(self, space: Space, width: int) -> int:
        """Room for so many bytes per block of a memory."""
        start = self.size
        self.size += (width * (self.blocks(space) + SLACK) + 63) & -64
        return start

    def blocks(self, space: Space) -> int:
        """So many can be addressed: a confined address lies below a power of two."""
        return (1 << (self.sizes[space] - 1).bit_length()) // BLOCK

    def opposing(self, space: Space, verb: str) -> list[tuple[int, str]]:
        """The tracks that an access in this direction may be in conflict with, as slot and direction."""
        found = [(slot, other) for where, slot, other in self.tracks if where is space]
        return [(slot, other) for slot, other in found if "writes" in (verb, other)]
