"""Copies of rows: the bytes of equally spaced rows. The copies themselves are in the rooms, dma and cube_load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ptosim.effects.element import GRANULE
from ptosim.effects.geometry import reach, select
from ptosim.effects.names import Space
from ptosim.effects.record import Extent
from ptosim.effects.requirement import Requirements, fits
from ptosim.target.profile import load_target

FB_UNIT = 64
"""The unit of copies into the fixpipe buffer."""

COUNT_LIMIT = (1 << 21) - 1
SHORT_LIMIT = (1 << 16) - 1
"""The largest numbers of 21 and of 16 bits: most counts, and those of copies in granules."""
GM_STRIDE_LIMIT = (1 << 40) - 1
UB_STRIDE_LIMIT = (1 << 21) - 1
"""The largest strides in bytes, of GM and of a memory on the chip."""
MOST_ROWS = 1 << 22
MOST_BYTES = 1 << 28
"""The most bytes of one copy: the reference engine holds all it has read until it writes."""


@cache
def alignment_of(space: Space, target: str) -> int:
    """The alignment of addresses and strides of copies in a memory; GM has no rule."""
    return load_target(target).alignment.get(space.value, 1)


def strided(source_limit: int, dest_limit: int) -> Requirements:
    """The rows of a copy whose lengths and strides count bytes."""
    return (
        *fits("len_burst n_burst", COUNT_LIMIT),
        *fits("source_stride", source_limit),
        *fits("dest_stride", dest_limit),
    )


def loops(source_limit: int, dest_limit: int) -> Requirements:
    """The fields of the loops around the rows."""
    return (
        *fits("loop_counts", COUNT_LIMIT),
        *fits("loop_source_strides", source_limit),
        *fits("loop_dest_strides", dest_limit),
    )


def gapped(count_limit: int = SHORT_LIMIT) -> Requirements:
    """The fields of a copy whose lengths and gaps count granules."""
    return (*fits("n_burst", count_limit), *fits("len_burst source_gap dest_gap", SHORT_LIMIT))


def row_extent(counts: Sequence[Any], strides: Sequence[Any], width: Any) -> Extent:
    """The bytes of rows of `width` bytes at every combination of equally spaced starts; empty when a count is 0."""
    last: Any = 0
    some: Any = True
    for count, stride in zip(counts, strides, strict=True):
        last = last + reach(count, stride)
        some = some & (count > 0)
    return 0, select(some & (width > 0), last + width, 0)


def gapped_extent(side: str, unit: int = GRANULE) -> Callable[[Any], Extent]:
    """One side of a copy whose length and gaps count granules, or other units."""

    def extent(operands: Any) -> Extent:
        length = operands.len_burst * unit
        stride = length + getattr(operands, f"{side}_gap") * unit
        counts = (operands.n_burst, *getattr(operands, "loop_counts", ()))
        strides = (stride, *getattr(operands, f"loop_{side}_strides", ()))
        return row_extent(counts, strides, length)

    return extent
