"""Literals of the scalar types: from the number that was written to the bits of the value, and back to text.

Bits are what counts: a NaN keeps its payload, a decimal fraction is rounded once, to nearest even.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ptosim.effects.element import Element

_FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
"""Bits of exponent and of mantissa."""


def float_bits(value: float, element: Element) -> int:
    """The bit pattern of the number of this type that is nearest to `value`."""
    exponent_bits, mantissa_bits = _FORMATS[element.name]
    sign = int(math.copysign(1, value) < 0) << (element.bits - 1)
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    if math.isnan(value):
        return sign | infinity | 1 << (mantissa_bits - 1)
    if math.isinf(value):
        return sign | infinity
    least = 2 - (1 << (exponent_bits - 1))  # the exponent of the smallest normal number
    exponent = max(math.frexp(value)[1] - 1, least) if value else least
    steps = round(abs(Fraction(value)) / Fraction(2) ** (exponent - mantissa_bits))  # round() is half to even
    # The implicit leading one of a normal number carries into the exponent field; so does rounding up.
    return sign | min((exponent - least << mantissa_bits) + steps, infinity)


def float_of(bits: int, element: Element) -> float:
    """The number that a bit pattern stands for; exact, because double holds every one of these types."""
    exponent_bits, mantissa_bits = _FORMATS[element.name]
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    sign = -1.0 if bits >> (element.bits - 1) else 1.0
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    least = 2 - (1 << (exponent_bits - 1))
    if exponent:
        mantissa |= 1 << mantissa_bits
    return sign * math.ldexp(mantissa, max(exponent, 1) - 1 + least - mantissa_bits)


def integer_bits(value: int, element: Element) -> int | None:
    """The bit pattern of an integer, or None when it does not fit, taken as signed or as unsigned."""
    if not -(1 << (element.bits - 1)) <= value < 1 << element.bits:
        return None
    return value & ((1 << element.bits) - 1)


def integer_of(bits: int, element: Element) -> int:
    """The signed integer that a bit pattern stands for; `true` is 1."""
    return bits - (1 << element.bits) if element.bits > 1 and bits >> (element.bits - 1) else bits


def float_text(bits: int, element: Element) -> str:
    """A literal that reads back as these bits: the shortest decimal, else the bit pattern."""
    value = float_of(bits, element)
    if not math.isfinite(value):
        return f"0x{bits:0{element.bits // 4}X}"
    candidates = (f"{value:.{digits}e}" for digits in range(1, 18))  # 17 digits are enough for double
    return next(text for text in candidates if float_bits(float(text), element) == bits)
