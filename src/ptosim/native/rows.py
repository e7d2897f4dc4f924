"""Copies of rows: the loops around them, and how bytes get from one host address to another.

Which bytes a copy touches has been checked before any of this runs. A routine is a function that all copies of an
object share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ptosim.native.core import Unit
from ptosim.native.flow import Function
from ptosim.native.ir import I8, I32, I64, PTR, Value

LINE = 64
"""Bytes of a cache line, and of one streaming store."""

STREAMED_BUFFER = 4 << 20
"""Rows stored to a buffer from this size on pass by the caches: little of it would still be there when it is read."""
STREAMED_ROW = 512
"""Shorter rows are not worth the trouble."""


@dataclass(frozen=True, eq=False, slots=True)
class Loop:
    """So many repetitions, each so many bytes further on either side; all i64 and not negative."""

    count: Value
    source: Value
    dest: Value


def each_row(f: Function, loops: Sequence[Loop], row: Callable[[Value, Value], None]) -> None:
    """`row(source offset, destination offset)` for every combination; the first loop is the innermost."""
    zero = f.constant(I64, 0)
    _nested(f, list(loops), zero, zero, row)


def _nested(f: Function, loops: list[Loop], source: Value, dest: Value, row: Callable[[Value, Value], None]) -> None:
    if not loops:
        row(source, dest)
        return
    *inner, loop = loops
    if loop.count.literal == 1:
        _nested(f, inner, source, dest, row)
        return

    def body(index: Value, _: list[Value]) -> Sequence[Value]:
        _nested(f, inner, source + index * loop.source, dest + index * loop.dest, row)
        return ()

    f.for_loop(loop.count.like(0), loop.count, 1, (), body)


def joined(length: Value, loops: Sequence[Loop]) -> tuple[Value, Sequence[Loop]]:
    """Rows without gaps on either side are one long row."""
    burst, *others = loops
    contiguous = (burst.source == length) & (burst.dest == length)
    rows = contiguous.select(burst.count.like(1), burst.count)
    return contiguous.select(length * burst.count, length), [Loop(rows, burst.source, burst.dest), *others]


# --- fill -----------------------------------------------------------------------------------------------------------


def fill(f: Function, unit: Unit, dest: Value, count: Value, pattern: Value) -> None:
    """So many bytes become the four of a pattern (i32), over and over."""
    f.call(unit.routine("fill", [PTR, I64, I32], _fill), dest, count, pattern)


def _fill(f: Function) -> None:
    dest, count, pattern = f.parameters
    words = count.lshr(2)

    def word(index: Value, _: list[Value]) -> Sequence[Value]:
        dest.at(index << 2).store(pattern)
        return ()

    f.for_loop(words.like(0), words, 1, (), word)
    room = f.scratch(4)
    room.store(pattern, 4)
    dest.at(words << 2).copy_from(room, count & 3)


# --- streaming ------------------------------------------------------------------------------------------------------


def stream(f: Function, unit: Unit, dest: Value, source: Value, count: Value) -> None:
    """A row to memory that is not read again soon."""
    f.call(unit.routine("stream", [PTR, PTR, I64], _stream), dest, source, count)


def _stream(f: Function) -> None:
    dest, source, count = f.parameters
    # streaming stores are aligned: the bytes before the first line and behind the last go the usual way
    address = f.emit(I64, f"ptrtoint {dest} to i64")
    head = (-address) & (LINE - 1)
    lines = (count - head).lshr(6)
    dest.copy_from(source, head)
    first, origin = dest.at(head), source.at(head)
    kind = I8.vector(LINE)

    def line(index: Value, _: list[Value]) -> Sequence[Value]:
        offset = index << 6
        first.at(offset).store(origin.at(offset).load(kind), LINE, streaming=True)
        return ()

    f.for_loop(lines.like(0), lines, 1, (), line)
    done = lines << 6
    first.at(done).copy_from(origin.at(done), count - head - done)
