"""Arithmetic of a warp on whole arrays, where it is common; what is not here is done lane by lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.language.micro.pointer import AddPtr
from ptosim.language.structure.scalar_cast import Select
from ptosim.reference.numeric.float_lanes import Lanes
from ptosim.reference.workitems.lifting import as_taint_of, enter, on_warps
from ptosim.reference.workitems.values import (
    Active,
    LaneTaint,
    Values,
    bits_of,
    floats_of,
    further,
    part_of,
    rounded,
    wrapped,
)
from ptosim.reference.workitems.warp import Warp, computed

Binary = Callable[[Any, Any], Any]


def _kinds(static: Static) -> dict[str, Any]:
    given = static.elements.get("lhs") or static.elements.get("operand") or static.elements["result"]
    return {"kind": part_of(given), "result_kind": part_of(static.elements.get("result", given))}


def _integer(function: Binary) -> Callable[..., Values]:
    def evaluate(lhs: Values, rhs: Values, kind: Element) -> Values:
        return wrapped(function(lhs, rhs), kind)

    return evaluate


def _float(function: Binary) -> Callable[..., Values]:
    def evaluate(lhs: Values, rhs: Values, kind: Element) -> Values:
        return rounded(function(floats_of(lhs, kind), floats_of(rhs, kind)), kind)

    return evaluate


_BINARY = ("lhs", "rhs", "kind")
for _name, _function in {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
}.items():
    enter(f"arith.{_name}", _integer(_function), _BINARY, _kinds)
for _name, _function in {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}.items():
    enter(f"arith.{_name}", _float(_function), _BINARY, _kinds)


_ORDERS: dict[str, Binary] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _compare(lhs: Values, rhs: Values, predicate: str, kind: Element) -> Values:
    a, b = lhs, rhs
    if predicate[0] == "u":
        a, b = bits_of(lhs, kind).view(np.uint64), bits_of(rhs, kind).view(np.uint64)
    elif kind.bits == 1:
        a, b = -lhs, -rhs
    return _ORDERS[predicate[-2:]](a, b).astype(np.int64)


enter("arith.cmpi", _compare, ("lhs", "rhs", "predicate", "kind"), _kinds)


def _resized(operand: Values, kind: Element, result_kind: Element) -> Values:
    return wrapped(-operand if kind.bits == 1 else operand, result_kind)


def _extended(operand: Values, kind: Element, result_kind: Element) -> Values:
    return wrapped(bits_of(operand, kind), result_kind)


for _name in ("index_cast", "extsi", "trunci"):
    enter(f"arith.{_name}", _resized, ("operand", "kind", "result_kind"), _kinds)
for _name in ("index_castui", "extui"):
    enter(f"arith.{_name}", _extended, ("operand", "kind", "result_kind"), _kinds)


@on_warps(AddPtr, bind=lambda static: {"width": static.elements["pointer"].bytes})
def addptr(pointer: Values, offset: Values, width: int) -> Values:
    return further(pointer, offset, width)


@on_warps(Select)
def select(
    warp: Warp,
    active: Active,
    taints: dict[str, LaneTaint | None],
    condition: Values,
    if_true: Values,
    if_false: Values,
    result_element: Element,
) -> tuple[Values, LaneTaint | None]:
    """The taint of the side that is taken goes on; a condition that is undefined leaves nothing defined."""
    chosen = condition != 0
    if chosen.ndim < if_true.ndim:
        chosen = chosen[:, np.newaxis]
    value = np.where(chosen, if_true, if_false)
    nothing = np.zeros(value.shape, np.uint8)
    sides = [nothing if (taint := taints[role]) is None else taint for role in ("if_true", "if_false")]
    taint = np.where(chosen, *sides).astype(np.uint8)
    if (doubt := computed(taints["condition"])) is not None:
        taint = as_taint_of(result_element, [taint, doubt])
    return value, taint if taint.any() else None


def greater(a: Lanes, b: Lanes) -> Lanes:
    """The greater float, a number rather than a NaN; -0 is less than +0."""
    return _of_two(a, b, (a > b) | ((a == b) & np.signbit(b)))


def lesser(a: Lanes, b: Lanes) -> Lanes:
    return _of_two(a, b, (a < b) | ((a == b) & np.signbit(a)))


def _of_two(a: Lanes, b: Lanes, first: Any) -> Lanes:
    return np.where((first | (b != b)) & (a == a), a, b)
