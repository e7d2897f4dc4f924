"""Unaligned streams: the state that an `!pto.align` carries and how an access moves it on.

A store stream holds back the bytes of an incomplete 32-byte block until a later store completes the block or a flush
writes them; a load stream only remembers which block it has read ahead. Addresses are bytes. The formulas hold for
Python ints, NumPy arrays of int64 and IR values. Which bytes are stored, and doing it, is left to the engines.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ptosim.effects.geometry import floor_to, maximum, select

BLOCK_BYTES = 32


class StoreStream(NamedTuple):
    """The bytes [start, start + pending) have been stored but are not in memory yet. They never leave one block."""

    start: Any = 0
    pending: Any = 0

    @property
    def end(self) -> Any:
        return self.start + self.pending


EMPTY = StoreStream()
"""What `init_align` gives."""


class Append(NamedTuple):
    """What one store of a stream does: the bytes [low, high) reach memory, and what the stream holds afterwards."""

    low: Any
    high: Any
    stream: StoreStream


def append(stream: StoreStream, address: Any, length: Any) -> Append:
    """Store `length` bytes at `address`, where the stream ended (a gap is flushed before: see `continues`)."""
    low = select(stream.pending >= 1, stream.start, address)
    end = address + length
    high = maximum(low, floor_to(end, BLOCK_BYTES))
    return Append(low, high, StoreStream(high, end - high))


def continues(stream: StoreStream, address: Any) -> Any:
    """Whether a store or flush at `address` goes on where the stream ended; an empty one goes on anywhere."""
    return (stream.pending == 0) | (stream.end == address)


def primed_block(address: Any) -> Any:
    """The block that `vldas` reads ahead for a load at `address`, and the one that `vldus` expects to be read."""
    return floor_to(address, BLOCK_BYTES)
