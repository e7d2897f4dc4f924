"""What is read and verified and cannot run yet: operations on tiles that no pass lowers and no engine has."""

from __future__ import annotations

from functools import cache

from ptosim.effects.catalogue import effects
from ptosim.language.catalogue import operations
from ptosim.language.tile_operation import TileOperation
from ptosim.language.tile_view import SetValidShape
from ptosim.language.view_operation import ViewOperation
from ptosim.tiles.catalogue import lowered


@cache
def pending() -> frozenset[str]:
    """Their names."""
    tiled = [op for op in operations() if issubclass(op, TileOperation | ViewOperation) and op.replaced_by is None]
    return frozenset(op.name for op in tiled) - lowered() - set(effects()) - {SetValidShape.name}
