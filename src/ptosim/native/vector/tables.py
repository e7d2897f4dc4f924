"""Static byte maps of the effects floor as shuffles of units as large as a map allows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, Type, Value
from ptosim.native.vector.registers import Mask, shuffle

NOTHING = -1


@cache
def unit_of(*tables: tuple[int, ...]) -> int:
    """The largest unit of 8, 4, 2 or 1 bytes that the tables move as a whole or leave out as a whole."""
    return next(size for size in (8, 4, 2, 1) if all(_moves(table, size) for table in tables))


def _moves(table: tuple[int, ...], size: int) -> bool:
    if len(table) % size:
        return False
    starts = range(0, len(table), size)
    return all(_moves_unit(table[start : start + size], size) for start in starts)


def _moves_unit(unit: tuple[int, ...], size: int) -> bool:
    first = unit[0]
    if first == NOTHING:
        return all(byte == NOTHING for byte in unit)
    return first % size == 0 and unit == tuple(range(first, first + size))


def units(table: Sequence[int], size: int) -> list[int]:
    """A table of bytes as a table of units."""
    return [NOTHING if byte == NOTHING else byte // size for byte in table[::size]]


def kind_of(size: int, count: int) -> Type:
    return Type(f"i{8 * size}", count)


def distributed(f: FunctionBuilder, order: Sequence[int], vector: Value) -> Value:
    """The lanes of a vector in this order; NOTHING becomes zero."""
    if NOTHING not in order:
        return shuffle(f, order, vector)
    zero = vector.kind.lanes  # the first lane of the second operand
    return shuffle(f, [zero if lane == NOTHING else lane for lane in order], vector, vector.like(0))


def gated(f: FunctionBuilder, mask: Mask, bits: Sequence[int]) -> Value:
    """The bits of a predicate with these numbers, side by side."""
    width = next(size for size in (8, 4, 2, 1) if all(bit % size == 0 for bit in bits))
    if mask.is_full and width >= mask.width:
        return f.constant(I1.vector(len(bits)), 1)
    return shuffle(f, [bit // width for bit in bits], mask.lanes(width))
