"""What lowerings use besides the instruction set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import sim as op
from ptosim.language.tile_text import Drawing
from ptosim.native.core import Core
from ptosim.native.flow import Function
from ptosim.native.global_memory import locate
from ptosim.native.ir import I64, Value
from ptosim.native.lowering import lowering
from ptosim.native.transfer import address_of


def _facts(static: Static) -> Mapping[str, Any]:
    return static.facts


@lowering(op.SimRequire, bind=_facts)
def require(core: Core, condition: Value, values: tuple[Value, ...], kind: str, message: str, fatal: bool) -> None:
    """A run cares only where going on could do harm."""
    if fatal:
        value, detail = (*values, 0, 0)[:2]
        core.fail(condition ^ True, kind, message, value, detail)


@lowering(op.SimPrintTile, bind=_facts)
def print_tile(
    f: Function,
    core: Core,
    base: Value,
    rows: Value,
    columns: Value,
    valid_rows: Value,
    valid_columns: Value,
    row_stride: Value,
    column_stride: Value,
    block_row_stride: Value | None,
    block_column_stride: Value | None,
    drawing: Drawing,
    space: Space,
) -> None:
    """By the run time, which gets the memory with its bounds."""
    zero = f.constant(I64, 0)
    extents = (rows, columns, valid_rows, valid_columns, row_stride, column_stride)
    blocks = (zero if stride is None else stride for stride in (block_row_stride, block_column_stride))
    known = [drawing.title, drawing.element, drawing.format, *drawing.box]
    core.issue("print_tile", known, [*_memory(f, core, space, base), *extents, *blocks])


def _memory(f: Function, core: Core, space: Space, base: Value) -> tuple[Value, Value, Value]:
    """The host address and the size of the memory that a pointer names, and the place in it."""
    if space is Space.GM:
        place = locate(f, base)
        return address_of(place.base), place.size, place.offset
    zero = f.constant(I64, 0)
    if not core.has(space):
        return zero, zero, base
    return address_of(core.base(space)), f.constant(I64, core.target.memory[space.value]), base
