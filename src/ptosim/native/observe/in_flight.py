"""Bytes of entries in flight (machine/moments.py, FLYING), for waits for bytes in a profile: functions that compiled
code calls (timekeeping.py)."""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.machine import moments
from ptosim.machine.moments import BEGIN, FLYING_WORDS, PIPE_SHIFT, Moment, last
from ptosim.machine.sync import PIPES
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, PTR, Value
from ptosim.native.observe.pages import free, keep, load, page_of, store, word_at


def nothing(f: FunctionBuilder) -> Moment:
    """The moment at which nothing has happened."""
    time, row = BEGIN
    return f.constant(I64, time), f.constant(I64, row)


def fly(f: FunctionBuilder, head: Value) -> None:
    """An entry has been timed: what it touches gets its moment, and what has ended by now is dropped."""
    page = page_of(f)
    moment, (now, _) = free(page, head.lshr(PIPE_SHIFT) & (2 * PIPES - 1)), free(page, moments.S)
    before = load(page, moments.FLYING_COUNT)
    records = word_at(page, moments.FLYING).load(PTR, WORD_BYTES)

    def kept(number: Value, carried: list[Value]) -> Sequence[Value]:
        (count,) = carried
        time, row, *touched = _record(records, number)
        is_old = number < before
        time, row = is_old.select(time, moment[0]), is_old.select(row, moment[1])
        for offset, word in enumerate((time, row, *touched)):
            store(_place(records, count), offset, word)
        _, low, high = touched
        return (count + ((time > now) & (high > low)).zext(I64),)

    end = before + load(page, moments.REACHED)
    (count,) = f.for_loop(end.like(0), end, 1, (end.like(0),), kept, polls=False)
    store(page, moments.FLYING_COUNT, count)
    store(page, moments.REACHED, count.like(0))


def seek(f: FunctionBuilder, memory: Value, start: Value, size: Value) -> None:
    """The latest entry in flight that touches these bytes, or others that were looked for before."""
    page = page_of(f)
    records = word_at(page, moments.FLYING).load(PTR, WORD_BYTES)

    def later(number: Value, found: list[Value]) -> Sequence[Value]:
        time, row, where, low, high = _record(records, number)
        meets = (where == memory) & (low < start + size) & (start < high) & (size > 0)
        latest = last(((found[0], found[1]), (time, row)))
        return meets.select(latest[0], found[0]), meets.select(latest[1], found[1])

    count = load(page, moments.FLYING_COUNT)
    time, row = f.for_loop(count.like(0), count, 1, free(page, 0, moments.AWAITED), later, polls=False)
    keep(page, 0, (time, row), moments.AWAITED)


def _place(records: Value, number: Value) -> Value:
    return records.at(number * (FLYING_WORDS * WORD_BYTES))


def _record(records: Value, number: Value) -> list[Value]:
    return [load(_place(records, number), word) for word in range(FLYING_WORDS)]
