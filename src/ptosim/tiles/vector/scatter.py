"""Scatters within vec, by index and by a pattern: all of the destination is zero first."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from ptosim.language.builder import INDEX, Builder
from ptosim.language.tile.tile_vector_gather import TScatter
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.move_in_ub import copy_rows
from ptosim.tiles.moves.rearrange import by_rows
from ptosim.tiles.moves.tile_window import At, as_bits
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.gather import PATTERNS, every_row
from ptosim.tiles.vector.lane_walk import Lanes, RegisterAccess, each_register, offset
from ptosim.tiles.vector.offsets_of_indices import each_range
from ptosim.tiles.vector.registers import Registers
from ptosim.tiles.vector.relayout_by_index import element_pointer, lane_width, load_lanes, steps


@lowering(TScatter)
def tscatter(build: Builder, op: TScatter, target: str, src: Tile, idx: Tile | None, dst: Tile) -> None:
    if idx is None:
        _by_pattern(build, op, src, dst)
    elif target == "a5":
        _by_index(build, op, target, src, idx, dst)
    else:
        _by_the_scalar_unit(build, src, idx, dst)


def _zero(build: Builder, dst: Tile) -> None:
    """Every byte of a tile, then nothing that is stored before it; inside a scope."""
    whole = replace(dst, valid=dst.buf.shape)
    zero = Registers(build, dst.element).every(0)

    def step(here: RegisterAccess) -> None:
        here.store(whole, zero)

    each_register(build, (whole,), step)
    build.mem_bar(order="VST_VST")


# --- by index ---------------------------------------------------------------------------------------------------------


def _by_index(build: Builder, op: TScatter, target: str, src: Tile, idx: Tile, dst: Tile) -> None:
    """The element of dst whose number in memory is idx[i, j] = src[i, j]."""
    data = as_bits(build, dst)
    source, indices = (as_bits(build, tile) for tile in by_rows(op, src, idx))
    rows, cols = _extent(build, source, indices, dst)

    def scope() -> None:
        _zero(build, data)
        lanes = Lanes(build, cols, min(source.buf.cols, indices.buf.cols), lane_width(data))

        def row(number: SSAValue) -> None:
            def register(at: SSAValue, mask: SSAValue) -> None:
                value = load_lanes(build, source, offset(build, source, number, at), mask)

                def visit(dest: SSAValue, offsets: SSAValue, active: SSAValue, within: IntegerAttr | None) -> None:
                    build.vscatter(value=value, dest=dest, offsets=offsets, mask=active, within=within)

                each_range(build, target, data, indices, offset(build, indices, number, at), mask, visit)

            lanes.each(register)

        build.loop(rows, 1, row)

    build.scope(scope)


def _extent(build: Builder, src: Tile, idx: Tile, dst: Tile) -> At:
    """The region with a value and an index; a destination of the same shape bounds it, another one is only a place."""
    bounds = (src, idx, dst) if dst.buf.shape == src.buf.shape else (src, idx)
    rows, cols = src.valid
    for tile in bounds[1:]:
        rows, cols = build.least(rows, tile.rows), build.least(cols, tile.cols)
    return rows, cols


def _by_the_scalar_unit(build: Builder, src: Tile, idx: Tile, dst: Tile) -> None:
    """Element by element: of several that meet the last one stays."""
    data, source, indices = (as_bits(build, tile) for tile in (dst, src, idx))
    there, zero = data.pointer(build), build.constant(0, data.element)
    rows, cols = _extent(build, source, indices, dst)

    def element(tile: Tile, row: SSAValue, col: SSAValue) -> SSAValue:
        place = build.index(element_offset(build, tile, row, col))
        return build.load_scalar(pointer=tile.pointer(build), offset=place, result=tile.element)

    def cleared(row: SSAValue) -> None:
        def one(col: SSAValue) -> None:
            place = build.index(element_offset(build, data, row, col))
            build.store_scalar(value=zero, pointer=there, offset=place)

        build.loop(dst.buf.cols, 1, one)

    def put(row: SSAValue) -> None:
        def one(col: SSAValue) -> None:
            place = build.op("arith.index_castui", operand=element(indices, row, col), result=INDEX)
            build.store_scalar(value=element(source, row, col), pointer=there, offset=place)

        build.loop(cols, 1, one)

    build.loop(dst.buf.rows, 1, cleared)
    build.loop(rows, 1, put)


# --- by a pattern -----------------------------------------------------------------------------------------------------


def _by_pattern(build: Builder, op: TScatter, src: Tile, dst: Tile) -> None:
    """Fills of every so many columns, or rows, the one that the pattern marks."""
    first, factor = PATTERNS[str(op.pattern)]
    src, dst = (as_bits(build, tile) for tile in by_rows(op, src, dst))
    by_columns = op.setting("axis") == "col"
    src = _fitting(build, src, dst, 0 if by_columns else 1, first, factor)

    def scope() -> None:
        _zero(build, dst)
        if by_columns:
            there = replace(every_row(build, dst, first, factor), valid=src.valid)
            copy_rows(build, src, there, stream_in=False, stream_out=False)
        else:
            _every_column(build, src, dst, first, factor)

    build.scope(scope)


def _fitting(build: Builder, src: Tile, dst: Tile, side: int, first: int, factor: int) -> Tile:
    """The part of a source that finds a place in every so many rows or columns; only the run may know that it is
    less.
    """
    room, sizes = list(dst.buf.shape), list(src.valid)
    room[side] = -(-(room[side] - first) // factor)
    for axis, extent in enumerate(room):
        if src.buf.shape[axis] > extent:
            sizes[axis] = build.least(sizes[axis], extent)
    return replace(src, valid=(sizes[0], sizes[1]))


def _every_column(build: Builder, src: Tile, dst: Tile, first: int, factor: int) -> None:
    width = lane_width(src)
    lanes, offsets = Lanes(build, src.cols, src.buf.cols, width), steps(build, factor, width)

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            value = load_lanes(build, src, offset(build, src, number, at), None if lanes.full else mask)
            start = build.plus(offset(build, dst, number, build.times(at, factor)), first)
            build.vscatter(value=value, dest=element_pointer(build, dst, start), offsets=offsets, mask=mask)

        lanes.each(register)

    build.loop(src.rows, 1, row)
