"""The state of the scalar unit of a core in a replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation, SSAValue

from ptosim.effects.names import Space
from ptosim.language.analysis.scalar_rules import Scalar, is_number
from ptosim.language.structure.function import Function
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry
from ptosim.order.replay.touched_bytes import Touched

Environment = dict[Any, Any]
"""By values what they are: integers, also for pointers, lists for arrays, None for what is not known."""
Step = Callable[["ScalarRun"], None]
Trail = tuple[tuple[Operation, int], ...]
"""The loops around a place with the iteration of each, and the branches with the arm."""


class Unreplayable(Exception):
    """A replay cannot go on, or it would be too long."""


@dataclass(frozen=True)
class ReplayLaunch:
    """The launch of a replay."""

    scalars: tuple[Scalar, ...]
    """By argument; pointers and floats are None."""
    blocks: int = 1
    data: int = 0
    """The data that memory gives."""
    arm: int = 0
    """The way that branches take whose condition no replay knows."""

    def arguments(self, function: Function) -> Environment:
        values = function.body.block.args
        given = (*self.scalars, *[None] * len(values))
        return {
            value: given[index] if is_number(value) or given[index] is not None else _pointer(value, index)
            for index, value in enumerate(values)
        }


def _pointer(value: SSAValue, index: int) -> Scalar:
    space = getattr(value.type, "space", None)
    return (index + 1) << 48 if space is Space.GM else None


@dataclass
class ScalarRun:
    """One core on its way through its program."""

    core: Core
    launch: ReplayLaunch
    touch: Callable[[Entry, Sequence[Touched]], None]
    """Told of the accesses of the scalar unit itself."""
    steps: int
    """Iterations that are left."""
    values: Environment = field(default_factory=Environment)
    trail: Trail = ()
    atomic: str = ""
    doubts: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """The branches at which data decided the way."""
    stored: set[int] = field(default_factory=set[int])
    """Arguments that the kernel writes to."""

    def count(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Unreplayable("it is too long")


def known_number(value: Scalar) -> int:
    """An id, an address of a wait: what has to be known for the replay to go on."""
    if value is None:
        raise Unreplayable("an id is decided by data")
    return value
