"""What older copies take from registers, under the roles that the current spelling has, as far as it is known before
the kernel runs.

A register holds what the write that reaches the copy says, and at the start of a block what it is reset to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptosim.effects.catalogue import effects
from ptosim.effects.dma import LOOP_SETTERS, packed_sizes, packed_strides
from ptosim.effects.dma_layout import GROUPS, MATRIX_SETTERS, group_fields
from ptosim.language.operation import PTOOperation
from ptosim.language.registers import reaching, writes
from ptosim.order.number import Number
from ptosim.order.values import Values


def from_registers(op: PTOOperation, values: Values) -> dict[str, Any] | None:
    """The operands that an operation takes from registers; None where only the run knows them."""
    try:
        for name in effects()[op.name].reads:
            if name in LOOP_SETTERS:
                return _loops(op, values, *LOOP_SETTERS[name])
            if name in MATRIX_SETTERS:
                fields = _held(op, values, MATRIX_SETTERS[name], (0,) * len(GROUPS), group_fields)
                return dict(zip(GROUPS, fields, strict=True))
    except _Unknown:
        return None
    return {}


class _Unknown(Exception):
    """Which write came last, or what it wrote, depends on the run."""


def _loops(op: PTOOperation, values: Values, sizes: str, *strides: str) -> dict[str, Any]:
    """The hardware loops around a copy, the inner one first. Strides of a loop that runs once do not matter."""
    counts = _held(op, values, sizes, (1, 1), packed_sizes)
    used = [
        (0, 0) if isinstance(count, int) and count == 1 else _held(op, values, setter, (0, 0), packed_strides)
        for count, setter in zip(counts, strides, strict=True)
    ]
    source, dest = zip(*used, strict=True)
    return {"loop_counts": counts, "loop_source_strides": source, "loop_dest_strides": dest}


def _held(
    op: PTOOperation,
    values: Values,
    setter: str,
    start: tuple[int, ...],
    unpack: Callable[[int], tuple[Any, ...]],
) -> tuple[Number, ...]:
    """What a register holds at an operation: the operands of the write, or the fields of its word."""

    def written(write: PTOOperation) -> tuple[Number, ...]:
        operands = tuple(values.number(value) for value in write.operands)
        if len(operands) == len(start):
            return operands
        (word,) = operands
        if not isinstance(word, int):
            raise _Unknown
        return unpack(word)

    found = reaching(op, setter)
    if found == "start":
        return start
    if found is not None:
        return written(found)
    if all(_is(written(write), start) for write in writes(op, setter)):
        return start  # whichever came last, it restored this
    raise _Unknown


def _is(numbers: tuple[Number, ...], known: tuple[int, ...]) -> bool:
    return all(isinstance(number, int) and number == each for number, each in zip(numbers, known, strict=True))
