"""Waits for entries by the bytes that they touch, by the rule of machine/clock.py: the scalar unit learns, of each pipe
of its core, that its entries have ended up to the last one that touched bytes of a range.

The shadow says it of granules on chip, so that only those count that a range covers wholly; of GM the records say it.
So in a kernel with such a wait every access leaves a stamp, and no record grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ptosim.effects.element import GRANULE
from ptosim.effects.geometry import maximum, minimum
from ptosim.effects.names import GM, PIPES_OF, CoreKind, Pipe, Space
from ptosim.machine.sync import PIPES, SLOT
from ptosim.native.build.core import Core
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, PTR, Value
from ptosim.native.observe import clocks, layout
from ptosim.native.observe.clocks import ClockEmitter
from ptosim.native.observe.hooks import Range
from ptosim.native.observe.layout import CLOCK_AT, KNOWN, STEPS, Area
from ptosim.native.observe.shadow import Shadow

MOST_RECORDS = 4096
"""The most records that are looked at, the latest first; earlier ones teach nothing."""


class Ranges:
    """Emits what such a wait does."""

    def __init__(self, shadow: Shadow, clocks: ClockEmitter) -> None:
        self.shadow = shadow
        self.clocks = clocks

    def begin_block(self, f: FunctionBuilder) -> None:
        first = clocks.at(f, layout.NEXT_RECORD).load(I64, 8)
        clocks.at(f, layout.FIRST_RECORD).store(first, 8)

    def wait(self, core: Core, ranges: Sequence[Range]) -> None:
        f, kind = core.f, core.kind
        clocks.step(f)
        for space, start, size in ranges:
            fill = self._global if space is GM else partial(self._on_chip, kind=kind, space=space)
            f.call(core.unit.routine(f"awaited_{space}_{kind}", [I64, I64], fill), start, size)
        self._know_what_they_knew(f, kind)

    # --- on chip ------------------------------------------------------------------------------------------------------

    def _on_chip(self, f: FunctionBuilder, kind: CoreKind, space: Space) -> None:
        start, size = f.parameters
        end = minimum(start + size, self.shadow.layout.sizes[space])
        first, last = (maximum(start, 0) + (GRANULE - 1)).lshr(5), maximum(end, 0).lshr(5)
        tracks = self.shadow.own_tracks(f, kind, space)
        base = self.shadow.base(f, Area(space))

        def granule(number: Value, latest: list[Value]) -> Sequence[Value]:
            stamps = [base.at(track).at(number << 2).load(I32, 4) for _, track in tracks]
            return [f.intrinsic("llvm.umax", I32, *pair) for pair in zip(latest, stamps, strict=True)]

        none = [f.constant(I32, 0)] * len(tracks)
        found = f.for_loop(first, maximum(first, last), 1, none, granule, polls=False)
        for (slot, _), stamp in zip(tracks, found, strict=True):
            self._learn(f, f.constant(I64, slot), stamp)

    # --- in GM --------------------------------------------------------------------------------------------------------

    def _global(self, f: FunctionBuilder) -> None:
        start, size = f.parameters
        record = CLOCK_AT + self.shadow.layout.row
        begin, end = (clocks.at(f, place).load(I64, 8) for place in (layout.FIRST_RECORD, layout.NEXT_RECORD))
        least = maximum(begin, end - MOST_RECORDS * record)

        def is_left(carried: list[Value]) -> tuple[Value, Sequence[Value]]:
            return (carried[0] > least) & (size > 0), carried

        def look(carried: list[Value]) -> Sequence[Value]:
            address = carried[0] - record
            place = f.emit(PTR, f"inttoptr {address} to ptr")
            low, length, rows, distance, kind, _, stamp = (place.at(8 * word).load(I64, 8) for word in range(7))
            # the first row that ends behind the start of the range
            before = start - low - length
            apart = (distance > 0) & (rows > 1) & (before >= 0)
            row = apart.select(before.udiv(maximum(distance, 1)) + 1, before.like(0))
            first = low + row * distance
            meets = (row < rows) & (first < start + size) & (first + length > start)
            self._learn(f, kind.lshr(1) & (PIPES - 1), meets.select(stamp.trunc(I32), f.constant(I32, 0)))
            return [address]

        f.while_loop([end], is_left, look)

    # --- what is learnt -----------------------------------------------------------------------------------------------

    def _learn(self, f: FunctionBuilder, slot: Value, stamp: Value) -> None:
        known = clocks.at(f, KNOWN).at(slot << 2)  # of the clock of S, which comes first, the piece about this core
        known.store(f.intrinsic("llvm.umax", I32, known.load(I32, 4), stamp), 4)

    def _know_what_they_knew(self, f: FunctionBuilder, kind: CoreKind) -> None:
        """Adds the knowledge at its begin of the latest entry of a pipe that has ended."""
        for slot in (SLOT[pipe] for pipe in PIPES_OF[kind] if pipe is not Pipe.S):
            own = self.clocks.known(f, STEPS)
            count = clocks.count(f, slot)
            signalled = clocks.at(f, layout.SIGNALLED + 4 * slot).load(I32, 4)
            latest = clocks.of(own, slot).compare("uge", count) & (signalled != count)
            self.clocks.learn(f, STEPS, latest.select(self.clocks.joined(f, own, self.clocks.known(f, slot)), own))
