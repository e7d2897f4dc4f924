"""Scale exponents of MX operands in the order of the cube unit: boxes of 16 rows and 2 columns, one byte each.

A register holds four boxes, or one where four lie too far apart. Its lanes are gathered from where the exponents of a
row lie side by side, or below each other where groups run along rows; rows that fill up a box are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import i8, i16
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.types import VregType
from ptosim.tiles.moves.move_in_ub import move
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, everything, first
from ptosim.tiles.vector.registers import Registers
from ptosim.tiles.vector.relayout_by_index import element_pointer, store_lanes

BOX_ROWS, BOX_COLS = 16, 2
BOX = BOX_ROWS * BOX_COLS
BOXES = 4
"""Those that a register holds."""
_FARTHEST = 0xFFFF
"""What a lane of 16 bits can say of the distance to its exponent."""


@dataclass(frozen=True)
class ExponentMatrix:
    """Exponents by row and column of the operand: the first byte, the extent, and the bytes between neighbours."""

    tile: Tile
    rows: Number
    cols: Number
    row_stride: Number
    col_stride: Number


def exponents(build: Builder, src: Tile, dst: Tile, along_rows: bool) -> None:
    """dst[r, c] = src[r, c], or src[c, r] where the groups run along rows."""
    dst = dst if dst.buf.layout == "ZZ" else dst.turned()
    src, dst = (replace(tile, buf=replace(tile.buf, element=i8)) for tile in (src.unboxed(), dst))
    if dst.buf.rows == 1:
        line = src.turned() if along_rows and src.buf.rows != 1 else src
        move(build, line, dst, (1, build.least(line.cols, dst.cols)))
        return
    matrix = _matrix(build, src, dst, along_rows)
    build.scope(lambda: _fill_boxes(build, matrix, dst))


def _matrix(build: Builder, src: Tile, dst: Tile, along_rows: bool) -> ExponentMatrix:
    if src.buf.rows == 1:  # a line of rows as long as those of the result, or of its transpose
        strides: tuple[Number, Number] = (1, dst.rows) if along_rows else (dst.cols, 1)
        return ExponentMatrix(src, dst.rows, dst.cols, *strides)
    turned = (src.buf.layout == "DN") != along_rows
    rows, cols = (src.cols, src.rows) if along_rows else src.valid
    extent = build.least(rows, dst.rows), build.least(cols, dst.cols)
    return ExponentMatrix(src, *extent, *((1, src.pitch) if turned else (src.pitch, 1)))


def _boxes_at_once(matrix: ExponentMatrix, dst: Tile) -> int:
    """The boxes of a register: as many as its lanes can reach from their first exponent. What is not known is at most
    what the tile has."""
    rows, cols = (
        size if (extent := known(valid)) is None else extent
        for valid, size in zip((matrix.rows, matrix.cols), dst.buf.shape, strict=True)
    )
    down, across = (
        size if (stride := known(given)) is None else stride
        for given, size in ((matrix.row_stride, dst.buf.cols), (matrix.col_stride, dst.buf.rows))
    )
    for boxes in (BOXES, 1):
        lines, groups = min(rows, BOX_ROWS), min(cols, boxes * BOX_COLS)
        if (lines - 1) * down + (groups - 1) * across <= _FARTHEST:
            return boxes
    raise Refused(f"the exponents of a box are more than {_FARTHEST} bytes apart", "src", kind="unsupported")


def _fill_boxes(build: Builder, matrix: ExponentMatrix, dst: Tile) -> None:
    """Rows of boxes, some of them at a time."""
    v, all_ = Registers(build, i16), everything(build, 2)
    lane = v.op("vci", v.scalar(0), result=v.type)
    row = v.op("vand", v.op("vshrs", lane, build.constant(1, i16), all_), v.every(BOX_ROWS - 1), all_)
    box = v.op("vshrs", lane, build.constant(BOX.bit_length() - 1, i16), all_)
    odd = v.op("vand", lane, v.every(1), all_)
    col = v.op("vadd", v.op("vshls", box, build.constant(1, i16), all_), odd, all_)
    across, down = (
        v.op("vmuls", part, build.cast(stride, i16), all_)
        for part, stride in ((col, matrix.col_stride), (row, matrix.row_stride))
    )
    offsets = v.op("vadd", across, down, all_)
    boxes = build.ceiling(matrix.cols, BOX_COLS)
    length = build.times(boxes, BOX)
    lanes = Lanes(build, length, dst.buf.cols * BOX_ROWS, 2) if _boxes_at_once(matrix, dst) == BOXES else None

    def below(part: SSAValue, extent: Number, start: Number, unit: int, mask: SSAValue) -> SSAValue:
        """The lanes of a mask that lie within an extent."""
        if known(extent) is not None and int(known(extent) or 0) % unit == 0:
            return mask
        left = build.cast(build.least(build.minus(extent, start), BOXES * BOX), i16)
        return v.op("vcmps", part, left, mask, comparison="lt", result=mask.type)

    def boxes_of_rows(number: SSAValue) -> None:
        first_row = build.times(number, BOX_ROWS)

        def register(at: SSAValue, mask: SSAValue) -> None:
            first_col = build.quotient(at, BOX_ROWS)
            start = build.plus(build.times(first_row, matrix.row_stride), build.times(first_col, matrix.col_stride))
            held = below(row, matrix.rows, first_row, BOX_ROWS, mask)
            held = below(col, matrix.cols, first_col, BOX_COLS, held)
            source = element_pointer(build, matrix.tile, start)
            value = build.vgather2(source=source, offsets=offsets, mask=held, result=VregType.of(i16))
            place = build.index(build.plus(build.times(number, dst.pitch * BOX_ROWS), at))
            store_lanes(build, dst, place, value, mask)

        def box(at: SSAValue) -> None:
            register(at, first(build, BOX, 2))

        if lanes is not None:
            lanes.each(register)
        else:
            build.loop(length, BOX, box)

    build.loop(build.ceiling(matrix.rows, BOX_ROWS), 1, boxes_of_rows)
