"""The arithmetic of the pipes, written once: when the scalar unit has issued something, when a pipe starts, what a wait
costs. `timing` evaluates it on Python ints, the native engine on values of its IR.

A moment is a time, and the row of the recording whose end led to it (NOTHING: none did). All is built from +,
comparison and the choice between two quantities (effects/geometry.py). What is written down about it is for each engine
to do.

The times of a core that compiled code shares with this package are words of a page (`Core.words` has its flags):
    FIGURES                      latencies of the target, in the order of `Figure`
    FREE + 2*pipe                until when the pipe, or the scalar unit, is busy: time and row; pipes numbered by SLOT
    BUSY, WAITING + pipe         its cycles so far
    PLACE                        the number of the core in its cluster
    PATH_HASH, PATH_LENGTH       of the path that the entry which runs has taken so far,
    PATH                         and the address of its items, PATH_ITEMS at most
    TOKENS + 4*word              what the flag, token or release of a sync word tells: time, row and head of its set
Words that all cores of a cluster share, the log:
    ROW, ROW_END, ROWS           the number of the next row, the first that has no room, and where row 0 would lie
    POOL, POOL_END               where operands are written next
    SIGNAL, SIGNAL_END           where a signal is written next
    BLOCK, BLOCK_END             where the sums of a block that has ended are written next
    PRICES, PRICES_MASK          the table of prices, and its size less one
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from ptosim.effects.geometry import select
from ptosim.machine.sync import CORE_WORDS, PIPES

NOTHING = -1
"""Stands for "no row" where a row is named."""

S = 0
"""The slot of the scalar unit."""


Moment = tuple[Any, Any]
"""A time, and the row whose end led to it. Plain tuples: every entry of an observed run makes some."""

BEGIN: Moment = (0, NOTHING)


# --- rules ----------------------------------------------------------------------------------------------------------


def counted(unit: Moment, operations: Any, scalar: Any) -> Moment:
    """The scalar unit after so many operations."""
    time, row = unit
    return time + operations * scalar, row


def ready(free: Moment, issued: Moment) -> tuple[Moment, Any]:
    """When a pipe gets to an entry, and whether it was the pipe that was late, rather than the scalar unit."""
    by_pipe = free[0] >= issued[0]
    return _choice(by_pipe, free, issued), by_pipe


def seen(signal: Moment, hop: Any) -> Moment:
    """When a wait can see a signal."""
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
        found = _choice(is_later, other, found)
    return found


def _choice(condition: Any, chosen: Moment, otherwise: Moment) -> Moment:
    if isinstance(condition, bool):  # of ints; every entry of an observed run passes here
        return chosen if condition else otherwise
    return select(condition, chosen[0], otherwise[0]), select(condition, chosen[1], otherwise[1])


# --- the page of a core ---------------------------------------------------------------------------------------------


class Figure(IntEnum):
    """Latencies, as words of a page."""

    SCALAR = 0
    FLAG = 1
    BARRIER = 2


FREE = 8
BUSY = FREE + 2 * PIPES
WAITING = BUSY + PIPES
PLACE = WAITING + PIPES
PATH_HASH = PLACE + 1
PATH_LENGTH = PLACE + 2
PATH = PLACE + 3
TOKENS = 48
TOKEN_WORDS = 4
PAGE_WORDS = TOKENS + TOKEN_WORDS * CORE_WORDS

PATH_ITEMS = 1 << 16

# --- the log --------------------------------------------------------------------------------------------------------


class Log(IntEnum):
    """Where each word of a log lies."""

    ROW = 0
    ROW_END = 1
    ROWS = 2
    POOL = 3
    POOL_END = 4
    SIGNAL = 5
    SIGNAL_END = 6
    BLOCK = 7
    BLOCK_END = 8
    PRICES = 9
    PRICES_MASK = 10


RECORD_WORDS = 4
"""Of a row, of a signal and of a price."""
BLOCK_WORDS = 24
"""Of a block that has ended: its number, its first row, its end, `last` and `scalar_last` of the recording, then its
busy and its waiting cycles by pipe."""

# A head, the low bits of the first word of a row: the operation, the pipe, and what the row is.
PIPE_SHIFT = 24
LINK_SHIFT = 28
WAIT_BIT = 1 << 30
CORE_SHIFT = 32
DETAIL_SHIFT = 40
SITE_MASK = (1 << PIPE_SHIFT) - 1


def head(site: int, pipe: int) -> int:
    """How a row names its operation and its pipe."""
    return site | pipe << PIPE_SHIFT
