"""Fills of tiles in L1, by whole granules: a scalar over the valid region, a pad around it."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i32, i64
from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE
from ptosim.language.builder import Builder, Number
from ptosim.tiles.moves.cube_extents import agrees, remark, where_some
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.registers import as_element, signless

_REPEATED = {1: 0x01010101, 2: 0x00010001, 4: 1}
"""The operation that repeats an element in a word of 32 bits."""


def fill_l1(build: Builder, scalar: SSAValue, dst: Tile) -> None:
    """texpands of a tile in mat. Lanes behind the last column of a granule are filled with it."""
    tile, per_granule = _by_granules(dst)
    rows, cols = tile.valid
    granules = build.ceiling(cols, per_granule)
    word = _word(build, scalar, dst)
    if tile.buf.boxed:
        where_some(build, (rows, granules), lambda: _fill(build, tile, 0, word, (granules, rows, tile.pitch)))
    else:
        where_some(
            build, (rows, granules), lambda: _fill(build, tile, 0, word, (rows, granules, tile.pitch // per_granule))
        )


def pad_l1(build: Builder, src: Tile, dst: Tile) -> None:
    """tfillpad of a tile in mat: zeros in the rows below the valid ones, and in blocks of columns behind them.

    The lanes behind the last valid column of its granule are zeros of the load that brought it."""
    message = "src and dst are two tiles: in mat dst is filled, and nothing is copied"
    remark(build, agrees(build, src.address, dst.address), message)
    tile, per_granule = _by_granules(dst)
    if not tile.buf.boxed:
        raise Refused(f"a pad in mat is for tiles of fractals, not {dst.buf.layout}", "dst_type", kind="unsupported")
    rows, cols = tile.valid
    word = build.pattern(0, i32)
    granules, height = build.ceiling(cols, per_granule), tile.buf.rows
    below = build.minus(height, rows)
    start = build.times(rows, GRANULE)
    where_some(build, (below, granules), lambda: _fill(build, tile, start, word, (granules, below, tile.pitch)))
    behind = build.minus(-(-tile.buf.cols // per_granule), granules)
    first = build.times(granules, tile.pitch * GRANULE)
    where_some(build, (behind,), lambda: _fill(build, tile, first, word, (behind, height, tile.pitch)))


def _by_granules(tile: Tile) -> tuple[Tile, int]:
    """A tile whose granules are parts of rows, and the elements of one; ZN is NZ of the transpose."""
    turned = tile.turned() if tile.buf.layout in ("ZN", "DN") else tile
    if turned.buf.boxed and (turned.buf.layout != "NZ" or turned.buf.fractal != 512):
        raise Refused(f"a tile of mat laid out as {tile.buf.layout} cannot be filled", "dst_type", kind="unsupported")
    return turned, GRANULE // tile.buf.element_bytes


def _word(build: Builder, scalar: SSAValue, tile: Tile) -> SSAValue:
    """32 bits full of an element."""
    bits: SSAValue = scalar if tile.kind.is_float else as_element(build, scalar, signless(tile.element))
    if tile.kind.is_float:
        bits = build.op("arith.bitcast", operand=scalar, result=IntegerType(tile.kind.bits))
    if tile.kind.bits < 32:
        bits = build.op("arith.extui", operand=bits, result=i32)
    return build.cast(build.times(bits, _REPEATED[tile.buf.element_bytes]), i32)


def _fill(build: Builder, tile: Tile, start: Number, word: SSAValue, runs: tuple[Number, Number, Number]) -> None:
    """Fills runs of granules, with the granules from one run to the next."""
    count, granules, pitch = runs
    build.raw_fill_l1(
        dest=tile.pointer(build),
        byte_offset=build.i64(start),
        value=word,
        repeat=build.i64(count),
        blocks=build.i64(granules),
        gap=build.i64(build.minus(pitch, granules)),
        fill_word_bits=IntegerAttr(32, i64),
    )
