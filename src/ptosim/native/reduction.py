"""Reductions. Inactive lanes do not take part; lanes that a reduction does not write are zero.

Float sums are a halving tree with inactive lanes as +0. In extrema a NaN wins, and +0 is larger than -0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ptosim.effects.element import BLOCKS, Element
from ptosim.effects.float_format import BINARY_FORMATS, BinaryFormat
from ptosim.effects.record import Static
from ptosim.language.micro import reduction as op
from ptosim.native.build.lowering import define, given, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I16, I32, Type, Value
from ptosim.native.vector import avx512
from ptosim.native.vector.lanes import at_the_front, chosen, each_lane, first_lane, half_of, prefix_sums
from ptosim.native.vector.numbers import bits_of, lane_type, lanes_as, tree_sum, widen
from ptosim.native.vector.registers import Mask, any_lane, extract, insert, shuffle, splat, tree, zeroed

# --- sums -------------------------------------------------------------------------------------------------------------


@lowering(op.VCAdd, bind=given(groups=1))
@lowering(op.VCGAdd, bind=given(groups=BLOCKS))
@lowering(op.VCPAdd, bind=lambda static: {"groups": static.elements["input"].lanes // 2})
def summed(
    f: FunctionBuilder, input: Value, mask: Mask, element: Element, result_element: Element, groups: int
) -> Value:
    """The sum of each of `groups` equal stretches of the register, in the type of the result, at its front. (`vcpadd`
    adds neighbouring pairs, and is no prefix sum.)"""
    lanes = zeroed(input, mask)
    if element.is_float:
        return at_the_front(f, tree_sum(f, element, lanes, groups))
    wide = lanes.convert("zext" if element.kind == "unsigned" else "sext", lane_type(result_element))
    return at_the_front(f, tree(f, wide, lambda a, b: a + b, groups))


# --- extrema ----------------------------------------------------------------------------------------------------------

_INFINITY, _NAN = float("inf"), float("nan")


@dataclass(frozen=True)
class _Order:
    """Lanes as keys: integers of their width, of which the largest is wanted.

    A float's bits become ordered integers when all but the sign of negative ones is complemented (so -0 is below +0),
    which also undoes itself. NaN, whatever its bits, has the highest key, which is no number's.
    """

    element: Element
    largest: bool

    @property
    def form(self) -> BinaryFormat:
        return BINARY_FORMATS[self.element.name]

    @property
    def highest(self) -> int:
        return (1 << (self.element.bits - 1)) - 1

    @property
    def worst(self) -> int:
        """An extremum over nothing is -inf or the least value, of smallest ones +inf or the greatest."""
        if self.element.is_float:
            return ~self.form.infinity
        return 0 if self.element.kind == "unsigned" else ~self.highest

    def larger(self, f: FunctionBuilder, a: Value, b: Value) -> Value:
        name = "llvm.umax" if self.element.kind == "unsigned" else "llvm.smax"
        return f.intrinsic(name, a.kind, a, b)

    def _ordered(self, bits: Value) -> Value:
        return bits ^ (bits >> (self.element.bits - 1)).lshr(1)

    def keys(self, lanes: Value) -> Value:
        bits = bits_of(lanes)
        if not self.element.is_float:
            return bits if self.largest else ~bits
        keys = self._ordered(bits)
        is_nan = (bits & self.highest) > self.form.infinity
        return is_nan.select(self.highest, keys if self.largest else ~keys)

    def values(self, keys: Value) -> Value:
        """The lanes, as integers, that have these keys."""
        bits = keys if self.largest else ~keys
        if not self.element.is_float:
            return bits
        return (keys == self.highest).select(self.form.nan, self._ordered(bits))


def _best(f: FunctionBuilder, input: Value, active: Value, order: _Order, groups: int) -> tuple[Value, Value]:
    """The key of each lane, with inactive ones as if they were the worst; and the best key of each stretch."""
    keys = order.keys(input)
    keys = chosen(active, keys, keys.like(order.worst))
    return keys, tree(f, keys, lambda a, b: order.larger(f, a, b), groups)


def _best_of_all(f: FunctionBuilder, input: Value, active: Value, order: _Order) -> tuple[Value, Value]:
    """The best lane of the register, as an integer, and which ones have its key."""
    if order.element.name == "f32" and f.module.avx512:
        return _best_float(f, chosen(active, input, input.like(-_INFINITY if order.largest else _INFINITY)), order)
    keys, best = _best(f, input, active, order, 1)
    return order.values(best), keys == splat(f, extract(best, 0), keys.kind.lanes)


def _best_float(f: FunctionBuilder, lanes: Value, order: _Order) -> tuple[Value, Value]:
    half = lanes.kind.lanes // 2
    low, high = shuffle(f, range(half), lanes), shuffle(f, range(half, 2 * half), lanes)
    any_nan = any_lane(low.compare("uno", high))
    best = bits_of(any_nan.select(_NAN, avx512.extremum_of_all(f, lanes, order.largest)))
    same = bits_of(lanes) == splat(f, best, lanes.kind.lanes)
    return insert(f.poison(best.kind.vector(1)), 0, best), same | (lanes != lanes)


def _extremum(f: FunctionBuilder, input: Value, active: Value, order: _Order) -> Value:
    """The value in lane 0, and in lane 1 the number of its lane as an unsigned integer of the element's width."""
    value, matches = _best_of_all(f, input, active, order)
    place = first_lane(f, matches & active)
    return insert(at_the_front(f, value), 1, place.trunc(value.kind.element))


