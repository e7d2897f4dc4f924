"""The place of an element in a tile, for every layout: the table of the instruction set on numbers, known or not."""

from __future__ import annotations

from ptosim.language.builder import Builder, Number
from ptosim.tiles.tile_values import Tile


def element_offset(build: Builder, tile: Tile, row: Number, col: Number) -> Number:
    """The number of an element from the start of the tile. Rows and columns of boxed tiles are whole boxes apart where
    they are not known."""
    buf = tile.buf
    if not buf.boxed or buf.rows == 1:
        major, minor = (row, col) if buf.blayout == "row_major" or buf.boxed else (col, row)
        return build.plus(build.times(major, tile.pitch), minor)
    box_rows, box_cols = buf.box
    outer_row, inner_row = build.quotient(row, box_rows), build.remainder(row, box_rows)
    outer_col, inner_col = build.quotient(col, box_cols), build.remainder(col, box_cols)
    by_rows = buf.slayout == "row_major"
    inside = (
        build.plus(build.times(inner_row, box_cols), inner_col)
        if by_rows
        else build.plus(build.times(inner_col, box_rows), inner_row)
    )
    box = box_rows * box_cols
    if tile.goes_down:
        outer = build.plus(build.times(outer_col, tile.pitch * box_cols), build.times(outer_row, box))
    else:
        outer = build.plus(build.times(outer_row, tile.pitch * box_rows), build.times(outer_col, box))
    return build.plus(outer, inside)


def byte_offset(build: Builder, tile: Tile, row: Number, col: Number) -> Number:
    """The bytes from the start of the tile to an element."""
    offset = element_offset(build, tile, row, col)
    if tile.buf.counts_values:
        return build.quotient(offset, 2)
    return build.times(offset, tile.buf.element_bytes)
