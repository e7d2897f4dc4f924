"""Scalar arithmetic. Integers are iN and wrap; floats are their bits, computed with in f32 or f64 and rounded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ptosim.effects.element import Element, element
from ptosim.effects.record import Static
from ptosim.effects.scalar import BINARY, CASTS, UNSIGNED_CASTS, Arithmetic
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Bind, define
from ptosim.native.build.state import Align, Native
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F64, I1, I64, Type, Value
from ptosim.native.vector import elementary
from ptosim.native.vector.numbers import bits_of, lane_type, lanes_as, maximum, minimum, narrow, widen
from ptosim.native.vector.registers import Mask
from ptosim.native.vector.value_conversion import convert

Function2 = Callable[[FunctionBuilder, Value, Value], Value]


def _kinds(static: Static) -> dict[str, Any]:
    given = static.elements.get("lhs") or static.elements.get("operand") or static.elements["result"]
    return {"kind": given, "result_kind": static.elements.get("result", given)}


def _with(**facts: Any) -> Bind:
    """The kinds, and what a row of a table says."""
    return lambda static: _kinds(static) | facts


# --- integers ---------------------------------------------------------------------------------------------------------


class IntegerInstructions(Arithmetic):
    """Integers that compiled code computes."""

    def __init__(self, f: FunctionBuilder, bits: int) -> None:
        self.f = f
        self.bits = bits

    def muli(self, a: Any, b: Any) -> Any:
        return a * b if a.kind != I1 else a & b

    def cmpi(self, predicate: str, a: Any, b: Any) -> Any:
        return a.compare(predicate, b)

    def select(self, condition: Any, chosen: Any, otherwise: Any) -> Any:
        return condition.select(chosen, otherwise)

    def resized(self, a: Any, bits: int, signed: bool) -> Any:
        kind = Type(f"i{bits}")
        return a.signed(kind) if signed or bits <= a.kind.bits else a.zext(kind)

    def divsi(self, a: Any, b: Any) -> Any:
        return a.sdiv(b)

    def divui(self, a: Any, b: Any) -> Any:
        return a.udiv(b)

    def remsi(self, a: Any, b: Any) -> Any:
        return a.srem(b)

    def remui(self, a: Any, b: Any) -> Any:
        return a.urem(b)

    def shifted(self, instruction: str, a: Any, amount: Any) -> Any:
        return a << amount if instruction == "shli" else a >> amount if instruction == "shrsi" else a.lshr(amount)

    def minsi(self, a: Any, b: Any) -> Any:
        return self.f.intrinsic("llvm.smin", a.kind, a, b)

    def maxsi(self, a: Any, b: Any) -> Any:
        return self.f.intrinsic("llvm.smax", a.kind, a, b)

    def minui(self, a: Any, b: Any) -> Any:
        return self.f.intrinsic("llvm.umin", a.kind, a, b)

    def maxui(self, a: Any, b: Any) -> Any:
        return self.f.intrinsic("llvm.umax", a.kind, a, b)


def _integer(f: FunctionBuilder, lhs: Value, rhs: Value, name: str) -> Value:
    rule = IntegerInstructions(f, lhs.kind.bits).rule(name)
    assert rule is not None
    return rule(lhs, rhs)


def _division(
    f: FunctionBuilder, core: Core, lhs: Value, rhs: Value, kind: Element, goes_on: bool, name: str, signed: bool
) -> Value:
    """By 1 where the divisor is 0 or the quotient would not fit."""
    zero = rhs == 0
    overflow = (rhs == -1) & (lhs == -(1 << (kind.bits - 1))) & signed
    if not goes_on:
        core.fail(zero, "arithmetic", "division by zero")
        core.fail(overflow, "arithmetic", f"the quotient of {{}} and -1 does not fit {kind.name}", lhs)
    result = _integer(f, lhs, (zero | overflow).select(rhs.like(1), rhs), name)
    return zero.select(result.like(0), result) if goes_on else result


_DIVISIONS = {
    f"arith.{name}{sign}i": sign == "s"
    for name, signs in (("div", "su"), ("rem", "su"), ("ceildiv", "su"), ("floordiv", "s"))
    for sign in signs
}

for _name in sorted(BINARY - {*_DIVISIONS}):
    define(_name, _integer, _with(name=_name))
for _name, _signed in _DIVISIONS.items():
    define(_name, _division, _with(name=_name, signed=_signed))


def _add_extended(f: FunctionBuilder, lhs: Value, rhs: Value) -> tuple[Value, Value]:
    return IntegerInstructions(f, lhs.kind.bits).addui_extended(lhs, rhs)


def _multiply_extended(lhs: Value, rhs: Value, kind: Element, extension: str) -> tuple[Value, Value]:
    wide = Type(f"i{2 * kind.bits}")
    product = lhs.convert(extension, wide) * rhs.convert(extension, wide)
    return product.trunc(lhs.kind), product.lshr(kind.bits).trunc(lhs.kind)


def _absolute(f: FunctionBuilder, operand: Value) -> Value:
    return IntegerInstructions(f, operand.kind.bits).absi(operand)


define("arith.addui_extended", _add_extended)
define("arith.mulsi_extended", _multiply_extended, _with(extension="sext"))
define("arith.mului_extended", _multiply_extended, _with(extension="zext"))
define("math.absi", _absolute)


# --- floats -----------------------------------------------------------------------------------------------------------


def _float(bits: Value, kind: Element) -> Value:
    """A float to compute with: f32, or f64."""
    return widen(kind, lanes_as(bits, lane_type(kind)))


def _bits(value: Value, kind: Element) -> Value:
    """Rounded to the type; a NaN that arithmetic produced is the canonical one."""
    return bits_of(narrow(kind, value))


def _sum_or_product(f: FunctionBuilder, lhs: Value, rhs: Value, kind: Element, function: Function2) -> Value:
    """NaN goes in as it was before it became the canonical one, which only what comes out has to be."""
    made = narrow(kind, function(f, _uncanonical(lhs, kind), _uncanonical(rhs, kind)))
    bits = bits_of(made)
    if made.uncanonical is not None and bits.uncanonical is None:
        bits.uncanonical = made.uncanonical
    return bits


def _uncanonical(bits: Value, kind: Element) -> Value:
    return _float(bits, kind) if bits.uncanonical is None else bits.uncanonical


def _number(pick: Function2) -> Function2:
    """Prefer a number to a NaN."""
    return lambda f, a, b: (a != a).select(b, (b != b).select(a, pick(f, a, b)))


_FLOATS: Mapping[str, Function2] = {
    "addf": lambda f, a, b: a + b,
    "subf": lambda f, a, b: a - b,
    "mulf": lambda f, a, b: a * b,
    "divf": lambda f, a, b: a / b,
    "remf": lambda f, a, b: f.emit(a.kind, f"frem {a}, {b.text}"),
    "maximumf": maximum,
    "minimumf": minimum,
    "maxnumf": _number(maximum),
    "minnumf": _number(minimum),
}


def _float_binary(f: FunctionBuilder, lhs: Value, rhs: Value, kind: Element, function: Function2) -> Value:
    return _bits(function(f, _float(lhs, kind), _float(rhs, kind)), kind)


for _name, _function in _FLOATS.items():
    _binary = _sum_or_product if _name in ("addf", "subf", "mulf", "divf") else _float_binary
    define(f"arith.{_name}", _binary, _with(function=_function))


def _rounded_to(f: FunctionBuilder, operand: Value, kind: Element, intrinsic: str) -> Value:
    value = _float(operand, kind)
    return _bits(f.intrinsic(intrinsic, value.kind, value), kind)


def _root(f: FunctionBuilder, operand: Value, kind: Element) -> Value:
    value = _float(operand, kind)
    # NaN goes in, canonical: LLVM drops a select of NaN after the root of a negative number, whose NaN has a sign
    return _bits(f.intrinsic("llvm.sqrt", value.kind, (value >= 0.0).select(value, float("nan"))), kind)


_F32 = element("f32")


def _elementary(
    f: FunctionBuilder,
    operand: Value,
    kind: Element,
    function: Callable[[FunctionBuilder, Element, Value], Value],
    double: str,
) -> Value:
    """An elementary function, evaluated as the vector unit does; f64, which that does not have, by the host's."""
    value = _float(operand, kind)
    return _bits(f.intrinsic(double, F64, value) if value.kind == F64 else function(f, _F32, value), kind)


