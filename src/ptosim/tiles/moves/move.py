"""Moves between tiles: whole tiles, windows taken out and put in, scale exponents. Between memories: transfer.py."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ptosim.language.builder import Builder
from ptosim.language.tile.tile_extract import TExtract, TInsert, TMov
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.move_in_ub import move
from ptosim.tiles.moves.scales import Meaning
from ptosim.tiles.moves.tile_window import inside, part
from ptosim.tiles.moves.transfer import QuantisationSource, transfer
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.exponents import exponents

_WITHIN_VEC = ("vec", "vec")


@lowering(TMov)
def tmov(
    build: Builder, op: TMov, src: Tile, fp: Tile | None, pre_quant: SSAValue | None, dst: Tile, meaning: Meaning
) -> None:
    if op.path != _WITHIN_VEC:
        transfer(build, op, src, dst, QuantisationSource(fp, pre_quant, meaning))
        return
    if op.has("tmp"):
        exponents(build, src, dst, along_rows=op.setting("grpAxis") == "axis0")
        return
    extent = build.least(src.rows, dst.rows), build.least(src.cols, dst.cols)
    move(build, src, dst, extent)


@lowering(TExtract)
def textract(
    build: Builder,
    op: TExtract,
    src: Tile,
    row: SSAValue,
    col: SSAValue,
    pre_quant: SSAValue | None,
    fp: Tile | None,
    dst: Tile,
    meaning: Meaning,
) -> None:
    if op.path != _WITHIN_VEC:
        transfer(build, op, src, dst, QuantisationSource(fp, pre_quant, meaning), (row, col))
        return
    inside(build, src, (row, col), dst)
    move(build, src, dst, dst.valid, source=(row, col))


@lowering(TInsert)
def tinsert(
    build: Builder,
    op: TInsert,
    src: Tile,
    row: SSAValue,
    col: SSAValue,
    fp: Tile | None,
    pre_quant: SSAValue | None,
    dst: Tile,
    meaning: Meaning,
) -> None:
    if op.path != _WITHIN_VEC:
        transfer(build, op, src, dst, QuantisationSource(fp, pre_quant, meaning), (row, col))
        return
    inside(build, dst, (row, col), src)
    if op.tile("src").valid == (1, 1):
        _one(build, src, part(build, dst, (row, col), (1, 1)))
    else:
        move(build, src, dst, src.valid, dest=(row, col))


def _one(build: Builder, src: Tile, dst: Tile) -> None:
    """One element, by the scalar unit."""
    source, dest = src.pointer(build), dst.pointer(build)
    value = build.load_scalar(pointer=source, offset=build.index(0), result=src.element)
    build.store_scalar(value=value, pointer=dest, offset=build.index(0))
