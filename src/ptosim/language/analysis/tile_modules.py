"""Modules of the tile language, in which some things are more lenient; they say so, also when they have been lowered.

A kernel of that language need not have a tile: some only load and store scalars, and signal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation

from ptosim.effects.catalogue import effects
from ptosim.effects.names import Pipe
from ptosim.effects.record import no_accesses
from ptosim.language.operation import KERNEL_KIND
from ptosim.language.tile.tile_types import MultiTileBufType, TileBufType

if TYPE_CHECKING:
    from ptosim.language.text.parser import ParsedModule

TILES = "pto.sim.tiles"
"""The attribute of such a module."""


def mark_tiles(parsed: ParsedModule) -> None:
    """Give a module with tiles the attribute, or one whose functions say their kind and leave data to tiles."""
    results = (result for op in parsed.module.walk() for result in op.results)
    if any(isinstance(result.type, TileBufType | MultiTileBufType) for result in results) or _is_scalar(parsed):
        parsed.module.attributes[TILES] = UnitAttr()


def _is_scalar(parsed: ParsedModule) -> bool:
    """Whether functions say themselves which core they are for, as tile kernels do, and no instruction moves data."""
    records = (effects().get(op.name) for op in parsed.module.walk())
    if any(record and record.accesses is not no_accesses and record.pipe is not Pipe.S for record in records):
        return False
    return any(KERNEL_KIND in op.attributes for op in parsed.module.walk() if not isinstance(op, ModuleOp))


def has_tiles(op: Operation) -> bool:
    """Whether an operation belongs to a module with the attribute."""
    while (parent := op.parent_op()) is not None:
        op = parent
    return TILES in op.attributes
