"""Copies of rows: which sizes they may have, how far they reach, the loops around them, and how bytes move.

The whole footprint of a copy is checked before it begins. The copies themselves are in the rooms, dma and dma_granules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from ptosim.effects.burst import MOST_BYTES, MOST_ROWS
from ptosim.effects.element import GRANULE
from ptosim.effects.geometry import maximum, minimum
from ptosim.effects.names import Space
from ptosim.machine.memory import FARTHEST
from ptosim.native.build.core import Core, Unit
from ptosim.native.build.global_memory import GmPlace, read_inside, write_inside
from ptosim.native.build.lowering import Operands
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, PTR, Value
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.routines.row_transfer import read

_CEILING = 1 << 62
"""Sums are cut here: a product of a count and a stride that fit their fields is below 2^61."""


@dataclass(frozen=True, eq=False, slots=True)
class BurstLoop:
    """The repetitions of a loop, each so many bytes further on either side; all i64, and they fit their fields."""

    count: Value
    source: Value
    dest: Value


@dataclass(frozen=True, eq=False)
class Side:
    """One end of a copy; `at` is the owner of the memory, if that is another core."""

    space: Space
    base: Value
    at: str | None = None


@dataclass(frozen=True, eq=False)
class Burst:
    """Rows of `length` bytes, and the loops that place them: the rows themselves, then what repeats them, outwards."""

    length: Value
    loops: Sequence[BurstLoop]

    def is_empty(self) -> Value:
        empty = self.length == 0
        for loop in self.loops:
            empty = empty | (loop.count == 0)
        return empty

    def check(self, core: Core, source: Side, dest: Side, width: Value | None = None) -> None:
        """Checks all sizes together; `width` is that of a destination row, if it is not the length."""
        rows = self.length.like(1)
        for loop in self.loops:
            rows = minimum(rows * loop.count, 1 << 41)  # no overflow: a count has 21 bits
        widest = self.length if width is None else maximum(self.length, width)
        most = f"at most {MOST_ROWS} rows and {MOST_BYTES} bytes"
        message = f"a copy of {{}} rows of {{}} bytes; {most} can be copied at once"
        core.fail((rows > MOST_ROWS) | (rows * widest > MOST_BYTES), "limit", message, self._all_rows, self.length)
        if not core.origin.served:
            core.suspect(self.is_empty)
        for side, strides in (
            (source, [loop.source for loop in self.loops]),
            (dest, [loop.dest for loop in self.loops]),
        ):
            core.suspect(lambda stride=strides[0]: (self.loops[0].count > 1) & (stride < self.length))
            reach = self._reach(strides)
            core.fail(reach >= FARTHEST, "out-of-bounds", "the last row lies {} bytes behind the pointer", reach)
            self._check_strides(core, side.space, strides)

    def observe(
        self, core: Core, source: Side, dest: Side, width: Value | None = None, ctrl: Value | None = None
    ) -> None:
        """Tell an observer which rows are read and written, and CTRL where it may make a store atomic."""
        read = [(loop.count, loop.source) for loop in self.loops]
        written = [(loop.count, loop.dest) for loop in self.loops]
        core.observer.copied(core, "reads", CopyRows(source.space, source.base, read, self.length, source.at))
        length = self.length if width is None else width
        core.observer.copied(core, "writes", CopyRows(dest.space, dest.base, written, length, dest.at), ctrl)

    def _all_rows(self) -> Value:
        rows = self.length.like(1)
        for loop in self.loops:
            rows = rows * loop.count
        return rows

    def _check_strides(self, core: Core, space: Space, strides: Sequence[Value]) -> None:
        """Strides that are used place on-chip rows at whole granules."""
        alignment = core.alignment_of(space)
        message = f"a stride of {{}} bytes in {space} is not a multiple of {alignment}"
        for loop, stride in zip(self.loops, strides, strict=True):
            core.fail((loop.count > 1) & ((stride & (alignment - 1)) != 0), "misaligned", message, stride)

    def _reach(self, strides: Sequence[Value]) -> Value:
        """From the first row to the last."""
        reach = self.length.like(0)
        for loop, stride in zip(self.loops, strides, strict=True):
            reach = minimum(reach + maximum(loop.count - 1, 0) * stride, _CEILING)
        return reach

    def source_extent(self) -> Value:
        """The bytes from the pointer to the end of the last row."""
        return self._reach([loop.source for loop in self.loops]) + self.length

    def dest_extent(self, width: Value | None = None) -> Value:
        return self._reach([loop.dest for loop in self.loops]) + (self.length if width is None else width)

    def joined(self) -> Burst:
        """Rows without gaps on either side as one long row."""
        rows, *others = self.loops
        contiguous = (rows.source == self.length) & (rows.dest == self.length)
        count = contiguous.select(rows.count.like(1), rows.count)
        return Burst(
            contiguous.select(self.length * rows.count, self.length),
            [BurstLoop(count, rows.source, rows.dest), *others],
        )


def _loops(operands: Operands) -> Iterator[BurstLoop]:
    """The loops around the rows, from their clauses."""
    if hasattr(operands, "loop_counts"):
        return map(BurstLoop, operands.loop_counts, operands.loop_source_strides, operands.loop_dest_strides)
    return iter(())


def byte_rows(operands: Operands) -> Burst:
    """Rows of bytes, as far apart as their strides say."""
    rows = BurstLoop(operands.n_burst, operands.source_stride, operands.dest_stride)
    return Burst(operands.len_burst, [rows, *_loops(operands)])


def granule_rows(operands: Operands) -> Burst:
    """Rows of granules: a gap lies between the end of a row and the start of the next. Loops count bytes."""
    length = operands.len_burst
    rows = BurstLoop(operands.n_burst, (length + operands.source_gap) * GRANULE, (length + operands.dest_gap) * GRANULE)
    return Burst(length * GRANULE, [rows, *_loops(operands)])


def unless_empty(f: FunctionBuilder, burst: Burst, act: Callable[[], None]) -> None:
    """A copy that has rows with bytes."""
    f.settle()
    f.either(burst.is_empty(), lambda: None, act)


def each_row(f: FunctionBuilder, loops: Sequence[BurstLoop]) -> AbstractContextManager[tuple[Value, ...]]:
    """The offsets of source and destination for every combination; the first loop is the innermost."""
    zero = f.constant(I64, 0)
    return f.nested([(loop.count, loop.source, loop.dest) for loop in loops], zero, zero)


def copy_rows(core: Core, burst: Burst, source: Side, dest: Side) -> None:
    """Read all rows, then write them in order."""
    burst.check(core, source, dest)
    unless_empty(core.f, burst, lambda: _copy_rows(core, burst, source, dest))


def _copy_rows(core: Core, burst: Burst, source: Side, dest: Side) -> None:
    f = core.f
    if source.space is Space.GM:
        place, outside = core.global_place("reads", source.base, burst.source_extent())
        target = _stretch(core, "writes", dest, burst.dest_extent())
        burst.observe(core, source, dest)
        read_rows(core, burst, place, outside, target)
        return
    origin = _stretch(core, "reads", source, burst.source_extent())
    if dest.space is Space.GM:
        place, outside = core.global_place("writes", dest.base, burst.dest_extent())
        burst.observe(core, source, dest)
        core.dropping(
            outside, lambda: _move(f, burst, origin, place.address), lambda: write_rows_inside(f, burst, origin, place)
        )
        return
    target = _stretch(core, "writes", dest, burst.dest_extent())
    burst.observe(core, source, dest)
    if source.space is not dest.space:
        _move(f, burst, origin, target)
        return
    extent = burst.source_extent()
    apart = (source.base + extent <= dest.base) | (dest.base + burst.dest_extent() <= source.base)
    core.suspect(lambda: apart ^ True)

    def staged() -> None:
        """Copies through a buffer, because written bytes must not be read again."""
        room = f.emit(PTR, f"alloca i8, {extent}, align {GRANULE}")
        room.copy_from(origin, extent)
        _move(f, burst, room, target)

    f.either(apart, lambda: _move(f, burst, origin, target), staged)


def _stretch(core: Core, verb: str, side: Side, extent: Value) -> Value:
    alignment = core.alignment_of(side.space)
    return core.stretch(verb, side.space, side.base, extent, alignment, side.at)


def _move(f: FunctionBuilder, burst: Burst, origin: Value, target: Value) -> None:
    burst = burst.joined()
    with each_row(f, burst.loops) as (source, dest):
        target.at(dest).copy_from(origin.at(source), burst.length)


def read_rows(core: Core, burst: Burst, place: GmPlace, outside: Value, target: Value) -> None:
    """Rows from GM to a host address."""

    def clipped() -> None:
        with each_row(core.f, burst.loops) as (source, dest):
            read_inside(place.further(source), target.at(dest), burst.length)

    def whole() -> None:
        rows = burst.joined()
        with each_row(core.f, rows.loops) as (source, dest):
            read(core, target.at(dest), place.address.at(source), rows.length)

    core.dropping(outside, whole, clipped)


def write_rows_inside(f: FunctionBuilder, burst: Burst, origin: Value, place: GmPlace) -> None:
    """Rows from a host address to GM, without what would lie outside."""
    with each_row(f, burst.loops) as (source, dest):
        write_inside(place.further(dest), origin.at(source), burst.length)


# --- fill -------------------------------------------------------------------------------------------------------------


def fill(f: FunctionBuilder, unit: Unit, dest: Value, count: Value, pattern: Value) -> None:
    """Fills so many bytes with the four of a pattern (i32), over and over."""
    if count.literal != 0:
        f.call(unit.routine("fill", [PTR, I64, I32], _fill), dest, count, pattern)


def _fill(f: FunctionBuilder) -> None:
    dest, count, pattern = f.parameters
    words = count.lshr(2)
    with f.each(words) as index:
        dest.at(index << 2).store(pattern)
    room = f.scratch(4)
    room.store(pattern, 4)
    dest.at(words << 2).copy_from(room, count & 3)
