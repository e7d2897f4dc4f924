"""Accumulators: how far apart their groups of columns lie, and their ways to GM, UB and L1 through the fixpipe.

A product writes 16-column groups of as many rows as it has, rounded up to 16; its readers have to know. The products
that a function has for a tile say it where they agree, else the valid rows of the tile do.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.structure.function import Function
from ptosim.language.tile.tile_matrix import TileProduct
from ptosim.language.tile.tile_move import TStore
from ptosim.tiles.element_layout import byte_offset
from ptosim.tiles.moves.cube_extents import ROWS, common, is_multiple, must, remark, up, where_some
from ptosim.tiles.moves.fixpipe import FixpipeStore, Layout, StoreEpilogue, leave
from ptosim.tiles.moves.mat_load import is_turned, one_matrix, side_by_side
from ptosim.tiles.moves.tile_window import TileWindow
from ptosim.tiles.refusal import Refused
from ptosim.tiles.sync import unit_flag
from ptosim.tiles.tile_values import GmView, Tile
from ptosim.tiles.view_layout import layout_of

_PHASES = {"partial": "check_only", "final": "check_and_clear"}
QUANT_WORD = 8
"""Bytes of the parameter word of a column."""


def group_rows(build: Builder, value: SSAValue, tile: Tile) -> Number:
    """The rows of a group of 16 columns of an accumulator, at the tile that a value is."""
    if tile.storage != tile.buf.shape:
        return tile.storage[0]
    written = {_rows_of(use.operation) for use in value.uses if _writes(use.operation, value)}
    if len(written) == 1 and (only := written.pop()) is not None:
        return only
    return up(build, tile.rows, ROWS)


def _writes(op: object, value: SSAValue) -> bool:
    return isinstance(op, TileProduct) and op.dst is value


def _rows_of(op: object) -> int | None:
    assert isinstance(op, TileProduct)
    rows = op.tile("lhs").valid[0]
    return ROWS if op.gemv else None if rows is None else -(-rows // ROWS) * ROWS


# --- to GM ------------------------------------------------------------------------------------------------------------


def store_accumulator(
    build: Builder, op: TStore, src: Tile, dst: GmView, fp: Tile | None, pre_quant: SSAValue | None
) -> None:
    """tstore of a tile in acc."""
    epilogue = StoreEpilogue(
        words=None if fp is None else fp.pointer(build, f32),
        word=pre_quant,
        relu=op.setting("reluPreMode") == "normal_relu",
        unit_flag=_PHASES.get(str(op.setting("stPhase"))),
        adds=op.setting("atomicType") == "atomic_add",
    )
    if epilogue.unit_flag is not None and has_unit_flags(op):
        unit_flag(build, src)
    stride = group_rows(build, op.src, src)
    m, n, dest_stride, layout, split = _to_view(build, src, dst)
    where_some(
        build,
        (m, n),
        lambda: leave(
            build, FixpipeStore(src.pointer(build), dst.pointer, m, n, stride, dest_stride, layout, split), epilogue
        ),
    )


def has_unit_flags(op: Operation) -> bool:
    """Whether products of the function set unit flags: a store that checks them waits."""
    while op.parent_op() is not None and not isinstance(op, Function):
        op = cast("Operation", op.parent_op())
    return any(isinstance(each, TileProduct) and _PHASES.get(str(each.setting("accPhase"))) for each in op.walk())


def _to_view(build: Builder, src: Tile, dst: GmView) -> tuple[Number, Number, Number, Layout, bool]:
    """m, n, the distance between lines in GM, and the layout of a store."""
    view = layout_of(dst)
    (_, _, _, g3, g4), (_, _, _, s3, s4) = dst.sizes, dst.strides
    if view == "nz":
        return _to_blocks(build, src, dst)
    one_matrix(build, dst, "dst")
    if view == "nd" and is_turned(src, dst):
        remark(build, False, "the view has the shape of the transpose: the accumulator is stored by columns")
        return src.rows, src.cols, s3, "nz2dn", False
    m, n = common(build, src.rows, g3, "rows"), common(build, src.cols, g4, "columns")
    if view == "dn":
        side_by_side(build, m, s3)
        return m, n, s4, "nz2dn", False
    side_by_side(build, n, s4)
    return m, n, s3, "nz2nd", False


def _to_blocks(build: Builder, src: Tile, dst: GmView) -> tuple[Number, Number, Number, Layout, bool]:
    """Fractals in GM: blocks of 16 columns, or of 32 bytes."""
    (g0, g1, g2, g3, g4), (s0, s1, s2, s3, s4) = dst.sizes, dst.strides
    width = dst.width
    widths = (8, 16) if width == 4 else (32 // width,)
    block = known(g4)
    if block is None or block not in widths:
        expected = " or ".join(map(str, widths))
        raise Refused(f"blocks of columns are {expected} wide in a view laid out as nz, not {block}", "dst")
    one_after_the_other = "the rows of a block of columns must follow each other in GM"
    must(build, "eq", s4, 1, "invalid", "the elements of a block must be adjacent in GM", "dst")
    must(build, "eq", s3, block, "invalid", one_after_the_other, "dst")
    if known(g2) != 1:
        must(build, "eq", s2, build.times(g3, block), "invalid", one_after_the_other, "dst")
    if 1 not in (known(g0), known(g1)):
        must(build, "eq", s0, build.times(g1, s1), "invalid", "blocks of columns must be equally far apart", "dst")
    m = common(build, src.rows, build.times(g2, g3), "rows")
    n = common(build, src.cols, build.times(build.times(g0, g1), g4), "columns")
    return m, n, s0 if known(g1) == 1 else s1, "nz2nz", width == 4 and block == 8


# --- to local memories ------------------------------------------------------------------------------------------------


def move_accumulator(build: Builder, window: TileWindow, epilogue: StoreEpilogue) -> None:
    """An accumulator, or a window of it, to vec or mat."""
    src, dst = window.src, window.dst
    row, col = window.start
    is_multiple(build, col, ROWS, "the first column of a window of an accumulator", "col")
    stride = group_rows(build, window.value, src)
    skipped = build.plus(build.times(build.quotient(col, ROWS), build.times(stride, ROWS)), build.times(row, ROWS))
    layout, dest_stride, split = _to_tile(dst)
    m, n = window.extent
    if layout == "nz2nz":
        is_multiple(build, window.to[1], dst.buf.box[1], "the first column of a window in fractals", "col")
        n = build.least(up(build, n, dst.buf.box[1]), build.minus(src.cols, col))  # whole, as far as there are columns
    offset = byte_offset(build, dst, *window.to)
    source = advanced(build, src.pointer(build), skipped)
    dest = advanced(build, dst.pointer(build), build.quotient(offset, dst.buf.element_bytes))
    where_some(
        build,
        (m, n),
        lambda: leave(build, FixpipeStore(source, dest, m, n, stride, dest_stride, layout, split), epilogue),
    )


def _to_tile(dst: Tile) -> tuple[Layout, int, bool]:
    """Layout and stride of a tile that accumulators go to."""
    if dst.buf.boxed and dst.buf.rows == 1:
        return "nz2nd", dst.pitch, False
    match dst.buf.layout:
        case "ND":
            return "nz2nd", dst.pitch, False
        case "DN":
            return "nz2dn", dst.pitch, False
        case "NZ":
            columns = dst.buf.box[1]
            return "nz2nz", dst.pitch * columns, dst.buf.element_bytes == 4 and columns == 8
        case layout:
            raise Refused(f"an accumulator cannot be moved to a tile laid out as {layout}", "dst_type")


def advanced(build: Builder, pointer: SSAValue, elements: Number) -> SSAValue:
    """A pointer so many elements further on."""
    if known(elements) == 0:
        return pointer
    return build.addptr(pointer=pointer, offset=build.index(elements), result=pointer.type)
