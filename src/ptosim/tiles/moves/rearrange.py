"""Transposes, pads and concatenations of tiles of vec."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ptosim.language.builder import INDEX, Builder, Number
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_rearrange import TConcat, TConcatIdx, TFillPad, TTrans
from ptosim.language.types import VregType
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.mat_fill import pad_l1
from ptosim.tiles.moves.move_in_ub import copy_row, copy_rows, move
from ptosim.tiles.moves.pad_values import pad_bits
from ptosim.tiles.moves.tile_window import as_bits, bits, is_aligned, part
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, load, offset, tail


@lowering(TTrans)
def ttrans(build: Builder, src: Tile, dst: Tile) -> None:
    """The transpose of src lies where src lies."""
    source = src.turned()
    extent = within(build, source.rows, dst.buf.rows), within(build, source.cols, dst.buf.cols)
    move(build, source, dst, extent)


def within(build: Builder, extent: Number, limit: int) -> Number:
    """An extent that may be larger than a tile has room for."""
    return build.least(extent, limit)


def by_rows(op: TileOperation, *tiles: Tile) -> tuple[Tile, ...]:
    """Tiles that are all row-major, or all column-major: as row-major ones."""
    plain = [tile.unboxed() for tile in tiles]
    layouts = {tile.buf.layout for tile in plain}
    if layouts == {"ND"}:
        return tuple(plain)
    if layouts == {"DN"}:
        return tuple(tile.turned() for tile in plain)
    raise Refused(f"{op.name} is for tiles that are all laid out as ND, or all as DN", kind="invalid")


# --- pads -------------------------------------------------------------------------------------------------------------


@lowering(TFillPad)
def tfillpad(build: Builder, op: TFillPad, src: Tile, dst: Tile) -> None:
    """Rows of src, each filled up with the pad, and rows of pads below; every register is loaded before it is stored,
    so that src and dst may be one tile."""
    if dst.buf.loc == "mat":
        pad_l1(build, src, dst)
        return
    pad_pattern = pad_bits(dst.kind, dst.buf.pad)
    src, dst = (as_bits(build, tile) for tile in by_rows(op, src, dst))
    rows, cols = build.least(src.rows, dst.rows), build.least(src.cols, dst.cols)
    width = dst.kind.bytes

    def scope() -> None:
        lanes = Lanes(build, dst.cols, dst.buf.cols, width)
        pad = build.vbr(input=build.pattern(pad_pattern, bits(width)), result=VregType.of(bits(width)))
        single = dst.buf.cols <= lanes.per_register
        common = tail(build, cols, width)[0] if single else None

        def held(number: SSAValue) -> None:
            def register(at: SSAValue, mask: SSAValue) -> None:
                kept = common or tail(build, build.most(build.minus(cols, at), 0), width)[0]
                value = load(build, src, offset(build, src, number, at), kept)
                value = build.vsel(on_true=value, on_false=pad, mask=kept)
                build.vsts(value=value, dest=dst.pointer(build), offset=offset(build, dst, number, at), mask=mask)

            lanes.each(register)

        def filled(number: SSAValue) -> None:
            def register(at: SSAValue, mask: SSAValue) -> None:
                build.vsts(value=pad, dest=dst.pointer(build), offset=offset(build, dst, number, at), mask=mask)

            lanes.each(register)

        build.loop(rows, 1, held)
        build.loop(dst.rows, 1, filled, lower=rows)

    build.scope(scope)


# --- concatenations ---------------------------------------------------------------------------------------------------


@lowering(TConcat)
def tconcat(build: Builder, op: TConcat, src0: Tile, src1: Tile, dst: Tile) -> None:
    """The second tile begins where the first ends, inside of a granule perhaps."""
    first = within(build, src0.cols, dst.buf.cols)
    second = build.least(src1.cols, build.minus(dst.buf.cols, first))
    parts = part(build, dst, (0, 0), (dst.rows, first)), part(build, dst, (0, first), (dst.rows, second))
    column = first if dst.unboxed().buf.layout == "ND" else 0
    plain = [by_rows(op, src0, parts[0]), by_rows(op, src1, parts[1])]

    def scope() -> None:
        for (src, there), start in zip(plain, (0, column), strict=True):
            copy_rows(
                build, as_bits(build, src), as_bits(build, there), not is_aligned(src), not is_aligned(dst, start)
            )

    build.scope(scope)


@lowering(TConcatIdx)
def tconcatidx(build: Builder, op: TConcatIdx, src0: Tile, src1: Tile, idx0: Tile, idx1: Tile, dst: Tile) -> None:
    """Row by row as many columns as the indices say, as far as they are valid and there is room."""
    if {tile.unboxed().buf.layout for tile in (src0, src1, dst)} != {"ND"}:
        raise Refused(f"{op.name} is for tiles laid out as ND", kind="invalid")
    first_source, second_source, there = (as_bits(build, tile.unboxed()) for tile in (src0, src1, dst))
    width = there.kind.bytes
    pair = build.quotient(there.buf.cols, dst.buf.cols)

    def row(number: SSAValue) -> None:
        first = build.least(_columns(build, idx0, number), build.least(src0.cols, dst.cols))
        room = build.minus(dst.cols, first)
        second = build.least(_columns(build, idx1, number), build.least(src1.cols, room))
        for src, count, start in ((first_source, first, 0), (second_source, second, first)):
            lanes = Lanes(build, build.times(count, pair), src.buf.cols, width)
            shifted = part(build, there, (0, build.times(start, pair)), there.valid)
            copy_row(build, lanes, src, shifted, number, not is_aligned(src), not is_aligned(there, start))

    def scope() -> None:
        build.loop(dst.rows, 1, row)

    build.scope(scope)


def _columns(build: Builder, idx: Tile, row: SSAValue) -> Number:
    """The byte columns that an index says for a row, of the index type; none if it is negative."""
    width = idx.kind.bytes
    place = build.index(element_offset(build, idx, row, 0))
    value = build.load_scalar(pointer=idx.pointer(build, bits(width)), offset=place, result=bits(width))
    cast = "arith.index_castui" if idx.kind.name.startswith("u") else "arith.index_cast"
    count = build.op(cast, operand=value, result=INDEX)
    return build.quotient(build.most(count, 0), width)
