"""Operations that are read and verified and cannot run yet: no pass lowers them, and no engine has them."""

from __future__ import annotations

from functools import cache

from ptosim.effects.catalogue import effects
from ptosim.language.catalogue import SIMT, operations, room_of
from ptosim.language.operation import PTOOperation
from ptosim.language.simt.simt import SectionSimt
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_view import SetValidShape
from ptosim.language.tile.view_operation import ViewOperation
from ptosim.tiles.catalogue import lowered

_COMMUNICATION = ("comm", "comm_async")


def is_of_tiles(operation: type[PTOOperation]) -> bool:
    """Whether an operation belongs to the language of tiles and not to the instructions below it."""
    return issubclass(operation, TileOperation | ViewOperation) or room_of(operation) in _COMMUNICATION


@cache
def pending() -> frozenset[str]:
    """Their names."""
    may = (op for op in operations() if op.replaced_by is None and (is_of_tiles(op) or room_of(op) in SIMT))
    return frozenset(op.name for op in may) - {
        SetValidShape.name,
        SectionSimt.name,
        *lowered(),
        *effects(),
    }
