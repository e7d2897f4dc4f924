"""e^x of a register of f32 lanes with AVX-512: f32 operations and a table in registers, with the bits of the sequence.

The sequence of `effects.elementary` computes in double, half as many lanes at once, with operations that have to follow
each other. Where it is rounded to f32, any other way to e^x gives the same bits unless the middle of two f32 is near:

    x = (n + j/32) ln 2 + r,  |r| <= ln 2 / 64        n an integer, j in 0 .. 31
    e^x = 2^n * 2^(j/32) * e^r = 2^n * (sum + rest)   sum, rest: f32, rest the smaller by 2^-13 and more

rest has an error below `DOUBT` of itself. If sum + rest(1 + DOUBT) and sum + rest(1 - DOUBT) round to one number, that
is the result. If not in some lane, as in one of seventy registers, the sequence decides for the register; and so it
does where a result is no normal number: subnormal, and rounded a second time by the product with 2^n, infinite or NaN.
It is zero soon enough that lanes of -inf, with which kernels mask, remain quick. A test compares the two ways on every
f32 there is.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal

from ptosim.effects.elementary import EXP_LOWEST, LOG2_E
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import Value
from ptosim.native.vector import avx512
from ptosim.native.vector.numbers import bits_of
from ptosim.native.vector.registers import any_lane

DOUBT = 2.0**-21

STEPS = 32

_ROUNDING_SHIFT = 1.5 * 2.0**23 / STEPS
"""Adding it rounds a small f32 to a multiple of 1/STEPS, which then stands in the low bits of the sum."""


def _f32(number: Decimal) -> float:
    return struct.unpack("<f", struct.pack("<f", number))[0]


_LN2 = Decimal(2).ln()
_LN2_HIGH = _f32(_LN2)
_LN2_LOW = _f32(_LN2 - Decimal(_LN2_HIGH))
_POWERS = tuple(Decimal(2) ** (Decimal(step) / STEPS) for step in range(STEPS))
_POWERS_HIGH = tuple(map(_f32, _POWERS))
_POWERS_LOW = tuple(_f32(power / Decimal(high) - 1) for power, high in zip(_POWERS, _POWERS_HIGH, strict=True))
"""2^(j/32) = high * (1 + low)"""


def quick_exp(f: FunctionBuilder, x: Value, sequence: Callable[[], Value]) -> Value:
    """e^x; `sequence` gives the same, slowly."""
    result, doubtful = _estimate(f, x)
    (chosen,) = f.choose(any_lane(doubtful), lambda: [sequence()], lambda: [result])
    return chosen


def _estimate(f: FunctionBuilder, x: Value) -> tuple[Value, Value]:
    """e^x, and for each lane whether that may be wrong."""
    x = (x < EXP_LOWEST).select(EXP_LOWEST, x)  # a NaN stays one
    shifted = _fused(f, x, x.like(LOG2_E), x.like(_ROUNDING_SHIFT))
    n = shifted - _ROUNDING_SHIFT  # n + j/32
    r = _fused(f, n, x.like(-_LN2_HIGH), x)  # exact
    power = avx512.look_up(f, _POWERS_HIGH, bits_of(shifted))
    low = _fused(f, n, x.like(-_LN2_LOW), avx512.look_up(f, _POWERS_LOW, bits_of(shifted)))
    series = _fused(f, _fused(f, r, x.like(1 / 24), x.like(1 / 6)), r, x.like(0.5)) * (r * r)  # e^r - 1 - r
    total = _fused(f, power, r, power)
    lost = _fused(f, power, r, power - total)  # by rounding the total
    rest = _fused(f, total, low, _fused(f, power, series, lost))
    upper, lower = (_fused(f, rest, x.like(1 + doubt), total) for doubt in (DOUBT, -DOUBT))
    result = avx512.scale(f, upper, n)
    return result, (upper != lower) | avx512.is_odd(f, result)


def _fused(f: FunctionBuilder, a: Value, b: Value, c: Value) -> Value:
    return f.intrinsic("llvm.fma", a.kind, a, b, c)
