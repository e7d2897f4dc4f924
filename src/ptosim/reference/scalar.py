"""Scalar arithmetic.

Integers are held as integers.py says, floats as their bit pattern: what is only moved keeps its bits, NaN payloads
included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.float_format import BINARY_FORMATS
from ptosim.effects.record import Static
from ptosim.language.text.literals import float_bits, float_of
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.numeric import elementary
from ptosim.reference.numeric.integers import signed, unsigned, wrap
from ptosim.reference.semantics import define

# --- integers ---------------------------------------------------------------------------------------------------------


def _quotient(a: int, b: int) -> int:
    """Division that truncates toward zero."""
    return -(-a // b) if (a < 0) != (b < 0) else a // b


_PLAIN: Mapping[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
}

_TYPED: Mapping[str, Callable[[int, int, Element], int]] = {
    "maxsi": lambda a, b, kind: max(signed(a, kind), signed(b, kind)),
    "minsi": lambda a, b, kind: min(signed(a, kind), signed(b, kind)),
    "maxui": lambda a, b, kind: max(unsigned(a, kind), unsigned(b, kind)),
    "minui": lambda a, b, kind: min(unsigned(a, kind), unsigned(b, kind)),
}


def _kinds(static: Static) -> dict[str, Element]:
    given = static.elements.get("lhs") or static.elements.get("operand") or static.elements["result"]
    return {"kind": given, "result_kind": static.elements.get("result", given)}


def _plain(function: Callable[[int, int], int]) -> Callable[..., int]:
    def evaluate(lhs: int, rhs: int, kind: Element) -> int:
        return wrap(function(lhs, rhs), kind)

    return evaluate


def _typed(function: Callable[[int, int, Element], int]) -> Callable[..., int]:
    def evaluate(lhs: int, rhs: int, kind: Element) -> int:
        return wrap(function(lhs, rhs, kind), kind)

    return evaluate


for _name, _function in _PLAIN.items():
    define(f"arith.{_name}", _plain(_function), _kinds)
for _name, _typed_function in _TYPED.items():
    define(f"arith.{_name}", _typed(_typed_function), _kinds)


_SIGNED: Mapping[str, Callable[[int, int], int]] = {
    "divsi": _quotient,
    "remsi": lambda a, b: a - b * _quotient(a, b),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
}

_UNSIGNED: Mapping[str, Callable[[int, int], int]] = {
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "ceildivui": lambda a, b: -(-a // b),
}


def _undivided(core: Core, site: Site, message: str, goes_on: bool) -> None:
    """In modules with tiles only a check cares."""
    if not goes_on:
        raise Fault("arithmetic", message)
    core.complain(site, "arithmetic", message, fatal=False)


def _divides(divide: Callable[[int, int], int], is_signed: bool) -> Callable[..., int]:
    def evaluate(core: Core, site: Site, lhs: int, rhs: int, kind: Element, goes_on: bool) -> int:
        if rhs == 0:
            _undivided(core, site, "division by zero", goes_on)
            return 0
        if not is_signed:
            lhs, rhs = unsigned(lhs, kind), unsigned(rhs, kind)
        elif rhs == -1 and lhs == -(1 << (kind.bits - 1)):
            _undivided(core, site, f"the quotient of {lhs} and -1 does not fit {kind.name}", goes_on)
        return wrap(divide(lhs, rhs), kind)

    return evaluate


for _name, _function in _SIGNED.items():
    define(f"arith.{_name}", _divides(_function, is_signed=True), _kinds)
for _name, _function in _UNSIGNED.items():
    define(f"arith.{_name}", _divides(_function, is_signed=False), _kinds)


def _shift(shift: Callable[[int, int, Element], int]) -> Callable[..., int]:
    """The amount is unsigned; one that reaches the width leaves nothing, or only the sign."""

    def evaluate(core: Core, site: Site, lhs: int, rhs: int, kind: Element) -> int:
        amount = unsigned(rhs, kind)
        if amount >= kind.bits:
            core.lint(f"a shift of {kind.name} by {amount} bits has no defined result", site=site)
        return wrap(shift(lhs, min(amount, kind.bits), kind), kind)

    return evaluate


define("arith.shli", _shift(lambda a, amount, kind: a << amount), _kinds)
define("arith.shrui", _shift(lambda a, amount, kind: unsigned(a, kind) >> amount), _kinds)
define("arith.shrsi", _shift(lambda a, amount, kind: signed(a, kind) >> amount), _kinds)


def _add_extended(lhs: int, rhs: int, kind: Element) -> tuple[int, int]:
    total = unsigned(lhs, kind) + unsigned(rhs, kind)
    return wrap(total, kind), total >> kind.bits


def _multiply_extended(read: Callable[[int, Element], int]) -> Callable[..., tuple[int, int]]:
    def evaluate(lhs: int, rhs: int, kind: Element) -> tuple[int, int]:
        product = read(lhs, kind) * read(rhs, kind)
        return wrap(product, kind), wrap(product >> kind.bits, kind)

    return evaluate


define("arith.addui_extended", _add_extended, _kinds)
define("arith.mulsi_extended", _multiply_extended(signed), _kinds)
define("arith.mului_extended", _multiply_extended(unsigned), _kinds)


def _magnitude(operand: int, kind: Element) -> int:
    return wrap(abs(signed(operand, kind)), kind)


define("math.absi", _magnitude, _kinds)


# --- floats -----------------------------------------------------------------------------------------------------------


def to_bits(value: float, kind: Element) -> int:
    """Rounded to the type, to nearest even; a NaN that arithmetic produced is the canonical one."""
    return BINARY_FORMATS[kind.name].nan if value != value else float_bits(value, kind)


def _binary(function: Callable[[float, float], float]) -> Callable[..., int]:
    def evaluate(lhs: int, rhs: int, kind: Element) -> int:
        return to_bits(function(float_of(lhs, kind), float_of(rhs, kind)), kind)

    return evaluate


def _divide(a: float, b: float) -> float:
    return float(np.divide(a, b))


def _remainder(a: float, b: float) -> float:
    return math.nan if math.isinf(a) or b == 0 or a != a or b != b else math.fmod(a, b)


def _larger(a: float, b: float) -> float:
    if a != a or b != b:
        return math.nan
    return a if (a, math.copysign(1, a)) > (b, math.copysign(1, b)) else b


def _smaller(a: float, b: float) -> float:
    return -_larger(-a, -b)


def _number(pick: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """Prefer a number to a NaN."""
    return lambda a, b: b if a != a else a if b != b else pick(a, b)


_FLOATS: Mapping[str, Callable[[float, float], float]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": _divide,
    "remf": _remainder,
    "maximumf": _larger,
    "minimumf": _smaller,
    "maxnumf": _number(_larger),
    "minnumf": _number(_smaller),
}

for _name, _float_function in _FLOATS.items():
    define(f"arith.{_name}", _binary(_float_function), _kinds)


def _elementary(function: Callable[[Any], Any], double: Callable[[Any], Any]) -> Callable[..., int]:
    """An elementary function, evaluated as the vector unit does; f64, which that does not have, by the C library."""

    def evaluate(operand: int, kind: Element) -> int:
        value = float_of(operand, kind)
        if kind.name == "f64":
            return to_bits(float(double(value)), kind)
        return to_bits(float(function(np.array([value], np.float32))[0]), kind)

    return evaluate


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _log(value: float) -> float:
    if value > 0:
        return math.log(value)
    return math.nan if value else -math.inf


def _unary(function: Callable[[float], float]) -> Callable[..., int]:
    def evaluate(operand: int, kind: Element) -> int:
        value = float_of(operand, kind)
        return to_bits(function(value) if math.isfinite(value) else value, kind)

    return evaluate


def _negated(operand: int, kind: Element) -> int:
    return operand ^ 1 << (kind.bits - 1)


def _without_sign(operand: int, kind: Element) -> int:
    return operand & ~(1 << (kind.bits - 1))


define("arith.negf", _negated, _kinds)
define("math.absf", _without_sign, _kinds)
define("math.sqrt", _elementary(elementary.sqrt, np.sqrt), _kinds)
define("math.exp", _elementary(elementary.exp, _exp), _kinds)
define("math.log", _elementary(elementary.log, _log), _kinds)
define("math.floor", _unary(lambda value: math.copysign(math.floor(value), value)), _kinds)
define("math.ceil", _unary(lambda value: math.copysign(math.ceil(value), value)), _kinds)


# --- comparisons and selection ----------------------------------------------------------------------------------------

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _compare_integers(lhs: int, rhs: int, predicate: str, kind: Element) -> int:
    read = unsigned if predicate[0] == "u" else signed
    lhs, rhs = read(lhs, kind), read(rhs, kind)
    return int(_ORDERS[predicate[-2:]](lhs, rhs))


def _compare_floats(lhs: int, rhs: int, predicate: str, kind: Element) -> int:
    a, b = float_of(lhs, kind), float_of(rhs, kind)
    unordered = a != a or b != b
    match predicate:
        case "false" | "true":
            return int(predicate == "true")
        case "ord" | "uno":
            return int(unordered == (predicate == "uno"))
        case _:
            return int(predicate[0] == "u") if unordered else int(_ORDERS[predicate[1:]](a, b))


define("arith.cmpi", _compare_integers, _kinds)
define("arith.cmpf", _compare_floats, _kinds)


def _select(condition: int, if_true: Any, if_false: Any) -> Any:
    return if_true if condition else if_false


define("arith.select", _select)


# --- casts ------------------------------------------------------------------------------------------------------------


def _resize(operand: int, kind: Element, result_kind: Element) -> int:
    return wrap(signed(operand, kind), result_kind)


def _zero_extend(operand: int, kind: Element, result_kind: Element) -> int:
    return wrap(unsigned(operand, kind), result_kind)


def _from_integer(operand: int, kind: Element, result_kind: Element) -> int:
    return exact_bits(signed(operand, kind), result_kind)


def _from_unsigned(operand: int, kind: Element, result_kind: Element) -> int:
    return exact_bits(unsigned(operand, kind), result_kind)


def exact_bits(value: int, kind: Element) -> int:
    """An integer of any size rounded once to a float type: to odd in double first, so that the second cannot err."""
    excess = max(0, abs(value).bit_length() - 53)
    kept = abs(value) >> excess
    if excess and abs(value) & ((1 << excess) - 1):
        kept |= 1
    if kind.name == "f64":
        return float_bits(float(value), kind)
    return float_bits(math.copysign(math.ldexp(kept, excess), value), kind)


def _to_integer(limits: Callable[[Element], tuple[int, int]]) -> Callable[..., int]:
    """Toward zero; outside the range the nearest end of it, and 0 for NaN."""

    def evaluate(core: Core, site: Site, operand: int, kind: Element, result_kind: Element) -> int:
        value = float_of(operand, kind)
        low, high = limits(result_kind)
        if low - 1 < value < high + 1:
            return wrap(int(value), result_kind)
        core.lint(f"{value} does not fit {result_kind.name}: the conversion has no defined result", site=site)
        return 0 if value != value else wrap(high if value > 0 else low, result_kind)

    return evaluate


def _signed_limits(kind: Element) -> tuple[int, int]:
    half = 1 << (kind.bits - 1)
    return -half, half - 1


def _unsigned_limits(kind: Element) -> tuple[int, int]:
    return 0, (1 << kind.bits) - 1


def _refloat(operand: int, kind: Element, result_kind: Element) -> int:
    return to_bits(float_of(operand, kind), result_kind)


def _reinterpret(operand: int, result_kind: Element) -> int:
    bits = operand & ((1 << result_kind.bits) - 1)
    return bits if result_kind.is_float else wrap(bits, result_kind)


for _name in ("index_cast", "extsi", "trunci"):
    define(f"arith.{_name}", _resize, _kinds)
for _name in ("index_castui", "extui"):
    define(f"arith.{_name}", _zero_extend, _kinds)
for _name in ("extf", "truncf"):
    define(f"arith.{_name}", _refloat, _kinds)
define("arith.sitofp", _from_integer, _kinds)
define("arith.uitofp", _from_unsigned, _kinds)
define("arith.fptosi", _to_integer(_signed_limits), _kinds)
define("arith.fptoui", _to_integer(_unsigned_limits), _kinds)
define("arith.bitcast", _reinterpret, _kinds)
define("builtin.unrealized_conversion_cast", _reinterpret, _kinds)
