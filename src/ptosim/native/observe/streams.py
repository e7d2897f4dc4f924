"""Store streams of a vector scope: what they hold back, and the bytes of UB that they, and unaligned loads, touch.

A stream whose tail is never flushed, and a load of bytes that one holds back, are suspicious. How many streams hold
something is counted: control comes to one use of a state at most, as the verifier sees to but for states that loops
and branches hand on, which must not hold anything where they go on twice (language/rules/align_streams.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptosim.effects.element import GRANULE
from ptosim.native.build.state import Align
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I8, I64, Value
from ptosim.native.observe import clocks
from ptosim.native.observe.layout import HELD, WORD
from ptosim.native.observe.shadow import GranuleTouch
from ptosim.native.observe.words import lowest

_FAR = 1 << 40
"""Above every address."""


@dataclass(frozen=True, eq=False)
class Held:
    """Places that a scope keeps on the stack, or with its core where it calls functions: how many streams hold
    something back, and the bytes from the lowest to the highest that any may."""

    count: Value
    low: Value
    high: Value

    @staticmethod
    def nothing(f: FunctionBuilder) -> Held:
        return Held(f.set_slot(I64, 0), f.set_slot(I64, _FAR), f.set_slot(I64, 0))

    @staticmethod
    def beside(f: FunctionBuilder) -> Held:
        """The places in the record of the core that a scope keeps it in."""
        return Held(*(clocks.at(f, HELD + 8 * number) for number in range(3)))

    def cleared(self, f: FunctionBuilder) -> Held:
        for place, number in ((self.count, 0), (self.low, _FAR), (self.high, 0)):
            place.store(f.constant(I64, number), 8)
        return self

    def change(self, before: Align, after: Align | None) -> None:
        """A stream goes on, or ends."""
        count = self.count.load(I64, 8) - (before.pending > 0).zext(I64)
        low, high = self.low.load(I64, 8), self.high.load(I64, 8)
        if after is not None:
            holds, end = after.pending > 0, after.start + after.pending
            count = count + holds.zext(I64)
            low = (holds & (after.start < low)).select(after.start, low)
            high = (holds & (end > high)).select(end, high)
        self.count.store(count, 8)
        self.low.store((count == 0).select(low.like(_FAR), low), 8)
        self.high.store((count == 0).select(high.like(0), high), 8)

    def meets(self, touch: GranuleTouch) -> Value:
        """Whether granules that are read may hold what is held back."""
        start = touch.granule << 5
        return (self.low.load(I64, 8) < start + touch.count * GRANULE) & (start < self.high.load(I64, 8))

    def is_left(self) -> Value:
        return self.count.load(I64, 8) != 0


def written(f: FunctionBuilder, place: Value, low: Value, high: Value) -> GranuleTouch:
    """The bytes that a stream writes, from a place in UB on: up to eight granules."""
    inside = low & (GRANULE - 1)
    end = inside + (high - low)
    some = lowest(f, (end + WORD - 1).lshr(2)) & ~lowest(f, inside.lshr(2))
    whole = lowest(f, end.lshr(2)) & ~lowest(f, (inside + WORD - 1).lshr(2))
    nothing = high <= low
    return GranuleTouch(place.lshr(5), 8, nothing.select(some.like(0), some), nothing.select(whole.like(0), whole))


@dataclass(frozen=True, eq=False)
class Shifted:
    """A register that lies anywhere in UB: nine granules, of which the last is looked at by itself. A word of the
    register lies in one word of memory, or in two."""

    f: FunctionBuilder
    first: Value
    """The number of the first word in its granule, and whether words of the register lie across two."""
    is_odd: Value
    granule: Value

    @staticmethod
    def at(f: FunctionBuilder, place: Value) -> Shifted:
        return Shifted(f, place.lshr(2) & 7, (place & 3) != 0, place.lshr(5))

    def touches(self, words: Value) -> tuple[GranuleTouch, GranuleTouch]:
        """The words of the register in memory."""
        low = words << self.first
        high = words.lshr(1).lshr(63 - self.first)  # a shift by 64 is none
        both = self.is_odd.select(low << 1, low.like(0))
        beyond = self.is_odd.select(high << 1 | low.lshr(63), high.like(0))
        low, high = low | both, (high | beyond).trunc(I8)
        return GranuleTouch(self.granule, 8, low, low), GranuleTouch(self.granule + 8, 1, high, high)

    def gathered(self, read: Callable[[GranuleTouch], Value], words: Value) -> Value:
        """The doubtful words of the register, by those of memory that a read gives."""
        low, high = (read(touch).zext(I64) for touch in self.touches(words))

        def moved(distance: Value) -> Value:
            return low.lshr(distance) | (high << 1) << (63 - distance)

        return moved(self.first) | self.is_odd.select(_next(low, high, self.first), low.like(0))


def _next(low: Value, high: Value, first: Value) -> Value:
    """The word behind each: a shift by one more than the first, which is eight at most."""
    return low.lshr(first).lshr(1) | high << (63 - first)
