"""The layout of the notes of checked code on one core: clocks, tokens and the shadow of memories.

Pipes are numbered as the sync words number them (machine/sync.py); the scalar unit counts its steps in slot 0, its
stores to GM in slot 7, and those to UB in that of a pipe that its kind of core does not have. A clock is a row of eight
counts: so many entries of each pipe are known to have ended. A stamp is the number of an entry, which the bytes of a
granule share; it is counted on from block to block, so that nothing has to be cleared: what an earlier block left is
below every clock of the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ptosim.effects.element import GRANULE
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.machine.sync import BUFFER_IDS, CLUSTER_WORDS, CORE_WORDS, PIPES, SEMAPHORE_IDS, SLOT

STEPS, STORES = SLOT[Pipe.S], 7
LOCAL_STORES = {CoreKind.AIC: SLOT[Pipe.V], CoreKind.AIV: SLOT[Pipe.FIX]}
"""The slots of the scalar unit."""

WORD = 4
"""Bytes of memory that share a bit of "defined" and a bit of "stored by this scope"."""
SLACK = 80
"""Granules behind the last one, which an access that is out of bounds may touch before the run ends."""

PIECE = 4 * PIPES
"""Bytes of a clock that are about one core."""
COUNT = 0
"""The number of entries of each pipe that have begun."""
LAST_STORE = COUNT + PIECE
"""The stamp of the last copy of each pipe into GM."""
NEXT_RECORD = LAST_STORE + PIECE
"""Address of the next record of a copy from or to GM (rows.py), and of the end of the room for them."""
LAST_RECORD = NEXT_RECORD + 8
FRESH = LAST_RECORD + 8
"""Per direction, whether the sizes of its loop registers were written since the last copy."""
EPOCHS = FRESH + 16
"""In scopes with fences of some classes only: how many ordered stores before loads, and loads before stores."""
SORTED = EPOCHS + 8
"""The stamp of the last instruction that left counts in VMS4_SR."""
HELD = SORTED + 8
"""The bytes that store streams hold back (streams.py)."""
FIRST_RECORD = HELD + 24
"""The first record of this block, in kernels that wait for bytes (ranges.py)."""
SIGNALLED = FIRST_RECORD + 8
"""There, per pipe, how many entries had begun when it last came to something that does not count as one."""
LATEST = SIGNALLED + PIECE
"""Per copy of the kernel, up to SITES of them, the address of its latest record, or 0."""
SITES = 64
KNOWN = (LATEST + 8 * SITES + 8 + 63) & -64
"""The clock of each pipe."""

PLACES = 4
"""Pieces of a clock in a kernel of several cores, the last of them unused."""
CORES_OF_PIECES = ((0, 1, 2), (1, 0, 2), (2, 0, 1))
"""For each core of a cluster, cube core first: the cores of the pieces of its clocks. Its own comes first."""

RECORD_HEAD = 8
"""The words of a record before its clock, 64 bits each: pointer, bytes of a row, rows, distance, kind (place, slot
and direction, and from bit ATOMIC on the atomic operation of a store), block, stamp, nothing.
"""
ATOMIC = 16
HULL = 1 << 40
"""Says in the kind of a record that not all of its bytes need be touched."""
CLOCK_AT = 8 * RECORD_HEAD


def row_bytes(is_mixed: bool) -> int:
    """Bytes of a clock, in a kernel of one core or of several."""
    return PIECE * (PLACES if is_mixed else 1)


class Semaphore:
    """The record of a counter between cores, in bytes from its beginning on."""

    SETS = 0
    """The sets of it in this block, and the waits."""
    WAITS = 4
    HEAD = 8
    """The number of waits, from the first, that are known to have ended before the sets that followed."""
    LAST_SLOT = 12
    """The slot and the stamp of the last set."""
    LAST_STAMP = 16
    WAITED = 64
    """Per wait, the last RING of them, slot and stamp."""
    RING = 16
    TOKENS = WAITED + 8 * RING
    """Per set, likewise, the clock that it told, by places in the cluster."""
    BYTES = TOKENS + RING * PLACES * PIECE


PAIRS = CLUSTER_WORDS
"""The counters of meetings of the two vector cores, 16 for what each has set and waited for, come behind the others."""

Track = tuple[Space, int, int, str]
"""A memory, the place of a core, the slot of a pipe, "reads" or "writes". A core that is alone has place 0; in a
cluster the cube core has it, and vector cores have 1 and 2. In the UB of either, 1 is the core that it belongs to."""


@dataclass(frozen=True)
class Area:
    """An on-chip memory; `at` names the owner of the UB, if that is another core."""

    space: Space
    at: str | None = None


@dataclass
class Layout:
    """The shadows that a kernel needs, and their places: all with the core, or, if there are several, those of
    memories that they share with the cluster.
    """

    sizes: Mapping[str, int]
    is_mixed: bool = False
    waits_for_bytes: bool = False
    """Whether the kernel waits for entries by what they touch."""
    meets: bool = False
    """Whether the two vector cores of a cluster meet."""
    tracks: dict[Track, int] = field(default_factory=dict[Track, int])
    """The start of the stamps of each track."""
    defined: dict[Space, int] = field(default_factory=dict[Space, int])
    """The start of the bits of each memory that say which words are defined."""

    def __post_init__(self) -> None:
        self.row = row_bytes(self.is_mixed)
        """Bytes of a clock."""
        self.token = KNOWN + PIPES * self.row
        """Per sync word, the clock that a set has left there."""
        self.last_wait = self.token + CORE_WORDS * self.row
        """Per sync word, the stamp of the wait that has consumed the last set."""
        self.release = (self.last_wait + 4 * CORE_WORDS + 63) & -64
        """Per buffer and pipe, the clock that a release has left there."""
        self.size = self.release + BUFFER_IDS * PIPES * self.row
        """Bytes that a core keeps."""
        self.semaphores = (PAIRS + 2 * SEMAPHORE_IDS * self.meets) * Semaphore.BYTES if self.is_mixed else 0
        """Bytes that a cluster keeps of signals, and of all that it keeps."""
        self.shared = self.semaphores

    def add(self, tracks: Iterable[Track]) -> None:
        for track in sorted(tracks):
            self.tracks[track] = self.room(track[0], 4)
            if track[0] not in self.defined:
                self.defined[track[0]] = self.room(track[0], 1)

    def is_shared(self, space: Space) -> bool:
        return self.is_mixed and space is not Space.UB

    def room(self, space: Space, width: int) -> int:
        """Room for so many bytes per granule of a memory."""
        wanted = (width * (self.granules(space) + SLACK) + 63) & -64
        if self.is_shared(space):
            self.shared += wanted
            return self.shared - wanted
        self.size += wanted
        return self.size - wanted

    def granules(self, space: Space) -> int:
        """The number of granules that can be addressed: a confined address lies below a power of two."""
        return (1 << (self.sizes[space] - 1).bit_length()) // GRANULE

    def opposing(self, space: Space, verb: str) -> list[tuple[int, int, str]]:
        """The tracks that an access in this direction may be in conflict with, as place, slot and direction."""
        found = [(place, slot, other) for where, place, slot, other in self.tracks if where is space]
        return [each for each in found if "writes" in (verb, each[2])]
