"""Formulas of tile operations on registers. A formula is a function of two steps:

    def reciprocal(v: Registers) -> OfOne:
        one = v.every(1)                              # once, before the loops
        return lambda x, mask: v.op("vdiv", one, x, mask)

The first step makes what is the same for every register, the second takes registers and the mask of a place. Where an
element type is too narrow for an instruction, even and odd lanes are computed apart in lanes twice as wide.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, SSAValue

from ptosim.tiles.vector.registers import Registers, with_sign

Compute = Callable[..., SSAValue]
"""A register from registers (or scalars) and a mask, which comes last."""
Formula = Callable[[Registers], Compute]
OfOne = Callable[[SSAValue, SSAValue], SSAValue]
OfTwo = Callable[[SSAValue, SSAValue, SSAValue], SSAValue]
OfThree = Callable[[SSAValue, SSAValue, SSAValue, SSAValue], SSAValue]

# --- ways to make formulas --------------------------------------------------------------------------------------------


def instruction(name: str, **words: str) -> Formula:
    """A formula that is one instruction."""

    def made(v: Registers) -> Compute:
        def compute(*operands: SSAValue) -> SSAValue:
            return v.op(name, *operands, **words)

        return compute

    return made


def twice_as_wide(v: Registers) -> Attribute:
    """Lanes that hold two elements: floats are computed in f32, integers keep their sign."""
    if v.kind.is_float:
        return f32
    return with_sign(v.element, "unsigned" if v.kind.name.startswith("u") else "signless", 2 * v.kind.bits)


def in_halves(formula: Formula, rnd: str = "R", sat: str = "NOSAT") -> Formula:
    """A formula in lanes of twice the width. Of integers the low half is kept, floats are rounded as told."""

    def made(v: Registers) -> Compute:
        wide = v.of(twice_as_wide(v))
        compute, narrow_mask, wide_mask = formula(wide), v.everywhere(), wide.everywhere()

        def narrowed(value: SSAValue, part: str) -> SSAValue:
            if v.kind.is_float:
                return v.op("vcvt", value, wide_mask, rnd=rnd, sat=sat, part=part, result=v.type)
            words = v.of(with_sign(v.element, "unsigned"))
            bits = v.of(with_sign(wide.element, "unsigned")).cast(value)
            return v.cast(v.op("vcvt", bits, wide_mask, sat="NOSAT", part=part, result=words.type))

        def half(part: str, *operands: SSAValue) -> SSAValue:
            widened = [v.op("vcvt", x, narrow_mask, part=part, result=wide.type) for x in operands]
            return narrowed(compute(*widened, wide_mask), part)

        def both(*operands: SSAValue) -> SSAValue:
            *registers, mask = operands
            return v.op("vor", half("EVEN", *registers), half("ODD", *registers), mask)

        return both

    return made


def as_signed(formula: Formula) -> Formula:
    """A formula on the bits of unsigned lanes, taken as signed numbers."""

    def made(v: Registers) -> Compute:
        signed = v.of(with_sign(v.element, "signless"))
        compute = formula(signed)

        def of_bits(*operands: SSAValue) -> SSAValue:
            *registers, mask = operands
            return v.cast(compute(*map(signed.cast, registers), mask))

        return of_bits

    return made


# --- arithmetic -------------------------------------------------------------------------------------------------------


def negative(v: Registers) -> OfOne:
    if v.kind.name != "bf16":
        return instruction("vneg")(v)
    sign = v.pattern(0x8000)
    return lambda x, mask: v.op("vxor", x, sign, mask)


def relu(v: Registers) -> OfOne:
    """The greater of an element and zero; vrelu knows neither unsigned nor short integers."""
    if v.kind.is_float or v.kind.name in ("i32", "si32"):
        return instruction("vrelu")(v)
    zero = v.scalar(0)
    return lambda x, mask: v.op("vmaxs", x, zero, mask)


def sum_above_zero(v: Registers) -> OfTwo:
    positive = relu(v)
    return lambda x, y, mask: positive(v.op("vadd", x, y, mask), mask)


def product(v: Registers) -> OfTwo:
    """The low half of a product of bytes, of 16 bits."""
    multiply = instruction("vmul")
    return (in_halves(multiply) if v.kind.bytes == 1 else multiply)(v)


def reciprocal(v: Registers) -> OfOne:
    one = v.every(1)
    return lambda x, mask: v.op("vdiv", one, x, mask)


def reciprocal_root(v: Registers) -> OfOne:
    """Two roundings: of the root and of the quotient."""
    one = v.every(1)
    return lambda x, mask: v.op("vdiv", one, v.op("vsqrt", x, mask), mask)


_SCALED_LOGARITHM = {"f32": (0x007FFFFF, 2.0**23, -15.9423851528787421), "f16": (0x03FF, 1024.0, -6.93147)}
"""The largest subnormal, what subnormal elements are multiplied with, and what is added to their logarithm."""


def precise_logarithm(v: Registers) -> OfOne:
    """Subnormal elements are scaled into the normal range first."""
    threshold, factor, shift = _SCALED_LOGARITHM[v.kind.name]
    largest, factor, shift = v.pattern(threshold), v.scalar(factor), v.scalar(shift)

    def compute(x: SSAValue, mask: SSAValue) -> SSAValue:
        small = v.compare("lt", x, largest, mask)
        y = v.op("vln", v.select(small, v.op("vmuls", x, factor, mask), x), mask)
        return v.select(small, v.op("vadds", y, shift, mask), y)

    return compute


def _chained(first: str, second: str) -> Callable[[Registers], OfThree]:
    """(a FIRST b) SECOND c, each rounded."""
    return lambda v: lambda a, b, c, mask: v.op(second, v.op(first, a, b, mask), c, mask)


sum_of_three = _chained("vadd", "vadd")
difference_and_sum = _chained("vsub", "vadd")

# --- division ---------------------------------------------------------------------------------------------------------


def _whole_quotient(v: Registers) -> OfTwo:
    """a / b, of integers cut towards zero; a division of integers by zero gives anything."""
    divide = instruction("vdiv")
    if v.kind.name == "ui32":
        return _unsigned_quotient(v)
    if (v.kind.is_integer and v.kind.bytes == 1) or v.kind.name == "ui16":
        halves = in_halves(as_signed(divide) if v.kind.name.startswith("u") else divide)(v)
        one = v.every(1)
        return lambda a, b, mask: halves(a, v.select(mask, b, one), mask)  # halves divide every lane, padding as well
    return divide(v)


def _unsigned_quotient(v: Registers) -> OfTwo:
    """The quotient of numbers of 32 bits, by signed divisions: half of a is divided, and the remainder decides about
    the last bit.
    """
    signed = v.of(with_sign(v.element, "signless"))
    one_bit, one, zero = v.build.constant(1, with_sign(v.element, "signless", 16)), v.scalar(1), signed.every(0)

    def compute(a: SSAValue, b: SSAValue, mask: SSAValue) -> SSAValue:
        half = signed.cast(v.op("vshrs", a, one_bit, mask))
        part = signed.op("vdiv", half, signed.cast(b), mask)
        part = signed.select(
            signed.compare("lt", signed.cast(b), 0, mask), zero, part
        )  # b has more than half the range
        q = v.op("vshls", v.cast(part), one_bit, mask)
        rest = v.op("vsub", a, v.op("vmul", q, b, mask), mask)
        return v.select(v.compare("ge", rest, b, mask), v.op("vadds", q, one, mask), q)

    return compute


def quotient(v: Registers) -> OfTwo:
    """a / b. Integers are cut towards zero, and a division by zero gives -1."""
    divide = _whole_quotient(v)
    if v.kind.is_float:
        return divide
    undefined = v.pattern((1 << v.kind.bits) - 1)

    def compute(a: SSAValue, b: SSAValue, mask: SSAValue) -> SSAValue:
        return v.select(v.compare("eq", b, 0, mask), undefined, divide(a, b, mask))

    return compute


def _rest(rounding: str) -> Formula:
    """a - b * q, where q is the quotient; of floats it is rounded to a whole number as told, f16 counts in f32."""

    def made(v: Registers) -> Compute:
        if v.kind.name == "f16":
            return in_halves(_rest(rounding), rnd="Z", sat="SAT")(v)
        divide = _whole_quotient(v)

        def compute(a: SSAValue, b: SSAValue, mask: SSAValue) -> SSAValue:
            q = divide(a, b, mask)
            whole = v.op("vtrc", q, mask, rnd=rounding) if v.kind.is_float else q
            return v.op("vsub", a, v.op("vmul", whole, b, mask), mask)

        return compute

    return made


cut_remainder = _rest("Z")
"""With the sign of the dividend."""


def floor_remainder(v: Registers) -> OfTwo:
    """With the sign of the divisor, which is added where the remainder has the other one."""
    rest, differs = _rest("F")(v), _signs_differ(v)

    def compute(a: SSAValue, b: SSAValue, mask: SSAValue) -> SSAValue:
        r = rest(a, b, mask)
        return v.select(differs(r, b, mask), v.op("vadd", r, b, mask), r)

    return rest if v.kind.name.startswith("u") else compute


def floor_remainder_of_scalar(v: Registers) -> OfTwo:
    """floor_remainder by a scalar; floats are not corrected, as rounding down is nearly enough."""
    return _rest("F")(v) if v.kind.is_float else floor_remainder(v)


def _signs_differ(v: Registers) -> OfTwo:
    """The lanes in which a remainder is not zero and its sign is not that of the divisor."""
    if v.kind.is_float:
        return lambda r, b, mask: v.compare("lt", v.op("vmul", b, r, mask), 0, mask)
    return lambda r, b, mask: v.compare("lt", v.op("vxor", r, b, mask), 0, v.compare("ne", r, 0, mask))
