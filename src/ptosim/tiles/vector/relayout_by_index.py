"""Rows of tiles of any layout, one element at an address: gathers and scatters of registers.

From column c on, which begins a register, lane l of a row lies at the start of c plus what l alone decides: so one
register of offsets serves a whole tile, and a pointer to the start of the register does the rest.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i16
from xdsl.ir import SSAValue

from ptosim.effects.element import VECTOR_BYTES
from ptosim.language.builder import Builder, Number
from ptosim.language.types import VregType
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.moves.tile_window import bits
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, everything, load, offset
from ptosim.tiles.vector.registers import Registers

OFFSET_LIMIT = 1 << 16
"""Offsets of elements of one and two bytes have 16 bits."""


def lane_width(tile: Tile) -> int:
    """Bytes of a lane: single bytes are gathered and scattered in lanes of two."""
    return max(2, tile.kind.bytes)


def fits(tile: Tile) -> bool:
    """Whether the elements of a register lie within the reach of an offset."""
    lanes = min(VECTOR_BYTES // lane_width(tile), tile.buf.cols)
    per_box, box, inner = _distances(tile)
    reach = (lanes - 1) // per_box * box + (per_box - 1) * inner
    return lane_width(tile) == 4 or reach < OFFSET_LIMIT


# --- lanes ------------------------------------------------------------------------------------------------------------


def store_lanes(build: Builder, dst: Tile, at: SSAValue, value: SSAValue, mask: SSAValue) -> None:
    """Gathered lanes as elements of a tile of bits."""
    dist = "PK_B16" if dst.kind.bytes == 1 else None
    elements = value if dist is None else build.vbitcast(input=value, result=VregType.of(dst.element))
    build.vsts(value=elements, dest=dst.pointer(build), offset=at, mask=mask, dist=dist)


def load_lanes(build: Builder, src: Tile, at: SSAValue, mask: SSAValue | None) -> SSAValue:
    """Elements of a tile of bits as lanes to scatter."""
    return load(build, src, at, mask, "UNPK_B8" if src.kind.bytes == 1 else None)


def steps(build: Builder, distance: int, width: int) -> SSAValue:
    """For each lane its number times a distance."""
    element = bits(width)
    lane = build.vci(base=build.constant(0, element), result=VregType.of(element))
    return build.vmuls(input=lane, scalar=build.constant(distance, element), mask=everything(build, width))


def element_pointer(build: Builder, tile: Tile, place: Number) -> SSAValue:
    """A pointer to an element of a tile by its number."""
    pointer = tile.pointer(build)
    return build.addptr(pointer=pointer, offset=build.index(place), result=pointer.type)


# --- rows -------------------------------------------------------------------------------------------------------------


def gather_rows(build: Builder, src: Tile, dst: Tile) -> None:
    """dst, which is row-major, from the same rows and columns of src; inside a scope."""
    offsets, lanes = _offsets(build, src), _lanes(build, dst, src)
    register_type = VregType.of(bits(lane_width(src)))

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            source = element_pointer(build, src, element_offset(build, src, number, at))
            value = build.vgather2(source=source, offsets=offsets, mask=mask, result=register_type)
            store_lanes(build, dst, offset(build, dst, number, at), value, mask)

        lanes.each(register)

    build.loop(dst.rows, 1, row)


def scatter_rows(build: Builder, src: Tile, dst: Tile) -> None:
    """dst at the rows and columns of src, which is row-major; inside a scope."""
    offsets, lanes = _offsets(build, dst), _lanes(build, src, dst)

    def row(number: SSAValue) -> None:
        def register(at: SSAValue, mask: SSAValue) -> None:
            value = load_lanes(build, src, offset(build, src, number, at), None if lanes.full else mask)
            dest = element_pointer(build, dst, element_offset(build, dst, number, at))
            build.vscatter(value=value, dest=dest, offsets=offsets, mask=mask)

        lanes.each(register)

    build.loop(src.rows, 1, row)


def _lanes(build: Builder, plain: Tile, spread: Tile) -> Lanes:
    if not fits(spread):
        raise Refused(f"the elements of a row of {spread.name} lie too far apart to be moved by 16-bit offsets")
    return Lanes(build, plain.cols, min(plain.buf.cols, spread.buf.cols), lane_width(plain))


def _distances(tile: Tile) -> tuple[int, int, int]:
    """The columns of a box, and the elements from one box to the next and from one column to the next inside of it."""
    rows, cols = tile.buf.box
    if not tile.buf.boxed:
        step = tile.pitch if tile.buf.blayout == "col_major" else 1
        return cols, step, step
    outer = tile.pitch * cols if tile.buf.blayout == "col_major" else rows * cols
    return cols, outer, 1 if tile.buf.slayout == "row_major" else rows


def _offsets(build: Builder, tile: Tile) -> SSAValue:
    """For each lane the elements from the first column of a register to its own."""
    width = lane_width(tile)
    per_box, outer, inner = _distances(tile)
    if per_box == 1:
        return steps(build, outer, width)
    v, mask = Registers(build, bits(width)), everything(build, width)
    lane = v.op("vci", v.scalar(0), result=v.type)
    box = v.op("vshrs", lane, build.constant(per_box.bit_length() - 1, i16), mask)
    inside = v.op("vand", lane, v.every(per_box - 1), mask)
    far, near = v.op("vmuls", box, v.scalar(outer), mask), v.op("vmuls", inside, v.scalar(inner), mask)
    return v.op("vadd", far, near, mask)
