"""Arithmetic of the fixpipe as IR: scale, relu, conversion, clip. Accumulators in, bits of the destination type out.

Lanes are those of COLUMNS channels at a time. A value is held as a double that is rounded to f32 after each step, as
in the reference engine; integers that stay integers are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptosim.effects.element import Element, element
from ptosim.effects.fixpipe import EXACT, SCALE_MASK, UNSCALED, WITH_OFFSET, mode_family, value_bits
from ptosim.effects.float_format import BF16, F16, NARROW_FORMATS
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, F64, I8, I16, I32, I64, Type, Value
from ptosim.native.vector.numbers import bits_of, canonical, f64_to_f16, lanes_as
from ptosim.native.vector.registers import splat
from ptosim.native.vector.rounding import round_integral
from ptosim.native.vector.value_conversion import convert

COLUMNS = 8


Lanes = Callable[[Value], Value]
"""The parameters of COLUMNS channels from a column on."""


@dataclass(frozen=True, eq=False)
class Saturation:
    """The treatment of infinities and NaN; conditions, which may be constants."""

    keep: Value
    preserve_nan: Value


@dataclass(frozen=True, eq=False)
class Relu:
    """Conditions: which of the three it is. None of them: no relu."""

    normal: Value
    sloped: Value


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps between accumulator and destination."""

    source: Element
    dest: Element
    mode: str
    relu: Relu
    clips: Value
    """Whether there is a limit,"""
    clip: Value
    """and its 16 bits."""
    saturation: Saturation
    parameters: Lanes | None = None
    """The quantisation words of some channels, where the mode has any,"""
    slope: Lanes | None = None
    """and the slopes of a sloped relu."""

    @property
    def family(self) -> str:
        return mode_family(self.mode)

    @property
    def has_words(self) -> bool:
        """Whether it takes a word for each channel."""
        return self.mode.endswith("_vec")

    @property
    def is_move(self) -> bool:
        """Whether nothing is computed as far as one can tell."""
        return self.mode == "no_convert" and all(
            condition.literal == 0 for condition in (self.relu.normal, self.relu.sloped, self.clips)
        )


def slopes(words: Value) -> Value:
    """Scales or slopes, i32 lanes, as doubles."""
    return lanes_as(words & SCALE_MASK, F32).convert("fpext", F64)


def _single(values: Value) -> Value:
    return values.convert("fptrunc", F32).convert("fpext", F64)


def _lanes(f: FunctionBuilder, condition: Value) -> Value:
    return splat(f, condition, COLUMNS)


def _scaled(f: FunctionBuilder, words: Value, steps: Steps, parameters: Value | None) -> Value:
    """The first step. `words` are accumulators, `parameters` i64 lanes."""
    values = lanes_as(words, F32).convert("fpext", F64) if steps.source.is_float else words.convert("sitofp", F64)
    if steps.family in UNSCALED:
        return values
    assert parameters is not None
    if steps.family == "deqs16":
        shift = (parameters.lshr(32) & 15).trunc(I32) + 1
        return (words >> shift).convert("sitofp", F64)
    if steps.family.startswith("qf16"):
        values = f64_to_f16(values).convert("fpext", F32).convert("fpext", F64)
    scaled = values * slopes(parameters.trunc(I32))
    if steps.family in WITH_OFFSET:
        offset = (parameters << (64 - 46)) >> (64 - 9)  # bits 45:37, with their sign
        scaled = scaled + offset.trunc(I32).convert("sitofp", F64)
    return scaled if steps.family in EXACT else _single(scaled)


def _rectified(f: FunctionBuilder, values: Value, steps: Steps, slope: Value | None) -> Value:
    """`slope` are doubles."""
    kept = _lanes(f, steps.saturation.keep | steps.saturation.preserve_nan)
    positive = (values > 0.0).select(values, 0.0)
    positive = (kept & (values != values)).select(values, positive)
    rectified = _lanes(f, steps.relu.normal).select(positive, values)
    if slope is None or steps.relu.sloped.literal == 0:
        return rectified
    product = values * slope
    if steps.source.is_float or steps.family not in UNSCALED | EXACT:
        product = _single(product)
    leaking = (values >= 0.0).select(values, product)
    return _lanes(f, steps.relu.sloped).select(leaking, rectified)


