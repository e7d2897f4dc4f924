"""Floats as IR lanes: how each element type looks in LLVM, canonical NaNs, 16-bit floats, arithmetic with one rounding.

Every function takes lane vectors or scalars alike and gives the bits of the reference engine. f16 lanes are `half`,
which is only ever converted: arithmetic on it happens in f32, between `widen` and `narrow`. bf16 and every narrower
format are raw bits in integer lanes. Rounding modes and conversions are in `rounding` and `value_conversion`, exp and
log in `elementary`.
"""

from ptosim.effects.element import Element
from ptosim.effects.float_format import BF16
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F16, F32, F64, I16, I32, I64, Type, Value
from ptosim.native.vector import avx512
from ptosim.native.vector.registers import tree

_FLOATS = {"f16": F16, "bf16": I16, "f32": F32, "f64": F64}
_NAN = float("nan")


def lane_type(element: Element) -> Type:
    """The type in which lanes of that element are computed; formats that LLVM computes badly or not at all are bits."""
    return _FLOATS.get(element.name) or Type(f"i{element.bits}")


def bits_of(value: Value) -> Value:
    """The same lanes as integers."""
    return value.bitcast(Type(f"i{value.kind.bits}", value.kind.lanes))


def lanes_as(value: Value, scalar: Type) -> Value:
    """The same lanes as another type of their width."""
    return value.bitcast(scalar.vector(value.kind.lanes))


def canonical(value: Value) -> Value:
    """f32 or f64 lanes with every NaN replaced by the canonical quiet one."""
    if value.uncanonical is not None:
        return value
    made = (value != value).select(_NAN, value)
    made.uncanonical = value
    return made


def numeric(value: Value) -> Value:
    """The same lanes for arithmetic, to which all NaNs are alike: what they look like is decided at its end."""
    return value if value.uncanonical is None else value.uncanonical


def bf16_to_f32(bits: Value) -> Value:
    """Exact, NaN payloads included; a conversion instruction canonicalises afterwards."""
    return lanes_as(bits.zext(I32) << 16, F32)


def f32_to_bf16(value: Value) -> Value:
    """Round to nearest even; NaN becomes the canonical one (the rounding alone could carry a NaN into an infinity)."""
    bits = bits_of(value)
    rounded = (bits + ((bits.lshr(16) & 1) + 0x7FFF)).lshr(16).trunc(I16)
    return (value != value).select(BF16.nan, rounded)


def f32_to_f16(value: Value) -> Value:
    """Round to nearest even; NaN becomes the canonical one, which the conversion of the canonical f32 NaN is."""
    return canonical(value).convert("fptrunc", F16)


def f64_to_f16(value: Value) -> Value:
    """Round double to nearest even; NaN becomes the canonical one. LLVM has no instruction for it.

    The low half of the double becomes one sticky bit above it. That fits f32 exactly, but for numbers so small that
    they are zero in f16 anyway, and leaves ten bits that the rounding from f32 to f16 sees below the result.
    """
    bits = bits_of(value)
    low = bits & 0xFFFFFFFF
    jammed = (bits ^ low) | ((low != 0).zext(I64) << 32)
    return f32_to_f16((value != value).select(_NAN, lanes_as(jammed, F64)).convert("fptrunc", F32))


def widen(element: Element, lanes: Value) -> Value:
    """Lanes of a float element as floats to compute with: 16-bit ones become f32, in which + - * / sqrt of two of them,
    rounded once more by `narrow`, is the correctly rounded result (24 >= 2 * 11 + 2)."""
    if element.name == "bf16":
        return bf16_to_f32(lanes)
    return lanes.convert("fpext", F32) if element.name == "f16" else numeric(lanes)


def narrow(element: Element, value: Value) -> Value:
    """A computed float back in its element type: round to nearest even, canonical NaN."""
    if element.name == "bf16":
        return f32_to_bf16(value)
    return f32_to_f16(value) if element.name == "f16" else canonical(value)


