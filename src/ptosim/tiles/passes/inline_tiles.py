"""Calls of functions on tiles become what they do: a tile is an address that is known, not a value at run time.

A function that takes or gives tiles or views has no other form. One that allocates tiles of its own is taken in where
its caller does, too, since both share the memories, and where its caller mixes both kinds of core: it is a part of that
(split_cores.py). Others stay functions.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ptosim.diagnostics import error
from ptosim.language.operation import core_of
from ptosim.language.rules.core_kind_rules import cores
from ptosim.language.structure.function import Call, Function, Return, function_of
from ptosim.language.text.parser import ParsedModule
from ptosim.language.tile.tile_reserve import ReserveBuffer
from ptosim.language.tile.tile_types import MultiTileBufType, PartitionViewType, TensorViewType, TileBufType
from ptosim.language.tile.tile_view import Allocation

_TILES = (TileBufType, MultiTileBufType, TensorViewType, PartitionViewType)

MOST_COPIES = 100_000
"""Operations; twenty functions that call the next one twice would be a million."""


def inline_tiles(parsed: ParsedModule) -> None:
    """Replace such calls; functions that were called that way are gone. (There is no recursion.)"""
    taken: set[Function] = set()
    copies = 0
    while calls := [op for op in parsed.module.walk() if isinstance(op, Call) and _is_taken_in(op)]:
        for call in calls:
            callee = call.function
            assert callee is not None
            copies += sum(1 for _ in callee.walk())
            if copies > MOST_COPIES:
                message = f"calls of functions on tiles become more than {MOST_COPIES} operations"
                raise error("limit", message, parsed.location(call))
            _inline(parsed, call, callee)
            taken.add(callee)
    still = {op.function for op in parsed.module.walk() if isinstance(op, Call)}
    for function in taken - still:
        if not function.is_marked:
            function.detach()
            function.erase()


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


def _inline(parsed: ParsedModule, call: Call, callee: Function) -> None:
    """A copy of the body in place of the call; what it returns is what the call gave."""
    block = call.parent_block()
    assert block is not None
    values: dict[SSAValue, SSAValue] = dict(zip(callee.args, call.arguments, strict=True))
    given: list[SSAValue] = []
    for op in callee.body.block.ops:
        if isinstance(op, Return):
            given = [values.get(value, value) for value in op.operands]
        else:
            block.insert_op_before(parsed.copied(op, values), call)
    for result, value in zip(call.results, given, strict=True):
        result.replace_all_uses_with(value)
    call.detach()
    call.erase()
