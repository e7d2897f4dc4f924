"""Accesses whose length only the run knows, taken to stay inside of their buffers.

A kernel that copies as many bytes as an argument says relies on that argument. A proof relies on the same and says so;
insertion at load does not.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from ptosim.effects.names import Space
from ptosim.order.model import Program, Range, Span, Touch
from ptosim.order.number import Linear, bounds

STAY_INSIDE = "a copy whose length only the run knows ends before the next buffer begins"
_LONGEST = 1 << 19
"""Bytes of the largest on-chip memory: a bound beyond it says nothing."""


def confine(program: Program) -> set[Range]:
    """Let accesses of unknown length end where the next buffer begins; gives what they touch then."""
    touches = [touch for entry in program.entries for touch in entry.touches]
    starts = {space: sorted(_starts(touches, space)) for space in {touch.range.space for touch in touches}}
    found: set[Range] = set()
    for entry in program.entries:
        confined = tuple(
            replace(touch, range=_confined(touch.range, starts[touch.range.space])) for touch in entry.touches
        )
        found |= {new.range for old, new in zip(entry.touches, confined, strict=True) if old.range is not new.range}
        entry.touches = confined
    return found


def _starts(touches: list[Touch], space: Space) -> set[int]:
    return {
        span[0]
        for touch in touches
        if touch.range.space is space
        for span in touch.range.spans
        if span is not None and isinstance(span[0], int)
    }


def _confined(range_: Range, starts: list[int]) -> Range:
    spans = tuple(_ended(span, range_.space, starts) for span in range_.spans)
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