def _negated(operand: Value, kind: Element) -> Value:
    return operand ^ (1 << (kind.bits - 1))


def _without_sign(operand: Value, kind: Element) -> Value:
    return operand & ((1 << (kind.bits - 1)) - 1)


define("arith.negf", _negated, _kinds)
define("math.absf", _without_sign, _kinds)
define("math.sqrt", _root, _kinds)
define("math.floor", _rounded_to, _with(intrinsic="llvm.floor"))
define("math.ceil", _rounded_to, _with(intrinsic="llvm.ceil"))
define("math.exp", _elementary, _with(function=elementary.exp, double="llvm.exp"))
define("math.log", _elementary, _with(function=elementary.log, double="llvm.log"))


# --- comparisons and selection ----------------------------------------------------------------------------------------


def _compare_integers(lhs: Value, rhs: Value, predicate: str) -> Value:
    return lhs.compare(predicate, rhs)


def _compare_floats(f: FunctionBuilder, lhs: Value, rhs: Value, predicate: str, kind: Element) -> Value:
    if predicate in ("true", "false"):
        return f.constant(I1, int(predicate == "true"))
    return _float(lhs, kind).compare(predicate, _float(rhs, kind))


define("arith.cmpi", _compare_integers)
define("arith.cmpf", _compare_floats, _kinds)


