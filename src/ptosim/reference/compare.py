"""Comparisons, which give masks, and selections by mask or by lane number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.language.micro import compare as op
from ptosim.reference.numeric import float_lanes
from ptosim.reference.numeric.lanes import Lane, Lanes, scalar_lane, unsigned
from ptosim.reference.numeric.mask import Mask, of_lanes
from ptosim.reference.semantics import semantics

Comparison = Callable[[Lanes, Lanes], Lanes]

_COMPARISONS: Mapping[str, Comparison] = {
    "eq": np.equal,
    "ne": np.not_equal,  # true where either side is NaN
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _compare(word: str, element: Element) -> Comparison:
    compare = _COMPARISONS[word]
    if element.name != "bf16":
        return compare
    return lambda a, b: compare(float_lanes.bf16_to_f32(a), float_lanes.bf16_to_f32(b))


def _facts(static: Static) -> dict[str, Any]:
    element = next(static.elements[role] for role in ("lhs", "input") if role in static.elements)
    compare = _compare(static.words["comparison"], element)
    return {"compare": compare, "width": element.bytes, "lane": scalar_lane(element)}


@semantics(op.VCmp, bind=_facts)
def vcmp(lhs: Lanes, rhs: Lanes, seed: Mask, compare: Comparison, width: int) -> Mask:
    """The lanes of the seed in which the comparison holds; every other bit of the predicate is clear."""
    return of_lanes(compare(lhs, rhs) & seed.lanes(width), width)


@semantics(op.VCmps, bind=_facts)
def vcmps(input: Lanes, scalar: int, seed: Mask, compare: Comparison, width: int, lane: Lane) -> Mask:
    """The vector's type decides about signs: a signless scalar against unsigned lanes is unsigned."""
    return of_lanes(compare(input, lane(scalar)) & seed.lanes(width), width)


@semantics(op.VSel)
def vsel(on_true: Lanes, on_false: Lanes, mask: Mask) -> Lanes:
    return np.where(mask.lanes(on_true.itemsize), on_true, on_false)


@semantics(op.VSelR, op.VSelRV2)
def vselr(input: Lanes, index: Lanes) -> Lanes:
    """Lane numbers wrap at the number of lanes, which is a power of two."""
    return input[unsigned(index) & (len(input) - 1)]
