"""Rows of tiles of any layout, one element at an address: gathers and scatters of registers.

From column c on, which begins a register, lane l of a row lies at the start of c plus what l alone decides: so one
register of offsets serves a whole tile, and a pointer to the start of the register does the rest.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i16
from xdsl.ir import SSAValue

from ptosim.language.build import Builder, Number
from ptosim.language.types import REGISTER_BYTES, VregType
from ptosim.tiles.layout import element_offset
from ptosim.tiles.refusal import Refused
from ptosim.tiles.values import Tile
from ptosim.tiles.walk import Lanes, everything, load, offset
from ptosim.tiles.window import bits

OFFSET_LIMIT = 1 << 16
"""Offsets of elements of one and two bytes have 16 bits."""


def lane_width(tile: Tile) -> int:
    """Bytes of a lane: single bytes are gathered and scattered in lanes of two."""
    return max(2, tile.kind.bytes)


def fits(tile: Tile) -> bool:
    """Whether the elements of a register lie within the reach of an offset."""
    lanes = min(REGISTER_BYTES // lane_width(tile), tile.buf.cols)
    (_, per_box), box, inner = _distances(tile)
    reach = (lanes - 1) // per_box * box + (per_box - 1) * inner
    return lane_width(tile) == 4 or reach < OFFSET_LIMIT


def gather_rows(build: Builder, src: Tile, dst: Tile) -> None:
    """dst, which is row-major, from the same rows and columns of src; inside a scope."""
    offsets, lanes = _offsets(build, src), _lanes(build, dst, src)
    element = bits(lane_width(src))

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            source = _pointer(build, src, number, at)
            value = build.vgather2(source=source, offsets=offsets, mask=mask, result=VregType.of(element))
            dist = "PK_B16" if src.kind.bytes == 1 else None
            if dist is not None:
                value = build.vbitcast(input=value, result=VregType.of(dst.element))
            build.vsts(
                value=value, dest=dst.pointer(build), offset=offset(build, dst, number, at), mask=mask, dist=dist
            )

        lanes.each(register)

    build.loop(dst.rows, 1, row)


def scatter_rows(build: Builder, src: Tile, dst: Tile) -> None:
    """dst at the rows and columns of src, which is row-major; inside a scope."""
    offsets, lanes = _offsets(build, dst), _lanes(build, src, dst)

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            dist = "UNPK_B8" if src.kind.bytes == 1 else None
            value = load(build, src, offset(build, src, number, at), None if lanes.full else mask, dist)
            build.vscatter(value=value, dest=_pointer(build, dst, number, at), offsets=offsets, mask=mask)

        lanes.each(register)

    build.loop(src.rows, 1, row)


def _lanes(build: Builder, plain: Tile, spread: Tile) -> Lanes:
    if not fits(spread):
        raise Refused(f"the elements of a row of {spread.name} lie too far apart to be moved by 16-bit offsets")
    return Lanes(build, plain.cols, min(plain.buf.cols, spread.buf.cols), lane_width(plain))


def _pointer(build: Builder, tile: Tile, row: Number, col: Number) -> SSAValue:
    pointer = tile.pointer(build)
    place = build.index(element_offset(build, tile, row, col))
    return build.addptr(pointer=pointer, offset=place, result=pointer.type)


def _distances(tile: Tile) -> tuple[tuple[int, int], int, int]:
    """The box of a tile, and the elements from one column to the next: of boxes, and inside of one."""
    rows, cols = tile.buf.box
    if not tile.buf.boxed:
        step = tile.pitch if tile.buf.blayout == "col_major" else 1
        return (rows, cols), step, step
    outer = tile.pitch * cols if tile.buf.blayout == "col_major" else rows * cols
    return (rows, cols), outer, 1 if tile.buf.slayout == "row_major" else rows


def _offsets(build: Builder, tile: Tile) -> SSAValue:
    """For each lane the elements from the first column of a register to its own."""
    width = lane_width(tile)
    element = bits(width)
    mask = everything(build, width)
    lane = build.vci(base=build.constant(0, element), result=VregType.of(element))
    (_, per_box), outer, inner = _distances(tile)
    if per_box == 1:
        return build.vmuls(input=lane, scalar=build.constant(outer, element), mask=mask)
    shift = build.constant(per_box.bit_length() - 1, i16)
    box = build.vshrs(input=lane, scalar=shift, mask=mask)
    low = build.vdup(input=build.constant(per_box - 1, element), mask=mask, result=VregType.of(element))
    rest = build.vand(lhs=lane, rhs=low, mask=mask)
    far = build.vmuls(input=box, scalar=build.constant(outer, element), mask=mask)
    near = build.vmuls(input=rest, scalar=build.constant(inner, element), mask=mask)
    return build.vadd(lhs=far, rhs=near, mask=mask)
