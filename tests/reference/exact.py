"""Exact arithmetic to test numbers against: Python integers and fractions, or doubles where they are exact.

Nothing here uses the program under test, nor the way it computes: rounding is told from the two neighbours alone.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
MODES = "RAFCZOH"


def round_by(values: Array, mode: str) -> Array:
    """Doubles rounded to integral doubles. Values have at most 24 significant bits, so x - floor(x) shows a tie."""
    below = np.floor(values)
    above = below + (below != values)
    part = values - below
    odd_below = np.mod(below, 2) == 1
    tie = part == 0.5
    up = {
        "R": (part > 0.5) | (tie & odd_below),
        "A": (part > 0.5) | (tie & (values > 0)),
        "H": part >= 0.5,
        "F": np.zeros(values.shape, bool),
        "C": np.ones(values.shape, bool),
        "Z": values < 0,
        "O": ~odd_below,
    }[mode]
    return np.where(up, above, below)


def quantum(values: Array, fraction: int, lowest_exponent: int) -> Array:
    """The spacing of the grid of a float format at each value; 1 for what is not finite."""
    exponent = np.frexp(np.where(np.isfinite(values), values, 1.0))[1] - 1
    return np.ldexp(1.0, np.maximum(exponent, lowest_exponent) - fraction)


def round_to_grid(values: Array, mode: str, fraction: int, lowest_exponent: int) -> Array:
    """Doubles rounded to a float format with unbounded exponent upwards; the sign of zero is kept."""
    q = quantum(values, fraction, lowest_exponent)
    finite = np.where(np.isfinite(values), values, 0.0)
    return np.where(np.isfinite(values), np.copysign(round_by(finite / q, mode) * q, values), values)


def nearest_even(exact: Fraction, fraction: int, lowest_exponent: int, highest_exponent: int) -> float:
    """The float of a format next to an exact value, ties to even; overflow gives an infinity."""
    if exact == 0:
        return 0.0
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    q = Fraction(2) ** (max(exponent, lowest_exponent) - fraction)
    result = round(magnitude / q) * q  # Python rounds a half to even
    sign = -1.0 if exact < 0 else 1.0
    return sign * (float(result) if result < Fraction(2) ** (highest_exponent + 1) else float("inf"))


# fraction bits, exponent of the lowest normal number, exponent of the highest
FORMATS = {"f32": (23, -126, 127), "f16": (10, -14, 15), "bf16": (7, -126, 127)}


def all_f16() -> Array:
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def all_bf16() -> Array:
    return np.arange(1 << 16, dtype=np.uint16)


def bf16_values(bits: Array) -> Array:
    """The meaning of bf16 bits, by their definition."""
    bits = bits.astype(np.int64)
    exponent, rest = (bits >> 7) & 255, bits & 127
    finite = np.ldexp(np.where(exponent > 0, 128 + rest, rest).astype(np.float64), np.maximum(exponent, 1) - 134)
    special = np.where(rest > 0, np.nan, np.inf)
    return np.copysign(np.where(exponent == 255, special, finite), np.where(bits >> 15, -1.0, 1.0))


@np.errstate(all="ignore")
def some_f32(seed: int, count: int = 200_000) -> Array:
    """Random bit patterns, numbers of ordinary size, ties of every 16-bit format, and the edges."""
    random = np.random.default_rng(seed)
    patterns = random.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)
    ordinary = np.concatenate([random.normal(0, 10.0**k, count // 20) for k in range(-8, 12)]).astype(np.float32)
    f16_ties = ((all_f16()[1:].astype(np.float64) + all_f16()[:-1].astype(np.float64)) / 2).astype(np.float32)
    bf16_ties = ((np.arange(1 << 16, dtype=np.uint32) << 16) | 0x8000).view(np.float32)
    halves = (np.arange(-70_000, 70_000) / 2).astype(np.float32)
    around = np.array([65504, 65520, 65536, 448, 464, 480, 57344, 61440, 32768, 40960, 49152, 2**31, 2**63, 2**-23])
    edges = np.concatenate([around, 1 / around, [0.0, np.inf, np.nan, 3.4028235e38, 1e-45, 1.1754944e-38]])
    edges = np.concatenate([edges, -edges]).astype(np.float32)
    near = [np.nextafter(edges, np.float32(s), dtype=np.float32) for s in (-np.inf, np.inf)]
    return np.concatenate([patterns, ordinary, f16_ties, bf16_ties, halves, edges, *near])
