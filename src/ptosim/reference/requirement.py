"""Preconditions in this engine: the function of an instruction is called when its operands are what the record demands.

What depends on operands that the function does not take (streams, cache hints) has no effect and is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ptosim.effects.requirement import Requirement, Requirements
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.semantics import Semantics


def demand(core: Core, requirements: Requirements, operands: Mapping[str, Any]) -> None:
    """Values by role are what they must be; for functions that work operands out themselves."""
    _tell(core, _complaints(requirements, operands))


def _complaints(requirements: Requirements, operands: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Kind and message of everything that is wrong."""
    return tuple(
        (requirement.kind, requirement.message(place).format(value))
        for requirement in requirements
        for place, value, broken in requirement.judged(operands)
        if broken
    )


def _tell(core: Core | None, complaints: tuple[tuple[str, str], ...]) -> None:
    """A copy in the wrong unit is a finding that a check goes on behind; a value that fits no field ends any run."""
    for kind, message in complaints:
        if kind == "misaligned" and core is not None:
            core.violation(kind, message)
        else:
            raise Fault(kind, message)


def guarded(meaning: Semantics, requirements: Requirements) -> Semantics:
    """The same function behind its preconditions. Most operands have been judged before: they are remembered."""
    judged = tuple(requirement for requirement in requirements if _is_taken(meaning, requirement))
    roles = tuple(dict.fromkeys(role for each in judged for role in (each.role, *each.beside)))
    if not judged:
        return meaning
    parameters, function = meaning.parameters, meaning.function
    places = [parameters.index(role) for role in roles]
    core = parameters.index("core") if "core" in parameters else None

    @lru_cache(1024)
    def complaints(*values: Any) -> tuple[tuple[str, str], ...]:
        return _complaints(judged, dict(zip(roles, values, strict=True)))

    def check(arguments: tuple[Any, ...]) -> None:
        if found := complaints(*[arguments[place] for place in places]):
            _tell(None if core is None else arguments[core], found)

    def call(*arguments: Any) -> Any:
        check(arguments)
        return function(*arguments)

    def transfer(*arguments: Any) -> Iterator[None]:
        check(arguments)
        yield from function(*arguments)

    return replace(meaning, function=transfer if meaning.is_transfer else call)


def _is_taken(meaning: Semantics, requirement: Requirement) -> bool:
    return {requirement.role, *requirement.beside} <= set(meaning.parameters)
