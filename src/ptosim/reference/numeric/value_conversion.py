"""Conversion of values between element types: the arithmetic of `vcvt`, `vtrc` and of every narrowing store.

`conversion` picks, once per instruction, the function from lanes of one type to lanes of the other. Which lanes take
part, and where results go, is the business of the instruction. Packed 4-bit elements are converted value by value:
one code per lane, in the low nibble.
"""

from collections.abc import Callable

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.float_format import BF16, F16, F32, F64, FOUR_BITS, BinaryFormat
from ptosim.reference.numeric import narrow_formats
from ptosim.reference.numeric.float_lanes import Lanes, canonical, dtype_of, f32_to_bf16, f64_to_f32_odd, narrow, widen
from ptosim.reference.numeric.rounding import round_integral, round_significand

Conversion = Callable[[Lanes], Lanes]

_NARROW_FLOATS = {"f16": F16, "bf16": BF16}


def conversion(source: Element, destination: Element, rnd: str = "R", sat: str = "SAT") -> Conversion:
    """Conversion of a value of `source` into one of `destination`, by rounding mode R A F C Z O H and SAT or NOSAT.

    A pair of types that has no such attribute leaves it at its default.
    """
    if source.is_integer and destination.is_integer:
        return _integer_to_integer(source, destination, sat)
    if source.is_integer:
        return _integer_to_float(destination, rnd)
    if destination.is_integer:
        return _float_to_integer(source, destination, rnd, sat)
    if source.kind == "lowprecision":
        return _decode(source, destination)
    if destination.kind == "lowprecision":
        return _encode(source, destination, rnd, sat)
    if destination.bits > source.bits:
        return lambda lanes: canonical(widen(source, lanes).astype(dtype_of(destination), copy=False))
    if source.name == "f64":
        return _double_to_narrower(destination)
    return _float_to_narrower(source, destination, rnd, sat)


def truncation(element: Element, rnd: str) -> Conversion:
    """Rounding to an integral value of the same float type (`vtrc`); a zero result keeps the sign of its operand."""

    def truncate(lanes: Lanes) -> Lanes:
        integral = round_integral(widen(element, lanes), rnd)
        return narrow(element, integral.astype(np.float32))

    return truncate


