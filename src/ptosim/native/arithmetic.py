"""Element-wise vector arithmetic. Integers wrap; a float result is rounded once and its NaNs are canonical."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ptosim.effects.element import Element, element
from ptosim.effects.record import Static
from ptosim.language.micro import arithmetic as op
from ptosim.language.micro import arithmetic_integer
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import define, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, F64, I1, I32, Value
from ptosim.native.vector import elementary, numbers
from ptosim.native.vector.lanes import chosen
from ptosim.native.vector.numbers import bits_of, canonical, lane_type, narrow, numeric, widen
from ptosim.native.vector.registers import Mask, extract, splat, zeroed

Function1 = Callable[[FunctionBuilder, Value], Value]
Function2 = Callable[[FunctionBuilder, Value, Value], Value]


# --- from scalars and lanes -------------------------------------------------------------------------------------------


@lowering(op.VBr)
def vbr(core: Core, input: Value, result_element: Element) -> Value:
    return core.splat(input, result_element)


@lowering(op.VDup)
def vdup(f: FunctionBuilder, core: Core, input: Value, position: str | None, result_element: Element) -> Value:
    lanes = input.kind.lanes
    if not lanes:
        return core.splat(input, result_element)
    return splat(f, extract(bits_of(input), lanes - 1 if position == "HIGHEST" else 0), lanes)


# --- unary ------------------------------------------------------------------------------------------------------------


def _absolute(element: Element) -> Function1:
    if element.kind == "unsigned":
        return lambda f, x: x
    if element.is_float:
        return lambda f, x: bits_of(x) & ((1 << (element.bits - 1)) - 1)
    return lambda f, x: f.intrinsic("llvm.abs", x.kind, x, f.constant(I1, 0), overloads=(x.kind,))


def _negative(element: Element) -> Function1:
    if element.is_float:
        return lambda f, x: bits_of(x) ^ (1 << (element.bits - 1))
    return lambda f, x: 0 - x


_F32 = element("f32")


def _elementary(function: Callable[[FunctionBuilder, Element, Value], Value]) -> Callable[[Element], Function1]:
    """exp, ln and sqrt take f16 and f32 lanes and round once; bf16 goes through f32."""

    def choose(element: Element) -> Function1:
        if element.name == "bf16":
            return lambda f, x: narrow(element, function(f, _F32, widen(element, x)))
        return lambda f, x: function(f, element, x)

    return choose


def _rectified(element: Element) -> Function1:
    if not element.is_float:
        return lambda f, x: f.intrinsic("llvm.smax", x.kind, x, x.like(0))

    def relu(f: FunctionBuilder, x: Value) -> Value:
        wide = widen(element, x)
        return narrow(element, f.intrinsic("llvm.maximum", wide.kind, wide, wide.like(0.0)))

    return relu


_UNARY: Mapping[str, Callable[[Element], Function1]] = {
    "vabs": _absolute,
    "vneg": _negative,
    "vexp": _elementary(elementary.exp),
    "vln": _elementary(elementary.log),
    "vsqrt": _elementary(elementary.sqrt),
    "vrelu": _rectified,
    "vnot": lambda element: lambda f, x: ~bits_of(x),
}


def _unary(f: FunctionBuilder, input: Value, function: Function1) -> Value:
    return function(f, input)


def _bind(choose: Callable[[Element], Any]) -> Callable[[Static], dict[str, Any]]:
    return lambda static: {"function": choose(static.elements["result"])}


for _name, _choose in _UNARY.items():
    define(f"pto.{_name}", _unary, _bind(_choose), lanewise=True)


# --- binary -----------------------------------------------------------------------------------------------------------


Masked2 = Callable[[FunctionBuilder, Value, Value, Mask], Value]


def _by_kind(integer: Callable[[Element], Function2], floating: Function2) -> Callable[[Element], Masked2]:
    """Integers in their own width; floats in f32, rounded once more where they are narrower."""

    def choose(element: Element) -> Masked2:
        if not element.is_float:
            return _masked(integer)(element)
        if element.name == "f32":
            # Cleared first: where an instruction can clear lanes by itself, that costs nothing, and 0 is no NaN.
            return lambda f, a, b, mask: canonical(zeroed(floating(f, numeric(a), numeric(b)), mask))
        return _masked(lambda element: lambda f, a, b: _in_f32(f, element, floating, a, b))(element)

    return choose


def _in_f32(f: FunctionBuilder, element: Element, floating: Function2, a: Value, b: Value) -> Value:
    return narrow(element, floating(f, widen(element, a), widen(element, b)))


def _masked(choose: Callable[[Element], Function2]) -> Callable[[Element], Masked2]:
    """Inactive lanes are cleared afterwards."""

    def masked(element: Element) -> Masked2:
        function = choose(element)
        return lambda f, a, b, mask: zeroed(function(f, a, b), mask)

    return masked


def _same(function: Function2) -> Callable[[Element], Function2]:
    return lambda element: function


def _quotient(element: Element) -> Function2:
    """Toward zero; the least value divided by -1 wraps, and division by zero gives zero.

    Hosts divide vectors of floats only. A quotient of W-bit integers that is no integer differs from the next one by
    more than 2^-W of itself, so a float of more than W bits never rounds it up to that.
    """
    wide = F64 if element.bits > 16 else F32

    def divide(f: FunctionBuilder, a: Value, b: Value) -> Value:
        by_zero, by_minus_one = b == 0, b == -1
        safe = (by_zero | by_minus_one).select(1, b)
        quotient = a.convert("sitofp", wide) / safe.convert("sitofp", wide)
        return by_zero.select(0, by_minus_one.select(0 - a, quotient.convert("fptosi", a.kind.element)))

    return divide


def _extremum(word: str) -> Callable[[Element], Function2]:
    def choose(element: Element) -> Function2:
        name = f"llvm.{'u' if element.kind == 'unsigned' else 's'}{word}"
        return lambda f, a, b: f.intrinsic(name, a.kind, a, b)

    return choose


def _bitwise(function: Callable[[Value, Value], Value]) -> Callable[[Element], Masked2]:
    return _masked(lambda element: lambda f, a, b: function(bits_of(a), bits_of(b)))


def _shift_left(element: Element) -> Function2:
    most = element.bits - 1
    return lambda f, a, count: count.compare("ule", most).select(a << (count & most), 0)


def _shift_right(element: Element) -> Function2:
    """Arithmetic for signed and signless lanes, logical for unsigned ones; beyond the width only signs are left."""
    most = element.bits - 1
    if element.kind == "unsigned":
        return lambda f, a, count: count.compare("ule", most).select(a.lshr(count & most), 0)
    return lambda f, a, count: a >> f.intrinsic("llvm.umin", count.kind, count, count.like(most))


_BINARY: Mapping[str, Callable[[Element], Masked2]] = {
    "vadd": _by_kind(_same(lambda f, a, b: a + b), lambda f, a, b: a + b),
    "vsub": _by_kind(_same(lambda f, a, b: a - b), lambda f, a, b: a - b),
    "vmul": _by_kind(_same(lambda f, a, b: a * b), lambda f, a, b: a * b),
    "vdiv": _by_kind(_quotient, lambda f, a, b: a / b),
    "vmax": _by_kind(_extremum("max"), lambda f, a, b: numbers.extremum(f, a, b, True)),
    "vmin": _by_kind(_extremum("min"), lambda f, a, b: numbers.extremum(f, a, b, False)),
    "vand": _bitwise(lambda a, b: a & b),
    "vor": _bitwise(lambda a, b: a | b),
    "vxor": _bitwise(lambda a, b: a ^ b),
    "vshl": _masked(_shift_left),
    "vshr": _masked(_shift_right),
}


def _binary(f: FunctionBuilder, lhs: Value, rhs: Value, mask: Mask, function: Masked2) -> Value:
    return function(f, lhs, rhs, mask)


for _name, _choose_binary in _BINARY.items():
    define(f"pto.{_name}", _binary, _bind(_choose_binary), lanewise=True)


# --- vector and scalar ------------------------------------------------------------------------------------------------


def _vector_scalar(
    f: FunctionBuilder, core: Core, input: Value, scalar: Value, mask: Mask, element: Element, function: Masked2
) -> Value:
    return function(f, input, core.splat(scalar, element), mask)


for _name in ("vadd", "vmul", "vmax", "vmin"):
    define(f"pto.{_name}s", _vector_scalar, _bind(_BINARY[_name]))


def _shift_by(
    f: FunctionBuilder, input: Value, scalar: Value, mask: Mask, element: Element, function: Masked2
) -> Value:
    """The scalar is an i16 of any value; read as unsigned, one that does not fit a narrow lane is beyond its width."""
    count = f.intrinsic("llvm.umin", scalar.kind, scalar, scalar.like(element.bits))
    kind = lane_type(element)
    counts = splat(f, count.convert("zext" if kind.bits > 16 else "trunc", kind), element.lanes)
    return function(f, input, counts, mask)


for _name in ("vshl", "vshr"):
    define(f"pto.{_name}s", _shift_by, _bind(_BINARY[_name]))


# --- carry chain ------------------------------------------------------------------------------------------------------


def _chain(f: FunctionBuilder, total: Value, carry: Value, mask: Mask) -> tuple[Value, Mask]:
    return zeroed(total, mask), Mask(f, carry, 4) & mask


@lowering(arithmetic_integer.VAddC)
def vaddc(f: FunctionBuilder, lhs: Value, rhs: Value, mask: Mask) -> tuple[Value, Mask]:
    total = lhs + rhs
    return _chain(f, total, total.compare("ult", lhs), mask)


@lowering(arithmetic_integer.VAddCs)
def vaddcs(f: FunctionBuilder, lhs: Value, rhs: Value, carry_in: Mask, mask: Mask) -> tuple[Value, Mask]:
    partial = lhs + rhs
    total = partial + carry_in.lanes(4).zext(I32)
    return _chain(f, total, partial.compare("ult", lhs) | total.compare("ult", partial), mask)


@lowering(arithmetic_integer.VSubC)
def vsubc(f: FunctionBuilder, lhs: Value, rhs: Value, mask: Mask) -> tuple[Value, Mask]:
    """The carry means "no borrow"."""
    return _chain(f, lhs - rhs, lhs.compare("uge", rhs), mask)


@lowering(arithmetic_integer.VSubCs)
def vsubcs(f: FunctionBuilder, lhs: Value, rhs: Value, carry_in: Mask, mask: Mask) -> tuple[Value, Mask]:
    carry = carry_in.lanes(4)
    enough = lhs.compare("ugt", rhs) | (carry & (lhs == rhs))
    return _chain(f, lhs - rhs - 1 + carry.zext(I32), enough, mask)


# --- multiply and add -------------------------------------------------------------------------------------------------


@lowering(op.VMAdd)
def vmadd(f: FunctionBuilder, acc: Value, lhs: Value, rhs: Value, active: Value, element: Element) -> Value:
    """acc * lhs + rhs with one rounding; inactive lanes keep the accumulator."""
    return chosen(active, numbers.fused_multiply_add(f, element, acc, lhs, rhs), acc)
