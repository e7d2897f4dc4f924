"""The seven rounding modes, applied to a float that becomes an integral value or a float of fewer bits.

R nearest, ties to even; A nearest, ties away from zero; F towards -inf; C towards +inf; Z towards zero; O to odd (cut
off, then set the last bit if anything was lost); H nearest, ties towards +inf. What becomes of overflow, infinities
and NaN is decided in `value_conversion`; formats of 8 and 4 bits are rounded by table in `narrow_formats`.
"""

from collections.abc import Callable

import numpy as np

from ptosim.effects.float_format import BinaryFormat
from ptosim.reference.numeric.float_lanes import Lanes


def _half_away(x: Lanes) -> Lanes:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _half_up(x: Lanes) -> Lanes:
    return np.floor(x + 0.5)


def _to_odd(x: Lanes) -> Lanes:
    cut: Lanes = np.trunc(x)
    lost_from_even: Lanes = (cut != x) & (np.fmod(cut, 2.0) == 0)
    return cut + np.copysign(lost_from_even.astype(np.float64), x)


_TO_INTEGRAL: dict[str, Callable[[Lanes], Lanes]] = {
    "R": np.rint,
    "A": _half_away,
    "F": np.floor,
    "C": np.ceil,
    "Z": np.trunc,
    "O": _to_odd,
    "H": _half_up,
}


def round_integral(values: Lanes, mode: str) -> Lanes:
    """The integral value next to each f16 or f32 value by that mode, as double: exact, and room for the half added by A
    and H. Infinities and NaNs pass; a result of zero keeps the sign in every mode that `vtrc` knows."""
    return _TO_INTEGRAL[mode](values.astype(np.float64))


def round_significand(
    magnitude: Lanes, negative: Lanes, source: BinaryFormat, destination: BinaryFormat, mode: str
) -> Lanes:
    """Round magnitudes, given as the bits of a wider format without their sign, to bits of a narrower format.

    Signed integer lanes of the source's width. The destination's exponent field is unbounded here: bits from
    `destination.infinity` upwards are overflow. `negative` is 1 where the value has a sign bit, else 0.
    """
    exponent: Lanes = np.maximum(magnitude >> source.fraction, 1)
    significand: Lanes = magnitude - ((exponent - 1) << source.fraction)  # with its leading one, unless subnormal
    # Binades above the destination's lowest normal one; below zero means that the result is subnormal and loses more.
    binade: Lanes = exponent - (1 + source.bias - destination.bias)
    base: Lanes = np.maximum(binade, 0)
    lost = np.minimum(source.fraction - destination.fraction + (base - binade), source.fraction + 2)
    return (base << destination.fraction) + _shift_right(significand, lost, negative, mode)


def _shift_right(x: Lanes, count: Lanes, negative: Lanes, mode: str) -> Lanes:
    """x >> count, rounded by mode as the magnitude of a number with that sign."""
    half: Lanes = np.left_shift(1, count - 1)
    match mode:
        case "R":
            x = x + (half - 1 + ((x >> count) & 1))
        case "A":
            x = x + half
        case "H":
            x = x + (half - negative)
        case "F":
            x = x + (half + half - 1) * negative
        case "C":
            x = x + (half + half - 1) * (1 - negative)
        case "O":
            return (x >> count) | ((x & (half + half - 1)) != 0)
        case "Z":
            pass
        case _:
            raise ValueError(f"no rounding mode {mode}")
    return x >> count
