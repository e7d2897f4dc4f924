"""Sums of columns: from top to bottom, or in pairs of rows through working memory.

In pairs: rows 2i and 2i + 1 of the source become row i of tmp, an odd last row is added to the last of them, and the
same again within tmp until one row is left. Rows of tmp are as far apart as its shape says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_vector_reduce import TColSum
from ptosim.tiles.lowering import lowering
from ptosim.tiles.refusal import Refused
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, load, offset
from ptosim.tiles.vector.reduce import fold_columns, if_any, present
from ptosim.tiles.vector.row_view import bounded


def _scratch(op: TColSum, target: str) -> int:
    """Half the rows of the source where no tmp is given."""
    src = op.tile("src")
    in_pairs = bool(op.setting("isBinary")) and not op.has("tmp")
    return src.rows // 2 * src.cols * src.element_bytes if in_pairs else 0


@lowering(TColSum, scratch=_scratch)
def tcolsum(build: Builder, src: Tile, tmp: Tile | None, dst: Tile, isBinary: bool, scratch: Tile | None) -> None:
    src = bounded(build, src, dst, 1)
    if not isBinary or src.buf.rows == 1:
        build.scope(lambda: fold_columns(build, "vadd", src, dst))
        return
    working = tmp if tmp is not None else _shaped(src, scratch)
    _must_hold(build, working, build.quotient(src.rows, 2))
    there = present(build, *dst.valid)
    build.scope(lambda: if_any(build, there, lambda: _add_pairs(build, src, working, dst)))


def _shaped(src: Tile, scratch: Tile | None) -> Tile:
    assert scratch is not None
    rows, cols = src.buf.rows // 2, src.buf.cols
    buf = TileBuf("vec", src.element, rows, cols, (rows, cols))
    return Tile(buf, scratch.address, (rows, cols), (rows, cols), scratch.name)


def _must_hold(build: Builder, tmp: Tile, rows: Number) -> None:
    has = tmp.buf.rows
    message = f"tmp has {has} rows; it takes one for every two of src"
    if (needed := known(rows)) is None:
        require(build, build.compare("ule", rows, has), "invalid", message, fatal=True)
    elif needed > has:
        raise Refused(f"{message}, {needed}", at="tmp_type", kind="invalid")


def _add_pairs(build: Builder, src: Tile, tmp: Tile, dst: Tile) -> None:
    lanes = Lanes(build, src.cols, src.buf.cols, src.kind.bytes)
    pairs = build.quotient(src.rows, 2)

    def in_pairs() -> None:
        source, count = src, src.rows
        for _ in range(src.buf.rows.bit_length() - 1):
            count = _halve(build, lanes, source, tmp, count)
            source = tmp
            build.mem_bar(order="VST_VLD")
            build.mem_bar(order="VST_VST")
        _copy_row(build, lanes, tmp, dst)

    if_any(build, pairs, in_pairs)
    alone = build.minus(build.least(src.rows, 1), build.least(pairs, 1))
    if_any(build, alone, lambda: _copy_row(build, lanes, src, dst))


def _halve(build: Builder, lanes: Lanes, source: Tile, tmp: Tile, count: Number) -> Number:
    """Add the rows of a tile in pairs, the last pair with the row behind it if there is one. Gives how many are left;
    a single row stays."""
    half, odd = build.quotient(count, 2), build.remainder(count, 2)

    def read(row: Number, at: SSAValue, mask: SSAValue) -> SSAValue:
        return load(build, source, offset(build, source, row, at), None if lanes.full else mask)

    def add(number: SSAValue, third: Number) -> None:
        def columns(at: SSAValue, mask: SSAValue) -> None:
            def behind(_: SSAValue, so_far: SSAValue) -> Sequence[SSAValue]:
                return [build.vadd(lhs=so_far, rhs=read(build.minus(count, 1), at, mask), mask=mask)]

            upper = build.times(number, 2)
            pair = build.vadd(lhs=read(upper, at, mask), rhs=read(build.plus(upper, 1), at, mask), mask=mask)
            (total,) = build.loop(third, 1, behind, pair)
            build.vsts(value=total, dest=tmp.pointer(build), offset=offset(build, tmp, number, at), mask=mask)

        if source is tmp:  # the row that is written was read with an earlier pair
            build.mem_bar(order="VLD_VST")
        lanes.each(columns)

    last = build.most(build.minus(half, 1), 0)
    build.loop(last, 1, partial(add, third=0))
    build.loop(half, 1, partial(add, third=odd), lower=last)
    return build.most(half, build.least(count, 1))


def _copy_row(build: Builder, lanes: Lanes, source: Tile, dst: Tile) -> None:
    def columns(at: SSAValue, mask: SSAValue) -> None:
        x = load(build, source, at, None if lanes.full else mask)
        build.vsts(value=x, dest=dst.pointer(build), offset=at, mask=mask)

    lanes.each(columns)
