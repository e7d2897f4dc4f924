"""Loads from global memory into L1 and the fixpipe buffer: what the layouts of view and tile make of them.

A copy into fractals is one instruction that reads rows or columns; a copy that keeps the layout moves rows, columns or
blocks of columns as they are.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ptosim.language.build import Builder, Number, known
from ptosim.language.types import element_of
from ptosim.tiles.refusal import Refused
from ptosim.tiles.shape import common, must, where_some
from ptosim.tiles.values import Tile, View
from ptosim.tiles.view_layout import layout_of

BLOCK = 32
"""Bytes of a row of a fractal."""


def load_matrix(build: Builder, src: View, dst: Tile) -> None:
    """tload of a tile in mat."""
    tile, view = dst.buf.layout, layout_of(src)
    if dst.buf.rows == 1 and dst.buf.boxed and view in ("nd", "dn"):
        view, tile = "nd", "NZ"
    match view, tile:
        case ("nd", "NZ") | ("dn", "NZ") | ("nd", "ZN") | ("dn", "ZN"):
            _into_fractals(build, src, dst, view)
        case ("nz", "NZ"):
            _blocks(build, src, dst)
        case _:
            raise Refused(
                f"a view laid out as {view} cannot be loaded into a tile of mat laid out as {tile}",
                "dst_type",
                kind="unsupported",
            )


def _into_fractals(build: Builder, src: View, dst: Tile, view: str) -> None:
    """Rows or columns into NZ; a ZN tile is the NZ tile of its transpose."""
    if dst.buf.element_bytes == 8:
        raise Refused("elements of 8 bytes cannot be brought into fractals", "dst_type", kind="invalid")
    if dst.buf.layout == "NZ" and dst.buf.fractal == 1024:
        raise Refused("a load brings columns into blocks of 32 bytes; fractal=1024 has 64", "dst_type", kind="invalid")
    one_matrix(build, src)
    rows, cols = common(build, dst.rows, src.sizes[3], "rows"), common(build, dst.cols, src.sizes[4], "columns")
    by_columns = view == "dn"
    s3, s4 = src.strides[3:]
    across, along = (s4, s3) if by_columns else (s3, s4)
    side_by_side(build, rows if by_columns else cols, along)
    turned = dst.buf.layout == "ZN"
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


def one_matrix(build: Builder, view: View, role: str = "src") -> None:
    """Only vec tiles fold further dimensions."""
    for size in view.sizes[:3]:
        message = "a view of a matrix has two dimensions; those before them must be 1"
        must(build, "eq", size, 1, "invalid", message, role)


def side_by_side(build: Builder, count: Number, stride: Number) -> None:
    """Elements that are read in one go are neighbours in GM."""
    number = known(count)
    if number is None or number > 1:
        must(build, "eq", stride, 1, "invalid", "what is read in one go must be adjacent in GM: the stride is not 1")


def _blocks(build: Builder, src: View, dst: Tile) -> None:
    """Fractals as they are: blocks of columns, each a run of rows."""
    (g0, g1, g2, g3, g4), (s0, s1, s2, s3, s4) = src.sizes, src.strides
    width = dst.buf.element_bytes
    per_block = BLOCK // width
    if known(g4) != per_block:
        raise Refused(f"blocks of columns are {per_block} wide in a view laid out as nz, not {known(g4)}", "src")
    must(build, "eq", s4, 1, "invalid", "the elements of a block must be adjacent in GM")
    must(build, "eq", s3, per_block, "invalid", "the rows of a block must follow each other in GM")
    rows = common(build, dst.rows, build.times(g2, g3), "rows")
    if known(g2) != 1:
        must(build, "eq", s2, build.times(g3, per_block), "invalid", "the fractals of a block must follow each other")
    cols = common(build, dst.cols, build.times(build.times(g0, g1), g4), "columns")
    blocks = build.ceiling(cols, per_block)
    pitch = dst.pitch * BLOCK

    def outer(number: SSAValue) -> None:
        done = build.times(number, g1)
        count = build.least(build.minus(blocks, done), g1) if known(g0) != 1 else blocks
        gm = moved(build, src.pointer, build.times(build.times(number, s0), width))
        to = moved(build, dst.pointer(build), build.times(done, pitch))
        copy(build, gm, to, build.times(rows, BLOCK), (count, build.times(s1, width), pitch))

    where_some(build, (rows, cols), lambda: build.loop(_steps(build, blocks, g1), 1, outer) and None)


def _steps(build: Builder, blocks: Number, each: Number) -> Number:
    """How often the outer dimension of a view in blocks is met."""
    size = known(each)
    if size is not None:
        return build.ceiling(blocks, max(size, 1))
    return build.op("arith.ceildivui", lhs=build.index(blocks), rhs=build.index(each))


def copy(build: Builder, gm: SSAValue, l1: SSAValue, length: Number, rows: tuple[Number, Number, Number]) -> None:
    """Bytes from GM to L1: so many runs, with their distances in both."""
    count, source, dest = rows
    build.mte_gm_l1(
        source=gm,
        dest=l1,
        len_burst=build.i64(length),
        n_burst=build.i64(count),
        source_stride=build.i64(source),
        dest_stride=build.i64(dest),
    )


def moved(build: Builder, pointer: SSAValue, distance: Number) -> SSAValue:
    """A pointer so many bytes further on."""
    if known(distance) == 0:
        return pointer
    elements = build.quotient(distance, element_of(pointer.type).bytes)
    return build.addptr(pointer=pointer, offset=build.index(elements), result=pointer.type)
