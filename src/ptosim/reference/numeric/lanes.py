"""Lanes of registers as NumPy arrays: the dtype of the element, raw bits for formats that NumPy lacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from ptosim.effects.element import Element
from ptosim.reference.numeric.float_lanes import SIGNED, UNSIGNED, Lanes, dtype_of


def unsigned(lanes: Lanes) -> Lanes:
    """The bits of lanes as unsigned integers."""
    return lanes.view(UNSIGNED[lanes.itemsize])


def signed(lanes: Lanes) -> Lanes:
    """The bits of lanes as signed integers."""
    return lanes.view(SIGNED[lanes.itemsize])


Lane = Callable[[int], Lanes]
"""Makes lanes of a scalar: an integer modulo the width, or the bit pattern of a float."""


@cache
def scalar_lane(element: Element) -> Lane:
    """One lane holding a scalar, to meet a whole register. Scalars recur, so the last lanes are kept; they are
    read-only."""

    @lru_cache(1024)
    def lane(value: int) -> Lanes:
        return _filled(value, element, 1)

    return lane


@cache
def broadcast(element: Element) -> Lane:
    """A register with a scalar in every lane, likewise."""

    @lru_cache(256)
    def register(value: int) -> Lanes:
        return _filled(value, element, element.lanes)

    return register


def _filled(value: int, element: Element, count: int) -> Lanes:
    bits = np.full(count, value & ((1 << element.bits) - 1), UNSIGNED[element.bytes])
    bits.flags.writeable = False
    return bits.view(dtype_of(element))