def _range(element: Element) -> tuple[int, int]:
    if element.kind == "unsigned":
        return 0, (1 << element.bits) - 1
    return -(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1


def _integer_to_integer(source: Element, destination: Element, sat: str) -> Conversion:
    dtype = dtype_of(destination)
    if destination.bits > source.bits or sat == "NOSAT":
        return lambda lanes: lanes.astype(dtype)  # sign- or zero-extends, or keeps the low bits
    (low, high), (lowest, highest) = _range(destination), _range(source)
    least, greatest = (np.array(v, dtype_of(source)) for v in (max(low, lowest), min(high, highest)))
    return lambda lanes: np.minimum(np.maximum(lanes, least), greatest).astype(dtype)


def _float_to_integer(source: Element, destination: Element, rnd: str, sat: str) -> Conversion:
    dtype = dtype_of(destination)
    if destination.bits == 64:
        return lambda lanes: _to_64_bits(round_integral(widen(source, lanes), rnd), destination)
    # Without saturation the hardware goes through a saturating 32-bit integer and keeps its low bits.
    through = dtype if sat == "SAT" else np.dtype(np.int32)
    low, high = _range(destination) if sat == "SAT" else (-(1 << 31), (1 << 31) - 1)
    least, greatest = np.array(low, np.float64), np.array(high, np.float64)

    def convert(lanes: Lanes) -> Lanes:
        integral = round_integral(widen(source, lanes), rnd)
        integral[integral != integral] = 0
        return np.minimum(np.maximum(integral, least), greatest).astype(through).astype(dtype)

    return convert


def _to_64_bits(integral: Lanes, destination: Element) -> Lanes:
    # The highest integer is no double: what is too large is told by comparison and set in integers.
    low, high = _range(destination)
    too_large: Lanes = integral >= float(high)
    integral[too_large | (integral != integral)] = 0
    result: Lanes = np.maximum(integral, float(low)).astype(dtype_of(destination))
    result[too_large] = high
    return result


def _integer_to_float(destination: Element, rnd: str) -> Conversion:
    dtype = dtype_of(destination)
    if destination.name == "bf16":
        return lambda lanes: f32_to_bf16(f64_to_f32_odd(exact_double(lanes)))
    if rnd == "R":
        return lambda lanes: lanes.astype(dtype)
    form = F16 if destination.name == "f16" else F32

    def convert(lanes: Lanes) -> Lanes:
        bits = _rounded_bits(exact_double(lanes).view(np.int64), F64, form, rnd)
        return bits.astype(f"u{dtype.itemsize}").view(dtype)

    return convert


def exact_double(integers: Lanes) -> Lanes:
    """Exact up to 2^53; above, the bits that a double cannot hold are or-ed into the last that it can."""
    # |-2^63| wraps to itself, which read as unsigned is 2^63.
    magnitude = integers if integers.dtype == np.uint64 else np.abs(integers.astype(np.int64)).view(np.uint64)
    low: Lanes = magnitude & np.uint64(0x7FF)
    jammed: Lanes = (magnitude ^ low) | ((low != 0).astype(np.uint64) << np.uint64(11))
    double = np.where(magnitude < np.uint64(1 << 53), magnitude, jammed).astype(np.float64)
    return np.where(integers < 0, -double, double)


def _rounded_bits(bits: Lanes, source: BinaryFormat, destination: BinaryFormat, rnd: str) -> Lanes:
    """Round signed patterns of one format to another, for values that cannot overflow."""
    sign = 8 * bits.itemsize - 1
    negative: Lanes = (bits >> sign) & 1
    rounded = round_significand(bits & ((1 << sign) - 1), negative, source, destination, rnd)
    return rounded | (negative << destination.width)


def _float_to_narrower(source: Element, destination: Element, rnd: str, sat: str) -> Conversion:
    form = _NARROW_FLOATS[destination.name]
    dtype = dtype_of(destination)
    if rnd == "R":
        return _to_nearest_even(source, destination, form, sat)

    def convert(lanes: Lanes) -> Lanes:
        bits = widen(source, lanes).view(np.int32)
        negative: Lanes = (bits >> 31) & 1
        magnitude: Lanes = bits & 0x7FFFFFFF
        rounded = round_significand(magnitude, negative, F32, form, rnd)
        limit = _limit(form, rnd, sat, magnitude, negative)
        result: Lanes = np.minimum(rounded, limit) | (negative << form.width)
        result[magnitude > F32.infinity] = 0 if sat == "SAT" else form.nan
        return result.astype(np.uint16).view(dtype)

    return convert


def _double_to_narrower(destination: Element) -> Conversion:
    """Doubles are scalars only, rounded to nearest even; overflow gives an infinity."""
    if destination.name == "bf16":
        return lambda lanes: f32_to_bf16(f64_to_f32_odd(lanes))
    return lambda lanes: canonical(lanes.astype(dtype_of(destination)))


def _limit(form: BinaryFormat, rnd: str, sat: str, magnitude: Lanes, negative: Lanes) -> Lanes:
    """The largest magnitude each lane may take. A finite value that is rounded towards zero never becomes infinite."""
    largest = form.infinity - 1
    if sat == "SAT":
        return np.array(largest, np.int32)
    towards_zero = {"Z": 1, "O": 1, "F": 1 - negative, "C": negative}.get(rnd, 0)
    return form.infinity - (magnitude < F32.infinity) * towards_zero


def _to_nearest_even(source: Element, destination: Element, form: BinaryFormat, sat: str) -> Conversion:
    if sat == "NOSAT":
        return lambda lanes: narrow(destination, widen(source, lanes))
    # Clamping to the largest finite value before rounding ends where clamping after it would.
    largest = np.array(form.magnitude(form.infinity - 1), np.float32)
    smallest: Lanes = -largest

    def convert(lanes: Lanes) -> Lanes:
        values: Lanes = np.minimum(np.maximum(widen(source, lanes), smallest), largest)
        values[values != values] = 0
        return narrow(destination, values)

    return convert


def _decode(source: Element, destination: Element) -> Conversion:
    table = narrow_formats.DECODING[source.name]
    if destination.name == "bf16":
        table = f32_to_bf16(table)
    return lambda lanes: table[lanes]


def _encode(source: Element, destination: Element, rnd: str, sat: str) -> Conversion:
    saturate = sat == "SAT" or destination.name in FOUR_BITS
    encode = narrow_formats.encoding(destination.name, rnd, saturate)
    return lambda lanes: encode(widen(source, lanes))
