"""Functions that leave their order to the compiler."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.sync import signalling
from ptosim.language.load import VerifiedModule
from ptosim.language.rules.simt_rules import functions_of_workitems
from ptosim.language.structure.function import Function, every_function
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_sync import TSync

_WRITTEN = signalling("flag", "buffer") | {TSync.name}
"""A function with one of these orders itself; barriers, fences and signals between cores do not count."""


def unordered(module: VerifiedModule, sync: str) -> Iterator[Function]:
    """The functions that get their order inserted: all with "insert", none with "written", else those that have tile
    operations and no order of their own."""
    if sync == "written":
        return
    inside = functions_of_workitems(module.parsed.module)
    for function in every_function(module.parsed.module):
        if function.is_declaration or function in inside or function in module.refused:
            continue
        if sync != "auto" or _is_left_open(module, function):
            yield function


def _is_left_open(module: VerifiedModule, function: Function) -> bool:
    """Asked of the text, since the copy has its tiles lowered: of the function, and of those inlined into it."""
    taken_in = {module.parsed.origin(op) for op in function.walk()}
    written = [*module.parsed.origin(function).walk(), *taken_in]
    return any(isinstance(op, TileOperation) for op in written) and not any(op.name in _WRITTEN for op in written)
