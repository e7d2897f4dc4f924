"""Rectangles of elements from one tile of vec to another, whatever their layouts.

What only changes place goes register by register; a row that begins inside of a granule is a stream. From rows to
blocks of columns a register is stored block by block; all other changes of layout gather or scatter
(relayout_by_index.py).
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import i16, i32
from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE
from ptosim.language.builder import Builder, known
from ptosim.language.types import AlignType, VregType
from ptosim.tiles.moves.tile_window import At, as_bits, bits, is_aligned, part
from ptosim.tiles.refusal import Refused
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, RegisterAccess, everything, load, offset, over
from ptosim.tiles.vector.relayout_by_index import fits, gather_rows, scatter_rows

# --- forms by layout --------------------------------------------------------------------------------------------------


def move(build: Builder, src: Tile, dst: Tile, extent: At, source: At = (0, 0), dest: At = (0, 0)) -> None:
    """An extent of src from one place on to dst from another on; the elements stay what they are."""
    if 0 in map(known, extent):
        return
    src, dst = src.unboxed(), dst.unboxed()
    by_columns = src.buf.layout == "DN" or (src.buf.boxed and dst.buf.layout == "DN")
    if by_columns or src.buf.layout == dst.buf.layout == "ZN":
        src, dst = src.turned(), dst.turned()
        extent, source, dest = _swapped(extent), _swapped(source), _swapped(dest)
    streams = not is_aligned(src, source[1]), not is_aligned(dst, dest[1])
    for tile, at in ((src, source), (dst, dest)):
        _whole_boxes(build, tile, at)
    src, dst = part(build, src, source, extent), part(build, dst, dest, extent)
    match src.buf.layout, dst.buf.layout:
        case "ND", "ND":
            _lines(build, as_bits(build, src), as_bits(build, dst), *streams)
        case "NZ", "NZ" if src.buf.box == dst.buf.box:
            build.scope(lambda: _blocks(build, as_bits(build, src), as_bits(build, dst)))
        case "ND", "NZ" if dst.buf.box[1] * dst.kind.bytes == GRANULE and not streams[0]:
            build.scope(lambda: _into_blocks(build, as_bits(build, src), as_bits(build, dst)))
        case _:
            _spread(build, src, dst, streams[0])


def _swapped(at: At) -> At:
    return at[1], at[0]


def _whole_boxes(build: Builder, tile: Tile, at: At) -> None:
    """A window of a boxed tile begins with a box, except that rows of NZ are apart from each other."""
    for start, unit, role in zip(at, tile.buf.box, ("row", "col"), strict=True):
        if unit == 1 or (tile.buf.layout == "NZ" and role == "row"):
            continue
        message = f"a window of {tile.name} begins inside of a box: {role} is no multiple of {unit}"
        if known(start) is None:
            require(build, build.compare("eq", build.remainder(start, unit), 0), "invalid", message, fatal=True)
        elif int(known(start) or 0) % unit:
            raise Refused(message, role, kind="invalid")


def _spread(build: Builder, src: Tile, dst: Tile, stream: bool) -> None:
    if src.kind.bytes == 8:
        raise Refused("elements of eight bytes keep their layout", "dst_type", kind="invalid")
    src, dst = (replace(tile, buf=replace(tile.buf, element=bits(tile.kind.bytes))) for tile in (src, dst))
    back = src.turned(), dst.turned()
    if dst.buf.layout == "ND":
        build.scope(lambda: gather_rows(build, src, dst))
    elif src.buf.layout != "ND":
        message = f"a tile laid out as {src.buf.layout} cannot become one laid out as {dst.buf.layout}"
        raise Refused(message, "dst_type", kind="invalid")
    elif back[1].buf.layout == "ND" and fits(back[0]) and is_aligned(back[1]):
        build.scope(lambda: gather_rows(build, *back))
    elif stream:
        raise Refused("a window that changes its layout begins with a granule of 32 bytes", "col", kind="invalid")
    else:
        build.scope(lambda: scatter_rows(build, src, dst))


# --- the same layout --------------------------------------------------------------------------------------------------


def _lines(build: Builder, src: Tile, dst: Tile, stream_in: bool, stream_out: bool) -> None:
    """Rows to rows; a side whose rows begin anywhere is a stream."""

    def step(here: RegisterAccess) -> None:
        here.store(dst, here.load(src))

    if stream_in or stream_out:
        build.scope(lambda: copy_rows(build, src, dst, stream_in, stream_out))
    else:
        over(build, (dst, src), step)


def copy_rows(build: Builder, src: Tile, dst: Tile, stream_in: bool, stream_out: bool) -> None:
    """The rows of dst from those of src, inside a scope."""
    lanes = Lanes(build, dst.cols, min(src.buf.cols, dst.buf.cols), dst.kind.bytes)

    def row(number: SSAValue) -> None:
        copy_row(build, lanes, src, dst, number, stream_in, stream_out)

    build.loop(dst.rows, 1, row)


def copy_row(
    build: Builder, lanes: Lanes, src: Tile, dst: Tile, row: SSAValue, stream_in: bool, stream_out: bool
) -> None:
    def value(at: SSAValue, mask: SSAValue) -> SSAValue:
        place, counted = offset(build, src, row, at), None if lanes.full else mask
        if not stream_in:
            return load(build, src, place, counted)
        return build.uvld(source=src.pointer(build), offset=place, result=VregType.of(src.element), mask=counted)

    def register(at: SSAValue, mask: SSAValue) -> None:
        build.vsts(value=value(at, mask), dest=dst.pointer(build), offset=offset(build, dst, row, at), mask=mask)

    def step(at: SSAValue, mask: SSAValue, align: SSAValue, there: SSAValue) -> list[SSAValue]:
        count = build.cast(build.least(build.minus(lanes.count, at), lanes.per_register), i32)
        types = {"align_out": align.type, "next": there.type}
        return list(build.vstus(align=align, offset=count, value=value(at, mask), dest=there, **types))

    if not stream_out:
        lanes.each(register)
        return
    start = build.addptr(pointer=dst.pointer(build), offset=offset(build, dst, row, 0), result=dst.pointer(build).type)
    align, end = lanes.each(step, build.init_align(result=AlignType()), start)
    build.vstas(align=align, dest=end, offset=build.constant(0, i32))


def _blocks(build: Builder, src: Tile, dst: Tile) -> None:
    """NZ to NZ: a block of columns is a run of rows; of a last block only the lanes of its columns."""
    width, per_block = dst.kind.bytes, dst.buf.box[1]
    lanes = Lanes(build, build.times(dst.rows, per_block), dst.buf.rows * per_block, width)
    whole, rest = build.quotient(dst.cols, per_block), build.remainder(dst.cols, per_block)

    def block(number: SSAValue, only: SSAValue | None = None) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            if only is not None:
                mask = build.pand(lhs=mask, rhs=only, mask=mask)
            places = [build.index(build.plus(build.times(number, tile.pitch * per_block), at)) for tile in (src, dst)]
            value = load(build, src, places[0], None if lanes.full and only is None else mask)
            build.vsts(value=value, dest=dst.pointer(build), offset=places[1], mask=mask)

        lanes.each(register)

    build.loop(whole, 1, block)
    if known(rest) != 0:
        element, all_ = bits(width), everything(build, width)
        lane = build.vci(base=build.constant(0, element), result=VregType.of(element))
        low = build.vdup(input=build.constant(per_block - 1, element), mask=all_, result=VregType.of(element))
        column = build.vand(lhs=lane, rhs=low, mask=all_)
        scalar = build.cast(rest, element)
        block(
            build.index(whole), build.vcmps(input=column, scalar=scalar, seed=all_, comparison="lt", result=all_.type)
        )


def _into_blocks(build: Builder, src: Tile, dst: Tile) -> None:
    """ND to NZ: the blocks of a register go to the same row of eight blocks of columns."""
    lanes = Lanes(build, dst.cols, min(src.buf.cols, dst.buf.cols), dst.kind.bytes)
    block_stride, repeat_stride = build.constant(dst.pitch, i16), build.constant(0, i16)
    pointer = dst.pointer(build)

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            value = load(build, src, offset(build, src, number, at), None if lanes.full else mask)
            place = build.plus(build.times(at, dst.pitch), build.times(number, dst.buf.box[1]))
            there = build.addptr(pointer=pointer, offset=build.index(place), result=pointer.type)
            build.vsstb(value=value, dest=there, block_stride=block_stride, repeat_stride=repeat_stride, mask=mask)

        lanes.each(register)

    build.loop(dst.rows, 1, row)
