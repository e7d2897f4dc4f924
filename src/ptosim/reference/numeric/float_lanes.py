"""Floats as lanes: how each element type looks in NumPy, canonical NaNs, 16-bit floats, arithmetic with one rounding.

Functions work on whole lane arrays, of at least one dimension, and return fresh ones. f32 and f16 lanes are NumPy
floats; bf16 and every narrower format are raw bits in unsigned lanes. Callers run under `np.errstate(all="ignore")`,
entered once by the engine and never here. Rounding modes and conversions are in `rounding` and `value_conversion`, exp
and log in `elementary`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import Element

Lanes = NDArray[Any]

# Constants are 0-d arrays: a ufunc takes them without the conversion that a Python number or a NumPy scalar costs.
_CANONICAL_NAN = {
    np.dtype(np.float16): np.array(0x7E00, np.uint16).view(np.float16),
    np.dtype(np.float32): np.array(0x7FC00000, np.uint32).view(np.float32),
    np.dtype(np.float64): np.array(0x7FF8000000000000, np.uint64).view(np.float64),
}
_BF16_NAN = np.array(0x7FC0, np.uint16)
_ONE = np.array(1, np.uint32)
_SIXTEEN = np.array(16, np.uint32)
_BF16_HALF = np.array(0x7FFF, np.uint32)

_DTYPES: dict[str, type[np.generic]] = {
    "f16": np.float16,
    "bf16": np.uint16,
    "f32": np.float32,
    "f64": np.float64,
    "hif8x2": np.uint16,
    "bf16x2": np.uint32,
    "i1": np.bool_,
}
SIGNED: dict[int, np.dtype[Any]] = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}
UNSIGNED: dict[int, np.dtype[Any]] = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
"""Integers by their bytes."""

LANE_TYPES = tuple(dict.fromkeys((*map(np.dtype, _DTYPES.values()), *SIGNED.values(), *UNSIGNED.values())))
"""Every NumPy type that lanes have."""


def dtype_of(element: Element) -> np.dtype[Any]:
    """The NumPy type in which lanes of that element are computed; formats that NumPy lacks are their raw bits."""
    return np.dtype(_DTYPES.get(element.name) or (SIGNED if element.kind == "signed" else UNSIGNED)[element.bytes])


def has_nan(values: Lanes) -> bool:
    """Whether any float is a NaN: a sum of squares is one only then. Looking first is cheaper than replacing."""
    flat = values if values.ndim == 1 else values.reshape(-1)
    squares = flat.dot(flat)
    return bool(squares != squares)


def canonical(values: Lanes) -> Lanes:
    """Replace every NaN by the canonical quiet one, in place: the last step of whatever computes a float."""
    if has_nan(values):
        values[values != values] = _CANONICAL_NAN[values.dtype]
    return values


def bf16_to_f32(bits: Lanes) -> Lanes:
    """Exact, NaN payloads included; a conversion instruction canonicalises afterwards."""
    wide: Lanes = bits.astype(np.uint32)
    wide <<= _SIXTEEN
    return wide.view(np.float32)


def f32_to_bf16(values: Lanes) -> Lanes:
    """Round to nearest even; NaN becomes 0x7FC0 (the rounding alone could carry a NaN into an infinity)."""
    bits = values.view(np.uint32)
    rounded: Lanes = bits >> _SIXTEEN
    rounded &= _ONE
    rounded += _BF16_HALF
    rounded += bits
    rounded >>= _SIXTEEN
    result: Lanes = rounded.astype(np.uint16)
    result[values != values] = _BF16_NAN
    return result


def widen(element: Element, lanes: Lanes) -> Lanes:
    """Lanes of a float element as floats to compute with: 16-bit ones become f32, in which + - * / sqrt of two of them,
    rounded once more by `narrow`, is the correctly rounded result (24 >= 2 * 11 + 2)."""
    if element.name == "bf16":
        return bf16_to_f32(lanes)
    return lanes.astype(np.float32) if element.name == "f16" else lanes


def narrow(element: Element, values: Lanes) -> Lanes:
    """A computed float back in its element type: round to nearest even, canonical NaN. May reuse `values`."""
    if element.name == "bf16":
        return f32_to_bf16(values)
    return canonical(values.astype(np.float16) if element.name == "f16" else values)


def maximum(a: Lanes, b: Lanes) -> Lanes:
    """The larger float; a NaN on either side wins, and +0 is larger than -0."""
    return _extremum(np.maximum(a, b), a, b, np.bitwise_and)


def minimum(a: Lanes, b: Lanes) -> Lanes:
    """The smaller float; a NaN on either side wins, and -0 is smaller than +0."""
    return _extremum(np.minimum(a, b), a, b, np.bitwise_or)


def _extremum(result: Lanes, a: Lanes, b: Lanes, join: np.ufunc) -> Lanes:
    # Equal operands have equal bits, unless they are the two zeros: joining the sign bits picks the right one.
    if np.count_nonzero(result) == result.size:
        return canonical(result)
    unsigned = UNSIGNED[result.itemsize]
    np.copyto(result.view(unsigned), join(a.view(unsigned), b.view(unsigned)), where=a == b)
    return canonical(result)


def fused_multiply_add(element: Element, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """a*b + c with a single rounding, for f32, f16 and bf16 lanes.

    The product of two such values is exact in double. The sum is rounded to odd there, which leaves the one rounding to
    the element type as if it had seen the exact sum.
    """
    if element.name == "bf16":
        a, b, c = bf16_to_f32(a), bf16_to_f32(b), bf16_to_f32(c)
    total = _sum_to_odd(a.astype(np.float64) * b, c.astype(np.float64))
    if element.name == "bf16":
        return f32_to_bf16(f64_to_f32_odd(total))
    return canonical(total.astype(np.float16 if element.name == "f16" else np.float32))


_ZERO = np.array(0.0)


def _sum_to_odd(p: Lanes, c: Lanes) -> Lanes:
    """p + c in double, rounded to odd: Knuth's TwoSum gives the exact error, whose sign says which neighbour is odd."""
    s: Lanes = p + c
    b: Lanes = s - p
    error: Lanes = (p - (s - b)) + (c - b)
    _step_to_odd(s.view(np.int64), error.view(np.int64), error)
    return s


