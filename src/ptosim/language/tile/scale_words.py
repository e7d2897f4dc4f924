"""Names of MX scales among tiles in `scaling`: words of a buffer beside the operand, whatever the type of the tile
says.

Their address, size, element type, layout and fractal mean nothing, and they take no room of the fixpipe buffer.
"""

from __future__ import annotations

from xdsl.ir import SSAValue, Use

from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_types import tile_of
from ptosim.language.types import F8E8M0Type


def stands_for_scales(value: SSAValue) -> bool:
    """Whether a tile, or a part of it, is an operand of scales, is bound to an operand, or holds exponents."""
    tile = tile_of(value.type)
    if tile is None or tile.loc != "scaling":
        return False
    return isinstance(tile.element, F8E8M0Type) or any(map(_takes_scales, value.uses))


def _takes_scales(use: Use) -> bool:
    op = use.operation
    if isinstance(op, TileOperation):
        return op.role_at(use.index) in op.scale_roles
    return any(stands_for_scales(result) for result in op.results)
