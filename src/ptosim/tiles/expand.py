"""A column or a row of elements for a whole tile: alone, or as an operand beside the tile.

A column is read one element for each row and joined with all registers of that row; a row is read one register at a
time and joined with that register of every row.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from ptosim.language.build import Builder, known
from ptosim.language.tile_operation import TileOperation
from ptosim.language.tile_vector_expand import column_role
from ptosim.language.types import element_of
from ptosim.tiles.lowering import define
from ptosim.tiles.refusal import Refused
from ptosim.tiles.register import load_everywhere
from ptosim.tiles.values import Tile
from ptosim.tiles.walk import Access, Lanes, load

Join = Callable[[Builder, SSAValue, SSAValue, SSAValue], SSAValue]
"""Two registers and a mask make one."""


def _instruction(name: str) -> Join:
    def join(build: Builder, lhs: SSAValue, rhs: SSAValue, mask: SSAValue) -> SSAValue:
        return build.op(name, lhs=lhs, rhs=rhs, mask=mask)

    return join


def _exponential(build: Builder, lhs: SSAValue, rhs: SSAValue, mask: SSAValue) -> SSAValue:
    """e to the power of the difference; f16 is rounded after either step."""
    if element_of(lhs.type).bits == 32:
        return build.vexpdif(input=lhs, max=rhs, mask=mask, part="ODD", result=lhs.type)
    return build.vexp(input=build.vsub(lhs=lhs, rhs=rhs, mask=mask), mask=mask)


_JOINS: dict[str, Join] = {
    "add": _instruction("vadd"),
    "sub": _instruction("vsub"),
    "mul": _instruction("vmul"),
    "max": _instruction("vmax"),
    "min": _instruction("vmin"),
    "expdif": _exponential,
}

# --- an element for each row --------------------------------------------------------------------------------------


def _each_row(build: Builder, dst: Tile, column: Tile, step: Callable[[Access, SSAValue], None]) -> None:
    """Visit every register of a tile with the element of its row in all lanes."""

    def scope() -> None:
        lanes = Lanes(build, dst.cols, dst.buf.cols, dst.kind.bytes)

        def row(number: SSAValue) -> None:
            element = load_everywhere(build, column, number)

            def register(at: SSAValue, mask: SSAValue) -> None:
                step(Access(build, mask, lanes.full, number, at), element)

            lanes.each(register)

        build.loop(build.times(dst.rows, build.least(dst.cols, 1)), 1, row)

    build.scope(scope)


def _trowexpand(build: Builder, src: Tile, dst: Tile) -> None:
    _each_row(build, dst, src, lambda here, element: here.store(dst, element))


def _with_column(join: Join) -> Callable[..., None]:
    def lower(build: Builder, op: TileOperation, src0: Tile, src1: Tile, dst: Tile) -> None:
        role = column_role(op)
        whole, column = (src1, src0) if role == "src0" else (src0, src1)
        if whole.buf.layout != "ND":
            other = "src1" if role == "src0" else "src0"
            raise Refused(f"{op.name} of a tile laid out as {whole.buf.layout} is not lowered", at=f"{other}_type")

        def step(here: Access, element: SSAValue) -> None:
            x = here.load(whole)
            lhs, rhs = (element, x) if role == "src0" else (x, element)
            here.store(dst, join(build, lhs, rhs, here.mask))

        _each_row(build, dst, column, step)

    return lower


# --- an element for each column -----------------------------------------------------------------------------------


def _each_column(build: Builder, dst: Tile, row: Tile, step: Callable[[Access, SSAValue], None]) -> None:
    """Visit every register of a tile with that of a row above it, which is loaded once for all rows."""

    def scope() -> None:
        lanes = Lanes(build, dst.cols, dst.buf.cols, dst.kind.bytes)

        def columns(at: SSAValue, mask: SSAValue) -> None:
            elements = load(build, row, at, None if lanes.full else mask)

            def register(number: SSAValue) -> None:
                step(Access(build, mask, lanes.full, number, at), elements)

            build.loop(dst.rows, 1, register)

        lanes.each(columns)

    if known(dst.rows) != 0:
        build.scope(scope)


def _tcolexpand(build: Builder, src: Tile, dst: Tile) -> None:
    _each_column(build, dst, src, lambda here, elements: here.store(dst, elements))


def _with_row(join: Join) -> Callable[..., None]:
    def lower(build: Builder, src0: Tile, src1: Tile, dst: Tile) -> None:
        def step(here: Access, elements: SSAValue) -> None:
            here.store(dst, join(build, here.load(src0), elements, here.mask))

        _each_column(build, dst, src1, step)

    return lower


define("pto.trowexpand", _trowexpand)
define("pto.tcolexpand", _tcolexpand)
for _name, _join in _JOINS.items():
    define(f"pto.trowexpand{_name}", _with_column(_join))
    define(f"pto.tcolexpand{_name}", _with_row(_join))
