"""Comparisons, which give masks, and selections by mask or by lane number."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.language import compare as op
from ptosim.reference import numbers
from ptosim.reference.lanes import Lanes, scalar_lane, unsigned
from ptosim.reference.mask import Mask, of_lanes
from ptosim.reference.semantics import semantics

_ORDERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,  # true where either side is NaN
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _compared(a: Lanes, b: Lanes, seed: Mask, comparison: str, element: Element) -> Mask:
    """The lanes of the seed in which the comparison holds; every other bit of the predicate is clear."""
    if element.name == "bf16":
        a, b = numbers.widen(element, a), numbers.widen(element, b)
    return of_lanes(_ORDERS[comparison](a, b) & seed.lanes(element.bytes), element.bytes)


@semantics(op.VCmp)
def vcmp(lhs: Lanes, rhs: Lanes, seed: Mask, comparison: str, element: Element) -> Mask:
    return _compared(lhs, rhs, seed, comparison, element)


@semantics(op.VCmps)
def vcmps(input: Lanes, scalar: int, seed: Mask, comparison: str, element: Element) -> Mask:
    """The vector's type decides about signs: a signless scalar against unsigned lanes is unsigned."""
    return _compared(input, scalar_lane(scalar, element), seed, comparison, element)


@semantics(op.VSel)
def vsel(on_true: Lanes, on_false: Lanes, active: Lanes) -> Lanes:
    return np.where(active, unsigned(on_true), unsigned(on_false)).view(on_true.dtype)


@semantics(op.VSelR, op.VSelRV2)
def vselr(input: Lanes, index: Lanes) -> Lanes:
    """Lane numbers wrap at the number of lanes, which is a power of two."""
    return input[unsigned(index) & (len(input) - 1)]
