"""Times of the pipes, written once: the issue of an entry, its start, the cost of a wait or a barrier, the end of a
core.

The timer of the reference engine evaluates them on Python objects (timing/pipe_timer.py), the timer of
the machine beside compiled code on words (timing/paged_timer.py), compiled code on values of its IR
(native/observe/timekeeping.py). Each writes its own rows.

A moment is a time, and the row of the recording whose end led to it (NOTHING: none did). All is built from +,
comparison and the choice between two quantities (effects/geometry.py).

The times of a core that compiled code shares with this package are words of a page (`Core.words` has its flags):
    FIGURES                      latencies of the target, in the order of `Figure`
    FREE + 2*pipe                until when the pipe, or the scalar unit, is busy: time and row; pipes numbered by SLOT
    BUSY, WAITING + pipe         its cycles so far
    PLACE                        the number of the core in its cluster
    PATH_HASH, PATH_LENGTH       of the path that the entry which runs has taken so far,
    PATH                         and the address of its items, PATH_ITEMS at most
    TOUCHED, TOUCHES             the address of the accesses of the entry that ran last, and how many accesses it has:
                                 of each the lowest byte and one past the highest (0: it did not happen); above
                                 ROW_BITS of the first, whether it writes, 2 * (1 + place) of the core whose memory it
                                 is, if not its own, and above SPACE_SHIFT the number of the memory in `MEMORIES`
    TOUCH_HASH                   a number that differs where they do
    LOG, ROUTINES                addresses of the log and of the routines of compiled code
    FLYING                       the address of the bytes of entries in flight: FLYING_WORDS each, when it ends, the
                                 number of a memory in `MEMORIES`, its first byte and one past the last
    FLYING_COUNT, REACHED        how many, and how many behind them that the entry which ran last has touched
    AWAITED                      the latest moment that a wait for bytes has found so far
    FIRST + part                 the number of the first record of the block
    TOLD + 2*pipe                what the latest entry of a pipe tells if that is a set or release: time and row (0: it
                                 is none)
    TOKENS + 4*word              what the flag, token or release of a sync word tells: time, row and head of its set
Words that all cores of a cluster share, the log:
    3*part                       of each `Part` the number of its next record, the first that has no room, and where
                                 record 0 would lie
    PRICES, PRICES_MASK          the table of prices, and its size less one
    BARRIERS                     not 0: a barrier was met
    APART                        the address of a word for each work: -1 where what it touches is told apart, else 0
    SEMAPHORES + 68*word         of each counter of the cluster (`Core.cluster_words`): a number that stands for its
                                 signal, how often it was set and waited for in this block, and behind COUNTER_HEAD
                                 words what the last 16 sets tell, as in TOKENS
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, Protocol

from ptosim.effects.geometry import select
from ptosim.effects.names import Pipe, Space
from ptosim.machine.sync import CLUSTER_WORDS, CORE_WORDS, PIPES

NOTHING = -1
"""Stands for "no row" where a row is named."""

S = 0
"""The slot of the scalar unit."""

PIPE_ORDER: tuple[Pipe, ...] = (Pipe.S, Pipe.MTE2, Pipe.MTE1, Pipe.V, Pipe.M, Pipe.FIX, Pipe.MTE3)
"""The pipes in the order of the data: where several have something to tell, they are heard in it."""


Moment = tuple[Any, Any]
"""A time, and the row whose end led to it. Plain tuples: every entry of an observed run makes some."""

BEGIN: Moment = (0, NOTHING)


# --- rules ------------------------------------------------------------------------------------------------------------


def counted(unit: Moment, operations: Any, scalar: Any) -> Moment:
    """The scalar unit after so many operations."""
    time, row = unit
    return time + operations * scalar, row


def ready(free: Moment, issued: Moment) -> tuple[Moment, Any]:
    """The time when a pipe gets to an entry, and whether the pipe was late, rather than the scalar unit."""
    by_pipe = free[0] >= issued[0]
    return chosen(by_pipe, free, issued), by_pipe


def seen(signal: Moment, hop: Any) -> Moment:
    """The time when a wait can see a signal."""
    time, row = signal
    return time + hop, row


def is_held(since: Any, signal: Moment) -> Any:
    """Whether something that could go on at a time stands still until it sees the signal."""
    return signal[0] > since


def last(moments: Iterable[Moment]) -> Moment:
    """The latest, of equal ones that with the later row."""
    found, *others = moments
    for other in others:
        is_later = (other[0] > found[0]) | ((other[0] == found[0]) & (other[1] > found[1]))
        found = chosen(is_later, other, found)
    return found


def chosen(condition: Any, pair: tuple[Any, Any], otherwise: tuple[Any, Any]) -> tuple[Any, Any]:
    """One of two pairs."""
    if isinstance(condition, bool):  # of ints; every entry of an observed run passes here
        return pair if condition else otherwise
    return select(condition, pair[0], otherwise[0]), select(condition, pair[1], otherwise[1])


# --- events -----------------------------------------------------------------------------------------------------------


class PipeMoments(Protocol):
    """The moments of a core, with its busy and waiting cycles."""

    def free(self, slot: Any) -> Moment: ...

    def keep(self, slot: Any, moment: Moment) -> None: ...

    def worked(self, slot: Any, cycles: Any) -> None: ...

    def waited(self, slot: Any, cycles: Any) -> None: ...


def work(page: PipeMoments, slot: Any, issued: Moment, cycles: Any, row: Callable[[Any, Any, Any, Any], Any]) -> Moment:
    """An entry takes its time once the pipe is free; `row` writes start, end, the row before, and whether the pipe was
    late. Gives the end."""
    moment = taken(page.free(slot), issued, cycles, row)
    page.keep(slot, moment)
    page.worked(slot, cycles)
    return moment


def taken(free: Moment, issued: Moment, cycles: Any, row: Callable[[Any, Any, Any, Any], Any]) -> Moment:
    """The end of an entry that begins when it has been issued and the way is free."""
    (start, before), by_pipe = ready(free, issued)
    end = start + cycles
    return end, row(start, end, before, by_pipe)


def heard(since: Any, signals: Iterable[tuple[Any, Moment, Any, tuple[Any, Any]]]) -> tuple[Moment, tuple[Any, Any]]:
    """The end of a wait that a pipe reaches at a time, and the cause of the last signal that it waits for. Each signal
    says whether it exists, its moment, how far away it is, and its cause: two values."""
    over, cause = (since, since * 0 + NOTHING), (since * 0, since * 0)
    for exists, signal, hop, its_cause in signals:
        arrival = seen(signal, hop)
        is_later = exists & is_held(over[0], arrival)
        over, cause = chosen(is_later, arrival, over), chosen(is_later, its_cause, cause)
    return over, cause


def held(page: PipeMoments, slot: Any, since: Any, until: Moment, row: Callable[[Any, Moment], Any]) -> Moment:
    """A pipe stood still from a time to a moment; `row` writes both. Gives when it goes on."""
    page.waited(slot, until[0] - since)
    return until[0], row(since, until)


def passed(page: PipeMoments, slot: Any, issued: Moment, cost: Any) -> None:
    """A barrier of a pipe, where entries follow each other anyway: it only costs time."""
    reached, _ = ready(page.free(slot), issued)
    page.keep(slot, seen(reached, cost))


def ended(unit: Moment, pipes: Iterable[Moment]) -> tuple[Any, Any]:
    """The end of a core, and the row that its pipes ended with, if they ended after its scalar unit."""
    final = last(pipes)
    return chosen(final[0] > unit[0], final, (unit[0], unit[0] * 0 + NOTHING))


# --- the log ----------------------------------------------------------------------------------------------------------


class LogPart(IntEnum):
    """Parts of a log."""

    ROWS = 0
    POOL = 1
    """Operands, a word each."""
    SIGNALS = 2
    """Signals that no held wait names: the row of a held wait names the flag and its setter."""
    CORES = 3
    """The state of a core at the end of a block."""


NEXT, END, BASE = range(3)
"""The words of a part."""
PRICES = 3 * len(LogPart)
PRICES_MASK = PRICES + 1
BARRIERS = PRICES + 2
APART = PRICES + 3
SEMAPHORES = PRICES + 4
KEY, SETS, WAITS = range(3)
"""The words of a counter."""
COUNTER_HEAD = 4
RING = 16
TOKEN_WORDS = 4
COUNTER_WORDS = COUNTER_HEAD + RING * TOKEN_WORDS
LOG_WORDS = SEMAPHORES + COUNTER_WORDS * CLUSTER_WORDS

PRICE_WORDS = 4
"""Key, cycles, number."""


class EndRecord(IntEnum):
    """The record of a core at the end of a block; behind it busy and waiting cycles by pipe."""

    BLOCK = 0
    PLACE = 1
    FIRST = 2
    """The number of the first record of each part before CORES."""
    TIME = 5
    LAST = 6
    """The row that its pipes ended with, if they ended after its scalar unit;"""
    SCALAR_LAST = 7
    """the row that its scalar unit last came out of,"""
    SCALAR_TIME = 8
    """and when that ended."""
    SUMS = 9


WIDTHS = {LogPart.ROWS: 4, LogPart.POOL: 1, LogPart.SIGNALS: 4, LogPart.CORES: EndRecord.SUMS + 2 * PIPES}
"""Words of a record."""

# --- the page of a core -----------------------------------------------------------------------------------------------


class LatencyWord(IntEnum):
    """Latencies, as words of a page."""

    SCALAR = 0
    FLAG = 1
    BARRIER = 2
    INTER_CORE = 3


FREE = 8
BUSY = FREE + 2 * PIPES
WAITING = BUSY + PIPES
PLACE = WAITING + PIPES
PATH_HASH = PLACE + 1
PATH_LENGTH = PLACE + 2
PATH = PLACE + 3
TOUCHED = PLACE + 4
TOUCHES = PLACE + 5
TOUCH_HASH = PLACE + 6
LOG = PLACE + 7
ROUTINES = PLACE + 8
ROUTINE_ROOM = 16
FIRST = ROUTINES + ROUTINE_ROOM
FLYING = FIRST + LogPart.CORES
FLYING_COUNT = FLYING + 1
REACHED = FLYING + 2
AWAITED = FLYING + 3
TOLD = FLYING + 5
TOKENS = TOLD + 2 * PIPES
PAGE_WORDS = TOKENS + TOKEN_WORDS * CORE_WORDS

PATH_ITEMS = 1 << 16
MOST_TOUCHES = 1 << 12
"""Accesses of one entry that are told apart."""

MEMORIES = tuple(Space)
SPACE_SHIFT = 4
MOST_FLYING = 1 << 13
"""The most touched places of entries in flight before one more begins."""
FLYING_WORDS = 5

# --- rows -------------------------------------------------------------------------------------------------------------

# A head, the low bits of the first word of a row: the operation, the pipe, and what the row is.
PIPE_SHIFT = 24
LINK_SHIFT = 28
WAIT_BIT = 1 << 30
TOLD_BIT = 1 << 31
"""The signals of a wait are records of their own."""
CORE_SHIFT = 32
DETAIL_SHIFT = 40
ROW_BITS = 40
ROW_MASK = (1 << ROW_BITS) - 1
"""In the second word of a row: the row before it; for a wait the operation that set the signal is above."""
SITE_MASK = (1 << PIPE_SHIFT) - 1


def head(site: int, pipe: int) -> int:
    """The numbers by which a row names its operation and its pipe."""
    return site | pipe << PIPE_SHIFT
