"""The words of synchronisation: flag counters, buffer counts, semaphores, in flat arrays of 64-bit integers.

Compiled code shares these words with this package, through the address of `Core.words` and `Core.cluster_words`. They
never move, and only the core that holds the turn touches them.

Words of a core (`Core.words`), pipes numbered by SLOT:
    SLOW                         not 0: some pipe of this core is stalled, or the run is observed or follows another
                                 schedule than "program"
    MOVED                        not 0: inline code has done work or stored a scalar to GM since the core last looked at
                                 a word in vain
    FLAGS + (src*8 + dst)*16 + i sets of flag i that no wait has consumed
    ISSUED + id*8 + pipe         releases of buffer `id` that the SU has issued on `pipe`
    DONE + id*8 + pipe           those of them that have happened
    OPEN + id*8 + pipe           1 + mode while a get of this buffer waits for its release (program order), else 0
    TOKENS + (src*8 + dst)*8 + n sets of private token n that no wait has consumed
    UNITS + address/512          whether the tile in L0C that begins there is full
Words of a cluster (`Core.cluster_words`):
    CLUSTER_SLOW                 not 0: some pipe of the cluster is stalled
    TO_AIV + k*16 + id           signals from the AIC to AIVk
    TO_AIC + k*16 + id           signals from AIVk to the AIC

The inline path. While words[SLOW] == 0 everything issued so far has ended, and compiled code may itself
    work                         call the entry's function; that of a product or store with a unit flag only if
                                 words[UNITS + ..] is as it needs it, which it then changes
    set_flag(s, d, i)            words[FLAGS + ..] += 1
    wait_flag(s, d, i)           if words[FLAGS + ..] > 0: subtract 1; otherwise call `Core.wait_flag`
    set_token, wait_token        likewise with words[TOKENS + ..]
    get_buffer(p, b, mode)       words[OPEN + ..] = 1 + mode
    release_buffer(p, b, mode)   words[ISSUED + ..] += 1; words[DONE + ..] += 1; words[OPEN + ..] = 0
    barrier, dsb                 nothing
    semaphore_set                if also cluster_words[CLUSTER_SLOW] == 0: add 1 to the counters that the table of
                                 `semaphores.py` names, if all are below the target's limit; otherwise call `Core`
    semaphore_wait               if those counters are all above 0: subtract 1 from each; otherwise call `Core`
Everything else calls the method of `Core`: ids or pipes not known to be legal, rendezvous of vector cores or blocks,
syncall, and every instruction while words[SLOW] != 0. The word must be read again after each call.

Flags count without bound: whether a second set may precede the wait is for the checker to say, and a count that
saturates would make the result of a race-free program depend on the schedule. Semaphores have 4 bits; a set
that would need more is an error.
"""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ptosim.effects.names import Pipe
from ptosim.effects.sync import GRANULE

if TYPE_CHECKING:
    from ptosim.machine.core import Core
    from ptosim.machine.entry import Entry, Key

SLOT: dict[Pipe, int] = {Pipe.S: 0, Pipe.V: 1, Pipe.M: 2, Pipe.MTE1: 3, Pipe.MTE2: 4, Pipe.MTE3: 5, Pipe.FIX: 6}

PIPES = 8  # words per buffer id and per source pipe, one of them unused
EVENT_IDS = 16  # room per pair of pipes; the target says how many exist
BUFFER_IDS = 32
TOKEN_IDS = 8
UNIT_FLAGS = 512
SEMAPHORE_IDS = 16
QUEUE_LIMIT = 65_536

SLOW = 0
MOVED = 1
FLAGS = 8
ISSUED = FLAGS + PIPES * PIPES * EVENT_IDS
DONE = ISSUED + BUFFER_IDS * PIPES
OPEN = DONE + BUFFER_IDS * PIPES
TOKENS = OPEN + BUFFER_IDS * PIPES
UNITS = TOKENS + PIPES * PIPES * TOKEN_IDS
CORE_WORDS = UNITS + UNIT_FLAGS

