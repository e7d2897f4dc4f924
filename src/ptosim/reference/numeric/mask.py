"""Predicate registers of the reference engine: one 256-bit image, seen in lanes of 1, 2, 4 or 8 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ptosim.reference.numeric.float_lanes import UNSIGNED, Lanes

Bits = NDArray[np.bool_]

BITS = 256


class Mask:
    """An immutable predicate. Only the lowest bit of a lane decides; bit-level instructions carry the others along."""

    __slots__ = ("_lanes", "bits", "full")

    def __init__(self, bits: Bits) -> None:
        self.bits = bits
        self._lanes: dict[int, tuple[Bits, bool]] = {}
        self.full: set[int] = set()
        """The strides in which it is known that all lanes are active."""

    def lanes(self, stride: int) -> Bits:
        """The active lanes of `stride` bits."""
        return self._view(stride)[0]

    def is_full(self, stride: int) -> bool:
        return stride in self.full or self._view(stride)[1]

    def _view(self, stride: int) -> tuple[Bits, bool]:
        view = self._lanes.get(stride)
        if view is None:
            lanes = self.bits[::stride]
            view = self._lanes[stride] = (lanes, bool(lanes.all()))
            if view[1]:
                self.full.add(stride)
        return view

    def zero_inactive(self, values: Lanes) -> Lanes:
        """The values with all-zero bits in inactive lanes."""
        if values.itemsize in self.full:
            return values
        lanes, full = self._view(values.itemsize)
        if full:
            return values
        kept = values.copy()
        kept.view(UNSIGNED[values.itemsize])[~lanes] = 0
        return kept


def of_lanes(lanes: Bits, stride: int) -> Mask:
    """The predicate whose lanes of `stride` bits are these, all other bits clear."""
    bits = np.zeros(BITS, np.bool_)
    bits[::stride] = lanes
    return Mask(bits)


FULL = {stride: of_lanes(np.ones(BITS // stride, np.bool_), stride) for stride in (1, 2, 4, 8)}
"""All lanes active, by bits per lane."""
