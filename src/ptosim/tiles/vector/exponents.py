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
"""The boxes that a register holds."""
_FARTHEST = 0xFFFF
"""The farthest distance to its exponent in a lane of 16 bits."""


@dataclass(frozen=True)
class ExponentMatrix:
    """Exponents by row and column of the operand: the first byte, the extent, and the bytes between neighbours."""

    tile: Tile
    rows: int
    cols: int
    row_stride: int
    col_stride: int

    @property
    def boxes_at_once(self) -> int:
        """The boxes of a register: as many as its lanes can reach from their first exponent."""
        for boxes in (BOXES, 1):
            lines, groups = min(self.rows, BOX_ROWS), min(self.cols, boxes * BOX_COLS)
            if (lines - 1) * self.row_stride + (groups - 1) * self.col_stride <= _FARTHEST:
                return boxes
        raise Refused(f"the exponents of a box are more than {_FARTHEST} bytes apart", "src", kind="unsupported")


def exponents(build: Builder, src: Tile, dst: Tile, along_rows: bool) -> None:
    """dst[r, c] = src[r, c], or src[c, r] where the groups run along rows. Rows of src have the length that the result
    says, whatever tile they lie in; a result of one row takes them as they are."""
    src, dst = (replace(tile.unboxed(), buf=replace(tile.unboxed().buf, element=i8)) for tile in (src, dst))
    (src_rows, src_cols), (rows, cols) = (_extents(tile) for tile in (src, dst))
    if along_rows:
        matrix = ExponentMatrix(src, src_cols, src_rows, 1, src_cols)
    elif dst.buf.rows == 1:
        move(build, _line(src, cols), dst, (1, cols))
        return
    else:
        matrix = ExponentMatrix(src, rows, cols, cols, 1)
    build.scope(lambda: _fill_boxes(build, matrix, dst))


def _extents(tile: Tile) -> tuple[int, int]:
    """The valid region, which is static: a rule of the verifier."""
    rows, cols = (known(extent) for extent in tile.valid)
    assert rows is not None and cols is not None
    return rows, cols


def _line(tile: Tile, length: int) -> Tile:
    """A packed tile as one row."""
    return replace(tile, buf=replace(tile.buf, rows=1, cols=length), valid=(1, length), storage=(1, length))


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
    length = matrix.cols * BOX_ROWS
    lanes = Lanes(build, length, length, 2) if matrix.boxes_at_once == BOXES else None

    def written(start: Number, mask: SSAValue) -> SSAValue:
        """The lanes of a mask whose rows there are; the others are zero."""
        if matrix.rows % BOX_ROWS == 0:
            return mask
        left = build.cast(build.least(build.minus(matrix.rows, start), BOX_ROWS), i16)
        return v.op("vcmps", row, left, mask, comparison="lt", result=mask.type)

    def boxes_of_rows(number: SSAValue) -> None:
        first_row = build.times(number, BOX_ROWS)

        def register(at: SSAValue, mask: SSAValue) -> None:
            first_col = build.quotient(at, BOX_ROWS)
            start = build.plus(build.times(first_row, matrix.row_stride), build.times(first_col, matrix.col_stride))
            source = element_pointer(build, matrix.tile, start)
            held = written(first_row, mask)
            value = build.vgather2(source=source, offsets=offsets, mask=held, result=VregType.of(i16))
            place = build.index(build.plus(build.times(number, length), at))
            store_lanes(build, dst, place, value, mask)

        def box(at: SSAValue) -> None:
            register(at, first(build, BOX, 2))

        if lanes is not None:
            lanes.each(register)
        else:
            build.loop(length, BOX, box)

    build.loop(-(-matrix.rows // BOX_ROWS), 1, boxes_of_rows)
