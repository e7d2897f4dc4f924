"""Functions that leave their order to the compiler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr

from ptosim.effects.sync import signalling
from ptosim.language.analysis.fast_walk import around
from ptosim.language.load import VerifiedModule
from ptosim.language.rules.simt_rules import functions_of_workitems
from ptosim.language.structure.function import Function, every_function
from ptosim.language.text.assembly_format import word_in
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_sync import TSync

_WRITTEN = signalling("flag", "buffer") | {TSync.name}
"""A function with one of these orders itself; barriers, fences and signals between cores do not count."""


INSERT_SYNC = "pto.insert_sync"
MODE = "pto.mode"
"""Attributes of a module: whether its order is inserted, and explicit for one that its author has written."""


def unordered(module: VerifiedModule, sync: str) -> Iterator[tuple[Function, str]]:
    """The functions that get their order inserted, and how: all with "insert", none with "written", else those that
    have tile operations and no order of their own, unless their module says which."""
    if sync == "written":
        return
    inside = functions_of_workitems(module.parsed.module)
    for function in every_function(module.parsed.module):
        if function.is_declaration or function in inside or function in module.refused:
            continue
        how = _said(function) if sync == "auto" else sync
        if how == "insert" or (how == "auto" and _is_left_open(module, function)) or how not in ("auto", "written"):
            yield function, how


def _said(function: Function) -> str:
    """The order mode of the modules around a function."""
    for op in around(function):
        inserts, mode = op.attributes.get(INSERT_SYNC), op.attributes.get(MODE)
        if isinstance(inserts, IntegerAttr):
            return "insert" if cast("IntegerAttr[Any]", inserts).value.data else "written"
        if mode is not None:
            return "written" if word_in(mode) == "explicit" else "auto"
    return "auto"


def _is_left_open(module: VerifiedModule, function: Function) -> bool:
    """Asked of the text, since the copy has its tiles lowered: of the function, and of those inlined into it."""
    parsed = module.parsed
    written = [*parsed.origin(function).walk(), *map(parsed.origin, function.walk())]
    return any(isinstance(op, TileOperation) for op in written) and not any(op.name in _WRITTEN for op in written)
