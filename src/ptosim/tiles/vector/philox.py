"""Random words by Philox4x32: a counter of 128 bits in every lane, scrambled by rounds of multiplications.

A step takes 64 counters that follow each other and gives 256 columns, four words for each counter. The next step goes
on with the counter 64 further; the next row with one that depends on how many columns the last step had to fill.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_vector_fill import TRandom
from ptosim.tiles.lowering import lowering
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import mask_type, offset, tail
from ptosim.tiles.vector.registers import Registers, as_element, with_sign

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LANES = 64
_STEP = 4 * _LANES
"""Columns of a step."""
_UI32: Attribute = with_sign(i32, "unsigned")

Words = Sequence[SSAValue]
"""Four registers: the words of a counter in every lane, the lowest first."""


@lowering(TRandom)
def trandom(
    build: Builder,
    key0: SSAValue,
    key1: SSAValue,
    counter0: SSAValue,
    counter1: SSAValue,
    counter2: SSAValue,
    counter3: SSAValue,
    dst: Tile,
    rounds: int,
) -> None:
    key = [as_element(build, word, i32) for word in (key0, key1)]
    counter = [as_element(build, word, i32) for word in (counter0, counter1, counter2, counter3)]
    build.scope(lambda: _fill(_Philox(build, key, rounds), counter, dst))


class _Philox:
    """The rounds with their keys, which stand before the loops."""

    def __init__(self, build: Builder, key: Sequence[SSAValue], rounds: int) -> None:
        self.build, self.v = build, Registers(build, _UI32)
        self.all = self.v.everywhere()
        self.multipliers = [self.v.pattern(word) for word in _MULTIPLIERS]
        self.keys = [
            [self._key(word, turn, step) for word, step in zip(key, _KEY_STEPS, strict=True)] for turn in range(rounds)
        ]

    def _key(self, word: SSAValue, turn: int, step: int) -> SSAValue:
        more = self.build.pattern(turn * step & 0xFFFFFFFF, i32)
        return self.v.every(self.build.op("arith.addi", lhs=word, rhs=more, result=i32) if turn else word)

    def plus(self, counter: Words, low: SSAValue, high: SSAValue) -> Words:
        """The sum of counters and numbers of 128 bits whose upper words are all the same."""
        v, type_, carries = self.v, self.v.type, mask_type(4)
        word, carry = self.build.vaddc(lhs=counter[0], rhs=low, mask=self.all, result=type_, carry=carries)
        words = [word]
        for upper in counter[1:]:
            given = {"lhs": upper, "rhs": high, "carry_in": carry, "mask": self.all}
            word, carry = self.build.vaddcs(**given, result=v.type, carry=carries)
            words.append(word)
        return words

    def words(self, counter: Words) -> Words:
        """Scramble counters; gives 256 words in the order of columns."""
        v = self.v
        c0, c1, c2, c3 = counter
        for k0, k1 in self.keys:
            (low0, high0), (low1, high1) = (
                self.build.vmull(lhs=factor, rhs=word, mask=self.all, low=v.type, high=v.type)
                for factor, word in zip(self.multipliers, (c0, c2), strict=True)
            )
            c0, c2 = self._mixed(high1, c1, k0), self._mixed(high0, c3, k1)
            c1, c3 = low1, low0
        even, odd = self._interleaved(c0, c2), self._interleaved(c1, c3)
        return [word for pair in zip(even, odd, strict=True) for word in self._interleaved(*pair)]

    def _mixed(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        return self.v.op("vxor", self.v.op("vxor", a, b, self.all), c, self.all)

    def _interleaved(self, a: SSAValue, b: SSAValue) -> Words:
        return self.build.vintlv(lhs=a, rhs=b, low=self.v.type, high=self.v.type)


def _fill(philox: _Philox, start: Sequence[SSAValue], dst: Tile) -> None:
    build, v = philox.build, philox.v
    lane, zero, step = v.op("vci", build.constant(0, i32), result=v.type), v.every(0), v.every(_LANES)
    counter = philox.plus([v.every(word) for word in start], lane, zero)
    last = build.plus(build.remainder(build.minus(dst.cols, 1), _LANES), 1 - _LANES)
    low, high = _number(build, v, last)

    def row(number: SSAValue, *counter: SSAValue) -> Words:
        def columns(at: SSAValue, rest: SSAValue, *counter: SSAValue) -> Words:
            for part, word in enumerate(philox.words(counter)):
                mask, rest = tail(build, rest, 4)
                there = offset(build, dst, number, build.plus(at, part * _LANES))
                build.vsts(value=word, dest=dst.pointer(build), offset=there, mask=mask)
            return [rest, *philox.plus(counter, step, zero)]

        _, *after = build.loop(dst.cols, _STEP, columns, build.cast(dst.cols, i32), *counter)
        return philox.plus(after, low, high) if known(last) != 0 else after

    build.loop(build.times(dst.rows, build.least(dst.cols, 1)), 1, row, *counter)


def _number(build: Builder, v: Registers, value: Number) -> tuple[SSAValue, SSAValue]:
    """A number that is negative or zero as the lowest word and the upper words of 128 bits."""
    if (fixed := known(value)) is not None:
        return v.pattern(fixed & 0xFFFFFFFF), v.pattern(-(fixed < 0) & 0xFFFFFFFF)
    low = build.cast(value, i32)
    return v.every(low), v.every(build.op("arith.shrsi", lhs=low, rhs=build.constant(31, i32), result=i32))
