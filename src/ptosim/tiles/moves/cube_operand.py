"""Moves of operands: out of L1 to where the cube unit reads, and from UB into L1.

The right operand in ZN is the left one of the transposed matrix in NZ, so that both are loaded alike: lines of 16 by
granules along k. A source whose granules run along the lines instead is transposed on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE
from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_buf import NORMAL
from ptosim.tiles.moves.accumulator import advanced
from ptosim.tiles.moves.cube_extents import ROWS, agrees, is_multiple, remark, up, where_some
from ptosim.tiles.moves.tile_window import TileWindow
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile

_SIDES = {"left": ("mte_l1_l0a", "NZ", 0), "right": ("mte_l1_l0b", "ZN", 1)}
"""The load of an operand, the layout that it takes as it is, and which axis of the tile the lines are."""
FRACTAL = 512


@dataclass(frozen=True)
class _Lines:
    """A window as lines along k."""

    count: Number
    depth: Number
    first: Number
    """The first line."""
    begin: Number
    """The first value of k."""


def move_operand(build: Builder, window: TileWindow) -> None:
    """tmov and textract from mat to left or right."""
    src, dst = window.src, window.dst
    load, straight, axis = _SIDES[dst.buf.loc]
    other = 1 - axis
    lines = _Lines(window.extent[axis], window.extent[other], window.start[axis], window.start[other])
    if src.buf.rows == 1:
        where_some(build, window.extent, lambda: _vector(build, load, src, dst, lines))
        return
    if dst.buf.loc == "left" and dst.buf.rows == 1:
        raise Refused("a row for a gemv comes from a tile with one row", "src_type", kind="invalid")
    if src.buf.layout not in ("NZ", "ZN"):
        raise Refused(f"operands come from tiles laid out as NZ or ZN, not {src.buf.layout}", "src_type")
    _short(build, dst, lines)
    make = _as_it_is if src.buf.layout == straight else _transposed
    where_some(build, window.extent, lambda: make(build, load, src, dst, lines))


def _short(build: Builder, dst: Tile, lines: _Lines) -> None:
    """A valid region that is shorter than its tile lies closer together than the type says, unless that is compact."""
    if dst.buf.compact == NORMAL:
        return
    extent = dst.storage[_SIDES[dst.buf.loc][2]]
    depth = known(lines.depth)
    if depth is None or depth > per_granule(dst):
        remark(
            build,
            agrees(build, up(build, lines.count, ROWS), -(-extent // ROWS) * ROWS),
            "a short valid region in a tile that is not compact: the official library would step by the whole tile",
        )


def per_granule(tile: Tile) -> int:
    """Values of k in a granule."""
    return GRANULE * 8 // tile.buf.element_bits


def _as_it_is(build: Builder, load: str, src: Tile, dst: Tile, lines: _Lines) -> None:
    granule = per_granule(dst)
    is_multiple(build, lines.first, ROWS, "the first line of an operand")
    is_multiple(build, lines.begin, granule, "the first value of k of an operand")
    steps = build.ceiling(lines.count, ROWS)
    _load(
        build,
        load,
        (src.pointer(build), dst.pointer(build)),
        build.quotient(lines.first, ROWS),
        build.quotient(lines.begin, granule),
        steps,
        build.ceiling(lines.depth, granule),
        src.pitch // ROWS,
        steps,
    )


def _transposed(build: Builder, load: str, src: Tile, dst: Tile, lines: _Lines) -> None:
    """Granules of the source run along the lines. Bytes are loaded one granule of k at a time: a load of several would
    lie further apart than a product looks for them. What is loaded are whole squares, for which the tile needs room."""
    granule = per_granule(dst)
    unit = max(ROWS, granule)
    for extent, what in zip(dst.storage, ("rows", "columns"), strict=True):
        if extent % unit:
            message = f"an operand that is transposed on its way has {what} in multiples of {unit}, not {extent}"
            raise Refused(message, "dst_type", kind="invalid")
    is_multiple(build, lines.begin, unit, "the first value of k of a transposed operand")
    is_multiple(build, lines.first, granule, "the first line of a transposed operand")
    width = up(build, lines.count, unit)
    across = build.quotient(width, granule)
    start, stride = build.quotient(lines.begin, ROWS), src.pitch // ROWS
    pointers = src.pointer(build), dst.pointer(build)
    where = build.quotient(lines.first, granule)
    if unit == ROWS:
        steps = build.ceiling(lines.depth, ROWS)
        beside = build.quotient(width, ROWS)
        _load(build, load, pointers, start, where, steps, across, stride, beside, transpose=True)
        return
    rows = unit // ROWS

    def granule_of_k(number: SSAValue) -> None:
        distance = build.times(number, build.times(build.ceiling(lines.count, ROWS), FRACTAL // dst.buf.element_bytes))
        dest = advanced(build, pointers[1], distance)
        first = build.plus(start, build.times(number, rows))
        _load(build, load, (pointers[0], dest), first, where, rows, across, stride, 1, transpose=True)

    build.loop(build.ceiling(lines.depth, unit), 1, granule_of_k)


def _vector(build: Builder, load: str, src: Tile, dst: Tile, lines: _Lines) -> None:
    """One row, whose elements lie one after the other, for a gemv."""
    if dst.buf.rows != 1:
        raise Refused("one row goes to a tile with one row: the operand of a gemv", "dst_type", kind="invalid")
    values = FRACTAL * 8 // dst.buf.element_bits
    is_multiple(build, lines.begin, values, "the first column of a row for a gemv", "col")
    begin, steps = build.quotient(lines.begin, values), build.ceiling(lines.depth, values)
    _load(build, load, (src.pointer(build), dst.pointer(build)), 0, begin, 1, steps, 1, 1)


def _load(
    build: Builder,
    load: str,
    pointers: tuple[SSAValue, SSAValue],
    m_start: Number,
    k_start: Number,
    m_step: Number,
    k_step: Number,
    source_stride: Number,
    dest_stride: Number,
    transpose: bool = False,
) -> None:
    fields = {
        "m_start": m_start,
        "k_start": k_start,
        "m_step": m_step,
        "k_step": k_step,
        "source_stride": source_stride,
        "dest_stride": dest_stride,
    }
    source, dest = pointers
    numbers = {role: build.i64(number) for role, number in fields.items()}
    build.op(load, source=source, dest=dest, **numbers, transpose=IntegerAttr(1, i1) if transpose else None)


# --- from UB ----------------------------------------------------------------------------------------------------------


def move_to_l1(build: Builder, window: TileWindow) -> None:
    """Blocks of columns as they are; rows, which nothing turns into blocks on the way, one after the other."""
    src, dst = window.src, window.dst
    (row, col), (there, beside), (rows, cols) = window.start, window.to, window.extent
    if src.buf.layout == "ZN" and src.buf.layout == dst.buf.layout:
        src, dst = src.turned(), dst.turned()
        row, col, there, beside, rows, cols = col, row, beside, there, cols, rows
    per_row = 32 // src.buf.element_bytes
    for start in (col, beside):
        is_multiple(build, start, per_row, "where a block of columns begins", "col")
    if src.buf.layout == "NZ" and src.buf.rows > 1:
        length, count = rows, build.ceiling(cols, per_row)
        pitches = src.pitch, dst.pitch
        offsets = [
            build.plus(build.times(build.quotient(at, per_row), pitch), line)
            for at, line, pitch in ((col, row, pitches[0]), (beside, there, pitches[1]))
        ]
    else:
        length, count = build.ceiling(cols, per_row), rows
        pitches = src.storage[1] // per_row, dst.storage[1] // per_row
        offsets = [
            build.plus(build.times(line, pitch), build.quotient(at, per_row))
            for at, line, pitch in ((col, row, pitches[0]), (beside, there, pitches[1]))
        ]
    source, dest = (
        advanced(build, tile.pointer(build), build.times(offset, per_row))
        for tile, offset in zip((src, dst), offsets, strict=True)
    )
    where_some(
        build,
        (length, count),
        lambda: build.mte_ub_l1(
            source=source,
            dest=dest,
            len_burst=build.i64(length),
            n_burst=build.i64(count),
            source_gap=build.i64(build.minus(pitches[0], length)),
            dest_gap=build.i64(build.minus(pitches[1], length)),
        ),
    )
