"""Rows of copies: what they do to the shadow of on-chip memories. Those in GM leave records (records.py).

Rows in on-chip memories begin with a granule; how long they are is known when the kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ptosim.effects.element import GRANULE
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.machine.sync import SLOT
from ptosim.native.build.core import Core
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Value
from ptosim.native.observe import clocks, words
from ptosim.native.observe.clocks import ClockEmitter
from ptosim.native.observe.hooks import CopyRows
from ptosim.native.observe.layout import WORD, Area
from ptosim.native.observe.overwriting import RootTrack
from ptosim.native.observe.shadow import GranuleTouch, Shadow, Visit
from ptosim.native.observe.transposed import TURNED, turn_words

AT_ONCE = 8
"""Granules that one round of a loop looks at: their words fill an integer of 64 bits."""
CHUNK = AT_ONCE * GRANULE


Suspect = Callable[[FunctionBuilder, Value], None]
Roots = tuple[int | None, int | None]
"""The pointers that an instruction reads and writes through."""


def joined(rows: CopyRows) -> CopyRows:
    """Rows without gaps as one long row."""
    if not rows.steps:
        return rows
    (count, distance), *others = rows.steps
    adjacent = distance == rows.length
    steps = [(adjacent.select(count.like(1), count), distance), *others]
    return replace(rows, steps=steps, length=adjacent.select(rows.length * count, rows.length))


# --- on chip ----------------------------------------------------------------------------------------------------------


class Copies:
    """Emits what copies do to the shadow."""

    def __init__(self, shadow: Shadow, clocks: ClockEmitter, suspect: Suspect, roots: RootTrack) -> None:
        self.shadow = shadow
        self.roots = roots
        self.clocks = clocks
        self.suspect = suspect

    def on_chip(self, core: Core, slot: int, verb: str, rows: CopyRows, root: int | None) -> None:
        """Rows of an on-chip memory; what is read must be defined, and what is prefetched is not."""
        self._each(core, slot, verb, joined(rows), root)

    def carried(self, core: Core, slot: int, source: CopyRows, dest: CopyRows, roots: Roots) -> None:
        """Rows of whole granules that are copied as they are: what is not defined stays so."""
        origin, target = self._moved(core, slot, source, dest, roots)
        steps = zip(source.steps, dest.steps, strict=True)
        places = [(count, distance.lshr(5), other.lshr(5)) for (count, distance), (_, other) in steps]
        with core.f.nested(places, source.base.lshr(5), dest.base.lshr(5)) as (one, other):
            target.at(other).copy_from(origin.at(one), source.length.lshr(5))

    def turned(self, core: Core, slot: int, source: CopyRows, dest: CopyRows, width: int, roots: Roots) -> None:
        """Fractals that are copied transposed: what is not defined goes with the elements."""
        origin, target = self._moved(core, slot, source, dest, roots)
        routine = core.unit.routine(f"turn_words_{width}", TURNED, lambda inner: turn_words(inner, width))
        (wide, _), (high, _) = dest.steps
        places = target.at(dest.base.lshr(5)), origin.at(source.base.lshr(5))
        core.f.call(routine, *places, high, wide, *(side.steps[1][1].lshr(5) for side in (source, dest)))

    def _moved(self, core: Core, slot: int, source: CopyRows, dest: CopyRows, roots: Roots) -> tuple[Value, Value]:
        """Copies the undefined bits of both memories; gives where these bits begin."""
        read, written = roots
        self._each(core, slot, "moves", source, read)
        self._each(core, slot, "writes", dest, written)
        origin, target = (self.shadow.words_of(core.f, Area(side.space)) for side in (source, dest))
        return origin, target

    def _each(self, core: Core, slot: int, verb: str, rows: CopyRows, root: int | None = None) -> None:
        kind, area = core.kind, Area(rows.space, rows.at)
        name = f"shadow_{area.space}_{area.at or kind}_{slot}_{verb}_{kind}_{root or 0}"
        routine = core.unit.routine(name, [I64, I64], lambda inner: self._routine(inner, kind, area, slot, verb, root))
        with core.f.nested(rows.steps, rows.base) as (start,):
            core.f.call(routine, start, rows.length)

    def _routine(self, f: FunctionBuilder, kind: CoreKind, area: Area, slot: int, verb: str, root: int | None) -> None:
        address, length = f.parameters
        visit = Visit(kind, slot, self.clocks.known(f, slot), clocks.count(f, slot))
        first = address.lshr(5)
        end = (length + (GRANULE - 1)).lshr(5)
        whole = length.lshr(8) * AT_ONCE

        with f.each(whole, AT_ONCE) as index:
            full = words.every(f, 64)
            self._chunk(f, area, visit, verb, GranuleTouch(first + index, AT_ONCE, full, full), full, root)
        with f.when(whole != end):
            left = length & (CHUNK - 1)
            touch = GranuleTouch(
                first + whole, AT_ONCE, words.lowest(f, (left + WORD - 1).lshr(2)), words.lowest(f, left.lshr(2))
            )
            self._chunk(f, area, visit, verb, touch, words.lowest(f, (end - whole) << 3), root)

    def _chunk(
        self,
        f: FunctionBuilder,
        area: Area,
        visit: Visit,
        verb: str,
        touch: GranuleTouch,
        room: Value,
        root: int | None,
    ) -> None:
        """Some granules of a row; `room` are all words of the granules that it reaches."""
        shadow, is_own = self.shadow, area.space is Space.UB and area.at is None
        if verb not in ("writes", "prefetches"):
            if is_own and root is not None:
                clobbered = self.roots.clobbered(f, root, touch) & shadow.touched(f, touch)
                self.suspect(f, shadow.any_granule(clobbered))
            racy, undefined = shadow.read(f, area, visit, touch)
            self.suspect(f, (racy if verb == "moves" else racy | undefined) != 0)
            return
        if is_own:
            self.roots.write(f, root, touch)
        taint = touch.some if verb == "prefetches" else None
        self.suspect(f, shadow.write(f, area, visit, touch, taint))
        if area.space is Space.UB and visit.slot == SLOT[Pipe.MTE2] and not touch.is_full:
            # hardware copies whole granules into UB: behind a row that ends inside one it leaves anything
            place = shadow.defined(f, area, touch)
            place.store(place.load(I64) & ~(room & ~touch.whole))
