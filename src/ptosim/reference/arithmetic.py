"""Element-wise vector arithmetic. Integers wrap; a float result is rounded once and its NaNs are canonical."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.language import arithmetic as op
from ptosim.reference import elementary, numbers
from ptosim.reference.lanes import Lanes, broadcast, scalar_lane, unsigned
from ptosim.reference.mask import Mask, of_lanes
from ptosim.reference.semantics import define, semantics

Function1 = Callable[[Lanes], Lanes]
Function2 = Callable[[Lanes, Lanes], Lanes]


# --- from scalars and lanes -----------------------------------------------------------------------------------------


@semantics(op.VBr)
def vbr(input: int, result_element: Element) -> Lanes:
    return broadcast(input, result_element)


@semantics(op.VDup)
def vdup(input: Any, position: str | None, result_element: Element) -> Lanes:
    if isinstance(input, int):
        return broadcast(input, result_element)
    lane: Lanes = input[-1:] if position == "HIGHEST" else input[:1]
    return np.repeat(lane, result_element.lanes)


# --- unary ----------------------------------------------------------------------------------------------------------


def _sign_bit(element: Element) -> Lanes:
    return scalar_lane(1 << (element.bits - 1), element)


def _absolute(element: Element) -> Function1:
    if element.kind == "unsigned":
        return lambda x: x
    if element.kind == "signed" or element.name != "bf16":
        return np.abs  # the least integer stays itself; a float loses its sign bit, also a NaN
    return lambda x: x & 0x7FFF


def _negative(element: Element) -> Function1:
    if element.is_float:
        sign = unsigned(_sign_bit(element))
        return lambda x: (unsigned(x) ^ sign).view(x.dtype)
    return np.negative


def _floating(function: Function1) -> Callable[[Element], Function1]:
    return lambda element: lambda x: numbers.narrow(element, function(numbers.widen(element, x)))


def _elementary(function: Function1) -> Callable[[Element], Function1]:
    """exp, ln and sqrt take f16 and f32 lanes and round once; bf16 goes through f32."""

    def choose(element: Element) -> Function1:
        return _floating(function)(element) if element.name == "bf16" else function

    return choose


def _rectified(element: Element) -> Function1:
    if not element.is_float:
        return lambda x: np.maximum(x, x.dtype.type(0))
    return _floating(lambda x: numbers.maximum(x, np.zeros_like(x)))(element)


_UNARY: Mapping[str, Callable[[Element], Function1]] = {
    "vabs": _absolute,
    "vneg": _negative,
    "vexp": _elementary(elementary.exp),
    "vln": _elementary(elementary.log),
    "vsqrt": _elementary(elementary.sqrt),
    "vrelu": _rectified,
    "vnot": lambda element: lambda x: (~unsigned(x)).view(x.dtype),
}


def _unary(input: Lanes, function: Function1) -> Lanes:
    return function(input)


def _bind(choose: Callable[[Element], Any]) -> Callable[[Static], dict[str, Any]]:
    return lambda static: {"function": choose(static.elements["result"])}


for _name, _choose in _UNARY.items():
    define(f"pto.{_name}", _unary, _bind(_choose))


# --- binary ---------------------------------------------------------------------------------------------------------


def _by_kind(integer: Function2, floating: Function2) -> Callable[[Element], Function2]:
    """Integers in their own width; floats in f32 where they are narrower, rounded once."""

    def choose(element: Element) -> Function2:
        if not element.is_float:
            return integer
        if element.name == "f32":
            return lambda a, b: numbers.canonical(floating(a, b))
        return lambda a, b: numbers.narrow(element, floating(numbers.widen(element, a), numbers.widen(element, b)))

    return choose


def _quotient(a: Lanes, b: Lanes) -> Lanes:
    """Toward zero; the least value divided by -1 wraps, and division by zero gives zero."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    truncated = np.abs(a.astype(np.int64)) // np.abs(safe.astype(np.int64)) * np.sign(a) * np.sign(safe)
    return np.where(b == 0, 0, truncated).astype(a.dtype)


def _bitwise(function: Function2) -> Callable[[Element], Function2]:
    return lambda element: lambda a, b: function(unsigned(a), unsigned(b)).view(a.dtype)


def _shift_left(element: Element) -> Function2:
    def shift(a: Lanes, count: Lanes) -> Lanes:
        amount = unsigned(count)
        return np.where(amount < element.bits, unsigned(a) << (amount & (element.bits - 1)), 0).view(a.dtype)

    return shift


