"""Modules with tiles, in which some things are more lenient; they say so, also when their tiles have been lowered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from ptosim.language.tile.tile_types import MultiTileBufType, TileBufType

if TYPE_CHECKING:
    from ptosim.language.text.parser import ParsedModule

TILES = "pto.sim.tiles"
"""The attribute of such a module."""


def mark_tiles(parsed: ParsedModule) -> None:
    """Give a module with tiles the attribute."""
    results = (result for op in parsed.module.walk() for result in op.results)
    if any(isinstance(result.type, TileBufType | MultiTileBufType) for result in results):
        parsed.module.attributes[TILES] = UnitAttr()


def has_tiles(op: Operation) -> bool:
    """Whether an operation belongs to a module with the attribute."""
    while (parent := op.parent_op()) is not None:
        op = parent
    return TILES in op.attributes
