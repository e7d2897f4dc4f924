"""Gathers from a table in global memory into L1: the scalar unit reads the indices, rows are loaded into fractals.

Single elements have no way into a granule; they are put together in a working view first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import SSAValue

from ptosim.language.builder import INDEX, Builder, Number, known
from ptosim.tiles.moves.accumulator import advanced
from ptosim.tiles.moves.cube_extents import common, where_some
from ptosim.tiles.moves.mat_load import load_into_fractals
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import GmView, Tile


def gather_rows(build: Builder, mem: GmView, idx: GmView, dst: Tile, beyond: str, target: str) -> None:
    """mgather of rows: each is a matrix of one row that goes to its place in every block of columns."""
    capacity = mem.sizes[3] if target == "a5" else _product(build, mem.sizes[:4])
    cols = common(build, dst.cols, mem.sizes[4], "columns")
    stride = idx.strides[3] if known(idx.sizes[4]) == 1 else idx.strides[4]

    def row(number: SSAValue) -> None:
        there = advanced(build, dst.pointer(build), build.times(number, 32 // dst.buf.element_bytes))
        given = _index(build, idx, build.times(number, stride))

        def load(index: Number) -> None:
            source = advanced(build, mem.pointer, build.times(index, mem.strides[3]))
            _load_row(build, source, there, cols, dst)

        _within(build, given, capacity, beyond, load, lambda: _clear_row(build, there, cols, dst))

    where_some(build, (dst.rows, cols), lambda: _all(build, dst.rows, row))


def gather_elements(build: Builder, mem: GmView, idx: GmView, workspace: GmView, dst: Tile, beyond: str) -> None:
    """mgather of elements, row by row in the working view, from where they are loaded."""
    rows, cols = dst.valid
    capacity = _product(build, mem.sizes)
    zero = build.pattern(0, dst.element)

    def row(number: SSAValue) -> None:
        def element(column: SSAValue) -> None:
            offset = build.plus(build.times(number, idx.strides[3]), build.times(column, idx.strides[4]))
            place = build.index(build.plus(build.times(number, cols), column))

            def put(value: SSAValue) -> None:
                build.store_scalar(value=value, pointer=workspace.pointer, offset=place)

            def take(index: Number) -> None:
                found = build.load_scalar(pointer=mem.pointer, offset=build.index(index), result=dst.element)
                put(found)

            _within(build, _index(build, idx, offset), capacity, beyond, take, lambda: put(zero))

        _all(build, cols, element)

    def body() -> None:
        _all(build, rows, row)
        build.barrier(pipe="PIPE_ALL")  # the load waits for what the scalar unit has stored
        packed = replace(workspace, sizes=(1, 1, 1, rows, cols), strides=(0, 0, 0, cols, 1))
        load_into_fractals(build, packed, dst)

    where_some(build, (rows, cols), body)


def _all(build: Builder, count: Number, body: Callable[[SSAValue], None]) -> None:
    build.loop(count, 1, body)


def _product(build: Builder, sizes: tuple[Number, ...]) -> Number:
    total: Number = 1
    for size in sizes:
        total = build.times(total, size)
    return total


def _index(build: Builder, idx: GmView, offset: Number) -> SSAValue:
    """An index: 32 bits without a sign."""
    given = build.load_scalar(pointer=idx.pointer, offset=build.index(offset), result=i32)
    return build.cast(build.op("arith.extui", operand=given, result=i64), INDEX)


def _within(
    build: Builder,
    index: SSAValue,
    capacity: Number,
    beyond: str,
    take: Callable[[Number], None],
    clear: Callable[[], None],
) -> None:
    """Use an index, as `gatherOob` says where it is beyond the table."""
    match beyond:
        case "clamp":
            take(build.least(index, build.minus(capacity, 1)))
        case "wrap":
            take(build.op("arith.remui", lhs=index, rhs=build.index(capacity)))
        case "zero":
            build.choose(build.compare("ult", index, capacity), lambda: take(index), clear)
        case _:
            message = "an index is beyond the table"
            require(build, build.compare("ult", index, capacity), "out-of-bounds", message, fatal=True)
            take(index)


def _load_row(build: Builder, source: SSAValue, there: SSAValue, cols: Number, dst: Tile) -> None:
    build.mte_gm_l1_frac(
        source=source,
        dest=there,
        layout="nd2nz",
        n=build.i64(1),
        d=build.i64(cols),
        inner_stride=build.i64(build.times(cols, dst.buf.element_bytes)),
        groups=build.i64(1),
        loop2_stride=build.i64(1),
        loop3_stride=build.i64(dst.pitch),
        loop4_stride=build.i64(0),
        l2_cache_ctl=build.i64(0),
        small_c0=build.pattern(0, i1),
    )


def _clear_row(build: Builder, there: SSAValue, cols: Number, dst: Tile) -> None:
    build.raw_fill_l1(
        dest=there,
        byte_offset=build.i64(0),
        value=build.pattern(0, i32),
        repeat=build.i64(build.ceiling(cols, 32 // dst.buf.element_bytes)),
        blocks=build.i64(1),
        gap=build.i64(dst.pitch - 1),
        fill_word_bits=IntegerAttr(32, i64),
    )
