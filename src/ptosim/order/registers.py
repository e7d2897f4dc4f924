"""The hardware loops of older copies: what their registers hold, where that is known before the kernel runs.

They hold what the setters in front of a copy say if no other setter can come between, and 1 where nobody sets them.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.language.operands import constant_of
from ptosim.language.operation import PTOOperation
from ptosim.order.number import Number
from ptosim.order.values import Values

_LOOPS = "LOOP_"
"""How the records of copies that loop by registers call these, before their direction."""


@dataclass(frozen=True)
class Loops:
    """Under the roles of the copies that have loops of their own, the inner one first."""

    loop_counts: tuple[Number, ...] = ()
    loop_source_strides: tuple[Number, ...] = ()
    loop_dest_strides: tuple[Number, ...] = ()


def loops_of(op: PTOOperation, values: Values) -> Loops | None:
    """The loops around a copy; None where only the run knows them."""
    named = (name for name in effects()[op.name].reads if name.startswith(_LOOPS))
    direction = next((name.removeprefix(_LOOPS).lower() for name in named), None)
    if direction is None:
        return None
    sizes = _setters(op, f"pto.set_loop_size_{direction}")
    if all(constant_of(count) == 1 for setter in sizes for count in setter.operands):
        return Loops()
    settings = [sizes, *(_setters(op, f"pto.set_loop{number}_stride_{direction}") for number in (1, 2))]
    if not all(len(setters) == 1 and _comes_first(setters[0], op) for setters in settings):
        return None
    counts, inner, outer = ([values.number(value) for value in setters[0].operands] for setters in settings)
    return Loops((counts[0], counts[1]), (inner[0], outer[0]), (inner[1], outer[1]))


def _setters(op: Operation, name: str) -> list[Operation]:
    """Every operation of the module that sets a register."""
    module = op
    while (parent := module.parent_op()) is not None:
        module = parent
    return [each for each in module.walk() if each.name == name]


def _comes_first(setter: Operation, op: Operation) -> bool:
    """Whether an operation stands in front of another one, in a block around it."""
    block, inside = setter.parent_block(), op
    while inside.parent_block() is not block:
        parent = inside.parent_op()
        if parent is None:
            return False
        inside = parent
    return block is not None and block.get_operation_index(setter) < block.get_operation_index(inside)
