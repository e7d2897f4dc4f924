"""Rows of copies: what they do to the shadow of on-chip memories, and the records that tell of them in GM.

Rows in on-chip memories begin with a block; how long they are is known when the kernel runs. Which accesses to GM meet
each other is seen when all blocks have run (sweep.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.effects.element import GRANULE
from ptosim.effects.geometry import minimum
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.machine.memory import OFFSET_BITS
from ptosim.machine.sync import PIPES, SLOT
from ptosim.native.build.core import Core
from ptosim.native.ir.context import Word
from ptosim.native.ir.flow import Function
from ptosim.native.ir.values import I32, I64, PTR, Value
from ptosim.native.observe import clocks, layout, words
from ptosim.native.observe.clocks import Clocks
from ptosim.native.observe.hooks import Step
from ptosim.native.observe.layout import CLOCK_AT, WORD, Area
from ptosim.native.observe.shadow import Shadow, Touch, Visit

AT_ONCE = 8
"""Blocks that one round of a loop looks at: their words fill an integer of 64 bits."""
CHUNK = AT_ONCE * GRANULE


Suspect = Callable[[Function, Value], None]


def each(f: Function, base: Value, steps: Sequence[Step], row: Callable[[Value], None]) -> None:
    """Every combination of steps; the first is the innermost."""
    if not steps:
        row(base)
        return
    *inner, (count, distance) = steps
    if count.literal == 1:
        each(f, base, inner, row)
        return

    def body(index: Value, _: list[Value]) -> Sequence[Value]:
        each(f, base + index * distance, inner, row)
        return ()

    f.for_loop(count.like(0), count, 1, (), body, polls=False)


def _each_pair(
    f: Function,
    source: Value,
    dest: Value,
    steps: Sequence[tuple[Value, Value, Value]],
    row: Callable[[Value, Value], None],
) -> None:
    """Every combination of steps of two sides: how often, and how far on either."""
    if not steps:
        row(source, dest)
        return
    *inner, (count, one, other) = steps

    def body(index: Value, _: list[Value]) -> Sequence[Value]:
        _each_pair(f, source + index * one, dest + index * other, inner, row)
        return ()

    f.for_loop(count.like(0), count, 1, (), body, polls=False)


def joined(steps: Sequence[Step], length: Value) -> tuple[list[Step], Value]:
    """Rows without gaps as one long row."""
    if not steps:
        return [], length
    (count, distance), *others = steps
    adjacent = distance == length
    return [(adjacent.select(count.like(1), count), distance), *others], adjacent.select(length * count, length)


# --- on chip ----------------------------------------------------------------------------------------------------------


class Rows:
    """Emits what copies do to the shadow."""

    def __init__(self, shadow: Shadow, clocks: Clocks, suspect: Suspect) -> None:
        self.shadow = shadow
        self.clocks = clocks
        self.suspect = suspect

    def on_chip(
        self, core: Core, slot: int, verb: str, area: Area, base: Value, steps: Sequence[Step], length: Value
    ) -> None:
        """Rows of an on-chip memory; what is read must be defined."""
        steps, length = joined(steps, length)
        self._rows(core, slot, verb, area, base, steps, length)

    def carried(
        self,
        core: Core,
        slot: int,
        source: tuple[Space, Value],
        dest: tuple[Space, Value],
        steps: Sequence[tuple[Step, Step]],
        length: Value,
    ) -> None:
        """Rows of whole blocks that are copied as they are: what is not defined stays so."""
        f, layout = core.f, self.shadow.layout
        areas = Area(source[0]), Area(dest[0])
        self._rows(core, slot, "moves", areas[0], source[1], [step for step, _ in steps], length)
        self._rows(core, slot, "writes", areas[1], dest[1], [step for _, step in steps], length)
        origin, target = (self.shadow.base(f, area).at(layout.defined[area.space]) for area in areas)
        places = [(count, distance.lshr(5), other.lshr(5)) for (count, distance), (_, other) in steps]
        first = source[1].lshr(5), dest[1].lshr(5)
        _each_pair(f, *first, places, lambda one, other: target.at(other).copy_from(origin.at(one), length.lshr(5)))

    def _rows(
        self, core: Core, slot: int, verb: str, area: Area, base: Value, steps: Sequence[Step], length: Value
    ) -> None:
        kind = core.kind
        name = f"shadow_{area.space}_{area.at or kind}_{slot}_{verb}_{kind}"
        routine = core.unit.routine(name, [I64, I64], lambda inner: self._routine(inner, kind, area, slot, verb))
        each(core.f, base, steps, lambda start: _call(core.f, routine, start, length))

    def _routine(self, f: Function, kind: CoreKind, area: Area, slot: int, verb: str) -> None:
        address, length = f.parameters
        visit = Visit(kind, slot, self.clocks.known(f, slot), clocks.count(f, slot))
        first = address.lshr(5)
        end = (length + (GRANULE - 1)).lshr(5)
        whole = length.lshr(8) * AT_ONCE

        def some(index: Value, _: list[Value]) -> Sequence[Value]:
            full = words.every(f, 64)
            self._chunk(f, area, visit, verb, Touch(first + index, AT_ONCE, full, full), full)
            return ()

        f.for_loop(whole.like(0), whole, AT_ONCE, (), some, polls=False)

        def rest() -> Sequence[Value]:
            left = length & (CHUNK - 1)
            touch = Touch(
                first + whole, AT_ONCE, words.lowest(f, (left + WORD - 1).lshr(2)), words.lowest(f, left.lshr(2))
            )
            self._chunk(f, area, visit, verb, touch, words.lowest(f, (end - whole) << 3))
            return ()

        f.choose(whole != end, rest)

    def _chunk(self, f: Function, area: Area, visit: Visit, verb: str, touch: Touch, room: Value) -> None:
        """Some blocks of a row; `room` are all words of the blocks that it reaches."""
        shadow = self.shadow
        if verb != "writes":
            racy, undefined = shadow.read(f, area, visit, touch)
            self.suspect(f, (racy if verb == "moves" else racy | undefined) != 0)
            return
        self.suspect(f, shadow.write(f, area, visit, touch, None))
        if area.space is Space.UB and visit.slot == SLOT[Pipe.MTE2] and not touch.is_full:
            # hardware copies whole blocks into UB: behind a row that ends inside one it leaves anything
            place = shadow.defined(f, area, touch)
            place.store(place.load(I64) & ~(room & ~touch.whole))


def _call(f: Function, routine: Function, *arguments: Value) -> None:
    f.call(routine, *arguments)


# --- in GM ------------------------------------------------------------------------------------------------------------


class Records:
    """Emits the records of rows in GM."""

    def __init__(self, clocks: Clocks, suspect: Suspect) -> None:
        self.clocks = clocks
        self.suspect = suspect
        self._copies = 0

    def add(self, core: Core, slot: int, verb: str, base: Value, steps: Sequence[Step], length: Value) -> None:
        """One for each combination of all but the innermost steps."""
        f = core.f
        one = f.constant(I64, 1)
        routine = core.unit.routine("record", [I64] * 6, self._record)
        steps, length = joined(steps, length)
        (count, distance), *others = steps or [(one, one)]
        place = clocks.place(f, core.kind, self.clocks.layout.is_mixed)
        kind = (place * PIPES + slot) * 2 + int(verb == "writes")
        kind = kind if isinstance(kind, Value) else f.constant(I64, kind)
        number = f.constant(I64, self._copies % layout.SITES)
        self._copies += 1
        each(f, base, others, lambda start: _call(f, routine, start, length, count, distance, kind, number))

    def _record(self, f: Function) -> None:
        _, length, count, *_ = f.parameters

        def note() -> Sequence[Value]:
            self._note(f)
            return ()

        f.choose((length > 0) & (count > 0), note)

    def _note(self, f: Function) -> None:
        start, length, count, distance, kind, site = f.parameters
        is_write = (kind & 1) != 0
        readable, writable = (clocks.at(f, place).load(I64, 8) for place in (layout.READABLE, layout.WRITABLE))
        number = minimum((start + (1 << (OFFSET_BITS - 1))).lshr(OFFSET_BITS), layout.BUFFER_BITS - 1)
        self.suspect(f, (is_write.select(writable, readable).lshr(number) & 1) == 0)
        slot = kind.lshr(1) & (PIPES - 1)
        stamp = clocks.at(f, layout.COUNT).at(slot << 2).load(I32, 4)
        last = clocks.at(f, layout.LAST_STORE).at(slot << 2)
        last.store(is_write.select(stamp, last.load(I32, 4)), 4)
        block = f.word(Word.BLOCK).load(I64, 8)
        latest = clocks.at(f, layout.LATEST).at(site << 3)
        previous = latest.load(PTR, 8)
        # where a buffer is both read and written, the order of single accesses matters
        alone = ((readable & writable).lshr(number) & 1) == 0
        known = f.emit(I64, f"ptrtoint {previous} to i64") != 0

        def append() -> Sequence[Value]:
            self._append(f, latest, (start, length, count, distance, kind, block, stamp.zext(I64)), slot)
            return ()

        def grow_or_append() -> Sequence[Value]:
            begin, size, rows, _, its_kind, its_block = (previous.at(8 * word).load(I64, 8) for word in range(6))
            goes_on = (begin + size == start) & (its_block == block) & (its_kind == kind) & (rows == 1) & (count == 1)

            def grow() -> Sequence[Value]:
                previous.at(8).store(size + length, 8)
                previous.at(8 * 6).store(stamp.zext(I64), 8)
                return ()

            f.choose(goes_on, grow, append)
            return ()

        f.settle()
        f.choose(alone & known, grow_or_append, append)

    def _append(self, f: Function, latest: Value, contents: Sequence[Value], slot: Value) -> None:
        """One more record, with the clock of its pipe."""
        size = self.clocks.layout.record_words * 8
        following = clocks.at(f, layout.NEXT_RECORD)
        place = following.load(PTR, 8)
        after = place.at(size)
        self.suspect(f, f.emit(I64, f"ptrtoint {after} to i64") > clocks.at(f, layout.LAST_RECORD).load(I64, 8))
        f.settle()  # there is no other place to go to
        following.store(after, 8)
        latest.store(place, 8)
        for number, word in enumerate(contents):
            place.at(8 * number).store(word, 8)
        knows = (slot == layout.STORES).select(slot.like(layout.STEPS), slot)
        clock = clocks.at(f, layout.KNOWN).at(knows * self.clocks.layout.row).load(self.clocks.kind, 4)
        place.at(CLOCK_AT).store(clock, 8)
