"""Powers: floats by logarithm and exponential in f32 with the special cases of IEEE, integers by squaring."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i16, i32
from xdsl.ir import SSAValue

from ptosim.tiles.vector.formula import Compute, Formula, in_halves
from ptosim.tiles.vector.registers import Registers

_INFINITY = 0x7F800000
_NAN = 0x7FC00000


def power(v: Registers) -> Compute:
    """a to the b. Short floats are computed in f32, bytes in 16 bits."""
    formula: Formula = _float_power if v.kind.is_float else _integer_power
    return (in_halves(formula) if v.kind.bytes == (2 if v.kind.is_float else 1) else formula)(v)


# --- integers ---------------------------------------------------------------------------------------------------------


def _integer_power(v: Registers) -> Compute:
    """Squares and products modulo 2^W, by the bits of the exponent; one below zero gives 0, but not for 1 and -1."""
    one, zero, shift = v.every(1), v.every(0), v.build.constant(1, i16)
    signed = not v.kind.name.startswith("u")

    def compute(base: SSAValue, exponent: SSAValue, mask: SSAValue) -> SSAValue:
        def bit(_: SSAValue, found: SSAValue, square: SSAValue, rest: SSAValue) -> Sequence[SSAValue]:
            odd = v.compare("ne", v.op("vand", rest, one, mask), 0, mask)
            found = v.select(odd, v.op("vmul", found, square, mask), found)
            return found, v.op("vmul", square, square, mask), v.op("vshrs", rest, shift, mask)

        found = v.build.loop(v.kind.bits, 1, bit, one, base, exponent)[0]
        if not signed:
            return found
        below = v.compare("lt", exponent, 0, mask)  # (-1)^b and 1^b depend on the lowest bit alone, whatever the sign
        return v.select(v.compare("ne", v.op("vabs", base, mask), 1, below), zero, found)

    return compute


# --- floats -----------------------------------------------------------------------------------------------------------


def _float_power(v: Registers) -> Compute:
    """exp(b * ln|a|), then the special cases, the last of which wins."""
    words = v.of(i32)
    one, infinity, nan, two, half = v.every(1), words.pattern(_INFINITY), v.pattern(_NAN), v.scalar(2), v.scalar(0.5)
    infinite = v.cast(infinity)

    def compute(a: SSAValue, b: SSAValue, mask: SSAValue) -> SSAValue:
        magnitude = v.op("vabs", a, mask)
        power = v.op("vexp", v.op("vmul", b, v.op("vln", magnitude, mask), mask), mask)
        floor_half = v.op("vtrc", v.op("vmuls", b, half, mask), mask, rnd="F")
        odd = v.compare("eq", v.op("vsub", b, v.op("vmuls", floor_half, two, mask), mask), one, mask)
        whole = v.compare("eq", v.op("vtrc", b, mask, rnd="F"), b, mask)

        negative = v.compare("lt", a, 0, mask)
        signed = v.select(odd, v.op("vneg", power, mask), power)
        power = v.select(negative, v.select(whole, signed, nan), power)
        unit = v.compare("eq", magnitude, one, mask)
        power = v.select(v.compare("eq", v.op("vabs", b, mask), infinite, unit), one, power)

        turned = v.cast(words.op("vxor", words.cast(a), infinity, mask))  # 0 becomes inf, and inf 0
        extreme = v.select(v.compare("lt", b, 0, mask), turned, a)
        extreme = v.select(odd, extreme, v.op("vabs", extreme, mask))
        power = v.select(v.compare("eq", magnitude, 0, mask), extreme, power)
        power = v.select(v.compare("eq", magnitude, infinite, mask), extreme, power)

        power = v.select(v.compare("ne", a, a, mask), nan, v.select(v.compare("ne", b, b, mask), nan, power))
        power = v.select(v.compare("eq", b, 0, mask), one, power)
        return v.select(v.compare("eq", a, one, mask), one, power)

    return compute
