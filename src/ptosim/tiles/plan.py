"""Addresses for tiles that have none, and working memory for operations that need some.

A tile lives from its first access to its last, through whole loops where it is carried around them. Tiles share bytes only
where the memory would not hold them otherwise (placement.py). A tile that no operation touches gets no storage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from ptosim.diagnostics import PTOError
from ptosim.effects.names import Space
from ptosim.language.build import Builder, Place, head_of
from ptosim.language.function import Function, functions
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.tile_buf import TileBuf
from ptosim.language.tile_view import Allocation
from ptosim.language.view_operation import ViewOperation
from ptosim.target import load_target
from ptosim.tiles.catalogue import lowering_of
from ptosim.tiles.placement import Placement, Room, busiest, place
from ptosim.tiles.values import Tile

_ALIGNMENT = {Space.L0A: 4096, Space.L0B: 4096, Space.L0C: 4096}
_USUAL_ALIGNMENT = 256


def plan_memory(module: VerifiedModule) -> VerifiedModule:
    """Give every allocation an address; raises PTOError where a memory does not hold its tiles."""
    for function in functions(module.parsed.module).values():
        if not function.is_declaration:
            _plan(module, function)
    return module
