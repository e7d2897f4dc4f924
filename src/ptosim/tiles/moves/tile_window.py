"""Rectangles of tiles, and elements that are only moved: bits of a width, whatever they mean."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.element import GRANULE
from ptosim.language.builder import Builder, Number, known
from ptosim.tiles.element_layout import byte_offset
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import Tile

At = tuple[Number, Number]
"""A row and a column."""


def part(build: Builder, tile: Tile, at: At, extent: At) -> Tile:
    """A rectangle of a tile: its address and its size, the distances of the tile."""
    address = build.i64(build.plus(tile.address, build.i64(byte_offset(build, tile, *at))))
    return replace(tile, address=address, valid=extent)


def inside(build: Builder, tile: Tile, at: At, moved: Tile) -> None:
    """From a place on a tile has room for what is valid of another: a condition of the run where only it knows, since
    other tiles lie behind."""
    extents = zip(at, moved.valid, moved.buf.shape, tile.buf.shape, ("row", "col"), strict=True)
    for start, size, most, limit, role in extents:
        begin = known(start)
        if begin is not None and begin + (most if known(size) is None else known(size) or 0) <= limit:
            continue
        holds = build.compare("sle", build.plus(start, size), limit)
        if begin is None:
            holds = build.op("arith.andi", lhs=build.compare("sge", start, 0), rhs=holds)
        message = f"{role} is outside of the {limit} of {tile.name}"
        require(build, holds, "out-of-bounds", message, fatal=True)


def is_aligned(tile: Tile, col: Number = 0) -> bool:
    """Whether the rows of a row-major tile are known to begin at whole granules, from a column on."""
    column, address = known(col), known(tile.address)
    return column is not None and (column * tile.kind.bytes + (address or 0)) % GRANULE == 0


def bits(width: int) -> Attribute:
    """The type of bits that are moved: signless integers of up to four bytes."""
    return IntegerType(8 * min(width, 4))


def as_bits(build: Builder, tile: Tile) -> Tile:
    """A row-major tile, or one of blocks of columns, as bits; elements of eight bytes are pairs of four."""
    pair, buf = max(1, tile.kind.bytes // 4), tile.buf
    (rows, cols), storage = tile.valid, tile.storage
    moved = replace(buf, element=bits(tile.kind.bytes), cols=buf.cols * pair)
    return replace(tile, buf=moved, valid=(rows, build.times(cols, pair)), storage=(storage[0], storage[1] * pair))


@dataclass(frozen=True)
class TileWindow:
    """A window of rows and columns, from a place in one tile to a place in another."""

    src: Tile
    dst: Tile
    value: SSAValue
    """The value of the source."""
    start: tuple[Number, Number]
    """The first row and column in the source."""
    to: tuple[Number, Number]
    """The first row and column in the destination."""
    extent: tuple[Number, Number]
