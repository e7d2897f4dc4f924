"""Columns of operands, a value for each turn of the loops around, as constants, sums of terms and tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]
"""One axis for the blocks, then one for each loop, outermost first."""

LONGEST_CYCLE = 64


@dataclass(frozen=True)
class ColumnTerm:
    """`factor * i` of an axis, or what a table holds at `i`, modulo the length of the table where it is a cycle."""

    axes: tuple[int, ...]
    factor: int = 0
    table: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    """The lengths of the axes of a table over several."""


@dataclass(frozen=True)
class ColumnSum:
    """A constant and terms."""

    base: int
    terms: tuple[ColumnTerm, ...] = ()

    @property
    def axes(self) -> tuple[int, ...]:
        return tuple(sorted({axis for term in self.terms for axis in term.axes}))


def closed(column: Column) -> ColumnSum:
    """The shortest form that gives every value of the column."""
    axes = [axis for axis, size in enumerate(column.shape) if size > 1 and _varies(column, axis)]
    first = (0,) * column.ndim
    base = int(column[first])
    if not axes:
        return ColumnSum(base)
    lines = [column[tuple(slice(None) if at == axis else 0 for at in range(column.ndim))] - base for axis in axes]
    rebuilt = np.full(column.shape, base)
    for axis, line in zip(axes, lines, strict=True):
        rebuilt = rebuilt + line.reshape([-1 if at == axis else 1 for at in range(column.ndim)])
    if np.array_equal(rebuilt, column):
        return ColumnSum(base, tuple(_term(axis, line) for axis, line in zip(axes, lines, strict=True)))
    whole = column[tuple(slice(None) if axis in axes else 0 for axis in range(column.ndim))]
    return ColumnSum(0, (ColumnTerm(tuple(axes), table=tuple(whole.reshape(-1).tolist()), shape=whole.shape),))


def _varies(column: Column, axis: int) -> bool:
    first = np.take(column, [0], axis)
    return not np.array_equal(np.broadcast_to(first, column.shape), column)


def _term(axis: int, line: Column) -> ColumnTerm:
    """One axis by itself; it begins with 0."""
    step = int(line[1])
    if np.array_equal(line, np.arange(len(line)) * step):
        return ColumnTerm((axis,), step)
    for cycle in range(2, min(LONGEST_CYCLE, len(line) // 2) + 1):
        if np.array_equal(line[cycle:], line[:-cycle]):
            return ColumnTerm((axis,), table=tuple(line[:cycle].tolist()), shape=(cycle,))
    return ColumnTerm((axis,), table=tuple(line.tolist()), shape=line.shape)


def value(found: ColumnSum, turn: tuple[int, ...]) -> int:
    """The value of a form in one turn."""
    total = found.base
    for term in found.terms:
        if not term.table:
            total += term.factor * turn[term.axes[0]]
            continue
        at = 0
        for axis, size in zip(term.axes, term.shape, strict=True):
            at = at * size + turn[axis] % size
        total += term.table[at]
    return total
