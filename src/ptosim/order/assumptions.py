"""Assumptions about kernels: copies stay inside their buffers, and rows inside their distance.

A kernel relies on arguments that give the bytes of a copy or the distance of rows. A proof relies on the same and says
so; insertion at load does not.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace

from ptosim.effects.names import Space
from ptosim.order.model import ByteRange, EntryTouch, OrderProgram, Span
from ptosim.order.number import Linear, Plain, Symbol, bounds, linear

STAY_INSIDE = "a copy whose length only the run knows ends before the next buffer begins"
WORKITEMS_APART = "the workitems of a launch do not race with each other, which a check tells"
ROWS_APART = "rows whose distance only the run knows do not overlap"
_LONGEST = 1 << 19
"""Bytes of the largest on-chip memory: a bound beyond it says nothing."""
_FAR = 1 << 60
"""A distance that nothing reaches across; that of the next inner rows is as much smaller."""
_NEARER = 12


@dataclass
class Confined:
    """Assumptions."""

    ranges: set[ByteRange] = field(default_factory=set[ByteRange])
    assumptions: dict[str, None] = field(default_factory=dict[str, None])


def confine(program: OrderProgram) -> Confined:
    """Let accesses of unknown length end where the next buffer begins, and rows of unknown distance lie apart; gives
    what is touched then."""
    touches = [touch for entry in program.entries for touch in entry.touches]
    starts = {memory: sorted(_starts(touches, memory)) for memory in {_memory(touch.range) for touch in touches}}
    found, rows = Confined(), _Rows()
    for entry in program.entries:
        changed: list[EntryTouch] = []
        for touch in entry.touches:
            range_ = _confined(touch.range, starts[_memory(touch.range)])
            if range_ is not touch.range:
                found.assumptions[STAY_INSIDE] = None
            apart = rows.apart(range_)
            if apart is not range_:
                found.assumptions[ROWS_APART] = None
            if apart is not touch.range:
                found.ranges.add(apart)
            changed.append(replace(touch, range=apart))
        entry.touches = tuple(changed)
    return found


# --- lengths ----------------------------------------------------------------------------------------------------------


def _memory(range_: ByteRange) -> tuple[Space, str]:
    return range_.space, range_.origin


def _starts(touches: list[EntryTouch], memory: tuple[Space, str]) -> set[int]:
    return {
        span[0]
        for touch in touches
        if _memory(touch.range) == memory
        for span in touch.range.spans
        if span is not None and isinstance(span[0], int)
    }


def _confined(range_: ByteRange, starts: list[int]) -> ByteRange:
    return _with_spans(range_, tuple(_ended(span, range_.space, starts) for span in range_.spans))


def _with_spans(range_: ByteRange, spans: tuple[Span, ...]) -> ByteRange:
    """The same range where none of its spans is another one."""
    changed = any(new is not old for new, old in zip(spans, range_.spans, strict=True))
    return replace(range_, spans=spans) if changed else range_


def _ended(span: Span, space: Space, starts: list[int]) -> Span:
    length = 0 if span is None else bounds(span[1] - span[0])[1]
    if span is None or (length is not None and length < _LONGEST):
        return span
    low = span[0]
    if space is not Space.GM and isinstance(low, int):
        following = bisect_right(starts, low)
        return (low, starts[following]) if following < len(starts) else span
    if isinstance(low, Linear):
        steps = [factor for each, factor in low.terms.items() if each.is_iteration and factor > 0]
        return (low, low + min(steps)) if steps else span
    return span


# --- rows -------------------------------------------------------------------------------------------------------------


class _Rows:
    """Rows of GM whose distance is a product: iterations times something that only the run knows."""

    def __init__(self) -> None:
        self._inside: dict[Symbol, Symbol] = {}
        self._numbers: dict[Symbol, Symbol] = {}

    def apart(self, range_: ByteRange) -> ByteRange:
        """The range, with a distance that nothing reaches across for those that are not known."""
        return _with_spans(range_, tuple(map(self._spaced, range_.spans))) if range_.space is Space.GM else range_

    def _spaced(self, span: Span) -> Span:
        if span is None or not isinstance(span[0], Linear):
            return span
        low, length = span[0], bounds(span[1] - span[0])[1]
        counted = {each: iteration for each in low.terms if (iteration := _iteration(each)) is not None}
        if length is None or not counted:
            return span
        start = self._far(low, counted)
        return start, start + length

    def _far(self, low: Linear, counted: dict[Symbol, Symbol]) -> Plain:
        """Rows of outer loops lie farther apart than those of inner ones; all else stays within the nearest."""
        depths = sorted({len(each.loops) for each in counted})
        terms: dict[Symbol, int] = {}
        for each, factor in low.terms.items():
            if each in counted:
                distance = _FAR >> _NEARER * depths.index(len(each.loops))
                terms[self._row(each, counted[each])] = distance if factor > 0 else -distance
            else:
                terms[self._near(each, abs(factor))] = factor
        return linear(low.constant, terms)

    def _row(self, product: Symbol, iteration: Symbol) -> Symbol:
        """The number of a row: rows of another distance are not compared with these."""
        if product not in self._numbers:
            self._numbers[product] = Symbol(iteration.loops, iteration.low, iteration.high, is_iteration=True)
        return self._numbers[product]

    def _near(self, each: Symbol, factor: int) -> Symbol:
        """A symbol that counts within a row is not so large that it would leave it."""
        if each.high is not None or each.low is None:
            return each
        if each not in self._inside:
            self._inside[each] = replace(each, high=(1 << 20) // factor)
        return self._inside[each]


def _iteration(each: Symbol) -> Symbol | None:
    """The single iteration that a product counts."""
    counting = [factor for factor in each.factors if factor.is_iteration]
    return counting[0] if len(counting) == 1 else None
