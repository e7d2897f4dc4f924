"""Loads from global memory into L1 and the fixpipe buffer: what the layouts of view and tile make of them.

A copy into fractals is one instruction that reads rows or columns; a copy that keeps the layout moves rows, columns or
blocks of columns as they are.
"""

from __future__ import annotations

from functools import partial

from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE
from ptosim.effects.names import Space
from ptosim.language.builder import Builder, Number, known
from ptosim.language.rules.tile_place_rules import element_word
from ptosim.language.tile.tile_buf import TileBuf, is_fp4
from ptosim.tiles.moves.bursts import each_copy, strides
from ptosim.tiles.moves.cube_extents import ROWS, common, must, remark, where_some
from ptosim.tiles.moves.pad_values import pad_bits
from ptosim.tiles.moves.parameter_rows import copy_parameters
from ptosim.tiles.moves.view_folding import Axis, Piece, pieces
from ptosim.tiles.passes.scratch_room import hand_over, private
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import GmView, Tile
from ptosim.tiles.view_layout import layout_of


def load_matrix(build: Builder, src: GmView, dst: Tile, target: str) -> None:
    """tload of a tile in mat."""
    view, tile = layout_of(src), dst.buf.layout
    if element_word(dst.buf) == "f8E8M0" and (tile in ("ZZ", "NN") or dst.buf.rows == 1):
        _scales(build, src, dst)
    elif dst.buf.rows == 1 or (view, tile) in (("nd", "ND"), ("dn", "DN"), ("nz", "NZ")):
        _as_it_is(build, src, dst)
    elif view in ("nd", "dn") and tile in ("NZ", "ZN"):
        if (view, tile) == ("dn", "NZ") and target != "a5":
            remark(build, False, f"{target} does not load a view by columns into a tile laid out as NZ")
        load_into_fractals(build, src, dst, view == "dn")
    else:
        message = f"a view laid out as {view} cannot be loaded into a tile of mat laid out as {tile}"
        raise Refused(message, "dst_type", kind="unsupported")


# --- into fractals ----------------------------------------------------------------------------------------------------


def load_into_fractals(build: Builder, src: GmView, dst: Tile, by_columns: bool = False) -> None:
    """Rows or columns into NZ; a ZN tile is the NZ tile of its transpose."""
    if dst.buf.element_bytes == 8:
        raise Refused("elements of 8 bytes cannot be brought into fractals", "dst_type", kind="invalid")
    if dst.buf.fractal == 1024:
        raise Refused(
            "a load brings columns into granules of 32 bytes; fractal=1024 has 64", "dst_type", kind="invalid"
        )
    one_matrix(build, src)
    if is_turned(dst, src):
        remark(build, False, "the view has the shape of the transpose: swap the strides, not the shape")
    turned, pair = dst.buf.layout == "ZN", 2 if is_fp4(dst.element) else 1
    rows = common(build, dst.rows, src.sizes[3], "rows", pair if turned else 1)
    cols = common(build, dst.cols, src.sizes[4], "columns", 1 if turned else pair)
    s3, s4 = src.strides[3:]
    across, along = (s4, s3) if by_columns else (s3, s4)
    side_by_side(build, rows if by_columns else cols, along)
    if turned and not by_columns:
        remark(build, False, "neither official lowering loads a view by rows into a tile laid out as ZN")
    n, d = (cols, rows) if turned else (rows, cols)
    where_some(
        build,
        (rows, cols),
        lambda: build.mte_gm_l1_frac(
            source=src.pointer,
            dest=dst.pointer(build),
            layout="nd2nz" if by_columns == turned else "dn2nz",
            n=build.i64(n),
            d=build.i64(d),
            inner_stride=build.i64(build.times(across, dst.buf.element_bytes)),
            groups=build.i64(1),
            loop2_stride=build.i64(1),
            loop3_stride=build.i64(dst.pitch),
            loop4_stride=build.i64(0),
            l2_cache_ctl=build.i64(0),
            small_c0=build.pattern(0, i1),
        ),
    )


def one_matrix(build: Builder, view: GmView, role: str = "src") -> None:
    """Only vec tiles fold further dimensions."""
    for size in view.sizes[:3]:
        message = "a view of a matrix has two dimensions; those before them must be 1"
        must(build, "eq", size, 1, "invalid", message, role)


def is_turned(tile: Tile, view: GmView) -> bool:
    """Whether a view is known to have as many rows as the tile has columns, and the reverse."""
    rows, cols = known(tile.rows), known(tile.cols)
    return rows is not None and rows != cols and (cols, rows) == (known(view.sizes[3]), known(view.sizes[4]))


