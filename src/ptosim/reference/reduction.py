"""Reductions. Inactive lanes do not take part; lanes that a reduction does not write are zero.

Float sums are a halving tree with inactive lanes as +0. In extrema a NaN wins, and +0 is larger than -0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.language import reduction as op
from ptosim.reference import numbers
from ptosim.reference.fault import Fault
from ptosim.reference.lanes import Lanes, unsigned
from ptosim.reference.mask import Mask, of_lanes
from ptosim.reference.semantics import semantics

BLOCKS = 8


def _summed(input: Lanes, active: Lanes, element: Element, result: Any, groups: int) -> Lanes:
    """The sum of each of `groups` equal stretches of the register, in the type of the result."""
    lanes = np.where(active, input, input.dtype.type(0)).reshape(groups, -1)
    if element.is_float:
        return numbers.tree_sum(lanes)
    return np.add.reduce(lanes.astype(np.int64), axis=1).astype(result)


def _first(values: Lanes, dtype: Any) -> Lanes:
    """A register whose first lanes are these values, and the rest zero."""
    register = np.zeros(256 // np.dtype(dtype).itemsize, dtype)
    register[: len(values)] = values
    return register


@semantics(op.VCAdd)
def vcadd(input: Lanes, active: Lanes, element: Element, result_element: Element) -> Lanes:
    dtype = numbers.dtype_of(result_element)
    return _first(_summed(input, active, element, dtype, 1), dtype)


@semantics(op.VCGAdd)
def vcgadd(input: Lanes, active: Lanes, element: Element) -> Lanes:
    return _first(_summed(input, active, element, input.dtype, BLOCKS), input.dtype)


@semantics(op.VCPAdd)
def vcpadd(input: Lanes, active: Lanes, element: Element) -> Lanes:
    """Neighbouring pairs, not a prefix sum."""
    return _first(_summed(input, active, element, input.dtype, len(input) // 2), input.dtype)


# --- extrema --------------------------------------------------------------------------------------------------------


def ordering(lanes: Lanes, element: Element, largest: bool) -> Lanes:
    """Lanes as integers of which the best is the largest; of floats -0 is below +0, and NaN is the best of all."""
    if not element.is_float:
        keys = lanes.astype(np.int64)
        return keys if largest else -keys - 1
    bits = unsigned(lanes).astype(np.int64)
    sign = 1 << (element.bits - 1)
    keys = np.where(bits & sign, -(bits & (sign - 1)) - 1, bits)
    keys = keys if largest else -keys - 1
    wide = numbers.widen(element, lanes)
    return np.where(wide != wide, np.int64(1) << 62, keys)


def _worst(element: Element, largest: bool) -> int:
    """The bits of what an extremum over nothing is."""
    if element.is_float:
        infinity = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000}[element.name]
        return infinity | (1 << (element.bits - 1) if largest else 0)
    low = 0 if element.kind == "unsigned" else 1 << (element.bits - 1)
    return low if largest else low ^ ((1 << element.bits) - 1)


def _best(input: Lanes, active: Lanes, element: Element, largest: bool, groups: int) -> tuple[Lanes, Lanes]:
    """The extremum of each stretch of the register, and the first lane in it that holds it (0 for none)."""
    lowest = np.iinfo(np.int64).min
    keys = np.where(active, ordering(input, element, largest), lowest).reshape(groups, -1)
    places = keys.argmax(axis=1)
    width = len(input) // groups
    chosen = input[places + np.arange(groups) * width].copy()
    if element.is_float:
        chosen = numbers.narrow(element, numbers.widen(element, chosen))
    empty = keys.max(axis=1) == lowest
    unsigned(chosen)[empty] = _worst(element, largest)
    return chosen, places


def _extremum(input: Lanes, active: Lanes, element: Element, largest: bool) -> Lanes:
    """The value in lane 0, and in lane 1 the number of its lane as an unsigned integer of the element's width."""
    value, place = _best(input, active, element, largest, 1)
    register = _first(value, input.dtype)
    unsigned(register)[1] = place[0]
    return register


@semantics(op.VCMax)
def vcmax(input: Lanes, active: Lanes, element: Element) -> Lanes:
    return _extremum(input, active, element, True)


@semantics(op.VCMin)
def vcmin(input: Lanes, active: Lanes, element: Element) -> Lanes:
    return _extremum(input, active, element, False)


@semantics(op.VCGMax)
def vcgmax(input: Lanes, active: Lanes, element: Element) -> Lanes:
    return _first(_best(input, active, element, True, BLOCKS)[0], input.dtype)


@semantics(op.VCGMin)
def vcgmin(input: Lanes, active: Lanes, element: Element) -> Lanes:
    return _first(_best(input, active, element, False, BLOCKS)[0], input.dtype)


def _with_matches(input: Lanes, active: Lanes, element: Element, largest: bool) -> tuple[Lanes, Mask]:
    """The extremum, and every active lane that equals it; the two zeros are equal, and a NaN matches the NaNs."""
    value, _ = _best(input, active, element, largest, 1)
    wide, best = numbers.widen(element, input), numbers.widen(element, value)
    equal = (wide != wide) if best[0] != best[0] else wide == best
    return _first(value, input.dtype), of_lanes(equal & active, element.bytes)


@semantics(op.VCBMax)
def vcbmax(input: Lanes, active: Lanes, element: Element) -> tuple[Lanes, Mask]:
    return _with_matches(input, active, element, True)


@semantics(op.VCBMin)
def vcbmin(input: Lanes, active: Lanes, element: Element) -> tuple[Lanes, Mask]:
    return _with_matches(input, active, element, False)


# --- histograms -----------------------------------------------------------------------------------------------------


def _counts(input: Lanes, mask: Mask, bin: int) -> tuple[Lanes, int]:
    if bin not in (0, 1):
        raise Fault("arithmetic", f"the bin of a histogram is 0 or 1, not {bin}")
    return np.bincount(input[mask.lanes(1)], minlength=256), 128 * bin


@semantics(op.DHistV2)
def dhistv2(acc: Lanes, input: Lanes, mask: Mask, bin: int) -> Lanes:
    counts, base = _counts(input, mask, bin)
    return acc + counts[base : base + 128].astype(np.uint16)


@semantics(op.CHistV2)
def chistv2(acc: Lanes, input: Lanes, mask: Mask, bin: int) -> Lanes:
    counts, base = _counts(input, mask, bin)
    return acc + np.cumsum(counts)[base : base + 128].astype(np.uint16)
