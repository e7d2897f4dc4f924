"""Operations as warps execute them: functions of whole values, and scalar functions taken lane by lane.

A function of a warp is entered by `on_warps` where the scalar unit has the operation, too, and by `semantics` where
only workitems have it. Its parameters are named as there, and `warp`, `active`, or `taints`: the taint of each operand
by role; it then returns its result and the taint of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.element import Element
from ptosim.effects.record import Spread, Static
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import PTOOperation
from ptosim.language.types import element_of
from ptosim.machine.entry import Site
from ptosim.reference.fault import Fault
from ptosim.reference.semantics import Bind, Semantics
from ptosim.reference.workitems.values import Active, LaneTaint, Values, joined, part_of, zeros
from ptosim.reference.workitems.warp import Warp, computed

Function = TypeVar("Function", bound=Callable[..., Any])
Step = Callable[[Warp, Active], None]

ON_WARPS: dict[str, Semantics] = {}
"""By operation name."""

MOVED = frozenset(
    (
        "arith.extsi arith.extui arith.trunci arith.index_cast arith.index_castui arith.bitcast llvm.bitcast "
        "builtin.unrealized_conversion_cast"
    ).split()
)
"""Operations that only move their operand, so that undefined bits stay as they are."""


def enter(name: str, function: Callable[..., Any], parameters: tuple[str, ...], bind: Bind | None = None) -> None:
    ON_WARPS[name] = Semantics(function, parameters, bind)


def on_warps(*operations: Any, bind: Bind | None = None) -> Callable[[Function], Function]:
    """Enter a function as a warp's meaning of these operations, which the scalar unit has too."""

    def entered(function: Function) -> Function:
        for operation in operations:
            code = function.__code__
            enter(operation.name, function, code.co_varnames[: code.co_argcount], bind)
        return function

    return entered


@dataclass(frozen=True)
class Placed:
    """An operation of a body: where its operands and results lie among the values of a warp."""

    module: VerifiedModule
    op: Operation
    site: Site
    operands: tuple[int, ...]
    results: tuple[int, ...]

    @property
    def static(self) -> Static:
        return self.module.static(self.op)

    @property
    def result_elements(self) -> tuple[Element | None, ...]:
        return tuple(element_of_value(result) for result in self.op.results)


def element_of_value(value: Any) -> Element | None:
    """The type of the numbers of a value; None for addresses."""
    from ptosim.language.types import element_name

    return element_of(value.type) if element_name(value.type) is not None else None


def step_of(placed: Placed, meaning: Semantics, is_lifted: bool) -> Step:
    """The action of a warp at an operation."""
    if is_lifted:
        return _lifted(placed, meaning)
    return _whole(placed, meaning)


# --- functions of whole values ----------------------------------------------------------------------------------------


def _whole(placed: Placed, meaning: Semantics) -> Step:
    op, static = placed.op, placed.static
    facts: Mapping[str, Any] = {**static.facts, **(meaning.bind(static) if meaning.bind is not None else {})}
    roles = _roles(placed)
    getters = [_getter(placed, parameter, facts, roles) for parameter in meaning.parameters]
    function, results, site = meaning.function, placed.results, placed.site
    tells = "taints" in meaning.parameters
    spread = taint_of_results(placed)

    def step(warp: Warp, active: Active) -> None:
        warp.site = site
        found = function(*[get(warp, active) for get in getters])
        if not results:
            return
        if tells:
            warp.values[results[0]], warp.taints[results[0]] = found
            return
        taint = spread(warp, active)
        for place, value in zip(results, found if len(results) > 1 else (found,), strict=True):
            warp.values[place] = value
            warp.taints[place] = taint

    assert isinstance(op, PTOOperation)
    return step


def _roles(placed: Placed) -> dict[str, int]:
    """The place of each operand, by role."""
    op = placed.op
    if not isinstance(op, PTOOperation):
        return {}
    return {role: placed.operands[number] for number, (role, _) in enumerate(op.roles())}


def _getter(
    placed: Placed, parameter: str, facts: Mapping[str, Any], roles: Mapping[str, int]
) -> Callable[[Warp, Active], Any]:
    if parameter in facts:
        fact = facts[parameter]
        return lambda warp, active: fact
    if parameter in roles:
        place = roles[parameter]
        return lambda warp, active: warp.values[place]
    match parameter:
        case "warp":
            return lambda warp, active: warp
        case "core":
            return lambda warp, active: warp.core
        case "active":
            return lambda warp, active: active
        case "site":
            return lambda warp, active: placed.site
        case "taints":
            return lambda warp, active: {role: warp.taints[place] for role, place in roles.items()}
        case "element" | "result_element":
            values = placed.op.results if parameter == "result_element" else (*placed.op.operands, *placed.op.results)
            element = next((each for value in values if (each := element_of_value(value)) is not None), None)
            return lambda warp, active: element
        case _:
            static = placed.static
            word = static.words.get(parameter, static.integers.get(parameter))
            return lambda warp, active: word


# --- scalar functions, lane by lane -----------------------------------------------------------------------------------