def _select(f: FunctionBuilder, condition: Value, if_true: Native, if_false: Native) -> Native:
    """Scalars, pointers, registers, masks and streams alike."""
    if isinstance(if_true, Mask) and isinstance(if_false, Mask):
        width = min(if_true.width, if_false.width)
        return Mask(f, condition.select(if_true.lanes(width), if_false.lanes(width)), width)
    if isinstance(if_true, Align) and isinstance(if_false, Align):
        parts = ("start", "pending", "data")
        return Align(*(condition.select(getattr(if_true, part), getattr(if_false, part)) for part in parts))
    return condition.select(if_true, if_false)


define("arith.select", _select)


# --- casts ------------------------------------------------------------------------------------------------------------


def _kind_of(kind: Element) -> Type:
    return Type(f"i{kind.bits}")


def _resize(f: FunctionBuilder, operand: Value, result_kind: Element, signed: bool) -> Value:
    return IntegerInstructions(f, operand.kind.bits).resized(operand, result_kind.bits, signed)


_WIDE = {sign: element(f"{sign}i64") for sign in ("s", "u")}


def _from_integer(f: FunctionBuilder, operand: Value, result_kind: Element, sign: str) -> Value:
    """Integers of any width are 64-bit ones that are rounded once."""
    wide = operand.convert("sext" if sign == "s" else "zext", I64)
    return bits_of(convert(f, _WIDE[sign], result_kind, wide))


def _to_integer(
    f: FunctionBuilder, core: Core, operand: Value, kind: Element, result_kind: Element, sign: str
) -> Value:
    """Toward zero; outside the range the nearest end of it, and 0 for NaN, which a check remarks."""
    value, signed = _float(operand, kind), sign == "s"
    integer = _kind_of(result_kind).vector(operand.kind.lanes)
    end = 1 << (result_kind.bits - signed)
    core.suspect(lambda: ((value >= float(-end if signed else 0)) & (value < float(end))) == 0)
    return f.intrinsic(f"llvm.fpto{sign}i.sat", integer, value, overloads=(integer, value.kind))


def _refloat(f: FunctionBuilder, operand: Value, kind: Element, result_kind: Element) -> Value:
    return bits_of(convert(f, kind, result_kind, lanes_as(operand, lane_type(kind)), "R", "NOSAT"))


def _reinterpret(operand: Value) -> Value:
    return operand


for _name in CASTS:
    define(_name, _resize, _with(signed=_name not in UNSIGNED_CASTS))
for _name in ("extf", "truncf"):
    define(f"arith.{_name}", _refloat, _kinds)
for _sign in _WIDE:
    define(f"arith.{_sign}itofp", _from_integer, _with(sign=_sign))
    define(f"arith.fpto{_sign}i", _to_integer, _with(sign=_sign))
define("arith.bitcast", _reinterpret)
define("builtin.unrealized_conversion_cast", _reinterpret)
