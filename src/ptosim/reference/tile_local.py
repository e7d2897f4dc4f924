"""Arrays and structs on the stack of the scalar unit: lists of scalars, floats as their bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.effects.tile_local import outside, position
from ptosim.language import tile_local as op
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.semantics import semantics


def _facts(static: Static) -> Mapping[str, Any]:
    return static.facts


@semantics(op.DeclareLocalArray, op.DeclareStruct, bind=_facts)
def declare(elements: tuple[Element, ...]) -> list[int]:
    return [0] * len(elements)


def _is_inside(core: Core, site: Site, indices: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    for dimension, (index, extent) in enumerate(zip(indices, shape, strict=True)):
        if not 0 <= index < extent:
            core.complain(site, "out-of-bounds", outside(dimension, extent).format(index))
            return False
    return True


@semantics(op.LocalArrayGet, bind=_facts)
def local_array_get(core: Core, site: Site, array: list[int], indices: tuple[int, ...], shape: tuple[int, ...]) -> int:
    place: int = position(shape, indices)
    return array[place] if _is_inside(core, site, indices, shape) else 0


@semantics(op.LocalArraySet, bind=_facts)
def local_array_set(
    core: Core, site: Site, array: list[int], indices: tuple[int, ...], value: int, shape: tuple[int, ...]
) -> None:
    if _is_inside(core, site, indices, shape):
        array[position(shape, indices)] = value


@semantics(op.StructGet, bind=_facts)
def struct_get(struct: list[int], position: int) -> int:
    return struct[position]


@semantics(op.StructSet, bind=_facts)
def struct_set(struct: list[int], value: int, position: int) -> None:
    struct[position] = value
