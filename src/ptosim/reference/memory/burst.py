"""Copies of rows: their sizes, the places of rows, the warnings.

The copies themselves are in the rooms, dma and dma_granules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from ptosim.effects.burst import MOST_BYTES, MOST_ROWS, alignment_of
from ptosim.effects.dma import padded_width
from ptosim.effects.element import GRANULE
from ptosim.effects.names import Space
from ptosim.machine.memory import FARTHEST
from ptosim.reference.core import Config, Core
from ptosim.reference.fault import Fault
from ptosim.reference.memory import access_places
from ptosim.reference.memory.port import Atomic
from ptosim.reference.semantics import Operands

Loop = tuple[int, int, int]
"""Count, source stride, destination stride."""
Step = tuple[int, int]
"""Count and stride of one side."""


class Side(NamedTuple):
    """One end of a copy; `at` is the owner of the memory, if that is another core."""

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

    def places(self, source: int, dest: int) -> tuple[access_places.Starts, access_places.Starts]:
        """The source and destination of each row, in the order of execution."""
        read, written = self._steps
        return access_places.spaced(source, read), access_places.spaced(dest, written)

    def rows(
        self, core: Core, source: Side, dest: Side, width: int
    ) -> tuple[access_places.Starts, access_places.Starts]:
        """Likewise; a check goes on after rows have left their memory: it copies those that reach the destination, and
        the outermost ones, which tell how far the copy reaches. `width` is that of a destination row."""
        sources, dests = self.places(source.base, dest.base)
        landing = core.landing(dest.space, dests, width, dest.at)
        if landing is None:
            return sources, dests
        outermost = [place for starts in (sources, dests) for place in access_places.outermost_places(starts)]
        kept = np.union1d(landing, outermost)
        if len(kept) == len(dests):
            return sources, dests
        return access_places.at_places(sources, kept), access_places.at_places(dests, kept)

    @cached_property
    def sides(self) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        """Counts and strides of the source, and of the destination."""
        read = tuple((count, stride) for count, stride, _ in self.loops)
        return read, tuple((count, stride) for count, _, stride in self.loops)

    @cached_property
    def _steps(self) -> tuple[access_places.Steps, access_places.Steps]:
        read, written = self.sides
        return access_places.joined_steps(read), access_places.joined_steps(written)

    def alignments(self, core: Core, source: Side, dest: Side) -> list[int]:
        """The divisors of the rows that are read, and of those that are written; where a stride is none, `check` says
        so once.
        """
        demanded = [alignment_of(side.space, core.target) for side in (source, dest)]
        pairs = zip(demanded, self.sides, strict=True)
        return [1 if any(_is_off(step, each) for step in steps) else each for each, steps in pairs]

    def check(self, core: Core, source: Side, dest: Side, width: int) -> None:
        """Checks all sizes together; `width` is that of a destination row."""
        for kind, message in _complaints(self, source.space, dest.space, width, core.target):
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
    """Loops around the rows, where there are such clauses."""
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


@dataclass(frozen=True)
class Padding:
    """The padding of a UB row: a pattern, so many elements of its width before and behind."""

    pattern: bytes
    left: int
    right: int

    def width(self, burst: Burst) -> int:
        """The bytes of a padded row."""
        return int(padded_width(burst.length, self.left, self.right, len(self.pattern), burst.loops[0][2]))

    def around(self, core: Core, data: access_places.Bytes, total: int) -> access_places.Bytes:
        """Rows with their padding; the phase of the pattern counts from the start of each padded stretch."""
        rows, length = data.shape
        before = self.left * len(self.pattern)
        filling = np.frombuffer(self.pattern * (total // len(self.pattern) + 1), np.uint8)
        padded = np.empty((rows, total), np.uint8)
        padded[:, :before] = core.pattern(filling[:before])
        padded[:, before : before + length] = data
        padded[:, before + length :] = core.pattern(filling[: total - before - length])
        return padded


def moved(
    core: Core, burst: Burst, source: Side, dest: Side, pad: Padding | None = None, atomic: Atomic | None = None
) -> Iterator[None]:
    """Read all rows, then write them in order."""
    width = burst.length if pad is None else pad.width(burst)
    burst.check(core, source, dest, width)
    if burst.is_empty:
        yield
        return
    sources, dests = burst.rows(core, source, dest, width)
    read, written = burst.alignments(core, source, dest)
    rows = core.read_pieces(source.space, sources, burst.length, read, source.at)
    yield
    if pad is not None:
        rows = pad.around(core, rows, width)
    core.write_pieces(dest.space, dests, rows, written, dest.at, atomic)


def look_at_registers(
    core: Core, direction: str, config: Config, is_older: bool, loops: int, pads: bool = False
) -> None:
    """An older copy relies on the registers of a direction; one with clauses has hardware write them."""
    remarks, others = core.port.remarks, ["mov_pad_val"] if pads else []
    if remarks is None:
        return
    if is_older:
        remarks.relies_on(direction, config, others)
    else:
        remarks.overwrites(direction, config, loops, others)


@lru_cache(1024)
def _complaints(burst: Burst, source: Space, dest: Space, width: int, target: str) -> tuple[tuple[str, str], ...]:
    """Kind and message of all that is wrong with a copy wherever it goes; most copies have sizes that came before."""
    rows = prod(count for count, _, _ in burst.loops)
    if rows > MOST_ROWS or rows * max(burst.length, width) > MOST_BYTES:
        message = f"a copy of {rows} rows of {burst.length} bytes; at most {MOST_ROWS} rows and {MOST_BYTES} bytes"
        return (("limit", f"{message} can be copied at once"),)
    found: list[tuple[str, str]] = []
    for space, steps in zip((source, dest), burst.sides, strict=True):
        reach = sum(max(0, count - 1) * stride for count, stride in steps)
        if reach >= FARTHEST:
            found.append(("out-of-bounds", f"the last row lies {reach} bytes behind the pointer"))
        found += _stride_complaints(burst.length, space, steps, alignment_of(space, target))
    if burst.is_empty:
        found.append(("idle", "this copy does nothing: its length or a count is 0"))
    return tuple(found)


def _is_off(step: Step, alignment: int) -> bool:
    """A stride that is used and does not place rows at whole granules."""
    count, stride = step
    return count > 1 and stride % alignment != 0


def _stride_complaints(length: int, space: Space, steps: Sequence[Step], alignment: int) -> Iterator[tuple[str, str]]:
    """Strides that are used place on-chip rows at whole granules, and rows should lie apart."""
    for count, stride in steps:
        if _is_off((count, stride), alignment):
            yield "misaligned", f"a stride of {stride} bytes in {space} is not a multiple of {alignment}"
    count, stride = steps[0]
    if count > 1 and stride < length:
        yield "overlap", f"rows of {length} bytes overlap in {space}: they start every {stride} bytes"


def is_overlapping(first: access_places.Starts, second: access_places.Starts, width: int) -> bool:
    """Whether any two pieces of `width` bytes, one from each, have a byte in common."""
    ordered = np.sort(second)
    behind = np.searchsorted(ordered, first)
    above = ordered[np.minimum(behind, len(ordered) - 1)]
    below = ordered[np.maximum(behind - 1, 0)]
    return bool((np.abs(above - first) < width).any() or (np.abs(first - below) < width).any())
