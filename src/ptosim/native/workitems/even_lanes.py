"""Numbers of lanes that lie equally far apart stay so through sums, products with a constant, and casts.

One number then tells where all lanes access memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptosim.effects.simt import WARP
from ptosim.native.ir.values import I64, Type, Value
from ptosim.native.workitems.values import EvenLanes

_Rule = Callable[[Sequence[EvenLanes], Type], EvenLanes | None]


def even(name: str, operands: Sequence[EvenLanes | None], kind: Type) -> EvenLanes | None:
    """The result of an operation on such lanes, numbers of this type."""
    rule = _RULES.get(name)
    known = [row for row in operands if row is not None]
    return None if rule is None or len(known) < len(operands) else rule(known, kind)


def _joined(row: EvenLanes, other: EvenLanes) -> EvenLanes:
    return row if other.sure is None else row.also(other.sure)


def _sum(rows: Sequence[EvenLanes], kind: Type) -> EvenLanes:
    a, b = rows
    return _joined(EvenLanes(a.first + b.first, a.step + b.step, a.sure), b)


def _difference(rows: Sequence[EvenLanes], kind: Type) -> EvenLanes:
    a, b = rows
    return _joined(EvenLanes(a.first - b.first, a.step - b.step, a.sure), b)


def _product(rows: Sequence[EvenLanes], kind: Type) -> EvenLanes | None:
    for one, other in (rows, rows[::-1]):
        if one.first.literal is not None and one.step == 0:
            return EvenLanes(other.first * one.first, other.step * one.first.literal, other.sure)
    return None


def _shift(rows: Sequence[EvenLanes], kind: Type) -> EvenLanes | None:
    row, amount = rows
    number = amount.first.literal
    if amount.step or number is None or not 0 <= number < kind.bits:
        return None
    return EvenLanes(row.first << number, row.step << number, row.sure)


def _signed(rows: Sequence[EvenLanes], kind: Type) -> EvenLanes:
    (row,) = rows
    bits = row.first.kind.bits
    first = row.first.signed(kind)
    if kind.bits <= bits:
        return EvenLanes(first, row.step, row.sure)
    last = row.first.sext(I64) + (WARP - 1) * row.step
    return EvenLanes(first, row.step, row.sure).also(_within(last, -1 << (bits - 1), (1 << (bits - 1)) - 1))


def _unsigned(rows: Sequence[EvenLanes], kind: Type) -> EvenLanes:
    (row,) = rows
    bits = row.first.kind.bits
    if kind.bits <= bits:
        return _signed(rows, kind)
    last = row.first.zext(I64) + (WARP - 1) * row.step
    return EvenLanes(row.first.zext(kind), row.step, row.sure).also(_within(last, 0, (1 << bits) - 1))


def _within(number: Value, low: int, high: int) -> Value:
    return (number >= low) & (number <= high)


_RULES: Mapping[str, _Rule] = {
    "arith.addi": _sum,
    "arith.subi": _difference,
    "arith.muli": _product,
    "arith.shli": _shift,
    "arith.index_cast": _signed,
    "arith.extsi": _signed,
    "arith.trunci": _signed,
    "arith.index_castui": _unsigned,
    "arith.extui": _unsigned,
}
