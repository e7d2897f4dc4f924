"""Questions of both engines to an operation, asked when they bind the parameters of its function.

How a value looks is each engine's own matter: text of Python here, IR there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from xdsl.ir import Operation, SSAValue

from ptosim.diagnostics import Location
from ptosim.effects.catalogue import effects
from ptosim.effects.element import Element
from ptosim.effects.names import Pipe
from ptosim.language.operation import PTOOperation, enclosing_scope, is_scope
from ptosim.language.simt.simt import SimtLaunch
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import MaskType, VregType, element_of

HINTS = frozenset({"l2_cache_ctl", "sid"})
"""Operands that mostly change nothing here: a function that wants them asks for them by name."""


class Standing(NamedTuple):
    """The place of an operation, in the order of `machine.entry.Site`."""

    name: str
    location: Location | None
    pipe: Pipe
    """Its queue; V for a scope, S for what the scalar unit does itself."""
    scope: Location | None
    number: int
    served: str


def standing(parsed: ParsedModule, op: Operation) -> Standing:
    """Name, place, pipe and provenance of an operation."""
    scope = enclosing_scope(op)
    return Standing(
        parsed.called(op),
        parsed.location(op),
        pipe_of(op),
        parsed.location(scope) if scope is not None else None,
        parsed.numbers.get(op, -1),
        f"simt {op.symbol}" if isinstance(op, SimtLaunch) else parsed.served(op),
    )


def pipe_of(op: Operation) -> Pipe:
    """The queue of an operation: V for a scope, S for what the scalar unit does itself."""
    record = effects().get(op.name)
    return record.pipe if record else Pipe.V if is_scope(op) else Pipe.S


def element_for(op: Operation, which: Literal["element", "result_element"]) -> Element:
    """The element type that a function calls `element`: of the first register, else of the first other value."""
    types = [value.type for value in (op.results if which == "result_element" else (*op.operands, *op.results))]
    registers = [type_ for type_ in types if isinstance(type_, VregType)]
    others = [type_ for type_ in types if not isinstance(type_, MaskType)]
    return element_of((registers or others)[0])


def zeroing_mask(op: Operation, parameters: Collection[str]) -> SSAValue | None:
    """The mask that clears inactive result lanes, where the function of the instruction does not deal with it."""
    if not isinstance(op, PTOOperation) or "mask" not in op.operand_roles or {"mask", "active"} & set(parameters):
        return None
    return next(iter(op.segment("mask")), None)


def by_role(kind: type[PTOOperation], function: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """The function of an instruction and its parameters; all roles but hints take the place of `operands`, which
    holds them."""
    asked = tuple(inspect.signature(function).parameters)
    if "operands" not in asked:
        return function, asked
    roles = tuple(role for role in kind.operand_roles if role not in HINTS)
    parameters = tuple(dict.fromkeys((*(each for each in asked if each != "operands"), *roles)))
    chosen = itemgetter(*(parameters.index(role) for role in roles))
    places = [None if each == "operands" else parameters.index(each) for each in asked]

    def gathered(arguments: tuple[Any, ...]) -> list[Any]:
        operands = SimpleNamespace(**dict(zip(roles, chosen(arguments), strict=True)))
        return [operands if place is None else arguments[place] for place in places]

    def call(*arguments: Any) -> Any:
        return function(*gathered(arguments))

    def transfer(*arguments: Any) -> Iterator[None]:
        yield from function(*gathered(arguments))

    return transfer if inspect.isgeneratorfunction(function) else call, parameters
