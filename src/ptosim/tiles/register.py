"""Registers as lowerings use them beside whole rows: one value in every lane, other elements of the same bytes, single
elements of tiles."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import Element
from ptosim.language.build import Builder, Number
from ptosim.language.types import VregType, element_of
from ptosim.tiles.layout import element_offset
from ptosim.tiles.values import Tile
from ptosim.tiles.walk import load

_INFINITY = {"f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}
"""Of floats; with the sign bit the least of all."""


def bits_of_zero(element: Element) -> int:
    return 0


def bits_of_one(element: Element) -> int:
    return {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(element.name, 1)


def bits_of_greatest(element: Element) -> int:
    """What nothing is above: infinity, or the greatest integer."""
    if element.is_float:
        return _INFINITY[element.name]
    return (1 << element.bits - (not element.name.startswith("u"))) - 1


def bits_of_least(element: Element) -> int:
    """What nothing is below: minus infinity, or the least integer."""
    if element.is_float:
        return _INFINITY[element.name] | 1 << element.bits - 1
    return 0 if element.name.startswith("u") else 1 << element.bits - 1


def filled(build: Builder, bits: int, element: Attribute) -> SSAValue:
    """The same bits in every lane."""
    return build.vbr(input=build.pattern(bits, element), result=VregType.of(element))


def seen_as(build: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    """The bytes of a register as other elements."""
    type_ = VregType.of(element)
    return value if value.type == type_ else build.vbitcast(input=value, result=type_)


def element_type(value: SSAValue) -> Attribute:
    """The type of the elements of a register."""
    assert isinstance(value.type, VregType)
    return value.type.element


def load_everywhere(build: Builder, tile: Tile, row: Number, col: Number = 0) -> SSAValue:
    """An element of a tile in every lane, whatever the layout of the tile."""
    at = build.index(element_offset(build, tile, row, col))
    return load(build, tile, at, dist=f"BRC_B{tile.kind.bits}")


def store_first(build: Builder, tile: Tile, row: Number, value: SSAValue, mask: SSAValue) -> None:
    """Lane 0 of a register as the first element of a row; the mask only has to be of its type."""
    at = build.index(element_offset(build, tile, row, 0))
    dist = f"1PT_B{element_of(value.type).bits}"
    build.vsts(value=value, dest=tile.pointer(build), offset=at, mask=mask, dist=dist)