def _extremum_of_blocks(f: FunctionBuilder, input: Value, active: Value, order: _Order) -> Value:
    _, best = _best(f, input, active, order, BLOCKS)
    return at_the_front(f, order.values(best))


def _extremum_with_matches(f: FunctionBuilder, input: Value, active: Value, order: _Order) -> tuple[Value, Mask]:
    """The extremum, and every active lane that equals it; the two zeros are equal, and a NaN matches the NaNs."""
    value, equal = _best_of_all(f, input, active, order)
    if order.element.is_float:
        lane = lanes_as(value, lane_type(order.element))
        every = shuffle(f, [0] * input.kind.lanes, lane)
        equal = equal | (widen(order.element, input) == widen(order.element, every))
    return at_the_front(f, value), Mask(f, equal & active, order.element.bytes)


def _bind(largest: bool) -> Callable[[Static], dict[str, Any]]:
    return lambda static: {"order": _Order(static.elements["input"], largest)}


for _word, _largest in (("max", True), ("min", False)):
    define(f"pto.vc{_word}", _extremum, _bind(_largest))
    define(f"pto.vcg{_word}", _extremum_of_blocks, _bind(_largest))
    define(f"pto.vcb{_word}", _extremum_with_matches, _bind(_largest))


# --- histograms -------------------------------------------------------------------------------------------------------

VALUES = 256


def _counts(f: FunctionBuilder, input: Value, mask: Mask) -> Value:
    """The number of active lanes that have each value of a byte."""
    counters = f.scratch(VALUES * 4)
    counters.fill(0, VALUES * 4)

    def count(lane: Value, flag: Value, _: list[Value]) -> Sequence[Value]:
        counter = counters.at(lane.zext(Type("i64")) * 4)
        counter.store(counter.load(I32, 4) + flag.zext(I32), 4)
        return ()

    each_lane(f, input, mask.lanes(1), [], count)
    return counters.load(I32.vector(VALUES), 64).trunc(I16)


@lowering(op.DHistV2)
def dhistv2(f: FunctionBuilder, acc: Value, input: Value, mask: Mask, bin: Value) -> Value:
    return acc + half_of(f, _counts(f, input, mask), bin)


@lowering(op.CHistV2)
def chistv2(f: FunctionBuilder, acc: Value, input: Value, mask: Mask, bin: Value) -> Value:
    return acc + half_of(f, prefix_sums(f, _counts(f, input, mask)), bin)
