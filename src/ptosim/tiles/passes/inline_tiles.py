"""Calls of functions on tiles become what they do: a tile is an address that is known, not a value at run time.

A function that takes or gives tiles or views has no other form. One that allocates tiles of its own is taken in where
its caller does, too, since both share the memories, and where its caller mixes both kinds of core: it is a part of that
(split_cores.py). Others stay functions.
"""

from __future__ import annotations

from ptosim.language.operation import core_of
from ptosim.language.passes.inline_calls import inline_calls
from ptosim.language.rules.core_kind_rules import cores
from ptosim.language.structure.function import Call, Function, function_of
from ptosim.language.text.parser import ParsedModule
from ptosim.language.tile.tile_reserve import ReserveBuffer
from ptosim.language.tile.tile_types import MultiTileBufType, PartitionViewType, TensorViewType, TileBufType
from ptosim.language.tile.tile_view import Allocation

_TILES = (TileBufType, MultiTileBufType, TensorViewType, PartitionViewType)


def inline_tiles(parsed: ParsedModule) -> None:
    """Replace such calls; functions that were called that way are gone."""
    inline_calls(parsed, _is_taken_in, "tiles")


def _is_taken_in(call: Call) -> bool:
    callee = call.function
    if callee is None or callee.is_declaration:
        return False
    if any(isinstance(type_, _TILES) for type_ in (*callee.argument_types, *callee.return_types)):
        return True
    caller, reserves = function_of(call), any(isinstance(op, ReserveBuffer) for op in callee.walk())
    if caller is None or reserves or not _allocates(callee):
        return False
    says_no_kind = core_of(call) is None and core_of(callee) is None
    return _allocates(caller) or (says_no_kind and len(cores(caller)) > 1)


def _allocates(function: Function) -> bool:
    return any(isinstance(op, Allocation) for op in function.walk())