CLUSTER_SLOW = 0
TO_AIV = 8
TO_AIC = TO_AIV + 2 * SEMAPHORE_IDS
CLUSTER_WORDS = TO_AIC + 2 * SEMAPHORE_IDS

_ZEROS = array("q", bytes(8 * max(CORE_WORDS, CLUSTER_WORDS)))


class Form(StrEnum):
    """The spelling of a semaphore instruction, as far as it decides which cores it joins."""

    SYNC = "sync"  # sync.set, sync.wait: what the target makes of them
    INTRA_BLOCK = "intra_block"  # A5
    CROSS_CORE = "cross_core"  # A2A3
    VECTOR_PAIR = "vector_pair"  # ffts_mode 1
    CROSS_BLOCK = "cross_block"  # ffts_mode 0


def form_of(ffts_mode: int | None) -> Form:
    """Meanings of the modes of sync.set and sync.wait."""
    return Form.SYNC if ffts_mode is None else _MODES.get(ffts_mode, Form.SYNC)


_MODES = {0: Form.CROSS_BLOCK, 1: Form.VECTOR_PAIR}


def zero_words(count: int) -> array[int]:
    return _ZEROS[:count]


def clear(words: array[int]) -> None:
    """Back to the state at the start of a block, in place: compiled code holds the address."""
    words[:] = _ZEROS[: len(words)]


def flag_word(src: Pipe, dst: Pipe, event: int) -> int:
    return FLAGS + (SLOT[src] * PIPES + SLOT[dst]) * EVENT_IDS + event


def token_word(src: Pipe, dst: Pipe, number: int) -> int:
    return TOKENS + (SLOT[src] * PIPES + SLOT[dst]) * TOKEN_IDS + number


def unit_word(address: int) -> int:
    """The word of the tile in L0C that begins at this address."""
    return UNITS + address // GRANULE % UNIT_FLAGS


def buffer_word(table: int, pipe: Pipe, buffer: int) -> int:
    """The word of (buffer, pipe) in ISSUED, DONE or OPEN."""
    return table + buffer * PIPES + SLOT[pipe]


@dataclass(eq=False, slots=True)
class SyncCounter:
    """One counter that sets raise and waits take from; the number itself is a word that compiled code may change."""

    words: array[int]
    index: int
    key: Key
    core: Core | None  # the core that waits for it, if it takes part in this run
    limit: int = 0  # 0: none
    rendezvous: Rendezvous | None = None
    # In observed runs only: the sets behind each unit of the count, oldest first, and what came before, of which the
    # protocol checks remember no more than the latest of each.
    pending: deque[tuple[Entry, ...]] = field(default_factory=deque["tuple[Entry, ...]"])
    last_set: Entry | None = None
    last_wait: Entry | None = None
    unordered_waits: deque[Entry] = field(default_factory=deque["Entry"])

    @property
    def value(self) -> int:
        return self.words[self.index]


class Rendezvous:
    """A signal that needs every member: when each has arrived once more, each may pass a wait once more."""

    __slots__ = ("arrived", "key", "present", "ready")

    def __init__(self, key: Key, cores: list[Core], limit: int) -> None:
        self.key = key
        self.present = 0  # members that have arrived for the next meeting
        words = array("q", bytes(16 * len(cores)))
        self.arrived: dict[Core, SyncCounter] = {}
        self.ready: dict[Core, SyncCounter] = {}
        for position, core in enumerate(cores):
            self.arrived[core] = SyncCounter(words, 2 * position, key, None, limit)
            self.ready[core] = SyncCounter(words, 2 * position + 1, key, core, limit)
            self.ready[core].rendezvous = self

    @property
    def complete(self) -> bool:
        return self.present == len(self.arrived)

    @property
    def absent(self) -> list[Core]:
        return [core for core, counter in self.arrived.items() if counter.value == 0]

    def counters(self) -> list[SyncCounter]:
        return [*self.arrived.values(), *self.ready.values()]
