"""Rows of copies: what they do to the shadow of on-chip memories. Those in GM leave records (records.py).

Rows in on-chip memories begin with a granule; how long they are is known when the kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.effects.element import GRANULE
from ptosim.effects.fractal import FRACTAL
from ptosim.effects.names import CoreKind, Pipe, Space
from ptosim.machine.sync import SLOT
from ptosim.native.build.core import Core
from ptosim.native.ir.flow import Function
from ptosim.native.ir.values import I64, Value
from ptosim.native.observe import clocks, words
from ptosim.native.observe.clocks import Clocks
from ptosim.native.observe.hooks import Step
from ptosim.native.observe.layout import WORD, Area
from ptosim.native.observe.shadow import Shadow, Touch, Visit
from ptosim.native.observe.turning import TURNED, turn_words

AT_ONCE = 8
"""Granules that one round of a loop looks at: their words fill an integer of 64 bits."""
CHUNK = AT_ONCE * GRANULE


Suspect = Callable[[Function, Value], None]


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
        """Rows of an on-chip memory; what is read must be defined, and what is prefetched is not."""
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
        """Rows of whole granules that are copied as they are: what is not defined stays so."""
        f, layout = core.f, self.shadow.layout
        areas = Area(source[0]), Area(dest[0])
        self._rows(core, slot, "moves", areas[0], source[1], [step for step, _ in steps], length)
        self._rows(core, slot, "writes", areas[1], dest[1], [step for _, step in steps], length)
        origin, target = (self.shadow.base(f, area).at(layout.defined[area.space]) for area in areas)
        places = [(count, distance.lshr(5), other.lshr(5)) for (count, distance), (_, other) in steps]
        with f.nested(places, source[1].lshr(5), dest[1].lshr(5)) as (one, other):
            target.at(other).copy_from(origin.at(one), length.lshr(5))

    def turned(
        self,
        core: Core,
        slot: int,
        source: tuple[Space, Value],
        dest: tuple[Space, Value],
        steps: tuple[Sequence[Step], Sequence[Step]],
        width: int,
    ) -> None:
        """Fractals that are copied transposed: what is not defined goes with the elements."""
        (read, written), f, layout = steps, core.f, self.shadow.layout
        areas = Area(source[0]), Area(dest[0])
        fractal = f.constant(I64, FRACTAL)
        self._rows(core, slot, "moves", areas[0], source[1], read, fractal)
        self._rows(core, slot, "writes", areas[1], dest[1], written, fractal)
        origin, target = (
            self.shadow.base(f, area).at(layout.defined[area.space]).at(place.lshr(5))
            for area, (_, place) in zip(areas, (source, dest), strict=True)
        )
        routine = core.unit.routine(f"turn_words_{width}", TURNED, lambda inner: turn_words(inner, width))
        (wide, _), (high, _) = written
        f.call(routine, target, origin, high, wide, *(side[1][1].lshr(5) for side in (read, written)))

    def _rows(
        self, core: Core, slot: int, verb: str, area: Area, base: Value, steps: Sequence[Step], length: Value
    ) -> None:
        kind = core.kind
        name = f"shadow_{area.space}_{area.at or kind}_{slot}_{verb}_{kind}"
        routine = core.unit.routine(name, [I64, I64], lambda inner: self._routine(inner, kind, area, slot, verb))
        with core.f.nested(steps, base) as (start,):
            core.f.call(routine, start, length)

    def _routine(self, f: Function, kind: CoreKind, area: Area, slot: int, verb: str) -> None:
        address, length = f.parameters
        visit = Visit(kind, slot, self.clocks.known(f, slot), clocks.count(f, slot))
        first = address.lshr(5)
        end = (length + (GRANULE - 1)).lshr(5)
        whole = length.lshr(8) * AT_ONCE

        with f.each(whole, AT_ONCE) as index:
            full = words.every(f, 64)
            self._chunk(f, area, visit, verb, Touch(first + index, AT_ONCE, full, full), full)
        with f.when(whole != end):
            left = length & (CHUNK - 1)
            touch = Touch(
                first + whole, AT_ONCE, words.lowest(f, (left + WORD - 1).lshr(2)), words.lowest(f, left.lshr(2))
            )
            self._chunk(f, area, visit, verb, touch, words.lowest(f, (end - whole) << 3))

    def _chunk(self, f: Function, area: Area, visit: Visit, verb: str, touch: Touch, room: Value) -> None:
        """Some granules of a row; `room` are all words of the granules that it reaches."""
        shadow = self.shadow
        if verb not in ("writes", "prefetches"):
            racy, undefined = shadow.read(f, area, visit, touch)
            self.suspect(f, (racy if verb == "moves" else racy | undefined) != 0)
            return
        taint = touch.some if verb == "prefetches" else None
        self.suspect(f, shadow.write(f, area, visit, touch, taint))
        if area.space is Space.UB and visit.slot == SLOT[Pipe.MTE2] and not touch.is_full:
            # hardware copies whole granules into UB: behind a row that ends inside one it leaves anything
            place = shadow.defined(f, area, touch)
            place.store(place.load(I64) & ~(room & ~touch.whole))
