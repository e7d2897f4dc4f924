"""Occupancy of the memories on the chip: bytes are in use from the start of the entry that writes them to the end of
the last one that reads them before they are written again. Bytes that nothing reads are in use as they are written."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ptosim.effects.names import Space
from ptosim.machine.moments import MEMORIES
from ptosim.timing.recording import Recording


@dataclass(slots=True)
class Life:
    """A stretch of a memory that held data which was still needed."""

    core: int
    space: Space
    low: int
    high: int
    begin: int
    end: int


class _Memory:
    """A memory of one core as disjoint segments in use, in ascending order."""

    def __init__(self, core: int, space: Space, lives: list[Life]) -> None:
        self.core, self.space = core, space
        self.lives = lives
        self.lows: list[int] = []
        self.segments: list[Life] = []

    def write(self, low: int, high: int, begin: int, end: int) -> None:
        first, last = self._cut(low, high)
        self._bury(first, last)
        self.lows[first:last] = [low]
        self.segments[first:last] = [Life(self.core, self.space, low, high, begin, end)]

    def read(self, low: int, high: int, end: int) -> None:
        first, last = self._cut(low, high)
        for segment in self.segments[first:last]:
            segment.end = max(segment.end, end)

    def close(self) -> None:
        self._bury(0, len(self.segments))

    def _bury(self, first: int, last: int) -> None:
        self.lives += self.segments[first:last]

    def _cut(self, low: int, high: int) -> tuple[int, int]:
        """Split segments at both ends of a stretch; which of them lie inside."""
        self._split(low)
        self._split(high)
        return bisect_left(self.lows, low), bisect_left(self.lows, high)

    def _split(self, at: int) -> None:
        place = bisect_right(self.lows, at) - 1
        if place < 0:
            return
        segment = self.segments[place]
        if segment.low < at < segment.high:
            self.lows.insert(place + 1, at)
            self.segments.insert(place + 1, Life(self.core, self.space, at, segment.high, segment.begin, segment.end))
            segment.high = at


def lives(recording: Recording) -> list[Life]:
    """The times when bytes of each memory were in use."""
    rows, touches = recording.rows, recording.touches
    row = np.frombuffer(touches.row, np.int64)
    starts = np.frombuffer(rows.start, np.int64)[row]
    order: list[int] = np.lexsort((np.frombuffer(touches.writes, np.int8), starts)).tolist()
    found: list[Life] = []
    memories: dict[tuple[int, int], _Memory] = {}
    for place in order:
        core, space, entry = touches.core[place], touches.space[place], touches.row[place]
        memory = memories.get((core, space))
        if memory is None:
            memory = memories[core, space] = _Memory(core, MEMORIES[space], found)
        low, high = touches.low[place], touches.high[place]
        if touches.writes[place]:
            memory.write(low, high, rows.start[entry], rows.end[entry])
        else:
            memory.read(low, high, rows.end[entry])
    for memory in memories.values():
        memory.close()
    return found


def in_use(found: Iterable[Life]) -> Iterator[tuple[int, int, int]]:
    """Core, moment and how many bytes of its UB are in use from then on, wherever that changes."""
    changes: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for life in (each for each in found if each.space is Space.UB):
        changes[life.core][life.begin] += life.high - life.low
        changes[life.core][life.end] -= life.high - life.low
    for core in sorted(changes):
        level = 0
        for moment, change in sorted(changes[core].items()):
            level += change
            if change:
                yield core, moment, level
