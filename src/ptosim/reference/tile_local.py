"""Arrays and structs on the stack of the scalar unit: lists of scalars, floats as their bits."""

from __future__ import annotations

from ptosim.effects.element import Element
from ptosim.effects.tile_local import outside, position
from ptosim.language.tile import tile_local as op
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.semantics import semantics


@semantics(op.DeclareLocalArray, op.DeclareStruct)
def declare(elements: tuple[Element, ...]) -> list[int]:
    return [0] * len(elements)


def _is_inside(core: Core, site: Site, indices: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    for dimension, (index, extent) in enumerate(zip(indices, shape, strict=True)):
        if not 0 <= index < extent:
            core.complain(site, "out-of-bounds", outside(dimension, extent).format(index))
            return False
    return True


@semantics(op.LocalArrayGet)
def local_array_get(core: Core, site: Site, array: list[int], indices: tuple[int, ...], shape: tuple[int, ...]) -> int:
    place: int = position(shape, indices)
    return array[place] if _is_inside(core, site, indices, shape) else 0


@semantics(op.LocalArraySet)
def local_array_set(
    core: Core, site: Site, array: list[int], indices: tuple[int, ...], value: int, shape: tuple[int, ...]
) -> None:
    if _is_inside(core, site, indices, shape):
        array[position(shape, indices)] = value


@semantics(op.StructGet)
def struct_get(struct: list[int], position: int) -> int:
    return struct[position]


@semantics(op.StructSet)
def struct_set(struct: list[int], value: int, position: int) -> None:
    struct[position] = value
