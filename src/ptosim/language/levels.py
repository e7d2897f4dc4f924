"""What the author of a kernel has done and what is left to the assembler: addresses of tiles, order between pipes.

The assembler has options for both; a file does not name them, so that what it contains tells. Passes that plan memory
or insert synchronisation ask here.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ptosim.language.function import Function
from ptosim.language.sync import Buffer, FlagPair
from ptosim.language.tile_sync import TSync
from ptosim.language.tile_view import Allocation

_ORDER = (FlagPair, Buffer, TSync)
"""Flags, events, buffer ids and tsync. Barriers, fences and semaphores order cores and phases, not tiles."""


def addresses_are_written(module: ModuleOp) -> bool:
    """Whether the author has placed the tiles; then every one of them (a rule of tile_view.py)."""
    return any(isinstance(op, Allocation) and op.addr is not None for op in module.walk())


def order_is_written(function: Function) -> bool:
    """Whether the author has ordered the pipes of a function."""
    return any(isinstance(op, _ORDER) for op in function.walk())
