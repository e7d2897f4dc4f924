"""Lanes of registers as NumPy arrays: the dtype of the element, raw bits for formats that NumPy lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import Element
from ptosim.reference.numbers import dtype_of

Lanes = NDArray[Any]

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def unsigned(lanes: Lanes) -> Lanes:
    """The bits of lanes as unsigned integers."""
    return lanes.view(_UNSIGNED[lanes.itemsize])


def scalar_lane(value: int, element: Element) -> Lanes:
    """One lane holding a scalar: an integer modulo its width, or the bit pattern of a float."""
    bits = value & ((1 << element.bits) - 1)
    return np.array([bits], _UNSIGNED[element.bytes]).view(dtype_of(element))


def broadcast(value: int, element: Element) -> Lanes:
    """A register with a scalar in every lane."""
    return np.repeat(scalar_lane(value, element), element.lanes)
