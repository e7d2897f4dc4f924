"""The power of two that a group of an MX tile is multiplied by, and its exponent, from the greatest magnitude.

The exponent is a byte with bias 127 (E8M0). All formulas work on the bits of f32: E is the exponent field of the
greatest magnitude, and the scale has the field 254 - exp.

    ocp    exp = max(E, m) - m, where m is the exponent of the largest number of the result: 8 (fp8) or 2 (fp4)
    nv     exp = the field of max / 448, one more where that is no power of two

A NaN of f32 gives exp 255 and a scale that is NaN. Groups of f16 and bf16 with a NaN have no rule of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import f32, i16, i32
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder
from ptosim.tiles.vector.registers import Registers, with_sign

_FIELD = 23
"""The first bit of the exponent of f32."""
_TOP = 254
_NAN = 0x7FC00000
_LEAST_SCALE = 0x00400000
"""2 to the power of -127, for a group with an infinity in the nv formula."""

Scale = Callable[[SSAValue], tuple[SSAValue, SSAValue]]
"""From magnitudes, f32, the exponents, ui32, and the scales, f32."""


@dataclass(frozen=True)
class _Bits:
    """Registers of f32 and their bits, with all lanes."""

    build: Builder

    @property
    def floats(self) -> Registers:
        return Registers(self.build, f32)

    @property
    def words(self) -> Registers:
        return Registers(self.build, with_sign(i32, "unsigned"))

    def shift(self, name: str, x: SSAValue, count: int, mask: SSAValue) -> SSAValue:
        return self.words.op(name, x, self.build.constant(count, i16), mask)


def ocp(build: Builder, most: int, nan: bool) -> Scale:
    """The exponent of the group less that of the largest number of the result, but not below 0."""
    b = _Bits(build)
    w, all_ = b.words, b.words.everywhere()
    top, none, not_a_number = w.every(_TOP), w.every(255), w.pattern(_NAN)
    least, less = build.constant(most, i32), build.constant(-most, i32)

    def scale(magnitude: SSAValue) -> tuple[SSAValue, SSAValue]:
        field = b.shift("vshrs", w.cast(magnitude), _FIELD, all_)
        exp = w.op("vadds", w.op("vmaxs", field, least, all_), less, all_)
        bits = b.shift("vshls", w.op("vsub", top, exp, all_), _FIELD, all_)
        if nan:
            broken = b.floats.compare("ne", magnitude, magnitude, all_)
            exp, bits = w.select(broken, none, exp), w.select(broken, not_a_number, bits)
        return exp, b.floats.cast(bits)

    return scale


def nv(build: Builder) -> Scale:
    """The smallest power of two that brings the group within the largest fp8 number, 448."""
    b = _Bits(build)
    w, all_ = b.words, b.words.everywhere()
    top, infinite, none = w.every(_TOP), w.every(_TOP), w.every(255)
    not_a_number, least_scale, one = w.pattern(_NAN), w.pattern(_LEAST_SCALE), build.constant(1, i32)
    share, fraction = build.constant(1 / 448, f32), w.pattern((1 << _FIELD) - 1)

    def scale(magnitude: SSAValue) -> tuple[SSAValue, SSAValue]:
        part = b.floats.op("vmuls", magnitude, share, all_)
        bits = w.cast(part)
        field, rest = b.shift("vshrs", bits, _FIELD, all_), w.op("vand", bits, fraction, all_)
        small = w.compare("gt", rest, 1 << _FIELD - 1, w.compare("eq", field, 0, all_))
        normal = w.compare("lt", field, _TOP, w.compare("gt", field, 0, all_))
        exp = field
        for inexact in (small, w.compare("ne", rest, 0, normal)):
            exp = w.select(inexact, w.op("vadds", field, one, all_), exp)
        found = b.shift("vshls", w.op("vsub", top, exp, all_), _FIELD, all_)
        endless = w.compare("eq", field, 255, all_)
        exp, found = w.select(endless, infinite, exp), w.select(endless, least_scale, found)
        broken = b.floats.compare("ne", magnitude, magnitude, all_)
        return w.select(broken, none, exp), b.floats.cast(w.select(broken, not_a_number, found))

    return scale