def _shift_right(element: Element) -> Function2:
    """Arithmetic for signed and signless lanes, logical for unsigned ones; beyond the width only signs are left."""
    most = element.bits - 1

    def shift(a: Lanes, count: Lanes) -> Lanes:
        amount = unsigned(count)
        if element.kind == "unsigned":
            return np.where(amount <= most, a >> (amount & most), 0).astype(a.dtype)
        return a >> np.minimum(amount, most).astype(a.dtype)

    return shift


_BINARY: Mapping[str, Callable[[Element], Function2]] = {
    "vadd": _by_kind(np.add, np.add),
    "vsub": _by_kind(np.subtract, np.subtract),
    "vmul": _by_kind(np.multiply, np.multiply),
    "vdiv": _by_kind(_quotient, np.divide),
    "vmax": _by_kind(np.maximum, numbers.maximum),
    "vmin": _by_kind(np.minimum, numbers.minimum),
    "vand": _bitwise(np.bitwise_and),
    "vor": _bitwise(np.bitwise_or),
    "vxor": _bitwise(np.bitwise_xor),
    "vshl": _shift_left,
    "vshr": _shift_right,
}


def _binary(lhs: Lanes, rhs: Lanes, function: Function2) -> Lanes:
    return function(lhs, rhs)


for _name, _choose_binary in _BINARY.items():
    define(f"pto.{_name}", _binary, _bind(_choose_binary))


# --- vector and scalar ----------------------------------------------------------------------------------------------


def _vector_scalar(input: Lanes, scalar: int, result_element: Element, function: Function2) -> Lanes:
    return function(input, scalar_lane(scalar, result_element))


for _name in ("vadd", "vmul", "vmax", "vmin"):
    define(f"pto.{_name}s", _vector_scalar, _bind(_BINARY[_name]))


def _shift_by(input: Lanes, scalar: int, result_element: Element, function: Function2) -> Lanes:
    """The scalar is an i16 of any value; read as unsigned, one that does not fit a narrow lane is beyond its width."""
    return function(input, scalar_lane(min(scalar & 0xFFFF, result_element.bits), result_element))


define("pto.vshls", _shift_by, _bind(_shift_left))
define("pto.vshrs", _shift_by, _bind(_shift_right))


# --- carry chain ----------------------------------------------------------------------------------------------------


def _chain(total: Lanes, carry: Lanes, active: Lanes) -> tuple[Lanes, Mask]:
    return np.where(active, total, 0).astype(np.uint32), of_lanes((carry != 0) & active, 4)


def _add(lhs: Lanes, rhs: Lanes, carry_in: Lanes, active: Lanes) -> tuple[Lanes, Mask]:
    total = unsigned(lhs).astype(np.uint64) + unsigned(rhs) + carry_in.astype(np.uint64)
    result, carry = _chain(total & np.uint64(0xFFFFFFFF), total >> np.uint64(32), active)
    return result.view(lhs.dtype), carry


def _subtract(lhs: Lanes, rhs: Lanes, carry_in: Lanes, active: Lanes) -> tuple[Lanes, Mask]:
    """The carry means "no borrow"."""
    a, b = unsigned(lhs).astype(np.int64), unsigned(rhs).astype(np.int64) + ~carry_in.astype(np.bool_)
    result, carry = _chain((a - b) & 0xFFFFFFFF, a >= b, active)
    return result.view(lhs.dtype), carry


_NO_LANES = np.zeros(64, np.bool_)
_ALL_LANES = np.ones(64, np.bool_)


@semantics(op.VAddC)
def vaddc(lhs: Lanes, rhs: Lanes, active: Lanes) -> tuple[Lanes, Mask]:
    return _add(lhs, rhs, _NO_LANES, active)


@semantics(op.VAddCs)
def vaddcs(lhs: Lanes, rhs: Lanes, carry_in: Mask, active: Lanes) -> tuple[Lanes, Mask]:
    return _add(lhs, rhs, carry_in.lanes(4), active)


@semantics(op.VSubC)
def vsubc(lhs: Lanes, rhs: Lanes, active: Lanes) -> tuple[Lanes, Mask]:
    return _subtract(lhs, rhs, _ALL_LANES, active)


@semantics(op.VSubCs)
def vsubcs(lhs: Lanes, rhs: Lanes, carry_in: Mask, active: Lanes) -> tuple[Lanes, Mask]:
    return _subtract(lhs, rhs, carry_in.lanes(4), active)


# --- multiply and add -----------------------------------------------------------------------------------------------


@semantics(op.VMAdd)
def vmadd(acc: Lanes, lhs: Lanes, rhs: Lanes, active: Lanes, element: Element) -> Lanes:
    """acc * lhs + rhs with one rounding; inactive lanes keep the accumulator."""
    return np.where(active, numbers.fused_multiply_add(element, acc, lhs, rhs), acc)
