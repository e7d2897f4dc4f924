"""Records of accesses to GM, written by code that all kernels share. A row that lies where the last one of its copy
ended makes that longer, and rows of a buffer equally far from each other are one record, in which the first knows least
and the last ends last. Which accesses meet each other is seen when all blocks have run (gm_conflicts.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.machine.memory import FARTHEST
from ptosim.machine.sync import PIPES
from ptosim.native.build.core import Core
from ptosim.native.build.global_memory import may_access
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I32, I64, PTR, Value
from ptosim.native.observe import clocks, layout
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.observe.layout import ATOMIC, CLOCK_AT, Layout, row_bytes
from ptosim.native.observe.rows import joined
from ptosim.native.routines.atomic import is_atomic


class Records:
    """Emits the records of rows in GM."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._copies = 0

    def add(self, core: Core, slot: int, verb: str, rows: CopyRows, ctrl: Value | None, more: int = 0) -> None:
        """One for each combination of all but the innermost steps; `more` is part of its kind."""
        f = core.f
        one = f.constant(I64, 1)
        rows = joined(rows)
        (count, distance), *others = rows.steps or [(one, one)]
        place = clocks.place(f, core.kind, self._layout.is_mixed)
        kind = f.as_i64((place * PIPES + slot) * 2 + int(verb == "writes") + more)
        if ctrl is not None:
            kind = kind + is_atomic(ctrl).select((ctrl.lshr(6) & 31) << ATOMIC, ctrl.like(0))
        number = f.constant(I64, self._copies % layout.SITES)
        self._copies += 1
        with f.nested(others, rows.base) as (start,):
            f.settle()
            told = (start, rows.length, count, distance, kind, number)
            f.leave_with(f.status_of(f.base(ContextWord.RECORD).text, f.context, *told))
            if self._layout.waits_for_bytes:  # which entry it was must be known of each
                clocks.at(f, layout.LATEST).at(number << 3).store(f.constant(I64, 0), 8)


# --- what it calls ----------------------------------------------------------------------------------------------------


def build_record(module: ObjectModule, name: str, is_mixed: bool) -> None:
    """The function that notes rows in GM, under this name: pointer, bytes of a row, rows, distance, kind, copy.

    It fails if code may not access that buffer, or no room is left.
    """
    f = module.function(name, [I64] * 6)
    _, length, count, *_ = f.parameters
    with f.when((length > 0) & (count > 0)):
        _note(f, module.site(None), is_mixed)
    f.finish()


def _note(f: FunctionBuilder, site: int, is_mixed: bool) -> None:
    start, length, count, distance, kind, copy = f.parameters
    is_write = (kind & 1) != 0
    readable, writable = (may_access(f, verb, start) for verb in ("reads", "writes"))
    f.check(is_write.select(writable, readable) ^ True, site)
    slot = kind.lshr(1) & (PIPES - 1)
    stamp = clocks.at(f, layout.COUNT).at(slot << 2).load(I32, 4)
    last = clocks.at(f, layout.LAST_STORE).at(slot << 2)
    last.store(is_write.select(stamp, last.load(I32, 4)), 4)
    block = f.word(ContextWord.BLOCK).load(I64, 8)
    latest = clocks.at(f, layout.LATEST).at(copy << 3)
    previous = latest.load(PTR, 8)
    # where a buffer is both read and written, the order of single accesses matters
    alone = (readable & writable) ^ True
    known = f.emit(I64, f"ptrtoint {previous} to i64") != 0

    def append() -> None:
        contents = (start, length, count, distance, kind, block, stamp.zext(I64))
        _append(f, site, row_bytes(is_mixed), latest, contents, slot)

    def grow_or_append() -> None:
        begin, size, rows, gap, its_kind, its_block = (previous.at(8 * word).load(I64, 8) for word in range(6))
        single = rows == 1
        longer = single & (begin + size == start)
        step = single.select(start - begin, gap)
        further = (length == size) & (step >= size) & (step < FARTHEST) & (begin + rows * step == start)

        def grow() -> None:
            grown = longer.select(size + length, size), longer.select(rows, rows + 1), longer.select(gap, step)
            for word, content in zip((1, 2, 3, 6), (*grown, stamp.zext(I64)), strict=True):
                previous.at(8 * word).store(content, 8)

        same = (its_block == block) & (its_kind == kind) & (count == 1)
        f.either(same & (longer | further), grow, append)

    f.settle()
    f.either(alone & known, grow_or_append, append)


def _append(f: FunctionBuilder, site: int, row: int, latest: Value, contents: Sequence[Value], slot: Value) -> None:
    """One more record, with the clock of its pipe, of so many bytes."""
    following = clocks.at(f, layout.NEXT_RECORD)
    place = following.load(PTR, 8)
    after = place.at(CLOCK_AT + row)
    f.check(f.emit(I64, f"ptrtoint {after} to i64") > clocks.at(f, layout.LAST_RECORD).load(I64, 8), site)
    f.settle()  # there is no other place to go to
    following.store(after, 8)
    latest.store(place, 8)
    for number, word in enumerate(contents):
        place.at(8 * number).store(word, 8)
    knows = (slot == layout.STORES).select(slot.like(layout.STEPS), slot)
    clock = clocks.at(f, layout.KNOWN).at(knows * row).load(I32.vector(row // 4), 4)
    place.at(CLOCK_AT).store(clock, 8)
