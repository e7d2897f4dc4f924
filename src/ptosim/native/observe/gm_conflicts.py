"""Accesses to GM that meet: which blocks have any that the sanitizer might complain of.

After a run every copy has left a record (rows.py). Two records of one buffer that overlap, one of them a write, are in
order if they belong to the same block and the clock of one knows that the other has ended. All others make the blocks
of both suspicious. It is exact to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.ctrl import ATOMIC_OPERATIONS, ATOMIC_TYPES
from ptosim.effects.names import Pipe
from ptosim.machine.memory import OFFSET_BITS
from ptosim.machine.sync import PIPES, SLOT
from ptosim.native.observe.layout import ATOMIC, CORES_OF_PIECES, HULL, PIECE, RECORD_HEAD, STEPS, STORES
from ptosim.native.observe.workitem_memory import WrittenByWorkitems

Integers = NDArray[np.int64]
START, LENGTH, COUNT, DISTANCE, KIND, BLOCK, STAMP, _, CLOCK = range(9)

FLOATS = [code for code, name in ATOMIC_TYPES.items() if "f" in name]
ORDERLESS = [code for code, name in ATOMIC_OPERATIONS.items() if name != "add"]
"""The codes of CTRL for types of floats, and for operations whose order never matters."""

MOST_ROWS = 1 << 24
MOST_PAIRS = 1 << 24
"""The most pairs that are looked at one by one; with more, everything in a buffer is suspicious."""


class Pieces(NamedTuple):
    """Bytes in a row, each with the record that it belongs to."""

    low: Integers
    high: Integers
    record: Integers


def all_records(parts: Sequence[bytes | memoryview], row: int) -> Integers:
    """The records of all cores, one in a row, with clocks of so many bytes, whose pieces stand where the place of a
    core in its cluster is."""
    told = [part for part in parts if len(part)]
    records = np.frombuffer(told[0] if len(told) == 1 else b"".join(told), np.int64).reshape(-1, RECORD_HEAD + row // 8)
    if row == PIECE:
        return records
    records = records.copy()
    words = PIECE // 8
    pieces = records[:, CLOCK:].reshape(len(records), row // PIECE, words)
    place = _slots(records) // PIPES
    for core, subjects in enumerate(CORES_OF_PIECES):
        told = pieces[place == core]
        pieces[place == core] = told[:, [*map(subjects.index, range(len(subjects))), len(subjects)]]
    return records


Meets = Callable[[int, Integers, Integers, NDArray[np.bool_]], NDArray[np.bool_]]
"""The stretches of a buffer, from and up to these offsets, some of them written, that meet accesses of others."""


class Sifted:
    """The results of a checked run of a kernel."""

    def __init__(self, failed: Sequence[int], records: Integers, stamped: WrittenByWorkitems | None = None) -> None:
        self._records = records
        self._stamped = stamped
        self.blocks = {*failed, *suspicious_blocks(records)}
        """The blocks that have to be judged. A failed block may not have told of all its accesses to GM."""

    def written(self, besides: Collection[int]) -> dict[int, list[tuple[Integers, Integers]]]:
        """By the number of a buffer, from 0 on: the bytes that blocks other than these have written, as stretches from
        and up to offsets, in any order."""
        records = self._records[(self._records[:, KIND] & (HULL | 1)) == 1]
        if besides:
            records = records[~np.isin(records[:, BLOCK], list(besides))]
        buffers = records[:, START] >> OFFSET_BITS
        found: dict[int, list[tuple[Integers, Integers]]] = {}
        for buffer in np.unique(buffers).tolist():
            base = buffer << OFFSET_BITS
            parts = _stretches(records[buffers == buffer])
            found[buffer - 1] = [(low - base, high - base) for low, high in parts]
        for buffer, part in self._stamped or ():  # whatever others have written of it, it is told twice
            found.setdefault(buffer, []).append(part)
        return found

    def meeting(self, judged: Collection[int], meets: Meets) -> set[int]:
        """The blocks not judged yet whose accesses meet those of judged ones."""
        others = self._records[~np.isin(self._records[:, BLOCK], list(judged))]
        found: set[int] = set()
        buffers = others[:, START] >> OFFSET_BITS
        for buffer in np.unique(buffers):
            records = others[buffers == buffer]
            if int(records[:, COUNT].sum()) > MOST_ROWS:
                found |= set(records[:, BLOCK].tolist())
                continue
            pieces = _rows(records)
            base = int(buffer) << OFFSET_BITS
            writes = (records[pieces.record, KIND] & 1) == 1
            hit = meets(int(buffer) - 1, pieces.low - base, pieces.high - base, writes)
            found |= set(records[pieces.record[hit], BLOCK].tolist())
        return found


def suspicious_blocks(records: Integers) -> set[int]:
    """The blocks with accesses to GM that may be out of order."""
    low = records[:, START]
    high = low + (records[:, COUNT] - 1) * records[:, DISTANCE] + records[:, LENGTH]
    order = low.argsort(kind="stable")
    if len(order) < 2 or (low[order[1:]] >= np.maximum.accumulate(high[order[:-1]])).all():
        return set()  # none meets another, in whatever buffer
    if (records[:, BLOCK] == records[0, BLOCK]).all() and (_slots(records) == SLOT[Pipe.V]).all():
        return set()  # launches follow each other
    found: set[int] = set()
    buffers = low >> OFFSET_BITS
    for buffer in set(buffers[(records[:, KIND] & 1) == 1].tolist()):
        chosen = buffers == buffer
        found |= _in_buffer(records[chosen], low[chosen], high[chosen])
    return found


def _in_buffer(records: Integers, low: Integers, high: Integers) -> set[int]:
    hull = Pieces(low, high, np.arange(len(records)))
    writes = (records[:, KIND] & 1) == 1
    meeting = _meeting(hull, writes)
    if not len(meeting):
        return set()
    concerned = records[meeting]
    if concerned[:, COUNT].max() > 1:
        if _take_turns(concerned):
            return set()
        if int(concerned[:, COUNT].sum()) > MOST_ROWS:
            return set(concerned[:, BLOCK].tolist())
        pieces = _rows(concerned)
        again = _meeting(pieces, writes[meeting][pieces.record])
        pieces = Pieces(*(column[again] for column in pieces))
    else:
        pieces = Pieces(hull.low[meeting], hull.high[meeting], np.arange(len(meeting)))
    return _out_of_order(concerned, pieces)


def _take_turns(records: Integers) -> bool:
    """Whether rows of several records lie all equally far from each other, those of each in a part of its own between
    two rows of another: they do not meet."""
    distances = records[records[:, COUNT] > 1, DISTANCE]
    distance = int(distances[0])
    if distance <= 0 or not (distances == distance).all():
        return False
    low = (records[:, START] - records[:, START].min()) % distance
    high = low + records[:, LENGTH]
    order = low.argsort(kind="stable")
    return bool((high <= distance).all() and (low[order[1:]] >= high[order[:-1]]).all())


def _rows(records: Integers) -> Pieces:
    """Every row by itself."""
    counts = records[:, COUNT]
    record = np.repeat(np.arange(len(records)), counts)
    number = np.arange(len(record)) - np.repeat(np.cumsum(counts) - counts, counts)
    low = records[record, START] + number * records[record, DISTANCE]
    return Pieces(low, low + records[record, LENGTH], record)


def _stretches(records: Integers) -> Iterator[tuple[Integers, Integers]]:
    """The bytes of records in few pieces: those that go on side by side, row for row, are joined first."""
    columns = START, DISTANCE, COUNT
    start, distance, count, length = records[np.lexsort([records[:, column] for column in columns]), :][
        :, [*columns, LENGTH]
    ].T
    goes_on = (start[1:] == start[:-1] + length[:-1]) & (distance[1:] == distance[:-1]) & (count[1:] == count[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~goes_on)))
    last = np.concatenate((first[1:] - 1, [len(start) - 1]))
    end = start[last] + length[last]
    start, distance, count = start[first], distance[first], count[first]
    length = end - start
    is_whole = (count == 1) | (distance == 0) | ((distance > 0) & (length >= distance))
    yield start[is_whole], (end + (count - 1) * distance)[is_whole]
    scattered = np.flatnonzero(~is_whole)
    portions = np.cumsum(count[scattered]) // MOST_ROWS
    for portion in np.unique(portions):
        chosen = scattered[portions == portion]
        row = np.repeat(chosen, count[chosen])
        number = np.arange(len(row)) - np.repeat(np.cumsum(count[chosen]) - count[chosen], count[chosen])
        low = start[row] + number * distance[row]
        yield low, low + length[row]


def _meeting(pieces: Pieces, writes: NDArray[np.bool_]) -> Integers:
    """The stretches that overlap another one, one of the two a write."""
    order = np.argsort(pieces.low, kind="stable")
    low, high, write = pieces.low[order], pieces.high[order], writes[order]
    hit = np.zeros(len(order), np.bool_)
    first = np.iinfo(np.int64).min
    if len(order) > 1:
        before = np.maximum.accumulate(high)[:-1]
        before_write = np.maximum.accumulate(np.where(write, high, first))[:-1]
        hit[1:] = low[1:] < np.where(write[1:], before, before_write)
        # and from the other end: what a later one begins inside of
        end = np.iinfo(np.int64).max
        following = np.minimum.accumulate(low[::-1])[::-1][1:]
        following_write = np.minimum.accumulate(np.where(write, low, end)[::-1])[::-1][1:]
        hit[:-1] |= high[:-1] > np.where(write[:-1], following, following_write)
    return order[hit]


def _out_of_order(records: Integers, pieces: Pieces) -> set[int]:
    found: set[int] = set()
    clocks = np.ascontiguousarray(records[:, CLOCK:]).view(np.uint32)
    total = 0
    for first, second in _pairs(pieces):
        total += len(first)
        if total > MOST_PAIRS:
            return set(records[:, BLOCK].tolist())
        one, other = pieces.record[first], pieces.record[second]
        conflict = ((records[one, KIND] | records[other, KIND]) & 1) == 1
        conflict &= (one != other) & ~_in_any_order(_updates(records[one]), _updates(records[other]))
        one, other = one[conflict], other[conflict]
        ordered = _ordered(records, clocks, one, other) | _ordered(records, clocks, other, one)
        ordered &= records[one, BLOCK] == records[other, BLOCK]
        for side in (one, other):
            found |= set(np.unique(records[side[~ordered], BLOCK]).tolist())
    return found


def _updates(records: Integers) -> Integers:
    """The atomic operation and type of each access, 0 for plain ones."""
    return (records[:, KIND] & (HULL - 1)) >> ATOMIC


def _slots(records: Integers) -> Integers:
    """The maker of each access, by place in the cluster and pipe."""
    return (records[:, KIND] & ((1 << ATOMIC) - 1)) >> 1


def _in_any_order(one: Integers, other: Integers) -> NDArray[np.bool_]:
    """Whether two stores combine with what is there in one way, and the order does not matter: float sums depend on
    it."""
    is_sum = ~np.isin(one >> 3, ORDERLESS)
    return (one == other) & (one != 0) & ~(is_sum & np.isin(one & 7, FLOATS))


def _pairs(pieces: Pieces) -> Iterator[tuple[Integers, Integers]]:
    """All pairs that overlap, in portions."""
    order = np.argsort(pieces.low, kind="stable")
    low, high = pieces.low[order], pieces.high[order]
    left = np.arange(len(order) - 1)
    distance = 1
    while len(left):
        left = left[left + distance < len(order)]
        left = left[low[left + distance] < high[left]]
        if len(left):
            yield order[left], order[left + distance]
        distance += 1


def _ordered(records: Integers, clocks: Any, first: Integers, second: Integers) -> NDArray[np.bool_]:
    """Whether the end of the first is known where the second starts."""
    slots = _slots(records[first])
    known = clocks[second, slots].astype(np.int64) >= records[first, STAMP]
    others = _slots(records[second])
    scalar = np.isin(slots % PIPES, (STEPS, STORES)) & np.isin(others % PIPES, (STEPS, STORES))
    scalar &= slots // PIPES == others // PIPES
    same = (slots == others) & (records[first, STAMP] == records[second, STAMP])
    return known | scalar | same
