"""Reductions. Inactive lanes do not take part; lanes that a reduction does not write are zero.

Float sums are a halving tree with inactive lanes as +0. In extrema a NaN wins, and +0 is larger than -0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.float_format import BF16, F16, F32
from ptosim.language import reduction as op
from ptosim.reference import numbers
from ptosim.reference.fault import Fault
from ptosim.reference.lanes import Lanes, signed, unsigned
from ptosim.reference.mask import Mask, of_lanes
from ptosim.reference.semantics import semantics

BLOCKS = 8


def _first(values: Lanes, dtype: Any) -> Lanes:
    """A register whose first lanes are these values, and the rest zero."""
    register = np.zeros(256 // dtype.itemsize, dtype)
    register[: len(values)] = values
    return register


# --- sums -----------------------------------------------------------------------------------------------------------


def _summed(input: Lanes, mask: Mask, element: Element, result: Any, groups: int) -> Lanes:
    """The sum of each of `groups` equal stretches of the register, in the type of the result."""
    lanes = mask.zero_inactive(input).reshape(groups, -1)
    if element.is_float:
        return numbers.tree_sum(lanes)
    return np.add.reduce(lanes, axis=1, dtype=result)


@semantics(op.VCAdd)
def vcadd(input: Lanes, mask: Mask, element: Element, result_element: Element) -> Lanes:
    dtype = numbers.dtype_of(result_element)
    return _first(_summed(input, mask, element, dtype, 1), dtype)


@semantics(op.VCGAdd)
def vcgadd(input: Lanes, mask: Mask, element: Element) -> Lanes:
    return _first(_summed(input, mask, element, input.dtype, BLOCKS), input.dtype)


@semantics(op.VCPAdd)
def vcpadd(input: Lanes, mask: Mask, element: Element) -> Lanes:
    """Neighbouring pairs, not a prefix sum."""
    return _first(_summed(input, mask, element, input.dtype, len(input) // 2), input.dtype)


# --- extrema --------------------------------------------------------------------------------------------------------
#
# Lanes are compared as keys: integers of their own width, of which the largest is wanted. A float's bits become ordered
# integers by complementing all but the sign of negative ones (so -0 is below +0), which also undoes itself.

_FORMATS = {"f16": F16, "bf16": BF16, "f32": F32}


def _ordered(bits: Lanes) -> Lanes:
    width = 8 * bits.itemsize
    return bits ^ ((bits >> (width - 1)) & ((1 << (width - 1)) - 1))


def _keys(lanes: Lanes, element: Element, largest: bool) -> Lanes:
    """NaN, whatever its bits, is the highest key, which is no number's."""
    if not element.is_float:
        return lanes if largest else ~lanes
    bits = signed(lanes)
    keys = _ordered(bits) if largest else ~_ordered(bits)
    highest = (1 << (element.bits - 1)) - 1
    keys[(bits & highest) > _FORMATS[element.name].infinity] = highest
    return keys


def _values(keys: Lanes, element: Element, largest: bool) -> Lanes:
    """The lanes that have these keys."""
    keys = keys if largest else ~keys
    if not element.is_float:
        return keys
    highest = (1 << (element.bits - 1)) - 1
    bits = _ordered(keys)
    bits[keys == (highest if largest else ~highest)] = _FORMATS[element.name].nan
    return bits.view(numbers.dtype_of(element))


def _worst(element: Element, largest: bool) -> int:
    """The key of what an extremum over nothing is: -inf or the least value; of smallest +inf or the greatest."""
    if element.is_float:
        return ~_FORMATS[element.name].infinity
    return 0 if element.kind == "unsigned" else -(1 << (element.bits - 1))


def _best(input: Lanes, mask: Mask, element: Element, largest: bool, groups: int) -> tuple[Lanes, Lanes]:
    """The key of each lane, with inactive ones as if they were the worst; and the best key of each stretch."""
    keys = _keys(input, element, largest)
    if not mask.is_full(element.bytes):
        keys = np.where(mask.lanes(element.bytes), keys, keys.dtype.type(_worst(element, largest)))
    return keys, np.maximum.reduce(keys.reshape(groups, -1), axis=1)


def _extremum(input: Lanes, mask: Mask, element: Element, largest: bool) -> Lanes:
    """The value in lane 0, and in lane 1 the number of its lane as an unsigned integer of the element's width."""
    keys, best = _best(input, mask, element, largest, 1)
    register = _first(_values(best, element, largest), input.dtype)
    unsigned(register)[1] = ((keys == best) & mask.lanes(element.bytes)).argmax()  # 0 where no lane is active
    return register


@semantics(op.VCMax)
def vcmax(input: Lanes, mask: Mask, element: Element) -> Lanes:
    return _extremum(input, mask, element, True)


@semantics(op.VCMin)
def vcmin(input: Lanes, mask: Mask, element: Element) -> Lanes:
    return _extremum(input, mask, element, False)


def _extremum_of_blocks(input: Lanes, mask: Mask, element: Element, largest: bool) -> Lanes:
    _, best = _best(input, mask, element, largest, BLOCKS)
    return _first(_values(best, element, largest), input.dtype)


@semantics(op.VCGMax)
def vcgmax(input: Lanes, mask: Mask, element: Element) -> Lanes:
    return _extremum_of_blocks(input, mask, element, True)


@semantics(op.VCGMin)
def vcgmin(input: Lanes, mask: Mask, element: Element) -> Lanes:
    return _extremum_of_blocks(input, mask, element, False)


def _with_matches(input: Lanes, mask: Mask, element: Element, largest: bool) -> tuple[Lanes, Mask]:
    """The extremum, and every active lane that equals it; the two zeros are equal, and a NaN matches the NaNs."""
    keys, best = _best(input, mask, element, largest, 1)
    value = _values(best, element, largest)
    equal: Lanes = (keys == best) | (input == value)
    return _first(value, input.dtype), of_lanes(equal & mask.lanes(element.bytes), element.bytes)


@semantics(op.VCBMax)
def vcbmax(input: Lanes, mask: Mask, element: Element) -> tuple[Lanes, Mask]:
    return _with_matches(input, mask, element, True)


@semantics(op.VCBMin)
def vcbmin(input: Lanes, mask: Mask, element: Element) -> tuple[Lanes, Mask]:
    return _with_matches(input, mask, element, False)


# --- histograms -----------------------------------------------------------------------------------------------------


def _counts(input: Lanes, mask: Mask, bin: int) -> tuple[Lanes, int]:
    if bin not in (0, 1):
        raise Fault("arithmetic", f"the bin of a histogram is 0 or 1, not {bin}")
    return np.bincount(input[mask.lanes(1)], minlength=256).astype(np.uint16), 128 * bin


@semantics(op.DHistV2)
def dhistv2(acc: Lanes, input: Lanes, mask: Mask, bin: int) -> Lanes:
    counts, base = _counts(input, mask, bin)
    return acc + counts[base : base + 128]


@semantics(op.CHistV2)
def chistv2(acc: Lanes, input: Lanes, mask: Mask, bin: int) -> Lanes:
    counts, base = _counts(input, mask, bin)
    return acc + counts.cumsum(dtype=np.uint16)[base : base + 128]
