"""Offsets of tiles in a memory by size and lifetime; knows nothing about operations.

Every shared byte is an order that somebody has to keep, so tiles share only when they must: while the sum of all fits,
one lies behind the other. Otherwise each is put into the lowest gap that its neighbours in time leave, in the order
that needs the least memory of those tried.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_SHUFFLES = 32


@dataclass(frozen=True)
class RoomRequest:
    """A block to place: bytes, alignment, and the statements between which it is in use, both included."""

    name: str
    size: int
    start: int
    end: int
    pinned: int | None = None
    """The address of one that has a place already."""
    arms: frozenset[tuple[int, int]] = frozenset()
    """The branches it is confined to: (statement of the branch, which arm)."""

    def meets(self, other: RoomRequest) -> bool:
        """Whether both are in use at one moment. Opposite arms of one branch never are."""
        if any((branch, 1 - arm) in other.arms for branch, arm in self.arms):
            return False
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True)
class TilePlacement:
    """The address of each room, in the order they were given, and the bytes from the first to behind the last."""

    addresses: tuple[int, ...]
    peak: int


def place(rooms: Sequence[RoomRequest], alignment: int, capacity: int) -> TilePlacement:
    """Addresses for all rooms. Where they do not fit, the least memory that was found to hold them."""
    apart = _in_order(rooms, range(len(rooms)), alignment, lambda one, other: True)
    if apart.peak <= capacity:
        return apart
    tried = (_in_order(rooms, order, alignment, RoomRequest.meets) for order in _orders(rooms))
    return min(tried, key=lambda placement: placement.peak)


def _orders(rooms: Sequence[RoomRequest]) -> Iterable[Sequence[int]]:
    numbers = range(len(rooms))
    length = [room.end - room.start + 1 for room in rooms]
    yield sorted(numbers, key=lambda n: (-rooms[n].size, rooms[n].start))
    yield sorted(numbers, key=lambda n: (rooms[n].start, -rooms[n].size))
    yield sorted(numbers, key=lambda n: -rooms[n].size * length[n])
    yield sorted(numbers, key=lambda n: -length[n])
    chance = random.Random(0)
    for _ in range(_SHUFFLES):
        yield chance.sample(numbers, len(rooms))


def _in_order(
    rooms: Sequence[RoomRequest],
    order: Sequence[int],
    alignment: int,
    conflict: Callable[[RoomRequest, RoomRequest], bool],
) -> TilePlacement:
    """Each room at the lowest free place, those that have an address first."""
    placed = {number: address for number, room in enumerate(rooms) if (address := room.pinned) is not None}
    for number in order:
        if number not in placed:
            busy = sorted(
                (address, address + rooms[other].size)
                for other, address in placed.items()
                if rooms[other].size and conflict(rooms[number], rooms[other])
            )
            placed[number] = _lowest(busy, rooms[number].size, alignment)
    peak = max((address + rooms[number].size for number, address in placed.items()), default=0)
    return TilePlacement(tuple(placed[number] for number in range(len(rooms))), peak)


def _lowest(busy: Sequence[tuple[int, int]], size: int, alignment: int) -> int:
    """The lowest aligned address where so many bytes are free."""
    address = 0
    for start, stop in busy:
        if address + size <= start:
            break
        address = max(address, -(-stop // alignment) * alignment)
    return address


def busiest(rooms: Sequence[RoomRequest]) -> tuple[int, list[RoomRequest]]:
    """The statement at which most bytes are in use, and the rooms in use there, largest first."""
    moments = sorted({room.start for room in rooms})
    live = {moment: [room for room in rooms if room.start <= moment <= room.end] for moment in moments}
    moment = max(moments, key=lambda each: sum(room.size for room in live[each]), default=0)
    return moment, sorted(live.get(moment, []), key=lambda room: -room.size)