def f64_to_f32_odd(values: Lanes) -> Lanes:
    """Round double to f32, to odd: a following rounding to 16 bits is then as good as the only one. A NaN stays one."""
    rounded: Lanes = values.astype(np.float32)
    error: Lanes = values - rounded
    _step_to_odd(rounded.view(np.int32), error.astype(np.float32).view(np.int32), error)
    return rounded


def _step_to_odd(bits: Lanes, error_bits: Lanes, error: Lanes) -> None:
    """Turn the nearest float into the odd neighbour of the exact value, in place. Only inexact even results step: away
    from zero where error and result agree in sign. The error of an infinite or NaN operand is NaN: nothing steps."""
    step: Lanes = bits ^ error_bits
    step >>= 8 * bits.itemsize - 1
    step |= 1
    step *= np.abs(error) > _ZERO
    step *= ~bits & 1
    bits += step


def tree_sum(values: Lanes) -> Lanes:
    """Sum along the last axis (a power of two) by halving: x[i] + x[i + n/2]. f16 is summed in f32 and rounded once.

    Inactive lanes enter as +0, which the caller has put there. A group per row sums groups.
    """
    x = values.astype(np.float32) if values.dtype == np.float16 else values
    n: int = x.shape[-1]
    while n > 1:
        n //= 2
        x = x[..., :n] + x[..., n:]
    return canonical(x[..., 0].astype(values.dtype))


def round_tf32(values: Lanes, ties: str) -> Lanes:
    """f32 rounded to the 10 fraction bits of tf32; infinities and NaNs pass unchanged."""
    bits = values.view(np.uint32)
    half: Any = np.uint32(0x1000) if ties == "away" else ((bits >> np.uint32(13)) & _ONE) + np.uint32(0xFFF)
    rounded: Lanes = (bits + half) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), rounded, bits).view(np.float32)


def sort_key(scores: Lanes) -> Lanes:
    """f32 or f16 scores as unsigned integers of the same order: -NaN lowest, +NaN highest, the two zeros equal."""
    unsigned = np.uint16 if scores.dtype == np.float16 else np.uint32
    sign = unsigned(1 << (8 * scores.itemsize - 1))
    bits = np.where(scores == 0, unsigned(0), scores.view(unsigned))
    return np.where(bits & sign, ~bits, bits ^ sign)
