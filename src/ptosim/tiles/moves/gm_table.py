"""Gathers and scatters between vector tiles and a table in global memory: one entry of the pipe that does it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr, i32
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_gather import MGather, MScatter
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.mat_gather import gather_elements, gather_rows
from ptosim.tiles.moves.view_folding import is_contiguous
from ptosim.tiles.refusal import Refused
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import GmView, Tile


@lowering(MGather)
def mgather(
    build: Builder,
    target: str,
    mem: GmView,
    idx: Tile | GmView,
    workspace: GmView | None,
    dst: Tile,
    coalesce: str,
    gatherOob: str,
) -> None:
    if isinstance(idx, GmView):
        if coalesce == "row":
            gather_rows(build, mem, idx, dst, gatherOob, target)
        elif workspace is not None:
            gather_elements(build, mem, idx, workspace, dst, gatherOob)
        return
    name = "pto.sim.gather" if target == "a5" else "pto.sim.gather_mte2"
    build.op(name, **_operands(build, target, mem, idx, dst, coalesce), beyond=gatherOob)


@lowering(MScatter)
def mscatter(
    build: Builder,
    op: MScatter,
    target: str,
    src: Tile,
    idx: Tile,
    mem: GmView,
    scatterAtomicOp: str,
    scatterOob: str,
    scatterConflict: str,
) -> None:
    name = "pto.sim.scatter" if target == "a5" else "pto.sim.scatter_mte3"
    ordered = scatterConflict == "last" or target != "a5"
    operands = _operands(build, target, mem, idx, src, str(op.inferred()))
    words = {"beyond": scatterOob, "combine": scatterAtomicOp, "ordered": UnitAttr() if ordered else None}
    build.op(name, **operands, **words)


def _operands(build: Builder, target: str, mem: GmView, idx: Tile, tile: Tile, coalesce: str) -> dict[str, SSAValue]:
    """Rows of the table, or its elements one by one."""
    (down, across), (below, beside) = _strides(build, tile), _strides(build, idx)
    if coalesce == "row":
        columns = _row_length(build, target, mem, tile)
        column = idx.buf.rows != 1 and (idx.buf.blayout == "col_major" or idx.buf.valid[1] == 1 != idx.buf.valid[0])
        each = below if column else beside
        numbers: dict[str, Number] = {
            "capacity": mem.sizes[3] if target == "a5" else _product(build, mem.sizes[:4]),
            "pitch": mem.strides[3],
            "index_row": each,
            "index_column": 0,
            "row_stride": down,
            "column_stride": 0,
            "element_stride": across,
            "rows": tile.rows,
            "columns": 1,
            "length": columns,
        }
    else:
        if all(known(number) is not None for number in (*mem.sizes, *mem.strides)) and not is_contiguous(mem):
            raise Refused("a table whose elements are taken one by one has no gaps", "mem", kind="invalid")
        numbers = {
            "capacity": _product(build, mem.sizes),
            "pitch": 1,
            "index_row": below,
            "index_column": beside,
            "row_stride": down,
            "column_stride": across,
            "element_stride": 0,
            "rows": tile.rows,
            "columns": tile.cols,
            "length": 1,
        }
    pointers = {"table": mem.pointer, "indices": idx.pointer(build, i32), "base": tile.pointer(build)}
    return pointers | {role: build.index(number) for role, number in numbers.items()}


def _strides(build: Builder, tile: Tile) -> tuple[Number, Number]:
    """Elements from one row to the next, and from one column to the next."""
    tile = tile.unboxed()
    if tile.buf.boxed:
        raise Refused(f"{tile.name} is laid out as {tile.buf.layout}; a table is moved by rows or columns")
    return element_offset(build, tile, 1, 0), element_offset(build, tile, 0, 1)


def _row_length(build: Builder, target: str, mem: GmView, tile: Tile) -> Number:
    """The elements of a row that the tile and the table have; a5 takes rows without gaps."""
    if known(mem.strides[4]) not in (1, None) and known(mem.sizes[4]) != 1:
        raise Refused("the elements of a row of the table lie side by side", "mem", kind="invalid")
    if target == "a5" and (known(mem.strides[3]) is None or known(mem.strides[3]) != known(tile.cols)):
        message = "hardware takes the rows of the table to be as long as those of the tile"
        require(build, build.compare("eq", mem.strides[3], tile.cols), "lint", message)
    return build.least(tile.cols, mem.sizes[4])


def _product(build: Builder, sizes: Sequence[Number]) -> Number:
    total: Number = 1
    for size in sizes:
        total = build.times(total, size)
    return total
