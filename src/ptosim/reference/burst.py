"""Copies of rows: which sizes they may have, where the rows lie, what is worth a warning.

The copies themselves are in the rooms, dma and dma_blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ptosim.effects.burst import BLOCK
from ptosim.effects.names import Space
from ptosim.language.operands import bounds, nth
from ptosim.machine.memory import OFFSET_BITS
from ptosim.reference.core import Core, Starts
from ptosim.reference.fault import Fault
from ptosim.reference.places import places

Loop = tuple[int, int, int]
"""Count, source stride, destination stride."""

MOST_ROWS = 1 << 22
MOST_BYTES = 1 << 28
"""What one copy may move. A copy holds all it has read until it writes, and rows may be repeated at no distance."""

FARTHEST = 1 << (OFFSET_BITS - 1)
"""How far a copy may reach: half of what a pointer can say."""


@dataclass(frozen=True)
class Side:
    """One end of a copy; `at` is the core whose memory it is, where that is another one."""

    space: Space
    base: int
    at: str | None = None

    @property
    def alignment(self) -> int:
        return 1 if self.space is Space.GM else BLOCK


@dataclass(frozen=True)
class Burst:
    """Rows of `length` bytes, and the loops that place them: the rows themselves, then what repeats them, outwards."""

    length: int
    loops: Sequence[Loop]

    @property
    def is_empty(self) -> bool:
        return self.length == 0 or any(count == 0 for count, _, _ in self.loops)

    def sources(self, base: int) -> Starts:
        """Where each row is read, in the order of execution."""
        return places(base, *((count, stride) for count, stride, _ in reversed(self.loops)))

    def dests(self, base: int) -> Starts:
        """Where each row is written, in the order of execution."""
        return places(base, *((count, stride) for count, _, stride in reversed(self.loops)))

    def check(self, core: Core, source: Side, dest: Side, width: int | None = None) -> None:
        """What depends on all sizes together; `width` is that of a destination row, where it is not the length."""
        rows = prod(count for count, _, _ in self.loops)
        if rows > MOST_ROWS or rows * max(self.length, width or 0) > MOST_BYTES:
            message = f"a copy of {rows} rows of {self.length} bytes; at most {MOST_ROWS} rows and {MOST_BYTES} bytes"
            raise Fault("limit", f"{message} can be copied at once")
        for index, side in ((1, source), (2, dest)):
            reach = sum(max(0, loop[0] - 1) * loop[index] for loop in self.loops)
            if reach >= FARTHEST:
                raise Fault("out-of-bounds", f"the last row lies {reach} bytes behind the pointer")
            self._check_strides(core, side, [(loop[0], loop[index]) for loop in self.loops])
        if self.is_empty:
            core.lint("this copy does nothing: its length or a count is 0")

    def _check_strides(self, core: Core, side: Side, steps: list[tuple[int, int]]) -> None:
        """Strides that are used place on-chip rows at whole blocks, and rows should lie apart."""
        for count, stride in steps:
            if count > 1 and stride % side.alignment:
                core.violation("misaligned", f"a stride of {stride} bytes in {side.space} is not a multiple of {BLOCK}")
        count, stride = steps[0]
        if count > 1 and stride < self.length:
            message = f"rows of {self.length} bytes overlap in {side.space}: they start every {stride} bytes"
            core.lint(message, "overlap")


def fits(limit: int, low: int = 0, **operands: int | None) -> None:
    """The values of operands fit their fields."""
    for role, value in operands.items():
        if value is not None and not low <= value <= limit:
            raise Fault("invalid", f"{role} is {value}; it must be {bounds(low, limit)}")


def loops_fit(limits: tuple[int, int, int], loops: Iterable[Loop]) -> None:
    """The values of loop clauses fit their fields."""
    roles = ("loop_counts", "loop_source_strides", "loop_dest_strides")
    for index, loop in enumerate(loops):
        for role, value, limit in zip(roles, loop, limits, strict=True):
            fits(limit, **{nth(role, index): value})


def is_overlapping(first: Starts, second: Starts, width: int) -> bool:
    """Whether any two pieces of `width` bytes, one from each, have a byte in common."""
    ordered = np.sort(second)
    behind = np.searchsorted(ordered, first)
    above = ordered[np.minimum(behind, len(ordered) - 1)]
    below = ordered[np.maximum(behind - 1, 0)]
    return bool((np.abs(above - first) < width).any() or (np.abs(first - below) < width).any())
