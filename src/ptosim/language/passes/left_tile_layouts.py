"""Gives the `left` tiles of a module the order of boxes that the machine has, once the machine is known.

The parser reads every one as one machine has it, so that types compare equal however they are written.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, SSAValue

from ptosim.language.structure.function import Function
from ptosim.language.tile.tile_types import READ_AS, MultiTileBuf, MultiTileBufType, TileBufType


def settle_left(module: ModuleOp, target: str) -> None:
    """Afterwards every type in the module is as the machine has it."""
    if target == READ_AS:
        return

    def settled(type_: Attribute) -> Attribute:
        if isinstance(type_, TileBufType):
            tile = type_.data.on(target)
            return type_ if tile is type_.data else TileBufType(tile)
        if isinstance(type_, MultiTileBufType):
            tile = type_.data.tile.on(target)
            return type_ if tile is type_.data.tile else MultiTileBufType(MultiTileBuf(tile, type_.data.count))
        return type_

    for op in module.walk():
        arguments = [value for region in op.regions for block in region.blocks for value in block.args]
        for value in (*op.results, *arguments):
            _retype(value, settled)
        if isinstance(op, Function):
            inputs, outputs = (list(map(settled, types)) for types in (op.argument_types, op.return_types))
            op.properties["function_type"] = FunctionType.from_lists(inputs, outputs)


def _retype(value: SSAValue, settled: Callable[[Attribute], Attribute]) -> None:
    if (type_ := settled(value.type)) is not value.type:
        value._type = type_  # pyright: ignore[reportPrivateUsage]
