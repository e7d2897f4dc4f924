"""Conversion of values between element types: the arithmetic of `vcvt`, `vtrc` and of every narrowing store, as IR.

Which lanes take part, and where results go, is the business of the instruction. Packed 4-bit elements are converted
value by value: one code per i8 lane, in the low nibble. Every result has the bits of the reference engine.
"""

from ptosim.effects.element import Element, element
from ptosim.effects.float_format import BF16, F16, FOUR_BITS, BinaryFormat
from ptosim.effects.float_format import F32 as F32_FORMAT
from ptosim.effects.float_format import F64 as F64_FORMAT
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, F64, I1, I16, I32, I64, Value
from ptosim.native.vector import numbers
from ptosim.native.vector.narrow_formats import decode, encode
from ptosim.native.vector.rounding import overflows, round_integral, round_significand

_NARROW_FLOATS = {"f16": F16, "bf16": BF16}


def convert(
    function: FunctionBuilder, source: Element, destination: Element, lanes: Value, rnd: str = "R", sat: str = "SAT"
) -> Value:
    """Lanes of `source` as lanes of `destination`, by rounding mode R A F C Z O H and SAT or NOSAT.

    A pair of types that has no such attribute leaves it at its default.
    """
    if source.is_integer and destination.is_integer:
        return _integer_to_integer(function, source, destination, lanes, sat)
    if source.is_integer:
        return _integer_to_float(function, source, destination, lanes, rnd)
    if destination.is_integer:
        return _float_to_integer(function, source, destination, lanes, rnd, sat)
    if source.kind == "lowprecision":
        value = decode(source.name, lanes)
        return numbers.bits_of(value).lshr(16).trunc(I16) if destination.name == "bf16" else value
    if destination.kind == "lowprecision":
        saturate = sat == "SAT" or destination.name in FOUR_BITS
        return encode(function, destination.name, numbers.widen(source, lanes), rnd, saturate)
    if destination.bits > source.bits:
        return numbers.canonical(numbers.widen(source, lanes).convert("fpext", numbers.lane_type(destination)))
    if source.name == "f64":
        return _double_to_narrower(function, destination, lanes)
    return _float_to_narrower(function, numbers.widen(source, lanes), destination, rnd, sat)


def truncate(function: FunctionBuilder, element: Element, lanes: Value, rnd: str) -> Value:
    """Rounding to an integral value of the same float type (`vtrc`); a zero result keeps the sign of its operand."""
    return numbers.narrow(element, round_integral(function, numbers.widen(element, lanes), rnd))


# --- integers ---------------------------------------------------------------------------------------------------------


