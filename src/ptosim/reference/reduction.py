"""Reductions. Inactive lanes do not take part; lanes that a reduction does not write are zero.

Float sums are a halving tree with inactive lanes as +0. In extrema a NaN wins, and +0 is larger than -0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptosim.effects.element import BLOCKS, VECTOR_BYTES, Element
from ptosim.effects.float_format import BINARY_FORMATS, F32
from ptosim.effects.record import Static
from ptosim.language.micro import reduction as op
from ptosim.reference.numeric import float_lanes
from ptosim.reference.numeric.lanes import Lanes, signed, unsigned
from ptosim.reference.numeric.mask import Mask, of_lanes
from ptosim.reference.semantics import define, semantics


def _first(values: Lanes, dtype: Any) -> Lanes:
    """A register whose first lanes are these values, and the rest zero."""
    register = np.zeros(VECTOR_BYTES // dtype.itemsize, dtype)
    register[: len(values)] = values
    return register


# --- sums -------------------------------------------------------------------------------------------------------------


def _summed(input: Lanes, mask: Mask, element: Element, result: Any, groups: int) -> Lanes:
    """The sum of each of `groups` equal stretches of the register, in the type of the result."""
    lanes = mask.zero_inactive(input).reshape(groups, -1)
    if element.is_float:
        return float_lanes.tree_sum(lanes)
    return np.add.reduce(lanes, axis=1, dtype=result)


@semantics(op.VCAdd, bind=lambda static: {"dtype": float_lanes.dtype_of(static.elements["result"])})
def vcadd(input: Lanes, mask: Mask, element: Element, dtype: Any) -> Lanes:
    return _first(_summed(input, mask, element, dtype, 1), dtype)


@semantics(op.VCGAdd)
def vcgadd(input: Lanes, mask: Mask, element: Element) -> Lanes:
    return _first(_summed(input, mask, element, input.dtype, BLOCKS), input.dtype)


@semantics(op.VCPAdd)
def vcpadd(input: Lanes, mask: Mask, element: Element) -> Lanes:
    """Neighbouring pairs, not a prefix sum."""
    return _first(_summed(input, mask, element, input.dtype, len(input) // 2), input.dtype)


# --- extrema ----------------------------------------------------------------------------------------------------------


class _Order:
    """Lanes as keys: integers of their width, of which the largest is wanted.

    A float's bits become ordered integers when all but the sign of negative ones is complemented (so -0 is below +0),
    which also undoes itself. NaN, whatever its bits, has the highest key, which is no number's.
    """

    def __init__(self, element: Element, largest: bool) -> None:
        self.largest = largest
        self.is_float = element.is_float
        self.dtype = float_lanes.dtype_of(element)
        whole = np.dtype(f"i{element.bytes}") if element.is_float else self.dtype
        limits, form = np.iinfo(whole), BINARY_FORMATS.get(element.name, F32)

        def constant(number: int) -> Lanes:
            return np.array(number, whole)  # 0-d: see `numbers`

        # An extremum over nothing is -inf or the least value, of smallest ones +inf or the greatest.
        self.worst = constant(~form.infinity if element.is_float else limits.min)
        if element.is_float:
            self.sign_shift, self.highest = constant(element.bits - 1), constant(limits.max)
            self.infinity, self.nan = constant(form.infinity), constant(form.nan)

    def _ordered(self, bits: Lanes) -> Lanes:
        return bits ^ ((bits >> self.sign_shift) & self.highest)

    def keys(self, lanes: Lanes) -> Lanes:
        if not self.is_float:
            return lanes if self.largest else ~lanes
        bits = signed(lanes)
        keys = self._ordered(bits)
        keys = keys if self.largest else ~keys
        keys[(bits & self.highest) > self.infinity] = self.highest
        return keys

    def values(self, keys: Lanes) -> Lanes:
        """The lanes that have these keys."""
        bits = keys if self.largest else ~keys
        if self.is_float:
            bits = self._ordered(bits)
            bits[keys == self.highest] = self.nan
        return bits.view(self.dtype)


def _best(input: Lanes, mask: Mask, order: _Order, groups: int) -> tuple[Lanes, Lanes]:
    """The key of each lane, with inactive ones as if they were the worst; and the best key of each stretch."""
    keys = order.keys(input)
    if not mask.is_full(input.itemsize):
        keys = np.where(mask.lanes(input.itemsize), keys, order.worst)
    return keys, np.maximum.reduce(keys.reshape(groups, -1), axis=1)


def _extremum(input: Lanes, mask: Mask, order: _Order) -> Lanes:
    """The value in lane 0, and in lane 1 the number of its lane as an unsigned integer of the element's width."""
    if input.dtype.kind == "f" and mask.is_full(input.itemsize):
        lane = int(input.argmax() if order.largest else input.argmin())  # a NaN comes before all numbers
        value = input[lane]
        if value == value and value != 0:  # the two zeros are in no order here
            register = np.zeros(len(input), input.dtype)
            register[0] = value
            unsigned(register)[1] = lane
            return register
    keys, best = _best(input, mask, order, 1)
    register = _first(order.values(best), input.dtype)
    unsigned(register)[1] = ((keys == best) & mask.lanes(input.itemsize)).argmax()  # 0 where no lane is active
    return register


def _extremum_of_blocks(input: Lanes, mask: Mask, order: _Order) -> Lanes:
    _, best = _best(input, mask, order, BLOCKS)
    return _first(order.values(best), input.dtype)


def _extremum_with_matches(input: Lanes, mask: Mask, order: _Order) -> tuple[Lanes, Mask]:
    """The extremum, and every active lane that equals it; the two zeros are equal, and a NaN matches the NaNs."""
    keys, best = _best(input, mask, order, 1)
    value = order.values(best)
    equal: Lanes = (keys == best) | (input == value)
    width = input.itemsize
    return _first(value, input.dtype), of_lanes(equal & mask.lanes(width), width)


def _bind(largest: bool) -> Callable[[Static], dict[str, Any]]:
    return lambda static: {"order": _Order(static.elements["input"], largest)}


for _word, _largest in (("max", True), ("min", False)):
    define(f"pto.vc{_word}", _extremum, _bind(_largest))
    define(f"pto.vcg{_word}", _extremum_of_blocks, _bind(_largest))
    define(f"pto.vcb{_word}", _extremum_with_matches, _bind(_largest))


# --- histograms -------------------------------------------------------------------------------------------------------


def _counts(input: Lanes, mask: Mask, bin: int) -> tuple[Lanes, int]:
    return np.bincount(input[mask.lanes(1)], minlength=256).astype(np.uint16), 128 * bin


@semantics(op.DHistV2)
def dhistv2(acc: Lanes, input: Lanes, mask: Mask, bin: int) -> Lanes:
    counts, base = _counts(input, mask, bin)
    return acc + counts[base : base + 128]


@semantics(op.CHistV2)
def chistv2(acc: Lanes, input: Lanes, mask: Mask, bin: int) -> Lanes:
    counts, base = _counts(input, mask, bin)
    return acc + counts.cumsum(dtype=np.uint16)[base : base + 128]
