"""Meanings of instructions: functions whose parameter names say what they want.

    @semantics(VAdd)
    def vadd(lhs: Lanes, rhs: Lanes, element: Element) -> Lanes:
        return ...

A parameter is the role of an operand (its value), the name of a property (its word or integer, None when absent), or

    core            the core it runs on (reference/core.py): memories, special registers
    active          which lanes the mask `mask` enables, in lanes of the first register operand (else of the result)
    element         the element type of the first register operand (else pointer, scalar, result)
    result_element  the element type of the result
    operands        all operands but hints, as attributes by role
    static          effects.record.Static of the operation
    config, ctrl    the configuration registers and CTRL as they were when the instruction was issued
    site            machine.entry.Site, for instructions that talk to the machine

or a key of the result of `bind(static)` when the kernel was translated, or of the facts of the operation class. An
instruction with a role `mask` whose function asks for neither `mask` nor `active` is zeroing: inactive lanes of its
register results become zero afterwards. Functions must not change their arguments.

An instruction outside vector scopes whose effects record names a pipe other than S is queued there. A copy is a
generator function that yields once, after it has read and before it writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from ptosim.effects.record import Static
from ptosim.language.analysis.parameter_binding import by_role

Function = TypeVar("Function", bound=Callable[..., Any])
Bind = Callable[[Static], Mapping[str, Any]]
Operands = SimpleNamespace


@dataclass(frozen=True)
class Semantics:
    """The function of an instruction and what it asks for."""

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    bind: Bind | None = None

    @property
    def is_transfer(self) -> bool:
        """Whether it reads at its start and writes at its end."""
        return inspect.isgeneratorfunction(self.function)


def complete(outcome: Any) -> Any:
    """The result of an instruction that is carried out without a break: a copy goes on at once."""
    if isinstance(outcome, Iterator):
        for _ in cast("Iterator[None]", outcome):
            pass
    return cast(Any, outcome)


SEMANTICS: dict[str, Semantics] = {}
"""By operation name. Filled when the rooms are imported (reference/catalogue.py), never changed afterwards."""


def define(
    name: str, function: Callable[..., Any], bind: Bind | None = None, parameters: tuple[str, ...] | None = None
) -> None:
    """Enter a function, for rooms that are tables; `parameters` where its own have no names."""
    assert name not in SEMANTICS, f"{name} is defined twice"
    SEMANTICS[name] = Semantics(function, parameters or tuple(inspect.signature(function).parameters), bind)


def semantics(*operations: Any, bind: Bind | None = None) -> Callable[[Function], Function]:
    """Say that a function is the meaning of these operation classes."""

    def enter(function: Function) -> Function:
        for operation in operations:
            whole, parameters = by_role(operation, function)
            define(operation.name, whole, bind, parameters)
        return function

    return enter
