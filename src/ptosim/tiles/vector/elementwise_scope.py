"""The scope of an operation that computes element by element: its formula over every register of its tiles."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ptosim.language.builder import Builder
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.formula import Formula
from ptosim.tiles.vector.lane_walk import RegisterAccess, each_register
from ptosim.tiles.vector.registers import Registers, as_element
from ptosim.tiles.vector.row_view import in_rows, reachable


def computed(build: Builder, formula: Formula, dst: Tile, *sources: Tile | SSAValue) -> None:
    """A scope that computes every element of dst; a scalar among the sources goes into all lanes."""
    rows, *others = in_rows(dst, *(source for source in sources if isinstance(source, Tile)))
    rows, tiles = reachable(build, rows, *others), iter(others)
    operands = [
        next(tiles) if isinstance(source, Tile) else as_element(build, source, dst.element) for source in sources
    ]

    def body() -> None:
        v = Registers(build, dst.element)
        given = [operand if isinstance(operand, Tile) else v.every(operand) for operand in operands]
        compute = formula(v)

        def step(here: RegisterAccess) -> None:
            registers = [here.load(operand) if isinstance(operand, Tile) else operand for operand in given]
            here.store(rows, compute(*registers, here.mask))

        each_register(build, (rows, *others), step)

    build.scope(body)
