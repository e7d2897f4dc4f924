"""Copies of rows: which sizes they may have, where the rows lie, what is worth a warning.

The copies themselves are in the rooms, dma and dma_granules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from ptosim.effects.burst import MOST_BYTES, MOST_ROWS, alignment_of
from ptosim.effects.element import GRANULE
from ptosim.effects.names import Space
from ptosim.machine.memory import FARTHEST
from ptosim.reference.core import Config, Core
from ptosim.reference.fault import Fault
from ptosim.reference.places import Starts, Steps, at_places, joined_steps, outermost_places, spaced
from ptosim.reference.semantics import Operands

Loop = tuple[int, int, int]
"""Count, source stride, destination stride."""


class Side(NamedTuple):
    """One end of a copy; `at` is the core whose memory it is, where that is another one."""

    space: Space
    base: int
    at: str | None = None


@dataclass(frozen=True)
class Burst:
    """Rows of `length` bytes, and the loops that place them: the rows themselves, then what repeats them, outwards."""

    length: int
    loops: tuple[Loop, ...]

    @cached_property
    def is_empty(self) -> bool:
        return self.length == 0 or any(count == 0 for count, _, _ in self.loops)

    def sources(self, base: int) -> Starts:
        """Where each row is read, in the order of execution."""
        return spaced(base, self._source_steps)

    def dests(self, base: int) -> Starts:
        """Where each row is written, in the order of execution."""
        return spaced(base, self._dest_steps)

    def rows(self, core: Core, source: Side, dest: Side, width: int | None = None) -> tuple[Starts, Starts]:
        """Where each row is read and where it is written, in the order of execution.

        A check goes on after rows have left their memory: it copies those that reach the destination, and the
        outermost ones, which tell how far the copy reaches. `width` is that of a destination row.
        """
        sources, dests = self.sources(source.base), self.dests(dest.base)
        landing = core.landing(dest.space, dests, width or self.length, dest.at)
        if landing is None:
            return sources, dests
        outermost = [place for starts in (sources, dests) for place in outermost_places(starts)]
        kept = np.union1d(landing, outermost)
        if len(kept) == len(dests):
            return sources, dests
        return at_places(sources, kept), at_places(dests, kept)

    @cached_property
    def _source_steps(self) -> Steps:
        return joined_steps((count, stride) for count, stride, _ in self.loops)

    @cached_property
    def _dest_steps(self) -> Steps:
        return joined_steps((count, stride) for count, _, stride in self.loops)

    def source_alignment(self, space: Space, target: str) -> int:
        """What the rows that are read must be multiples of; where a stride is none, `check` says so once."""
        return _remaining_alignment(alignment_of(space, target), (loop[:2] for loop in self.loops))

    def dest_alignment(self, space: Space, target: str) -> int:
        return _remaining_alignment(alignment_of(space, target), ((loop[0], loop[2]) for loop in self.loops))

    def check(self, core: Core, source: Space, dest: Space, width: int | None = None) -> None:
        """What depends on all sizes together; `width` is that of a destination row, where it is not the length."""
        for kind, message in _complaints(self, source, dest, width or self.length, core.target):
            if kind == "misaligned":
                core.violation(kind, message)
            elif kind == "idle":
                core.idle(message)
            elif kind == "overlap":
                core.lint(message, kind)
            else:
                raise Fault(kind, message)


@lru_cache(1024)
def _burst(length: int, *loops: Loop) -> Burst:
    """Most copies have sizes that came before."""
    return Burst(length, loops)


def _loops(operands: Operands) -> Iterator[Loop]:
    """What repeats the rows, where there are such clauses."""
    if hasattr(operands, "loop_counts"):
        return zip(operands.loop_counts, operands.loop_source_strides, operands.loop_dest_strides, strict=True)
    return iter(())


def byte_rows(operands: Operands) -> Burst:
    """Rows of bytes, as far apart as their strides say."""
    rows = operands.n_burst, operands.source_stride, operands.dest_stride
    return _burst(operands.len_burst, rows, *_loops(operands))


def granule_rows(operands: Operands) -> Burst:
    """Rows of granules: a gap lies between the end of a row and the start of the next. Loops count bytes."""
    length = operands.len_burst
    strides = (length + operands.source_gap) * GRANULE, (length + operands.dest_gap) * GRANULE
    return _burst(length * GRANULE, (operands.n_burst, *strides), *_loops(operands))


def look_at_registers(
    core: Core, direction: str, config: Config, is_older: bool, loops: int, pads: bool = False
) -> None:
    """An older copy relies on the registers of a direction; one with clauses has hardware write them."""
    others = ["mov_pad_val"] if pads else []
    if is_older:
        core.relies_on(direction, config, *others)
    else:
        core.overwrites(direction, config, loops, *others)


@lru_cache(1024)
def _complaints(burst: Burst, source: Space, dest: Space, width: int, target: str) -> tuple[tuple[str, str], ...]:
    """Kind and message of all that is wrong with a copy wherever it goes; most copies have sizes that came before."""
    rows = prod(count for count, _, _ in burst.loops)
    if rows > MOST_ROWS or rows * max(burst.length, width) > MOST_BYTES:
        message = f"a copy of {rows} rows of {burst.length} bytes; at most {MOST_ROWS} rows and {MOST_BYTES} bytes"
        return (("limit", f"{message} can be copied at once"),)
    found: list[tuple[str, str]] = []
    for index, space in ((1, source), (2, dest)):
        reach = sum(max(0, loop[0] - 1) * loop[index] for loop in burst.loops)
        if reach >= FARTHEST:
            found.append(("out-of-bounds", f"the last row lies {reach} bytes behind the pointer"))
        steps = [(loop[0], loop[index]) for loop in burst.loops]
        found += _stride_complaints(burst.length, space, steps, alignment_of(space, target))
    if burst.is_empty:
        found.append(("idle", "this copy does nothing: its length or a count is 0"))
    return tuple(found)


def _is_off(step: tuple[int, int], alignment: int) -> bool:
    """A stride that is used and does not place rows at whole granules."""
    count, stride = step
    return count > 1 and stride % alignment != 0


def _remaining_alignment(alignment: int, steps: Iterable[tuple[int, int]]) -> int:
    return 1 if any(_is_off(step, alignment) for step in steps) else alignment


def _stride_complaints(
    length: int, space: Space, steps: list[tuple[int, int]], alignment: int
) -> Iterator[tuple[str, str]]:
    """Strides that are used place on-chip rows at whole granules, and rows should lie apart."""
    for count, stride in steps:
        if _is_off((count, stride), alignment):
            yield "misaligned", f"a stride of {stride} bytes in {space} is not a multiple of {alignment}"
    count, stride = steps[0]
    if count > 1 and stride < length:
        yield "overlap", f"rows of {length} bytes overlap in {space}: they start every {stride} bytes"


def is_overlapping(first: Starts, second: Starts, width: int) -> bool:
    """Whether any two pieces of `width` bytes, one from each, have a byte in common."""
    ordered = np.sort(second)
    behind = np.searchsorted(ordered, first)
    above = ordered[np.minimum(behind, len(ordered) - 1)]
    below = ordered[np.maximum(behind - 1, 0)]
    return bool((np.abs(above - first) < width).any() or (np.abs(first - below) < width).any())
