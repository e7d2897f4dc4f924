"""Arithmetic of the fixpipe: scale, relu, conversion, clip. Values in, bits of the destination type out.

A value is held as a double that is rounded to f32 after each step, so that f32 arithmetic is meant; integers that stay
integers are exact. Where values come from and where bits go is left to the stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import Element, element
from ptosim.effects.fixpipe import EXACT, SCALE_MASK, UNSCALED, WITH_OFFSET, mode_family, value_bits
from ptosim.effects.float_format import BF16, F16, NARROW_FORMATS
from ptosim.language.micro.fixpipe_modes import QUANT_MODES
from ptosim.reference.fault import Fault
from ptosim.reference.memory.accumulator import Words
from ptosim.reference.numeric import float_lanes
from ptosim.reference.numeric.value_conversion import conversion

Values = NDArray[np.float64]
Bits = NDArray[Any]


@dataclass(frozen=True)
class QuantisationWords:
    """Quantisation words in their fields: one for all channels, or one each."""

    scale: Values
    shift: Values
    offset: Values
    signed: NDArray[np.bool_] | None
    """The sign of 8-bit results; None leaves it to the destination type."""


def parameters(words: NDArray[np.uint64], vector: bool) -> QuantisationWords:
    offset = (words >> np.uint64(37) & np.uint64(0x1FF)).astype(np.float64)
    return QuantisationWords(
        slopes(words.astype(np.uint32)),
        (words >> np.uint64(32) & np.uint64(15)).astype(np.float64),
        np.where(offset >= 256, offset - 512, offset),
        (words >> np.uint64(46) & np.uint64(1)).astype(np.bool_) if vector else None,
    )


def slopes(words: Words) -> Values:
    """Scales or slopes out of the low words of parameters."""
    return (words & np.uint32(SCALE_MASK)).view(np.float32).astype(np.float64)


@dataclass(frozen=True)
class Steps:
    """The steps between accumulator and destination."""

    source: Element
    dest: Element
    mode: str
    parameters: QuantisationWords | None
    relu: str
    slope: Values | None
    clip: int | None
    """The bits of a 16-bit limit."""
    saturation: str
    """nosat, sat or sat_preserve_nan."""


def _single(values: Values) -> Values:
    return values.astype(np.float32).astype(np.float64)


def _scaled(values: Values, steps: Steps) -> Values:
    family = mode_family(steps.mode)
    if family in UNSCALED:
        return values
    words = steps.parameters
    assert words is not None
    if family == "deqs16":
        return np.floor(values * np.exp2(-(words.shift + 1)))
    if family.startswith("qf16"):
        values = values.astype(np.float16).astype(np.float64)
    scaled = values * words.scale
    if family in WITH_OFFSET:
        scaled = scaled + words.offset
    return scaled if family in EXACT else _single(scaled)


def _rectified(values: Values, steps: Steps) -> Values:
    if steps.relu == "no_relu":
        return values
    if steps.relu == "normal_relu":
        positive = np.where(values > 0, values, 0.0)
        return positive if steps.saturation == "sat" else np.where(np.isnan(values), values, positive)
    assert steps.slope is not None
    product = values * steps.slope
    if steps.source.is_float or mode_family(steps.mode) not in UNSCALED | EXACT:
        product = _single(product)
    return np.where(values >= 0, values, product)


# --- narrowing --------------------------------------------------------------------------------------------------------


def _to_float(values: Values, steps: Steps) -> Bits:
    """To nearest even. An f32 is never changed; dequantised integers always saturate."""
    single = float_lanes.canonical(values.astype(np.float32))
    dest = element("hif8") if steps.dest.name == "hif8x2" else steps.dest
    if dest.name == "f32":
        return single
    saturates = steps.saturation != "nosat" or mode_family(steps.mode) == "deqf16"
    bits = conversion(element("f32"), dest, "R", "SAT" if saturates else "NOSAT")(single)
    if steps.saturation == "sat_preserve_nan":
        unsigned = bits.view(np.uint8 if bits.itemsize == 1 else np.uint16)
        unsigned[np.isnan(single)] = _nan(dest)
    return bits


def _nan(dest: Element) -> int:
    return {"f16": F16.nan, "bf16": BF16.nan}.get(dest.name) or NARROW_FORMATS[dest.name].nan


def _to_integer(values: Values, steps: Steps) -> Bits:
    """To nearest even, clamped to the destination; the sign of an 8-bit result may be that of its channel."""
    bits = value_bits(steps.dest)
    unsigned: Any = steps.dest.kind == "unsigned"
    if bits == 8 and steps.parameters is not None and steps.parameters.signed is not None:
        unsigned = ~steps.parameters.signed
    low = np.where(unsigned, 0, -(1 << (bits - 1)))
    high = np.where(unsigned, (1 << bits) - 1, (1 << (bits - 1)) - 1)
    integral = np.rint(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf))
    return np.clip(integral, low, high).astype(np.int64)


def _clipped(bits: Bits, steps: Steps) -> Bits:
    """min(y, limit) in the destination type; integers are still wide here."""
    if steps.clip is None:
        return bits
    if steps.dest.is_float:
        limit = np.array([steps.clip & 0xFFFF], np.uint16).view(np.float16)
        return float_lanes.minimum(bits, np.broadcast_to(limit, bits.shape))
    limit = steps.clip & 0xFFFF
    if steps.dest.kind != "unsigned" and limit >> 15:
        limit -= 1 << 16
    lowest = 0 if steps.dest.kind == "unsigned" else -(1 << (steps.dest.bits - 1))
    return np.minimum(bits, max(limit, lowest))


_STORED = {4: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32}


def quantised(words: Words, steps: Steps) -> Bits:
    """Accumulators as bits of the destination type, one unsigned integer each; 4-bit ones in the low nibble."""
    width = value_bits(steps.dest)
    if steps.mode == "no_convert" and not QUANT_MODES[steps.mode].joins(steps.source.name, steps.dest.name):
        message = f"an accumulator of {steps.source.name} becomes {steps.dest.name} only with a quantisation mode"
        raise Fault("invalid", message)
    if steps.mode == "no_convert" and steps.relu == "no_relu" and steps.clip is None:
        return words  # a move: even the payload of a NaN stays
    values = words.view(np.float32 if steps.source.is_float else np.int32).astype(np.float64)
    values = _rectified(_scaled(values, steps), steps)
    result = _to_integer(values, steps) if steps.dest.is_integer else _to_float(values, steps)
    result = _clipped(result, steps)
    stored = _STORED[width]
    if not steps.dest.is_integer:
        return result.view(stored)
    return (result & ((1 << width) - 1)).astype(stored)


CODES = {mode.code: name for name, mode in QUANT_MODES.items()}
"""The quantisation modes by their number in the raw word."""
