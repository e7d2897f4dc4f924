"""A column or a row of elements for a whole tile: alone, or as an operand beside the tile.

A column is read one element for each row and joined with all registers of that row; a row is read one register at a
time and joined with that register of every row.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, known
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_vector_expand import column_role
from ptosim.tiles.lowering import define
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.formula import Compute, Formula, instruction, product, quotient
from ptosim.tiles.vector.lane_walk import Lanes, RegisterAccess, load
from ptosim.tiles.vector.registers import Registers
from ptosim.tiles.vector.single_element import load_everywhere


def _exponential(v: Registers) -> Compute:
    """e to the power of the difference; f16 is rounded after either step."""

    def compute(x: SSAValue, y: SSAValue, mask: SSAValue) -> SSAValue:
        if v.kind.bits == 32:
            return v.op("vexpdif", x, y, mask, part="ODD", result=v.type)
        return v.op("vexp", v.op("vsub", x, y, mask), mask)

    return compute


_JOINS: dict[str, Formula] = {
    "add": instruction("vadd"),
    "sub": instruction("vsub"),
    "mul": product,
    "div": quotient,
    "max": instruction("vmax"),
    "min": instruction("vmin"),
    "expdif": _exponential,
}

Step = Callable[[RegisterAccess, SSAValue], None]
"""The step at a place with the register that is broadcast there."""

# --- an element for each row ------------------------------------------------------------------------------------------


def _each_row(build: Builder, dst: Tile, column: Tile, prepare: Callable[[], Step]) -> None:
    """Visit every register of a tile with the element of its row in all lanes."""

    def scope() -> None:
        step = prepare()
        lanes = Lanes(build, dst.cols, dst.buf.cols, dst.kind.bytes)

        def row(number: SSAValue) -> None:
            build.times(number, dst.pitch)  # where the row begins, said before the loop over its registers
            element = load_everywhere(build, column, number)

            def register(at: SSAValue, mask: SSAValue) -> None:
                step(RegisterAccess(build, mask, lanes.full, number, at), element)

            lanes.each(register)

        build.loop(build.times(dst.rows, build.least(dst.cols, 1)), 1, row)

    build.scope(scope)


def _trowexpand(build: Builder, src: Tile, dst: Tile) -> None:
    _each_row(build, dst, src, lambda: lambda here, element: here.store(dst, element))


def _with_column(formula: Formula) -> Callable[..., None]:
    def lower(build: Builder, op: TileOperation, src0: Tile, src1: Tile, dst: Tile) -> None:
        role = column_role(op)
        whole, column = (src1, src0) if role == "src0" else (src0, src1)
        if whole.buf.layout != "ND":
            other = "src1" if role == "src0" else "src0"
            raise Refused(f"{op.name} of a tile laid out as {whole.buf.layout} is not lowered", at=f"{other}_type")

        def prepare() -> Step:
            compute = formula(Registers(build, dst.element))

            def step(here: RegisterAccess, element: SSAValue) -> None:
                x = here.load(whole)
                lhs, rhs = (element, x) if role == "src0" else (x, element)
                here.store(dst, compute(lhs, rhs, here.mask))

            return step

        _each_row(build, dst, column, prepare)

    return lower


# --- an element for each column ---------------------------------------------------------------------------------------


def _each_column(build: Builder, dst: Tile, row: Tile, prepare: Callable[[], Step]) -> None:
    """Visit every register of a tile with that of a row above it, which is loaded once for all rows."""

    def scope() -> None:
        step = prepare()
        lanes = Lanes(build, dst.cols, dst.buf.cols, dst.kind.bytes)

        def columns(at: SSAValue, mask: SSAValue) -> None:
            elements = load(build, row, at, None if lanes.full else mask)

            def register(number: SSAValue) -> None:
                step(RegisterAccess(build, mask, lanes.full, number, at), elements)

            build.loop(dst.rows, 1, register)

        lanes.each(columns)

    if known(dst.rows) != 0:
        build.scope(scope)


def _tcolexpand(build: Builder, src: Tile, dst: Tile) -> None:
    _each_column(build, dst, src, lambda: lambda here, elements: here.store(dst, elements))


def _with_row(formula: Formula) -> Callable[..., None]:
    def lower(build: Builder, src0: Tile, src1: Tile, dst: Tile) -> None:
        def prepare() -> Step:
            compute = formula(Registers(build, dst.element))
            return lambda here, elements: here.store(dst, compute(here.load(src0), elements, here.mask))

        _each_column(build, dst, src1, prepare)

    return lower


define("pto.trowexpand", _trowexpand)
define("pto.tcolexpand", _tcolexpand)
for _name, _formula in _JOINS.items():
    define(f"pto.trowexpand{_name}", _with_column(_formula))
    define(f"pto.tcolexpand{_name}", _with_row(_formula))
