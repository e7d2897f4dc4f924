"""Lowerings of instructions to IR: functions whose parameter names say what they want.

    @lowering(VAdd)
    def vadd(f: Function, lhs: Value, rhs: Value, element: Element) -> Value:
        return ...

It is called once for each such operation of a kernel and appends the instructions that compute it. A parameter is the
role of an operand (None when absent, a tuple for a variadic one), the name of a property (its word or integer, None
when absent), or

    f               the function under construction (flow.py)
    core            the core it runs on (native/build/core.py): memories, special registers, how to fail
    active          which lanes the mask `mask` enables, <n x i1>, in lanes of the first register operand (else of the
                    result); all of them where there is no mask
    element         the element type of the first register operand (else pointer, scalar, result)
    result_element  the element type of the result
    operands        all operands but hints, as attributes by role
    static          effects.record.Static of the operation
    ctrl, ar, …     a register (context.Register, in lower case) as it was when the instruction was issued, i64

or a key of the result of `bind(static)`, or of the facts of the operation class.

How values look
    register        lanes of the element's `lane_type` (numbers.py); of a returned register only the bytes matter
    mask            registers.Mask
    align           state.Align
    integer         iN, i1 and index as I1 and I64
    pointer         I64: an address on chip, argument and offset in GM
    float scalar    its bits as an integer of the same width, as in the reference engine: what is only moved keeps its
                    payload; `registers.splat(f, lanes_as(bits, F32), n)` or `core.splat` make lanes of it

Integer operands may be constants (`Value.literal`). A function returns what its results are: a value, a tuple, or None.
An instruction with a role `mask` whose function asks for neither `mask` nor `active` is zeroing: inactive lanes of its
register results are cleared afterwards, by the driver.

A function that is `lanewise` computes each lane from the same lane of its registers, and takes scalars as well: the
driver gives it those where every register holds one number in all its lanes, and no lane is masked off.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeVar

from ptosim.effects.record import Static
from ptosim.language.analysis.parameter_binding import by_role

Function = TypeVar("Function", bound=Callable[..., Any])
Bind = Callable[[Static], Mapping[str, Any]]
Operands = SimpleNamespace


@dataclass(frozen=True)
class Lowering:
    """The function of an instruction and what it asks for."""

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    bind: Bind | None = None
    lanewise: bool = False


LOWERINGS: dict[str, Lowering] = {}
"""By operation name. Filled when the rooms are imported (native/build/catalogue.py), never changed afterwards."""


def define(
    name: str,
    function: Callable[..., Any],
    bind: Bind | None = None,
    lanewise: bool = False,
    parameters: tuple[str, ...] | None = None,
) -> None:
    """Enter a function, for rooms that are tables; `parameters` where its own have no names."""
    assert name not in LOWERINGS, f"{name} is lowered twice"
    named = parameters or tuple(inspect.signature(function).parameters)
    LOWERINGS[name] = Lowering(function, named, bind, lanewise)


def given(**facts: Any) -> Bind:
    """A lowering from a row of a table, the same for every operation."""
    return lambda static: facts


def lowering(*operations: Any, bind: Bind | None = None, lanewise: bool = False) -> Callable[[Function], Function]:
    """Say that a function lowers these operation classes."""

    def enter(function: Function) -> Function:
        for operation in operations:
            whole, parameters = by_role(operation, function)
            define(operation.name, whole, bind, lanewise, parameters)
        return function

    return enter
