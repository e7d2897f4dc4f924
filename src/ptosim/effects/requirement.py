"""Preconditions: what the operands of an instruction must be, said once for the verifier, both engines and `isa`.

A requirement is about the values of one role. Its condition is written with the operators of effects/geometry.py, so
that it is judged on Python ints and on values of the native engine's IR alike. The verifier judges the operands that
are constants, an engine those that the function of the instruction takes, before it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ptosim.effects.geometry import is_multiple, negate

Operands = Mapping[str, Any]
"""Values by role; a tuple where a role has several, None where an operand is absent or not known."""


@dataclass(frozen=True)
class Requirement:
    """A condition on an operand, alone or beside others."""

    role: str
    rule: str
    """The rule, worded as a message ends: "it must be 0..15"."""
    broken: Callable[..., Any]
    """A condition: of the value, and of those of the roles in `beside`."""
    beside: tuple[str, ...] = ()
    kind: str = "invalid"
    at_load: bool = True
    """Whether constants are judged when a kernel is loaded, too."""

    def message(self, place: str) -> str:
        """The fault, with `{}` for the value."""
        return f"{place} is {{}}; {self.rule}"

    def judged(self, operands: Operands) -> Iterator[tuple[str, Any, Any]]:
        """The place and the value of each operand that plays the role, and whether it breaks the requirement."""
        values, others = operands.get(self.role), [operands.get(role) for role in self.beside]
        if not isinstance(values, tuple):
            yield from self._judged_one(self.role, values, others)
            return
        for index, value in enumerate(cast("tuple[Any, ...]", values)):
            yield from self._judged_one(f"{self.role}[{index}]", value, [_member(other, index) for other in others])

    def _judged_one(self, place: str, value: Any, others: list[Any]) -> Iterator[tuple[str, Any, Any]]:
        if value is not None and not any(other is None for other in others):
            yield place, value, self.broken(value, *others)


def _member(values: Any, index: int) -> Any:
    """The one of several values that goes with another; one value goes with all."""
    return cast("tuple[Any, ...]", values)[index] if isinstance(values, tuple) else values


Requirements = tuple[Requirement, ...]


def bounds(low: int, high: int | None) -> str:
    """A range in words; `high` None means no upper bound."""
    if high is not None:
        return f"{low}..{high}"
    return "positive" if low == 1 else f"at least {low}"


def fits(roles: str, high: int | None, low: int = 0, at_load: bool = True) -> Requirements:
    """Each of these operands fits its field."""

    def broken(value: Any) -> Any:
        return value < low if high is None else (value < low) | (value > high)

    rule = f"it must be {bounds(low, high)}"
    return tuple(Requirement(role, rule, broken, at_load=at_load) for role in roles.split())


def multiple(role: str, power: int, rule: str, kind: str = "invalid") -> Requirement:
    """An operand is a multiple of a power of two."""

    def broken(value: Any) -> Any:
        return negate(is_multiple(value, power))

    return Requirement(role, rule, broken, kind=kind)
