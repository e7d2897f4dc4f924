"""Writes a recording while a run goes on. Rows are collected and put into their columns by the thousand, which is what
makes writing them down cheap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ptosim.machine.entry import Site
from ptosim.target.tables import column
from ptosim.timing.function_time import VectorFunctionTiming
from ptosim.timing.numbering import put_in_order
from ptosim.timing.program import Path
from ptosim.timing.recording import NOTHING, Cause, ColumnTable, Issued, Recording, place_of
from ptosim.timing.work import Priced

Stretch = tuple[int, int, int, int]
"""The core whose memory it is, its number in `MEMORIES`, first byte, one past the last."""

_BATCH = 4096
MOST_TOUCHING = 1 << 20
"""The number of rows, from the first, that say what they touch: no picture shows more."""
_MOST_STRETCHES = 16
"""Kept for one entry and direction; beyond that their hull."""


class _Batch:
    """Rows on their way into a table."""

    __slots__ = ("columns", "count", "rows")

    def __init__(self, table: ColumnTable) -> None:
        self.columns = table.columns
        self.rows: list[tuple[int, ...]] = []
        self.count = 0

    def append(self, row: tuple[int, ...]) -> int:
        """The number that the row gets."""
        self.rows.append(row)
        if len(self.rows) == _BATCH:
            self.flush()
        self.count += 1
        return self.count - 1

    def flush(self) -> None:
        for written, values in zip(self.columns, zip(*self.rows, strict=True), strict=False):
            written.extend(values)
        self.rows.clear()


class Recorder:
    """The records of the observer, by number: sites, causes, cores and rows are named once and then counted."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.rows = _Batch(recording.rows)
        self.signals = _Batch(recording.signals)
        self.touches = _Batch(recording.touches)
        self.crossings = _Batch(recording.crossings)
        self.watches = _Batch(recording.watches)
        self._sites: dict[Site, int] = {}
        self._places: dict[object, int] = {}  # the same: what both kinds of cores run has two sites
        self._causes: dict[tuple[Any, int], int] = {}
        self._functions: dict[int, int] = {}  # by identity: each timing is one object
        self._operands: dict[int, tuple[str, ...]] = {}

    def finish(self) -> Recording:
        for batch in (self.rows, self.signals, self.touches, self.crossings, self.watches):
            batch.flush()
        put_in_order(self.recording)
        return self.recording

    def site(self, site: Site) -> int:
        number = self._sites.get(site)
        if number is None:
            place = place_of(site) if site.number >= 0 else site
            if place not in self._places:
                self._places[place] = self.recording.enter(site)
            number = self._sites[site] = self._places[place]
        return number

    def cause(self, key: Any, site: int, hop: int) -> int:
        number = self._causes.get((key, site))
        if number is None:
            causes, cause = self.recording.causes, Cause(str(key), site, hop)
            if cause not in causes:  # several keys may read alike
                causes.append(cause)
            number = self._causes[key, site] = causes.index(cause)
        return number

    def function(self, timing: VectorFunctionTiming | None, path: Path) -> int:
        if timing is None:
            return NOTHING
        number = self._functions.get(id(timing))
        if number is None:
            number = self._functions[id(timing)] = len(self._functions)
            self.recording.functions.append(timing)
            self.recording.paths.append(path)
        return number

    def arguments(self, site: int, priced: Priced, facts: Mapping[str, Any] | None) -> int:
        """Keep the integers among the operands; which there are is the same for every entry of a site."""
        pool = self.recording.pool
        first = len(pool)
        if facts is None:
            return first
        operands = self._operands.get(site)
        if operands is None:
            operands = self._operands[site] = self._name(site, priced, facts)
        for name in operands:
            value = facts[name]
            if type(value) is int:
                pool.append(word_of(value))
            else:
                pool.extend(map(word_of, value))
        return first

    def _name(self, site: int, priced: Priced, facts: Mapping[str, Any]) -> tuple[str, ...]:
        kept = tuple(name for name in priced.operands if isinstance(facts.get(name), int | tuple))
        names: list[str] = []
        for name in kept:
            value = facts[name]
            names += [name] if isinstance(value, int) else [f"{name}[{place}]" for place in range(len(value))]
        self.recording.issued[site] = Issued(priced.timing_class, tuple(names), priced.pointers, column(priced.width))
        return kept

    def touched(self, row: int, writes: int, stretches: Sequence[Stretch]) -> None:
        for core, space, low, high in joined(stretches) if row < MOST_TOUCHING else ():
            self.touches.append((row, core, space, writes, low, high))


def word_of(value: int) -> int:
    """The number as a signed word of 64 bits."""
    return value if -(1 << 63) <= value < 1 << 63 else (value + (1 << 63)) % (1 << 64) - (1 << 63)


def joined(stretches: Sequence[Stretch]) -> Sequence[Stretch]:
    """Stretches of one memory that meet become one; where too many remain, those of each memory become their hull."""
    if len(stretches) < 2:
        return stretches
    found: list[Stretch] = []
    for core, space, low, high in sorted(stretches):
        if found and found[-1][:2] == (core, space) and low <= found[-1][3]:
            found[-1] = core, space, found[-1][2], max(high, found[-1][3])
        else:
            found.append((core, space, low, high))
    if len(found) <= _MOST_STRETCHES:
        return found
    hulls: dict[tuple[int, int], Stretch] = {}
    for core, space, low, high in found:
        _, _, first, last = hulls.get((core, space), (core, space, low, high))
        hulls[core, space] = core, space, min(first, low), max(last, high)
    return list(hulls.values())
