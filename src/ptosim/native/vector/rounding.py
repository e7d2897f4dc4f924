"""The seven rounding modes (R A F C Z O H) as IR: to integral values, and to a significand of fewer bits.

The modes are those of the reference engine's module of this name. Overflow, infinities and NaN are left to
`value_conversion` and `narrow_formats`.
"""

from ptosim.effects.float_format import F32, BinaryFormat
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import Value

_INTRINSICS = {"R": "llvm.roundeven", "A": "llvm.round", "F": "llvm.floor", "C": "llvm.ceil", "Z": "llvm.trunc"}


def round_integral(function: FunctionBuilder, value: Value, mode: str) -> Value:
    """The integral value next to each f32 or f64 value. Infinities pass; a zero of R A F C Z keeps its sign."""
    if mode in _INTRINSICS:
        return function.intrinsic(_INTRINSICS[mode], value.kind, value)
    if mode == "H":
        below = function.intrinsic("llvm.floor", value.kind, value)
        return (value - below >= 0.5).select(below + 1.0, below)
    cut = function.intrinsic("llvm.trunc", value.kind, value)
    half = cut * 0.5
    even = function.intrinsic("llvm.trunc", value.kind, half) == half
    one = function.intrinsic("llvm.copysign", value.kind, value.like(1.0), value)
    return (even & (cut != value)).select(cut + one, cut)


def round_significand(
    function: FunctionBuilder,
    magnitude: Value,
    negative: Value,
    source: BinaryFormat,
    destination: BinaryFormat,
    mode: str,
) -> Value:
    """Round magnitudes, given as the bits of a wider format without their sign, to bits of a narrower format.

    Integer lanes of the source's width. The destination's exponent field is unbounded here: bits from its infinity
    upwards are overflow. `negative` is 1 where the value has a sign bit, else 0.
    """
    kind = magnitude.kind
    exponent = function.intrinsic("llvm.umax", kind, magnitude.lshr(source.fraction), magnitude.like(1))
    significand = magnitude - ((exponent - 1) << source.fraction)  # with its leading one, unless subnormal
    # Binades above the destination's lowest normal one; below zero means that the result is subnormal and loses more.
    binade = exponent - (1 + source.bias - destination.bias)
    base = function.intrinsic("llvm.smax", kind, binade, magnitude.like(0))
    lost = base - binade + (source.fraction - destination.fraction)
    lost = function.intrinsic("llvm.umin", kind, lost, magnitude.like(source.fraction + 2))
    return (base << destination.fraction) + shift_right(significand, lost, negative, mode)


def shift_right(x: Value, count: Value, negative: Value, mode: str) -> Value:
    """x >> count, rounded by mode as the magnitude of a number with that sign."""
    half = 1 << (count - 1)
    match mode:
        case "R":
            x = x + (half - 1 + (x.lshr(count) & 1))
        case "A":
            x = x + half
        case "H":
            x = x + (half - negative)
        case "F":
            x = x + (half + half - 1) * negative
        case "C":
            x = x + (half + half - 1) * (1 - negative)
        case "O":
            return x.lshr(count) | ((x & (half + half - 1)) != 0).zext(x.kind.element)
        case "Z":
            pass
        case _:
            raise ValueError(f"no rounding mode {mode}")
    return x.lshr(count)


def overflows(rounded: Value, largest: int, magnitude: Value, negative: Value, mode: str) -> Value:
    """The rounded magnitudes of an f32 that count as infinite: a finite one that is rounded towards zero never does."""
    infinite = magnitude >= F32.infinity
    match mode:
        case "Z" | "O":
            return infinite
        case "F":
            return (rounded > largest) & (infinite | (negative != 0))
        case "C":
            return (rounded > largest) & (infinite | (negative == 0))
        case _:
            return rounded > largest
