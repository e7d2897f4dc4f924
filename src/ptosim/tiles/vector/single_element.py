"""Single elements of tiles, whatever their layout: one for all lanes of a register, and lane 0 alone."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number
from ptosim.language.types import element_of
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import load


def load_everywhere(build: Builder, tile: Tile, row: Number, col: Number = 0) -> SSAValue:
    """An element of a tile in every lane."""
    at = build.index(element_offset(build, tile, row, col))
    return load(build, tile, at, dist=f"BRC_B{tile.kind.bits}")


def store_first(build: Builder, tile: Tile, row: Number, value: SSAValue, mask: SSAValue) -> None:
    """Lane 0 of a register as the first element of a row; the mask only has to be of its type."""
    at = build.index(element_offset(build, tile, row, 0))
    dist = f"1PT_B{element_of(value.type).bits}"
    build.vsts(value=value, dest=tile.pointer(build), offset=at, mask=mask, dist=dist)
