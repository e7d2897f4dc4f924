"""Arrays and structs on the stack of the scalar unit: room on the stack of the compiled function."""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.effects.element import Element
from ptosim.effects.tile_local import outside, position
from ptosim.language.tile import tile_local as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I8, I64, Type, Value


def _bytes(elements: Sequence[Element]) -> int:
    return sum(element.bytes for element in elements)


@lowering(op.DeclareLocalArray, op.DeclareStruct)
def declare(f: FunctionBuilder, elements: tuple[Element, ...]) -> Value:
    """The room is there from the beginning of the function; it is cleared whenever the declaration executes."""
    size = _bytes(elements)
    room = f.slot(I8, size)
    room.fill(0, f.constant(I64, size))
    return room


def _load(place: Value, element: Element) -> Value:
    loaded = place.load(Type(f"i{8 * element.bytes}"), 1)
    return loaded != 0 if element.bits == 1 else loaded


def _store(place: Value, value: Value) -> None:
    place.store(value.zext(I8) if value.kind == I1 else value, 1)


def _place(f: FunctionBuilder, core: Core, operands: Operands, shape: tuple[int, ...], held: Element) -> Value:
    """The address of an element, of the first one where an index is outside."""
    inside = f.constant(I1, 1)
    for dimension, (index, extent) in enumerate(zip(operands.indices, shape, strict=True)):
        wrong = index.compare("uge", extent)
        core.fail(wrong & inside, "out-of-bounds", outside(dimension, extent), index)
        inside = inside & (wrong ^ True)
    number = position(shape, operands.indices) * held.bytes
    return operands.array.at(inside.select(number, number.like(0)))


@lowering(op.LocalArrayGet)
def local_array_get(f: FunctionBuilder, core: Core, operands: Operands, shape: tuple[int, ...], held: Element) -> Value:
    return _load(_place(f, core, operands, shape, held), held)


@lowering(op.LocalArraySet)
def local_array_set(f: FunctionBuilder, core: Core, operands: Operands, shape: tuple[int, ...], held: Element) -> None:
    _store(_place(f, core, operands, shape, held), operands.value)


@lowering(op.StructGet)
def struct_get(struct: Value, elements: tuple[Element, ...], position: int) -> Value:
    return _load(struct.at(_bytes(elements[:position])), elements[position])


@lowering(op.StructSet)
def struct_set(struct: Value, value: Value, elements: tuple[Element, ...], position: int) -> None:
    _store(struct.at(_bytes(elements[:position])), value)