def maximum(function: FunctionBuilder, a: Value, b: Value) -> Value:
    """The larger of f32 or f64 lanes; a NaN on either side wins, and +0 is larger than -0."""
    return canonical(extremum(function, a, b, True))


def minimum(function: FunctionBuilder, a: Value, b: Value) -> Value:
    """The smaller of f32 or f64 lanes; a NaN on either side wins, and -0 is smaller than +0."""
    return canonical(extremum(function, a, b, False))


def extremum(function: FunctionBuilder, a: Value, b: Value, largest: bool) -> Value:
    """The larger or the smaller likewise, with any NaN."""
    if not function.module.avx512 or a.kind.element != F32 or a.kind.lanes % 4:
        return function.intrinsic("llvm.maximum" if largest else "llvm.minimum", a.kind, a, b)
    made = a.compare("uno", b).select(_NAN, avx512.extremum(function, a, b, largest))
    made.uncanonical = made
    return made


def fused_multiply_add(function: FunctionBuilder, element: Element, a: Value, b: Value, c: Value) -> Value:
    """a*b + c with a single rounding, for f32, f16 and bf16 lanes.

    The product of two 16-bit floats is exact in a wider type (of two bf16, whose exponents reach far, only in double).
    The sum is rounded to odd there, which leaves the one rounding to the element type as if it had seen the exact sum.
    """
    if element.name == "f32":
        return canonical(function.intrinsic("llvm.fma", a.kind, numeric(a), numeric(b), numeric(c)))
    a, b, c = (widen(element, x) for x in (a, b, c))
    if element.name == "f16":
        return f32_to_f16(_sum_to_odd(function, a * b, c))
    a, b, c = (x.convert("fpext", F64) for x in (a, b, c))
    return f32_to_bf16(f64_to_f32_odd(function, _sum_to_odd(function, a * b, c)))


def _sum_to_odd(function: FunctionBuilder, p: Value, c: Value) -> Value:
    """p + c rounded to odd: Knuth's TwoSum gives the exact error, whose sign says which neighbour is odd."""
    s = p + c
    b = s - p
    error = (p - (s - b)) + (c - b)
    return _step_to_odd(function, s, bits_of(error), error)


def f64_to_f32_odd(function: FunctionBuilder, value: Value) -> Value:
    """Round double to f32, to odd: a following rounding to 16 bits is then as good as the only one. A NaN stays one."""
    rounded = value.convert("fptrunc", F32)
    error = value - rounded.convert("fpext", F64)
    return _step_to_odd(function, rounded, bits_of(error).lshr(32).trunc(I32), error)


def _step_to_odd(function: FunctionBuilder, value: Value, sign: Value, error: Value) -> Value:
    """The odd neighbour of the exact sum of a value and its error. Only inexact even results step: away from zero where
    their signs agree. An infinite or NaN operand makes the error NaN, and nothing steps."""
    bits = bits_of(value)
    stepped = bits + ((bits ^ sign) >> (bits.kind.bits - 1) | 1)
    inexact = function.intrinsic("llvm.fabs", error.kind, error) > 0.0
    return (inexact & ((bits & 1) == 0)).select(lanes_as(stepped, value.kind.element), value)


def tree_sum(function: FunctionBuilder, element: Element, lanes: Value, groups: int = 1) -> Value:
    """Sum of each group of neighbouring lanes by halving, x[i] + x[i + n/2]; f16 is summed in f32 and rounded once.

    Inactive lanes enter as +0, which the caller has put there.
    """
    return narrow(element, tree(function, widen(element, lanes), lambda a, b: a + b, groups))


def sort_key(scores: Value) -> Value:
    """f32 or f16 scores as unsigned integers of the same order: -NaN lowest, +NaN highest, the two zeros equal."""
    bits = bits_of(scores)
    sign = 1 << (bits.kind.bits - 1)
    bits = (bits == sign).select(0, bits)
    return (bits < 0).select(~bits, bits ^ sign)
