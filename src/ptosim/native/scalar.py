"""Scalar arithmetic. Integers are iN and wrap; floats are their bits, computed with in f32 or f64 and rounded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ptosim.effects.element import Element, element
from ptosim.effects.record import Static
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


def _intrinsic(name: str) -> Function2:
    return lambda f, a, b: f.intrinsic(name, a.kind, a, b)


def _shift(shift: Callable[[Value, Value], Value], fill: bool) -> Function2:
    """The amount is unsigned; one that reaches the width leaves nothing, or only the sign."""

    def shifted(f: FunctionBuilder, a: Value, amount: Value) -> Value:
        most = a.kind.bits - 1
        inside = amount.compare("ule", most)
        kept = shift(a, inside.select(amount, amount.like(most)))
        return kept if fill else inside.select(kept, kept.like(0))

    return shifted


_INTEGERS: Mapping[str, Function2] = {
    "addi": lambda f, a, b: a + b,
    "subi": lambda f, a, b: a - b,
    "muli": lambda f, a, b: a * b if a.kind != I1 else a & b,
    "andi": lambda f, a, b: a & b,
    "ori": lambda f, a, b: a | b,
    "xori": lambda f, a, b: a ^ b,
    "maxsi": _intrinsic("llvm.smax"),
    "minsi": _intrinsic("llvm.smin"),
    "maxui": _intrinsic("llvm.umax"),
    "minui": _intrinsic("llvm.umin"),
    "shli": _shift(lambda a, n: a << n, fill=False),
    "shrui": _shift(lambda a, n: a.lshr(n), fill=False),
    "shrsi": _shift(lambda a, n: a >> n, fill=True),
}


def _integer(f: FunctionBuilder, lhs: Value, rhs: Value, function: Function2) -> Value:
    return function(f, lhs, rhs)


for _name, _function in _INTEGERS.items():
    define(f"arith.{_name}", _integer, _with(function=_function))


Divide = Callable[[Value, Value, Value], Value]
"""The dividend, the divisor, and what stands for it where it is 0 or the quotient would not fit: 1."""


def _rounded(up: bool) -> Divide:
    """Toward minus or plus infinity: one step further where the quotient was not exact and toward zero was wrong."""

    def divide(a: Value, b: Value, safe: Value) -> Value:
        quotient = a.sdiv(safe)
        negative = (a ^ b) < 0
        inexact = quotient * b != a
        steps = inexact & ((negative ^ 1) if up else negative)
        return steps.select(quotient + 1 if up else quotient - 1, quotient)

    return divide


def _unsigned_ceiling(a: Value, b: Value, safe: Value) -> Value:
    quotient = a.udiv(safe)
    return (quotient * b != a).select(quotient + 1, quotient)


_SIGNED: Mapping[str, Divide] = {
    "divsi": lambda a, b, safe: a.sdiv(safe),
    "remsi": lambda a, b, safe: a.srem(safe),
    "floordivsi": _rounded(up=False),
    "ceildivsi": _rounded(up=True),
}

_UNSIGNED: Mapping[str, Divide] = {
    "divui": lambda a, b, safe: a.udiv(safe),
    "remui": lambda a, b, safe: a.urem(safe),
    "ceildivui": _unsigned_ceiling,
}


def _division(core: Core, lhs: Value, rhs: Value, kind: Element, goes_on: bool, divide: Divide, signed: bool) -> Value:
    zero = rhs == 0
    overflow = (rhs == -1) & (lhs == -(1 << (kind.bits - 1))) & signed
    if not goes_on:
        core.fail(zero, "arithmetic", "division by zero")
        core.fail(overflow, "arithmetic", f"the quotient of {{}} and -1 does not fit {kind.name}", lhs)
    result = divide(lhs, rhs, (zero | overflow).select(rhs.like(1), rhs))
    return zero.select(result.like(0), result) if goes_on else result


for _name, _divide in _SIGNED.items():
    define(f"arith.{_name}", _division, _with(divide=_divide, signed=True))
for _name, _divide in _UNSIGNED.items():
    define(f"arith.{_name}", _division, _with(divide=_divide, signed=False))


def _add_extended(lhs: Value, rhs: Value) -> tuple[Value, Value]:
    total = lhs + rhs
    return total, total.compare("ult", lhs)


def _multiply_extended(lhs: Value, rhs: Value, kind: Element, extension: str) -> tuple[Value, Value]:
    wide = Type(f"i{2 * kind.bits}")
    product = lhs.convert(extension, wide) * rhs.convert(extension, wide)
    return product.trunc(lhs.kind), product.lshr(kind.bits).trunc(lhs.kind)


define("arith.addui_extended", _add_extended)
define("arith.mulsi_extended", _multiply_extended, _with(extension="sext"))
define("arith.mului_extended", _multiply_extended, _with(extension="zext"))


def _absolute(operand: Value) -> Value:
    return (operand < 0).select(-operand, operand)


define("math.absi", _absolute)


# --- floats -----------------------------------------------------------------------------------------------------------


def _float(bits: Value, kind: Element) -> Value:
    """A float to compute with: f32, or f64."""
    return widen(kind, lanes_as(bits, lane_type(kind)))


def _bits(value: Value, kind: Element) -> Value:
    """Rounded to the type; a NaN that arithmetic produced is the canonical one."""
    return bits_of(narrow(kind, value))


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
    define(f"arith.{_name}", _float_binary, _with(function=_function))


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


def _resize(operand: Value, result_kind: Element) -> Value:
    return operand.signed(_kind_of(result_kind))


def _zero_extend(operand: Value, result_kind: Element) -> Value:
    kind = _kind_of(result_kind)
    return operand.zext(kind) if kind.bits > operand.kind.bits else operand.trunc(kind)


_WIDE = {sign: element(f"{sign}i64") for sign in ("s", "u")}


def _from_integer(f: FunctionBuilder, operand: Value, result_kind: Element, sign: str) -> Value:
    """Integers of any width are 64-bit ones that are rounded once."""
    wide = operand.convert("sext" if sign == "s" else "zext", I64)
    return bits_of(convert(f, _WIDE[sign], result_kind, wide))


def _to_integer(
    f: FunctionBuilder, core: Core, operand: Value, kind: Element, result_kind: Element, sign: str
) -> Value:
    """Toward zero; outside the range the nearest end of it, and 0 for NaN, which a check remarks."""
    value, integer, signed = _float(operand, kind), _kind_of(result_kind), sign == "s"
    end = 1 << (result_kind.bits - signed)
    core.suspect(lambda: ((value >= float(-end if signed else 0)) & (value < float(end))) == 0)
    return f.intrinsic(f"llvm.fpto{sign}i.sat", integer, value, overloads=(integer, value.kind))


def _refloat(f: FunctionBuilder, operand: Value, kind: Element, result_kind: Element) -> Value:
    return bits_of(convert(f, kind, result_kind, lanes_as(operand, lane_type(kind)), "R", "NOSAT"))


def _reinterpret(operand: Value) -> Value:
    return operand


for _name in ("index_cast", "extsi", "trunci"):
    define(f"arith.{_name}", _resize, _kinds)
for _name in ("index_castui", "extui"):
    define(f"arith.{_name}", _zero_extend, _kinds)
for _name in ("extf", "truncf"):
    define(f"arith.{_name}", _refloat, _kinds)
for _sign in _WIDE:
    define(f"arith.{_sign}itofp", _from_integer, _with(sign=_sign))
    define(f"arith.fpto{_sign}i", _to_integer, _with(sign=_sign))
define("arith.bitcast", _reinterpret)
define("builtin.unrealized_conversion_cast", _reinterpret)
