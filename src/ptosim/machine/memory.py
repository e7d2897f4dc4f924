"""The memories as sizes and addresses, and what to say when an access leaves them. Bytes belong to the engines.

A GM pointer is a place in one region: as an integer (number of the region + 1) << 48 plus the offset in bytes. An
offset before the start of the region borrows from the upper part, so decoding takes the nearest region and the offset
may be negative.

Regions of a launch on one rank are its arguments, numbered from 0. Where there are several ranks, numbers of one buffer
on neighbouring ranks are neighbours: argument a of rank r is 64 a + r, window w of rank r is 0x4000 + 64 w + r. The
distance from a rank's window to a peer's is then a multiple of 2^48, the same for every window, and pto.addptr by it
leads from any place in the window to that of the peer. From an argument it leads to one of the peer, which is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

POISON = bytes.fromhex("c17fc17fc1ffc1ff")
"""The pattern of on-chip memories in a run that must not rely on zeros. Lanes of f16, bf16 and f32 are quiet NaNs,
which every arithmetic instruction hands on; integers are positive and negative by turns, so that sums, maxima and
minima show them.
"""

OFFSET_BITS = 48
FARTHEST = 1 << (OFFSET_BITS - 1)
"""Half of the range of a pointer: how far a copy may reach."""
FAR = FARTHEST >> 1
"""Bytes by which the offset of a workitem moves a pointer at most, whose product with a width may not fit."""


MOST_RANKS = 64
"""A context has so many slots."""
MOST_WINDOWS = 255
MOST_ARGUMENTS = 256
FIRST_WINDOW = MOST_RANKS * MOST_ARGUMENTS


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of global memory that pointers name: an argument, or the part of a window that lies on one rank."""

    index: int
    """The index of the argument among those of its rank, or of the window."""
    name: str
    """The name of the parameters behind it."""
    size: int
    """In bytes."""
    rank: int | None = None
    """None where there is one rank only."""
    is_window: bool = False

    @property
    def label(self) -> str:
        """In short: %x, or %x of rank 1."""
        return f"%{self.name}" if self.rank is None else f"%{self.name} of rank {self.rank}"

    def __str__(self) -> str:
        what = f"{'window' if self.is_window else 'argument'} {self.index} (%{self.name})"
        return what if self.rank is None else f"{what} of rank {self.rank}"


@dataclass(frozen=True)
class Regions:
    """Regions that the pointers of a launch may name, by number: the regions of all ranks, and the rank that looks at
    them."""

    all: Mapping[int, Region]
    rank: int | None = None

    def find(self, number: int) -> Region | None:
        """A region that this rank reaches: its own arguments, and every window."""
        region = self.all.get(number)
        return region if region is not None and (region.is_window or region.rank == self.rank) else None

    def word(self, address: int) -> str:
        """The name of a word of i32."""
        number, offset = decode(address)
        region = self.all.get(number)
        if region is None:
            return "a word"
        where = "" if region.rank is None else f" of rank {region.rank}"
        return f"%{region.name}[{offset // 4}]{where}"

    def stray(self, verb: str, start: int, width: int) -> tuple[str, tuple[int, int] | None]:
        """The message for an access that leaves the regions, and its bytes. `verb`: "reads" or "writes"."""
        number, offset = decode(start)
        region = self.all.get(number)
        extent = offset, offset + width
        if region is None and (aim := self._aim(number)) is not None:
            return f"{verb} bytes {offset} to {offset + width - 1} of {aim}", extent
        if region is None:
            return f"{verb} {width} bytes of GM through a pointer that comes from no argument", None
        if self.find(number) is None:
            message = f"{verb} bytes {offset} to {offset + width - 1} of {region}, which is private to that rank"
            return f"{message}: rank {self.rank} reaches its own arguments and the windows of all ranks", extent
        return outside(verb, str(region), region.size, offset, width), extent

    def _aim(self, number: int) -> str | None:
        """The peer that a pointer into a window was moved to, where there is none."""
        window, rank = divmod(number - FIRST_WINDOW, MOST_RANKS)
        own = self.all.get(FIRST_WINDOW + MOST_RANKS * window + (self.rank or 0)) if window >= 0 else None
        if self.rank is None or own is None:
            return None
        last = max(region.rank for region in self.all.values() if region.rank is not None)
        return f"window {window} (%{own.name}) of rank {rank}, and there is no such rank: ranks are 0 to {last}"


NO_REGIONS = Regions({})


def argument_number(argument: int, rank: int | None) -> int:
    """The number of an argument's region."""
    return argument if rank is None else MOST_RANKS * argument + rank


def window_number(window: int, rank: int) -> int:
    """The number of the region that a window has on a rank."""
    return FIRST_WINDOW + MOST_RANKS * window + rank


def context_words(window: int, rank: int, ranks: int, size: int) -> list[int]:
    """The device context of a window of so many bytes. Its words: 0 workspace, 1 its bytes, 2 rank | ranks << 32,
    3 bytes of the window, from 4 and from 68 on the window of each rank; of ranks that do not exist the place is
    named, so that it can be told."""
    windows = [pointer(window_number(window, peer)) for peer in range(MOST_RANKS)]
    return [0, 0, rank | ranks << 32, size, *windows, *windows]


def misaligned(verb: str, space: str, start: int, alignment: int) -> str:
    """An access whose address is not a multiple of the alignment; in GM `start` is the offset in the region."""
    return f"{verb} {space} at {start}, which is not a multiple of {alignment}"


def outside(verb: str, name: str, size: int, start: int, width: int) -> str:
    """An access to bytes of which not all exist."""
    if abs(start) >= FAR:
        where = "behind the end" if start > 0 else "before the beginning"
        return f"{verb} bytes far {where} of {name}, which has {size} bytes"
    first = start if start < 0 else max(start, size)
    message = f"{verb} bytes {start} to {start + width - 1} of {name}, which has {size} bytes"
    return f"{message}: the first byte outside is {first}"


def poisoned(size: int) -> bytes:
    """The contents of a memory of so many bytes."""
    return (POISON * -(-size // len(POISON)))[:size]


def pointer(number: int, offset: int = 0) -> int:
    """The integer form of a GM pointer."""
    return ((number + 1) << OFFSET_BITS) + offset


def decode(address: int) -> tuple[int, int]:
    """The number of the region and the byte offset of a GM pointer; the number may belong to no region."""
    number = ((address + FARTHEST) >> OFFSET_BITS) - 1
    return number, address - pointer(number)