def _range(element: Element) -> tuple[int, int]:
    if element.kind == "unsigned":
        return 0, (1 << element.bits) - 1
    return -(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1


def _integer_to_integer(
    function: FunctionBuilder, source: Element, destination: Element, lanes: Value, sat: str
) -> Value:
    scalar = numbers.lane_type(destination)
    if destination.bits > source.bits:
        return lanes.convert("zext" if source.kind == "unsigned" else "sext", scalar)
    if sat == "SAT":
        (low, high), (lowest, highest) = _range(destination), _range(source)
        prefix = "u" if source.kind == "unsigned" else "s"
        lanes = function.intrinsic(f"llvm.{prefix}max", lanes.kind, lanes, lanes.like(max(low, lowest)))
        lanes = function.intrinsic(f"llvm.{prefix}min", lanes.kind, lanes, lanes.like(min(high, highest)))
    return lanes.trunc(scalar)


def _float_to_integer(
    function: FunctionBuilder, source: Element, destination: Element, lanes: Value, rnd: str, sat: str
) -> Value:
    integral = round_integral(function, numbers.widen(source, lanes), rnd)
    if sat == "SAT" or destination.bits == 64:
        return _saturating(integral, destination)
    # Without saturation the hardware goes through a saturating 32-bit integer and keeps its low bits.
    return _saturating(integral, element("si32")).trunc(numbers.lane_type(destination))


def _saturating(integral: Value, destination: Element) -> Value:
    """Clamped to the range of the destination, NaN as 0. (`llvm.fptosi.sat` is the same, several times slower.)"""
    low, high = _range(destination)
    limit = float(high + 1)  # a power of two, hence a float, as `high` need not be
    inside = (integral < limit).select(integral, 0.0)
    inside = (inside < float(low)).select(float(low), inside)
    integers = inside.convert("fptosi" if low else "fptoui", I64 if destination.bits == 64 else I32)
    return (integral >= limit).select(high, integers).trunc(numbers.lane_type(destination))


def _integer_to_float(
    function: FunctionBuilder, source: Element, destination: Element, lanes: Value, rnd: str
) -> Value:
    to_float = "uitofp" if source.kind == "unsigned" else "sitofp"
    if destination.name == "bf16":
        return numbers.f32_to_bf16(numbers.f64_to_f32_odd(function, exact_double(function, source, lanes)))
    if rnd == "R" and destination.name == "f16":
        return numbers.f32_to_f16(lanes.convert(to_float, F32))  # what f32 does not hold exactly overflows f16
    if rnd == "R":
        return lanes.convert(to_float, numbers.lane_type(destination))
    exact = numbers.bits_of(exact_double(function, source, lanes))
    form = F16 if destination.name == "f16" else F32_FORMAT
    magnitude, negative = exact & ((1 << F64_FORMAT.width) - 1), exact.lshr(F64_FORMAT.width)
    rounded = round_significand(function, magnitude, negative, F64_FORMAT, form, rnd) | negative << form.width
    return numbers.lanes_as(rounded.trunc(I16 if form == F16 else I32), numbers.lane_type(destination))


def exact_double(function: FunctionBuilder, source: Element, lanes: Value) -> Value:
    """Exact up to 2^53; above, the bits that a double cannot hold are or-ed into the last that it can."""
    signed = source.kind == "signed"
    if source.bits < 64:
        return lanes.convert("sitofp" if signed else "uitofp", F64)
    magnitude = lanes
    if signed:
        magnitude = function.intrinsic("llvm.abs", lanes.kind, lanes, function.constant(I1, 0), overloads=(lanes.kind,))
    low = magnitude & 0x7FF
    jammed = (magnitude ^ low) | ((low != 0).zext(I64) << 11)
    double = magnitude.compare("ult", 1 << 53).select(magnitude, jammed).convert("uitofp", F64)
    return (lanes < 0).select(-double, double) if signed else double


# --- floats -----------------------------------------------------------------------------------------------------------


def _double_to_narrower(function: FunctionBuilder, destination: Element, value: Value) -> Value:
    """Doubles are scalars only, rounded to nearest even; overflow gives an infinity."""
    if destination.name == "f32":
        return numbers.canonical(value.convert("fptrunc", F32))
    if destination.name == "f16":
        return numbers.f64_to_f16(value)
    return numbers.f32_to_bf16(numbers.f64_to_f32_odd(function, value))


def _float_to_narrower(function: FunctionBuilder, value: Value, destination: Element, rnd: str, sat: str) -> Value:
    form = _NARROW_FLOATS[destination.name]
    if rnd == "R":
        return numbers.narrow(destination, _saturated(value, form) if sat == "SAT" else value)
    bits = numbers.bits_of(value)
    magnitude, negative = bits & ((1 << F32_FORMAT.width) - 1), bits.lshr(F32_FORMAT.width)
    rounded = round_significand(function, magnitude, negative, F32_FORMAT, form, rnd)
    largest = form.infinity - 1
    result = function.intrinsic("llvm.umin", rounded.kind, rounded, rounded.like(largest))
    if sat == "NOSAT":
        beyond = overflows(rounded, largest, magnitude, negative, rnd)
        result = beyond.select(form.infinity, result)
    result = result | negative << form.width
    result = (magnitude > F32_FORMAT.infinity).select(0 if sat == "SAT" else form.nan, result)
    return numbers.lanes_as(result.trunc(I16), numbers.lane_type(destination))


def _saturated(value: Value, form: BinaryFormat) -> Value:
    """f32 lanes clamped to what a narrower format holds, NaN as 0; rounding to nearest does not leave that range."""
    largest = form.magnitude(form.infinity - 1)
    value = (value > largest).select(largest, value)
    value = (value < -largest).select(-largest, value)
    return (value != value).select(0.0, value)
