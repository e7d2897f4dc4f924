"""exp, log, sqrt and division on f32 and f16 lanes.

exp and log follow `effects.elementary` operation by operation and are rounded once from double. sqrt and division are
the correctly rounded IEEE operations. Callers silence floating-point warnings (see `numbers`).
"""

import numpy as np

from ptosim.effects.elementary import (
    EXP_COEFFICIENTS,
    EXP_HIGHEST,
    EXP_LOWEST,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    LOG_COEFFICIENTS,
    LOG_LOWEST_MANTISSA,
    ROUNDING_SHIFT,
)
from ptosim.reference.numeric.float_lanes import Lanes, canonical, has_nan


def _constant(value: float) -> Lanes:
    return np.array(value, np.float64)  # 0-d: see `numbers`


_EXP_LOWEST, _EXP_HIGHEST, _LOG2_E = _constant(EXP_LOWEST), _constant(EXP_HIGHEST), _constant(LOG2_E)
_LN2_HIGH, _LN2_LOW, _ROUNDING_SHIFT = _constant(LN2_HIGH), _constant(LN2_LOW), _constant(ROUNDING_SHIFT)
_EXP_HORNER = tuple(_constant(c) for c in reversed(EXP_COEFFICIENTS))
_LOG_HORNER = tuple(_constant(c) for c in reversed(LOG_COEFFICIENTS))
_NAN = _constant(np.nan)
_HALF, _ONE, _TWO = _constant(0.5), _constant(1.0), _constant(2.0)
_FRACTION_BITS = np.array(52, np.int64)
_LOWEST_MANTISSA_BITS = _constant(LOG_LOWEST_MANTISSA).view(np.int64)
_ROUNDING_SHIFT_BITS = _ROUNDING_SHIFT.view(np.int64)


def _horner(x: Lanes, coefficients: tuple[Lanes, ...]) -> Lanes:
    result: Lanes = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        result += coefficient
        result *= x
    result += coefficients[-1]
    return result


_SMALLEST_NORMAL = np.array(2.0**-126)
_DROPPED = np.array((1 << 29) - 1, np.int64)
"""The bits of a double that rounding to a normal f32 drops."""
_DOUBT = 256
"""In units of the last place of a double: more than NumPy's exp and the sequence can be apart (some 100)."""
_BEFORE_HALF_WAY = np.array(_DOUBT - (1 << 28), np.int64)


def exp(values: Lanes) -> Lanes:
    """e^x; overflows to +inf and underflows through the subnormals to +0."""
    if values.dtype == np.float32:
        power: Lanes = np.exp(values.astype(np.float64))
        # Rounded to f32, two doubles that are close give the same number unless the middle of two numbers is near.
        if np.minimum.reduce(power) >= _SMALLEST_NORMAL:  # not so for a NaN
            dropped: Lanes = power.view(np.int64) + _BEFORE_HALF_WAY
            dropped &= _DROPPED
            if np.minimum.reduce(dropped) > 2 * _DOUBT:
                return power.astype(np.float32)
    return exp_in_steps(values)


def exp_in_steps(values: Lanes) -> Lanes:
    """The sequence itself, which gives the same bits."""
    x: Lanes = values.astype(np.float64)
    np.maximum(x, _EXP_LOWEST, out=x)
    np.minimum(x, _EXP_HIGHEST, out=x)
    x *= _LOG2_E
    t: Lanes = x + _ROUNDING_SHIFT
    x -= t - _ROUNDING_SHIFT
    power = t.view(np.int64)
    power <<= _FRACTION_BITS
    result = _horner(x, _EXP_HORNER)
    result *= result
    result *= result
    bits = result.view(np.int64)
    bits += power
    rounded: Lanes = result.astype(values.dtype)
    if has_nan(values):
        rounded[values != values] = _NAN
    return rounded


def log(values: Lanes) -> Lanes:
    """The natural logarithm; -inf at either zero, NaN below."""
    x: Lanes = values.astype(np.float64)
    bits = x.view(np.int64)
    k: Lanes = (bits - _LOWEST_MANTISSA_BITS) >> _FRACTION_BITS
    f: Lanes = (bits - (k << _FRACTION_BITS)).view(np.float64) - _ONE
    k += _ROUNDING_SHIFT_BITS
    e: Lanes = k.view(np.float64) - _ROUNDING_SHIFT
    s: Lanes = f / (_TWO + f)
    z: Lanes = s * s
    q = _horner(z, _LOG_HORNER)
    q *= z
    h: Lanes = (_HALF * f) * f
    result: Lanes = (e * _LN2_HIGH - ((h - (s * (h + q) + e * _LN2_LOW)) - f)).astype(values.dtype)
    result[~(values > 0)] = _NAN
    result[values == 0] = -np.inf
    result[values == np.inf] = np.inf
    return result


def sqrt(values: Lanes) -> Lanes:
    """Correctly rounded; sqrt(-0) is -0. NumPy takes the root of f16 in f32, whose second rounding never matters."""
    return canonical(np.sqrt(values))


def divide(a: Lanes, b: Lanes) -> Lanes:
    """Correctly rounded quotient, likewise; x/0 is an infinity, 0/0 a NaN."""
    return canonical(np.divide(a, b))
