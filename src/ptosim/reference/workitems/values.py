"""Values of a warp: an array of int64 with a number for each lane, or with a row of parts for a packed value.

Integers are held with their sign (those of an unsigned type without), one bit as 0 or 1, floats as their bits; so are
f64, read as a signed integer. Beside a value, in a checked run, lies its taint: an array of the same shape, or None.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import Element
from ptosim.effects.simt import WARP
from ptosim.machine.memory import FAR
from ptosim.reference.numeric.float_lanes import Lanes, dtype_of, narrow, widen

Values = NDArray[np.int64]
Active = NDArray[np.bool_]
LaneTaint = NDArray[np.uint8]


def further(pointer: Values, offset: Values, width: int) -> Values:
    """Pointers to so many elements behind; where the product does not fit, to places outside of all memories."""
    most = FAR // width
    return pointer + np.clip(offset, -most, most) * width


def zeros(element: Element | None) -> Values:
    """A value of a type that nothing has been assigned to."""
    packed = element is not None and element.kind == "packed"
    return np.zeros((WARP, element.count) if packed and element is not None else WARP, np.int64)


def part_of(element: Element) -> Element:
    """The type of the numbers that a value consists of."""
    return element.part or element


def wrapped(numbers: Values, kind: Element) -> Values:
    """Numbers as their type holds them."""
    if kind.bits >= 64:
        return numbers
    mask = (1 << kind.bits) - 1
    if kind.bits == 1 or not kind.is_integer or kind.kind == "unsigned":
        return numbers & mask
    half = 1 << (kind.bits - 1)
    return (numbers + half & mask) - half


def bits_of(numbers: Values, kind: Element) -> Values:
    """The bits of numbers, read without sign; those of 64 bits stay what they are."""
    return numbers if kind.bits >= 64 else numbers & ((1 << kind.bits) - 1)


def lanes_of(numbers: Values, kind: Element) -> Lanes:
    """Lanes that NumPy computes with: see numeric/float_lanes.py."""
    dtype = dtype_of(kind)
    if kind.is_integer:
        return numbers.astype(dtype)
    return numbers.astype(f"u{dtype.itemsize}").view(dtype)


def numbers_of(lanes: Lanes, kind: Element) -> Values:
    """And back."""
    if kind.is_integer:
        return lanes.astype(np.int64)
    unsigned: Lanes = lanes.view(f"u{lanes.itemsize}")
    return unsigned.astype(np.int64)


def floats_of(numbers: Values, kind: Element) -> Lanes:
    """Floats to compute with: f32, or f64."""
    return widen(kind, lanes_of(numbers, kind))


def rounded(values: Lanes, kind: Element) -> Values:
    """A result, rounded to the type; NaN is canonical."""
    return numbers_of(narrow(kind, values), kind)


def as_bytes(numbers: Values, element: Element) -> NDArray[np.uint8]:
    """The bytes that a value has in memory, a row for each lane."""
    part = part_of(element)
    stored: NDArray[Any] = numbers.astype(np.int64).reshape(len(numbers), -1, 1).view(np.uint8)
    return np.ascontiguousarray(stored[:, :, : part.bytes]).reshape(len(numbers), -1)


def from_bytes(data: NDArray[np.uint8], element: Element) -> Values:
    """The value that bytes of memory are."""
    part = part_of(element)
    wide = np.zeros((len(data), element.count, 8), np.uint8)
    wide[:, :, : part.bytes] = data.reshape(len(data), element.count, part.bytes)
    numbers = wrapped(wide.reshape(len(data), -1).view(np.int64), part)
    return numbers if element.kind == "packed" else numbers[:, 0]


def joined(active: Active, new: Values, old: Values) -> Values:
    """The new value in active lanes, the old one in others."""
    return np.where(active if new.ndim == 1 else active[:, np.newaxis], new, old)