# --- narrowing --------------------------------------------------------------------------------------------------------


def _to_float(f: FunctionBuilder, values: Value, steps: Steps) -> Value:
    """To nearest even. An f32 is never changed; dequantised integers always saturate."""
    single = canonical(values.convert("fptrunc", F32))
    dest = element("hif8") if steps.dest.name == "hif8x2" else steps.dest
    if dest.name == "f32":
        return bits_of(single)
    kind = element("f32")
    saturated = bits_of(convert(f, kind, dest, single, "R", "SAT"))
    nan = {"f16": F16.nan, "bf16": BF16.nan}.get(dest.name) or NARROW_FORMATS[dest.name].nan
    kept_nan = _lanes(f, steps.saturation.preserve_nan) & (single != single)
    saturated = kept_nan.select(saturated.like(nan), saturated)
    if steps.family == "deqf16":
        return saturated
    plain = bits_of(convert(f, kind, dest, single, "R", "NOSAT"))
    return _lanes(f, steps.saturation.keep).select(plain, saturated)


def _to_integer(f: FunctionBuilder, values: Value, steps: Steps, parameters: Value | None) -> Value:
    """To nearest even, clamped to the destination, i64 lanes; the sign of 8 bits may be that of the channel."""
    bits = value_bits(steps.dest)
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    least, most = values.like(float(low)), values.like(float(high))
    if bits == 8 and parameters is not None and steps.has_words:
        signed = (parameters.lshr(46) & 1) != 0
        least, most = signed.select(least, 0.0), signed.select(most, 255.0)
    elif steps.dest.kind == "unsigned":
        least, most = values.like(0.0), values.like(float((1 << bits) - 1))
    integral = round_integral(f, values, "R")
    integral = (integral > most).select(most, integral)
    integral = (integral < least).select(least, integral)
    integral = (values != values).select(0.0, integral)
    return integral.convert("fptosi", I64)


def _clipped(f: FunctionBuilder, bits: Value, steps: Steps) -> Value:
    """min(y, limit) in the destination type; integers are still wide here."""
    if steps.clips.literal == 0:
        return bits
    if steps.dest.name == "f16":
        half = Type("half")
        limit = splat(f, lanes_as(steps.clip.trunc(I16), half), COLUMNS).convert("fpext", F32)
        value = lanes_as(bits, half).convert("fpext", F32)
        least = canonical(f.intrinsic("llvm.minimum", value.kind, value, limit))
        clipped = bits_of(least.convert("fptrunc", half))
    else:
        unsigned = steps.dest.kind == "unsigned"
        limit = steps.clip & 0xFFFF if unsigned else steps.clip.trunc(I16).sext(I64)
        lowest = 0 if unsigned else -(1 << (steps.dest.bits - 1))
        limit = splat(f, (limit < lowest).select(limit.like(lowest), limit), COLUMNS)
        clipped = (bits > limit).select(limit, bits)
    return _lanes(f, steps.clips).select(clipped, bits)


def stored_type(dest: Element) -> Type:
    """The type of one value until it is laid out; a 4-bit one takes a byte."""
    return {4: I8, 8: I8, 16: I16, 32: I32}[value_bits(dest)]


def quantised(f: FunctionBuilder, words: Value, steps: Steps, parameters: Value | None, slope: Value | None) -> Value:
    """Accumulators, i32 lanes, as bits of the destination type."""
    if steps.is_move:
        return words
    values = _rectified(f, _scaled(f, words, steps, parameters), steps, slope)
    if steps.dest.is_integer:
        result = _clipped(f, _to_integer(f, values, steps, parameters), steps)
        result = result.trunc(stored_type(steps.dest))
        result = result & 15 if value_bits(steps.dest) == 4 else result
    else:
        result = _clipped(f, _to_float(f, values, steps), steps)
    if steps.mode != "no_convert":
        return result
    # A move keeps even the payload of a NaN.
    computes = steps.relu.normal | steps.relu.sloped | steps.clips
    return _lanes(f, computes).select(result, words)