def side_by_side(build: Builder, count: Number, stride: Number) -> None:
    """Elements that are read in one go are neighbours in GM."""
    number = known(count)
    if number is None or number > 1:
        must(
            build,
            "eq",
            stride,
            1,
            "invalid",
            "elements read in one go must be adjacent in GM: the stride is not 1",
        )


# --- as they are ------------------------------------------------------------------------------------------------------


def _as_it_is(build: Builder, src: GmView, dst: Tile) -> None:
    """Rows end padded to 32 bytes, so that what is behind a short one is known."""
    if not dst.unboxed().buf.boxed:
        _pad(build, dst.unboxed() if dst.unboxed().buf.layout == "ND" else dst.turned())
    for piece in pieces(build, dst, src):
        each_copy(build, piece, src.pointer, dst.pointer(build), partial(_copy, build))


def _pad(build: Builder, dst: Tile) -> None:
    """Fill the granule that a row ends in, before the row is copied."""
    width, length = dst.buf.element_bytes, known(dst.cols)
    if length is not None and length * width % GRANULE == 0:
        return
    word = pad_bits(dst.kind, dst.buf.pad) * {1: 0x01010101, 2: 0x00010001}.get(width, 1) & 0xFFFFFFFF
    last = build.times(build.quotient(build.times(dst.cols, width), GRANULE), GRANULE)
    within = build.compare("slt", last, dst.buf.cols * width) if length is None else None

    def fill() -> None:
        build.raw_fill_l1(
            dest=dst.pointer(build),
            byte_offset=build.i64(last),
            value=build.pattern(word, i32),
            repeat=build.i64(dst.rows),
            blocks=build.i64(1),
            gap=build.i64(max(dst.pitch * width // GRANULE - 1, 0)),
            fill_word_bits=IntegerAttr(32, i64),
        )
        build.barrier(pipe="PIPE_MTE2")  # the fill and the copy touch the same bytes

    if within is None:
        fill()
    else:
        build.choose(within, fill)


def _copy(build: Builder, gm: SSAValue, l1: SSAValue, piece: Piece, rows: Axis, loops: tuple[Axis, ...]) -> None:
    build.mte_gm_l1(source=gm, dest=l1, **strides(build, piece, rows, loops))


# --- scales and parameters --------------------------------------------------------------------------------------------


def _scales(build: Builder, src: GmView, dst: Tile) -> None:
    """MX scales, which GM holds in fragments of 16 rows, or columns, by 2 groups along k; of one row as they are."""
    if dst.buf.rows == 1:
        _run(build, src, dst, common(build, dst.cols, _elements(build, src), "columns"), (1, 0, 0))
        return
    axis = 0 if dst.buf.layout == "ZZ" else 1
    lines, groups = dst.valid[axis], dst.valid[1 - axis]
    if src.rank == 5:
        _, g1, g2, _, _ = src.sizes
        stride = src.strides[1]
    else:
        g1 = build.ceiling(src.sizes[3 + axis], ROWS)
        g2 = build.ceiling(src.sizes[4 - axis], 2)
        stride = build.times(g2, GRANULE)
    count = common(build, build.ceiling(lines, ROWS), g1, "fragments")
    length = build.times(common(build, build.ceiling(groups, 2), g2, "groups"), GRANULE)
    _run(build, src, dst, length, (count, stride, ROWS * dst.storage[1 - axis]))


def _elements(build: Builder, view: GmView) -> Number:
    total: Number = 1
    for size in view.sizes:
        total = build.times(total, size)
    return total


def _run(build: Builder, src: GmView, dst: Tile, length: Number, runs: tuple[Number, Number, Number]) -> None:
    piece = Piece(length, (Axis(*runs),))
    where_some(
        build, (length, runs[0]), lambda: _copy(build, src.pointer, dst.pointer(build), piece, piece.axes[0], ())
    )


def load_parameters(build: Builder, src: GmView, dst: Tile, value: SSAValue, target: str) -> None:
    """tload of a tile in scaling, which a value is: its first row, through L1, since GM has no way to the buffer."""
    row = TileBuf("mat", dst.element, 1, dst.buf.cols, (1, dst.buf.valid[1]))
    address = private(build, target, Space.L1, row.size)
    between = Tile(row, address, (build.least(dst.rows, 1), dst.cols), row.shape, dst.name)
    hand_over(build, "FIX", "MTE2")
    _as_it_is(build, src, between)
    hand_over(build, "MTE2", "FIX")
    copy_parameters(build, between, dst, value)