def _lifted(placed: Placed, meaning: Semantics) -> Step:
    static = placed.static
    parts = replace(static, elements={role: part_of(each) for role, each in static.elements.items()})
    facts = {**parts.facts, **(meaning.bind(parts) if meaning.bind is not None else {})}
    roles = _roles(placed)
    getters = [
        None if parameter in roles else _getter(placed, parameter, facts, roles) for parameter in meaning.parameters
    ]
    varying = [(number, roles[name]) for number, name in enumerate(meaning.parameters) if name in roles]
    kinds = [_kind(placed, place) for _, place in varying]
    results, elements = placed.results, placed.result_elements
    spread, site = taint_of_results(placed), placed.site

    def step(warp: Warp, active: Active) -> None:
        warp.site = site
        arguments = [None if get is None else get(warp, active) for get in getters]
        shape = warp.values[placed.operands[0]].shape if placed.operands else zeros(None).shape
        outcome = [zeros(element) for element in elements]
        inputs = [_scalars(warp.values[place], kind, shape) for (_, place), kind in zip(varying, kinds, strict=True)]
        lanes = np.flatnonzero(active) if len(shape) == 1 else np.flatnonzero(np.repeat(active, shape[1]))
        for lane in lanes:
            for (number, _), values in zip(varying, inputs, strict=True):
                arguments[number] = values[lane]
            try:
                found = meaning.function(*arguments)
            except Fault as fault:
                raise _named(fault, warp, int(lane) // (shape[1] if len(shape) > 1 else 1)) from None
            given = cast("tuple[int, ...]", found if isinstance(found, tuple) else (found,))
            for room, value in zip(outcome, given, strict=True):
                room.reshape(-1)[lane] = _signed64(value)
        taint = spread(warp, active)
        for place, value in zip(results, outcome, strict=True):
            warp.values[place], warp.taints[place] = value, taint

    return step


def _kind(placed: Placed, place: int) -> Element | None:
    value = placed.op.operands[placed.operands.index(place)]
    element = element_of_value(value)
    return None if element is None else part_of(element)


def _scalars(values: Values, kind: Element | None, shape: tuple[int, ...]) -> list[int]:
    """Lanes for the functions of the scalar unit: f64 as bits without sign."""
    if values.ndim < len(shape):
        values = np.broadcast_to(values[:, np.newaxis], shape)
    numbers: list[int] = values.reshape(-1).tolist()
    if kind is not None and kind.bits == 64 and (kind.is_float or kind.kind == "unsigned"):
        return [number & (1 << 64) - 1 for number in numbers]
    return numbers


def _signed64(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _named(fault: Fault, warp: Warp, lane: int) -> Fault:
    """A fault of the scalar function, with the workitem that ran into it."""
    who = warp.launch.workitem(int(warp.workitems[lane]))
    message = fault.message if str(who) in fault.message else f"{fault.message}; {who}"
    return Fault(fault.kind, message, **{**fault.fields, "workitem": who, "lanes": (lane,)})


# --- taint ------------------------------------------------------------------------------------------------------------


def taint_of_results(placed: Placed) -> Callable[[Warp, Active], LaneTaint | None]:
    """The taint of a result from that of operands: it stays where they only move, else it is computed with."""
    operands, name = placed.operands, placed.op.name
    elements = placed.result_elements
    record = effects().get(name)
    crossing = record is not None and record.taint.spread is Spread.MOVEMENT and record.taint.crosses(placed.static)
    nothing = (not operands and not crossing) or not placed.results

    def spread(warp: Warp, active: Active) -> LaneTaint | None:
        if nothing or warp.onlooker is None:
            return None
        found = [taint for place in operands if (taint := warp.taints[place]) is not None]
        if not found:
            return None
        total = as_taint_of(elements[0], found)
        if crossing:
            total = np.where(active if total.ndim == 1 else active[:, np.newaxis], total[active].max(initial=0), 0)
            total = total.astype(np.uint8)
        return total if name in MOVED else computed(total)

    return spread


def as_taint_of(element: Element | None, found: list[LaneTaint]) -> LaneTaint:
    """The highest of several taints, in the shape of a value of this type."""
    shape = zeros(element).shape
    total = np.zeros(shape, np.uint8)
    for taint in found:
        total = np.maximum(total, _shaped(taint, shape))
    return total


def _shaped(taint: LaneTaint, shape: tuple[int, ...]) -> LaneTaint:
    if taint.ndim > len(shape):
        return taint.max(axis=1)
    if taint.ndim < len(shape):
        return taint[:, np.newaxis]
    return taint if taint.shape == shape else np.broadcast_to(taint.max(axis=1)[:, np.newaxis], shape)


def merge_taint(active: Active, new: LaneTaint | None, old: LaneTaint | None, like: Values) -> LaneTaint | None:
    """The taint of a value that is the new one in active lanes."""
    if new is None and old is None:
        return None
    nothing = np.zeros(like.shape, np.uint8)
    first, second = (nothing if taint is None else taint for taint in (new, old))
    return joined(active, first, second)  # pyright: ignore[reportArgumentType, reportReturnType]
