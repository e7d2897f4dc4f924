"""Floats of 8 and 4 bits: decoding and encoding in integer lanes, without tables.

Codes are i8 lanes (a 4-bit code in the low nibble), values are f32 lanes. The formats are in `effects.float_format`.
"""

import struct

from ptosim.effects import float_format
from ptosim.effects.float_format import F32 as F32_FORMAT
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, I8, I32, Value
from ptosim.native.vector.numbers import bits_of, lanes_as
from ptosim.native.vector.rounding import overflows, round_significand, shift_right

_NAN = float("nan")


# --- decoding ---------------------------------------------------------------------------------------------------------


def decode(name: str, codes: Value) -> Value:
    """f32 values of i8 codes; NaN codes give the canonical NaN."""
    code = codes.zext(I32)
    if name == "f8E8M0":
        return _decode_power(code)
    form = float_format.NARROW_FORMATS[name]
    magnitude = code & (form.sign - 1)
    if form.layout is None:
        value = _decode_hif8(magnitude)
        value = _signed(code, form, value)
        return (code == form.nan).select(_NAN, value)
    value = _signed(code, form, _decode_minifloat(magnitude, form.layout))
    if form.infinity == form.largest:
        return value
    value = (magnitude > form.largest).select(_NAN, value)
    if form.infinity == form.nan:
        return value
    infinity = _signed(code, form, value.like(float("inf")))
    return (magnitude == form.infinity).select(infinity, value)


def _decode_power(code: Value) -> Value:
    bits = (code == 0).select(1 << (F32_FORMAT.fraction - 1), code << F32_FORMAT.fraction)  # 2^-127 is subnormal
    return (code == 255).select(_NAN, lanes_as(bits, F32))


def _decode_minifloat(magnitude: Value, layout: float_format.BinaryFormat) -> Value:
    # In the place of f32's exponent and fraction the value is only wrong by a power of two, for subnormals as well.
    wrong = lanes_as(magnitude << (F32_FORMAT.fraction - layout.fraction), F32)
    return wrong * 2.0 ** (F32_FORMAT.bias - layout.bias)


def _decode_hif8(magnitude: Value) -> Value:
    power = lanes_as((magnitude + (F32_FORMAT.bias - float_format.HIF8_POWER_BIAS)) << F32_FORMAT.fraction, F32)
    value = (magnitude == 0).select(0.0, power)
    for lowest, width, fraction in reversed(float_format.HIF8_PREFIXES):
        value = (magnitude >= lowest).select(_decode_prefix(magnitude, width, fraction), value)
    return (magnitude == float_format.NARROW_FORMATS["hif8"].infinity).select(float("inf"), value)


def _decode_prefix(magnitude: Value, width: int, fraction: int) -> Value:
    exponent = magnitude.like(0)
    if width:
        leading = 1 << (width - 1)
        size = (magnitude.lshr(fraction) & (leading - 1)) | leading
        exponent = ((magnitude & (leading << fraction)) == 0).select(size, 0 - size)
    significand = (magnitude & ((1 << fraction) - 1)) << (F32_FORMAT.fraction - fraction)
    return lanes_as(((exponent + F32_FORMAT.bias) << F32_FORMAT.fraction) | significand, F32)


def _signed(code: Value, form: float_format.NarrowFormat, value: Value) -> Value:
    sign = (code & form.sign) << (F32_FORMAT.width + 1 - form.sign.bit_length())
    return lanes_as(bits_of(value) | sign, F32)


# --- encoding ---------------------------------------------------------------------------------------------------------


def encode(function: FunctionBuilder, name: str, value: Value, mode: str, saturate: bool) -> Value:
    """i8 codes of f32 values. Saturating: overflow and infinity give the largest finite value, NaN +0."""
    form = float_format.NARROW_FORMATS[name]
    bits = bits_of(value)
    magnitude = bits & ((1 << F32_FORMAT.width) - 1)
    negative = bits.lshr(F32_FORMAT.width)
    sign = negative << (form.sign.bit_length() - 1)
    if form.layout is None:
        code = _encode_hif8(magnitude, negative, mode)
        code = (code == 0).select(code, code | sign)
        beyond = magnitude >= _HIF8_OVERFLOW_BITS
    else:
        rounded = round_significand(function, magnitude, negative, F32_FORMAT, form.layout, mode)
        code = function.intrinsic("llvm.umin", rounded.kind, rounded, rounded.like(form.largest)) | sign
        beyond = overflows(rounded, form.largest, magnitude, negative, mode)
    infinity = form.largest if saturate else form.infinity
    code = beyond.select(bits.like(infinity) if infinity == form.nan else sign | infinity, code)
    return (magnitude > F32_FORMAT.infinity).select(0 if saturate else form.nan, code).trunc(I8)


_HIF8_OVERFLOW_BITS = int.from_bytes(struct.pack("<f", float_format.HIF8_OVERFLOW), "little")
_HIF8_SMALLEST = F32_FORMAT.bias - float_format.HIF8_POWER_BIAS + 1  # the f32 exponent field of the smallest value


def _encode_hif8(magnitude: Value, negative: Value, mode: str) -> Value:
    """Codes without sign, of magnitudes below overflow, rounded to nearest (R A H)."""
    # Rounding the f32 bits in place: a carry runs into the exponent, where the next value is a power of two.
    fraction = magnitude.like(0)
    for _, width, bits in float_format.HIF8_PREFIXES:
        fraction = (_exponent_size(magnitude) < (1 << width)).select(bits, fraction)
    lost = F32_FORMAT.fraction - fraction
    rounded = shift_right(magnitude, lost, negative, mode) << lost
    code = _hif8_code(rounded)
    # Below the smallest value there is only zero; their middle is a power of two.
    smallest, middle = _HIF8_SMALLEST << F32_FORMAT.fraction, (_HIF8_SMALLEST - 1) << F32_FORMAT.fraction
    up = magnitude > {"R": magnitude.like(middle), "A": magnitude.like(middle - 1), "H": negative + (middle - 1)}[mode]
    return (magnitude < smallest).select(up.zext(I32), code)


def _exponent_size(magnitude: Value) -> Value:
    exponent = magnitude.lshr(F32_FORMAT.fraction) - F32_FORMAT.bias
    return (exponent < 0).select(0 - exponent, exponent)


def _hif8_code(rounded: Value) -> Value:
    """The code of a value of the grid, given as f32 bits."""
    exponent = rounded.lshr(F32_FORMAT.fraction)
    size, below_one = _exponent_size(rounded), (exponent < F32_FORMAT.bias).zext(I32)
    code = exponent - (_HIF8_SMALLEST - 1)
    for lowest, width, fraction in float_format.HIF8_PREFIXES:
        row = (rounded.lshr(F32_FORMAT.fraction - fraction) & ((1 << fraction) - 1)) | lowest
        if width:
            leading = 1 << (width - 1)
            row = row | ((size & (leading - 1)) << fraction) | (below_one << (width - 1 + fraction))
        code = (size < (1 << width)).select(row, code)
    return code
