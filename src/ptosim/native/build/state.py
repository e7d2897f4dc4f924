"""Values of a vector scope while code is built, across branches, loops and calls.

Registers and scalars are IR values, a predicate is a `Mask`, the state of an unaligned stream an `Align`. Where control
flow joins, each becomes a few plain IR values of fixed types and afterwards itself again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ptosim.effects.element import VECTOR_BYTES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F16, I1, I8, I16, I64, Type, Value
from ptosim.native.vector.registers import Mask, splat

ALIGN_BYTES = 32


@dataclass(frozen=True, slots=True, eq=False)
class Align:
    """The bytes that a store stream holds back: `pending` of them, from address `start` on, the first of `data`."""

    start: Value  # i64
    pending: Value  # i64, below 32
    data: Value  # <32 x i8>


Native = Value | Mask | Align


@dataclass(frozen=True, slots=True)
class CrossingShape:
    """The form in which a value crosses: a type, for a mask the register bytes per lane, and whether it is the scalar
    that all lanes of a register hold."""

    kind: Type
    width: int = 0
    uniform: bool = False


ALIGN = CrossingShape(I8.vector(ALIGN_BYTES), -1)


class Narrower(Exception):
    """A mask has more lanes, or a register more numbers, than the place has room for that it is carried to."""


def shape_of(value: Native) -> CrossingShape:
    match value:
        case Mask(width=width):
            return CrossingShape(I1.vector(VECTOR_BYTES // width), width)
        case Align():
            return ALIGN
        case Value(kind=kind, uniform=Value(kind=scalar)):
            return CrossingShape(I16 if scalar == F16 else scalar, uniform=True)
        case Value(kind=kind):
            # LLVM moves halves one by one where the processor does not have them
            return CrossingShape(I16.vector(kind.lanes) if kind.lanes and kind.element == F16 else kind)


def kinds_of(shape: CrossingShape) -> Sequence[Type]:
    return (I64, I64, shape.kind) if shape == ALIGN else (shape.kind,)


def taken_apart(value: Native, shape: CrossingShape) -> Sequence[Value]:
    """The IR values that stand for it in this shape."""
    match value:
        case Mask():
            if value.width < shape.width:
                raise Narrower
            return (value.lanes(shape.width),)
        case Align():
            return value.start, value.pending, value.data
        case Value():
            carried = value.uniform if shape.uniform else value
            if carried is None:
                raise Narrower
            return (carried.bitcast(shape.kind),)


def put_together(function: FunctionBuilder, shape: CrossingShape, parts: Iterator[Value], like: Native) -> Native:
    """The value again; `like` is one of the same SSA type."""
    if shape == ALIGN:
        return Align(next(parts), next(parts), next(parts))
    if shape.width:
        return Mask(function, next(parts), shape.width)
    assert isinstance(like, Value)
    if shape.uniform:
        return splat(function, next(parts).bitcast(like.kind.element), like.kind.lanes)
    return next(parts).bitcast(like.kind)


def all_apart(values: Iterable[Native], shapes: Iterable[CrossingShape]) -> list[Value]:
    return [part for value, shape in zip(values, shapes, strict=True) for part in taken_apart(value, shape)]


def all_together(
    function: FunctionBuilder, shapes: Iterable[CrossingShape], parts: Iterable[Value], likes: Iterable[Native]
) -> list[Native]:
    rest = iter(parts)
    return [put_together(function, shape, rest, like) for shape, like in zip(shapes, likes, strict=True)]


def narrowest(first: CrossingShape, second: CrossingShape) -> CrossingShape:
    """The shape that holds both."""
    return second if 0 < second.width < first.width or first.uniform > second.uniform else first
