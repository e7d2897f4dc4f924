"""Copies of rows: the bytes of equally spaced rows. The copies themselves are in the rooms, dma and cube_load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptosim.effects.geometry import reach, select
from ptosim.effects.record import Extent

BLOCK = 32
"""The unit of on-chip copies, and the alignment of UB and L1 addresses and strides, in bytes."""
FB_BLOCK = 64
"""The unit of copies into the fixpipe buffer."""


def row_extent(counts: Sequence[Any], strides: Sequence[Any], width: Any) -> Extent:
    """The bytes of rows of `width` bytes at every combination of equally spaced starts; empty when a count is 0."""
    last: Any = 0
    some: Any = True
    for count, stride in zip(counts, strides, strict=True):
        last = last + reach(count, stride)
        some = some & (count > 0)
    return 0, select(some & (width > 0), last + width, 0)


def blocks(side: str, unit: int = BLOCK) -> Callable[[Any], Extent]:
    """One side of a copy whose length and gaps count blocks."""

    def extent(operands: Any) -> Extent:
        length = operands.len_burst * unit
        stride = length + getattr(operands, f"{side}_gap") * unit
        counts = (operands.n_burst, *getattr(operands, "loop_counts", ()))
        strides = (stride, *getattr(operands, f"loop_{side}_strides", ()))
        return row_extent(counts, strides, length)

    return extent
