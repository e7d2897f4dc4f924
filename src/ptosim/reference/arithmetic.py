"""Element-wise vector arithmetic. Integers wrap; a float result is rounded once and its NaNs are canonical."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.language.micro import arithmetic as op
from ptosim.language.micro import arithmetic_integer
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.numeric import elementary, float_lanes
from ptosim.reference.numeric.lanes import Lane, Lanes, broadcast, scalar_lane, unsigned
from ptosim.reference.numeric.mask import FULL, Mask, of_lanes
from ptosim.reference.semantics import define, semantics

Function1 = Callable[[Lanes], Lanes]
Function2 = Callable[[Lanes, Lanes], Lanes]


# --- from scalars and lanes -------------------------------------------------------------------------------------------


def _filling(static: Static) -> dict[str, Any]:
    element = static.elements["result"]
    return {"register": broadcast(element), "lanes": element.lanes}


@semantics(op.VBr, bind=_filling)
def vbr(input: int, register: Lane) -> Lanes:
    return register(input)


@semantics(op.VDup, bind=_filling)
def vdup(input: Any, position: str | None, register: Lane, lanes: int) -> Lanes:
    if isinstance(input, int):
        return register(input)
    lane: Lanes = input[-1:] if position == "HIGHEST" else input[:1]
    return lane.repeat(lanes)


# --- unary ------------------------------------------------------------------------------------------------------------


def _absolute(element: Element) -> Function1:
    if element.kind == "unsigned":
        return lambda x: x
    if element.name == "bf16":
        return lambda x: x & 0x7FFF
    return np.abs  # the least integer stays itself; a float loses its sign bit, also a NaN


def _negative(element: Element) -> Function1:
    if not element.is_float:
        return np.negative
    sign = np.array(1 << (element.bits - 1), f"u{element.bytes}")
    return lambda x: (unsigned(x) ^ sign).view(x.dtype)


def _floating(function: Function1) -> Callable[[Element], Function1]:
    return lambda element: lambda x: float_lanes.narrow(element, function(float_lanes.widen(element, x)))


def _elementary(function: Function1) -> Callable[[Element], Function1]:
    """exp, ln and sqrt take f16 and f32 lanes and round once; bf16 goes through f32."""

    def choose(element: Element) -> Function1:
        return _floating(function)(element) if element.name == "bf16" else function

    return choose


def _rectified(element: Element) -> Function1:
    zero = np.zeros(1, float_lanes.dtype_of(element))
    maximum = float_lanes.maximum if element.is_float else np.maximum
    return lambda x: maximum(x, zero)


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


# --- binary -----------------------------------------------------------------------------------------------------------


def _by_kind(integer: Function2, floating: Function2) -> Callable[[Element], Function2]:
    """Integers in their own width. Floats are rounded once: NumPy computes f16 in f32, and so does this bf16."""

    def choose(element: Element) -> Function2:
        if not element.is_float:
            return integer
        if element.name == "bf16":
            wide = float_lanes.bf16_to_f32
            return lambda a, b: float_lanes.f32_to_bf16(floating(wide(a), wide(b)))
        return lambda a, b: float_lanes.canonical(floating(a, b))

    return choose


def _quotient(a: Lanes, b: Lanes) -> Lanes:
    """Toward zero; the least value divided by -1 wraps, and division by zero gives zero."""
    by_zero: Lanes = b == 0
    safe = np.where(by_zero, b.dtype.type(1), b).astype(np.int64)
    truncated = np.abs(a.astype(np.int64)) // np.abs(safe) * np.sign(a) * np.sign(safe)
    return np.where(by_zero, 0, truncated).astype(a.dtype)


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

    def logical(a: Lanes, count: Lanes) -> Lanes:
        amount = unsigned(count)
        return np.where(amount <= most, a >> (amount & most), 0)

    def arithmetic(a: Lanes, count: Lanes) -> Lanes:
        return a >> np.minimum(unsigned(count), most).view(a.dtype)

    return logical if element.kind == "unsigned" else arithmetic


_BINARY: Mapping[str, Callable[[Element], Function2]] = {
    "vadd": _by_kind(np.add, np.add),
    "vsub": _by_kind(np.subtract, np.subtract),
    "vmul": _by_kind(np.multiply, np.multiply),
    "vmax": _by_kind(np.maximum, float_lanes.maximum),
    "vmin": _by_kind(np.minimum, float_lanes.minimum),
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


@semantics(op.VDiv, bind=_bind(_by_kind(_quotient, np.divide)))
def vdiv(core: Core, site: Site, lhs: Lanes, rhs: Lanes, mask: Mask, element: Element, function: Function2) -> Lanes:
    if core.wants_lint and element.is_integer and not rhs[mask.lanes(element.bytes)].all():
        core.lint("active lanes divide by zero, which is not defined; they become 0", site=site)
    return mask.zero_inactive(function(lhs, rhs))


# --- vector and scalar ------------------------------------------------------------------------------------------------


def _vector_scalar(input: Lanes, scalar: int, function: Function2, lane: Lane) -> Lanes:
    return function(input, lane(scalar))


def _shift_count(element: Element) -> Lane:
    """The scalar is an i16 of any value; read as unsigned, one that does not fit a narrow lane is beyond its width."""
    lane = scalar_lane(element)
    return lambda scalar: lane(min(scalar & 0xFFFF, element.bits))


def _bind_scalar(choose: Callable[[Element], Function2], lane: Callable[[Element], Lane]) -> Any:
    def bind(static: Static) -> dict[str, Any]:
        element = static.elements["result"]
        return {"function": choose(element), "lane": lane(element)}

    return bind


for _name in ("vadd", "vmul", "vmax", "vmin"):
    define(f"pto.{_name}s", _vector_scalar, _bind_scalar(_BINARY[_name], scalar_lane))
for _name in ("vshl", "vshr"):
    define(f"pto.{_name}s", _vector_scalar, _bind_scalar(_BINARY[_name], _shift_count))


# --- carry chain ------------------------------------------------------------------------------------------------------


def _chain(lhs: Lanes, total: Lanes, carry: Lanes, active: Lanes) -> tuple[Lanes, Mask]:
    return np.where(active, total, 0).astype(np.uint32).view(lhs.dtype), of_lanes(carry & active, 4)


_NO_CARRY = of_lanes(np.zeros(64, np.bool_), 4)


@semantics(arithmetic_integer.VAddC, bind=lambda static: {"carry_in": _NO_CARRY})
@semantics(arithmetic_integer.VAddCs)
def vaddc(lhs: Lanes, rhs: Lanes, carry_in: Mask, active: Lanes) -> tuple[Lanes, Mask]:
    total = unsigned(lhs).astype(np.uint64) + unsigned(rhs) + carry_in.lanes(4)
    return _chain(lhs, total & 0xFFFFFFFF, total > 0xFFFFFFFF, active)


@semantics(arithmetic_integer.VSubC, bind=lambda static: {"carry_in": FULL[4]})
@semantics(arithmetic_integer.VSubCs)
def vsubc(lhs: Lanes, rhs: Lanes, carry_in: Mask, active: Lanes) -> tuple[Lanes, Mask]:
    """The carry means "no borrow"."""
    a, b = unsigned(lhs).astype(np.int64), unsigned(rhs).astype(np.int64) + ~carry_in.lanes(4)
    return _chain(lhs, (a - b) & 0xFFFFFFFF, a >= b, active)


# --- multiply and add -------------------------------------------------------------------------------------------------


@semantics(op.VMAdd)
def vmadd(acc: Lanes, lhs: Lanes, rhs: Lanes, active: Lanes, element: Element) -> Lanes:
    """acc * lhs + rhs with one rounding; inactive lanes keep the accumulator."""
    return np.where(active, float_lanes.fused_multiply_add(element, acc, lhs, rhs), acc)
