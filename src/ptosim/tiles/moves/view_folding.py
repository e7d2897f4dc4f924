"""Views of five dimensions as rows and columns of a tile: the pieces that copies move.

One side of the tile, its lines, lies contiguously in both memories; along the other the dimensions of the view follow
each other. A valid region that ends inside of a dimension takes the whole ones before it and then a part of the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from ptosim.effects.element import GRANULE
from ptosim.language.builder import Builder, Number, known
from ptosim.language.tile.tile_buf import is_fp4
from ptosim.tiles.moves.cube_extents import common
from ptosim.tiles.refusal import Refused
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import GmView, Tile


@dataclass(frozen=True)
class Axis:
    """A repetition: how often, and the bytes from one to the next in GM and in the tile."""

    count: Number
    gm: Number
    tile: Number


@dataclass(frozen=True)
class Piece:
    """A part of a copy: so many bytes, repeated along axes, the innermost first; where it begins, in bytes."""

    length: Number
    axes: tuple[Axis, ...]
    gm: Number = 0
    tile: Number = 0
    is_rest: bool = False
    """Whether it is what whole ones leave: usually nothing, where only the run knows."""

    @property
    def is_empty(self) -> bool:
        """Whether it is known to move nothing."""
        return known(self.length) == 0 or any(known(axis.count) == 0 for axis in self.axes)


def pieces(build: Builder, tile: Tile, view: GmView, stores: bool = False) -> Sequence[Piece]:
    """The move between a tile of vec and a view: the common part of the valid region and the view.

    Tile and view may have equally many elements in other shapes, if neither has gaps: a store of any tile, a load of
    one that is a single row or column. A single row meets a single column in any number of elements. Where an extent is
    known to be zero nothing is moved, and nothing compared.
    """
    if any(known(extent) == 0 for extent in (*tile.valid, *view.sizes)):
        return []
    return [piece for piece in _walk(build, tile, view, stores) if not piece.is_empty]


def _walk(build: Builder, tile: Tile, view: GmView, stores: bool) -> Iterator[Piece]:
    tile = tile.unboxed()
    if tile.buf.layout in ("ND", "DN") and (stores or 1 in tile.buf.shape) and _is_reshaped(tile, view):
        return iter((_linear(tile, view),))
    if _is_short(tile):
        return iter((_full_rows(build, tile, view),))
    if _is_across(tile, view):
        view = _turned(view)
    match tile.buf.layout:
        case "ND":
            return _rows(build, tile, view, ("rows", "columns"))
        case "DN":
            return _rows(build, tile.turned(), _turned(view), ("columns", "rows"))
        case "NZ":
            return _blocks(build, tile, view)
        case layout:
            raise Refused(f"copies between GM and vec keep the layout, and there is none for {layout}", kind="invalid")


def _is_across(tile: Tile, view: GmView) -> bool:
    """Whether a tile of one row meets a view that is known to be one column without gaps, or the other way round."""
    *planes, rows, cols = (known(size) for size in view.sizes)
    match tile.buf.layout, tile.buf.shape:
        case "ND", (1, _):
            along, across, stride = cols, rows, view.strides[3]
        case "DN", (_, 1):
            along, across, stride = rows, cols, view.strides[4]
        case _:
            return False
    return along == 1 and across != 1 and known(stride) == 1 and planes == [1, 1, 1]


def _turned(view: GmView) -> GmView:
    """The view of the transpose."""
    g0, g1, g2, g3, g4 = view.sizes
    s0, s1, s2, s3, s4 = view.strides
    return replace(view, sizes=(g0, g1, g2, g4, g3), strides=(s0, s1, s2, s4, s3))


# --- rows, or columns, one after the other ----------------------------------------------------------------------------


def _rows(build: Builder, tile: Tile, view: GmView, sides: tuple[str, str]) -> Iterator[Piece]:
    """Rows of a row-major tile; `sides` says what its rows and columns are called."""
    width = tile.buf.element_bytes
    values = 2 if tile.buf.loc == "mat" and is_fp4(tile.element) else 1  # of a byte: such tiles may count them
    cols = common(build, tile.cols, view.sizes[4], sides[1], values)
    _adjacent(build, cols, view.strides[4])
    axes, extent = list[Axis](), tile.pitch * width
    total: Number = 1
    for size, stride in zip(reversed(view.sizes[:4]), reversed(view.strides[:4]), strict=True):
        axes.insert(0, Axis(size, build.times(stride, width), build.times(extent, total)))
        total = build.times(total, size)
    rows = common(build, tile.rows, total, sides[0])
    return _first(build, rows, [axis for axis in axes if known(axis.count) != 1], build.times(cols, width))


def _first(build: Builder, count: Number, axes: Sequence[Axis], length: Number) -> Iterator[Piece]:
    """The first so many elements along axes, the outermost first; there are at least as many."""
    if not axes:
        yield Piece(length, (Axis(count, 0, 0),))
        return
    outer, *inner = axes
    size: Number = 1
    for axis in inner:
        size = build.times(size, axis.count)
    at_least_one = build.most(size, 1) if inner else 1  # no division by an empty dimension
    times, rest = build.quotient(count, at_least_one), build.remainder(count, at_least_one)
    yield Piece(length, tuple(reversed((replace(outer, count=times), *inner))))
    if inner and known(rest) != 0:
        gm, tile = build.times(times, outer.gm), build.times(times, outer.tile)
        for piece in _first(build, rest, inner, length):
            yield replace(piece, gm=build.plus(gm, piece.gm), tile=build.plus(tile, piece.tile), is_rest=True)


def _adjacent(build: Builder, count: Number, stride: Number, expected: Number = 1) -> None:
    """Elements, or lines, that are copied in one go lie side by side in GM."""
    number, apart, wanted = known(count), known(stride), known(expected)
    if (number is not None and number <= 1) or (apart is not None and apart == wanted) or stride is expected:
        return
    if number is not None and apart is not None and wanted is not None:
        message = f"neighbours in the tile are {apart} elements apart in GM, not {wanted}"
        hint = "a copy between GM and vec keeps the layout: use a tile whose layout is that of the view"
        raise Refused(message, kind="invalid", hint=hint)
    adjacent = build.op("arith.ori", lhs=build.compare("eq", stride, expected), rhs=build.compare("sle", count, 1))
    require(build, adjacent, "invalid", "neighbours in the tile are not neighbours in GM", fatal=True)


def _is_reshaped(tile: Tile, view: GmView) -> bool:
    """Whether tile and view are known to have equally many elements in other shapes."""
    valid, sizes = [known(extent) for extent in tile.valid], [known(size) for size in view.sizes]
    if None in valid or None in sizes:
        return False
    g0, g1, g2, g3, g4 = (int(size or 0) for size in sizes)
    planes = g0 * g1 * g2
    folded = [planes * g3, g4] if tile.buf.layout == "ND" else [g3, planes * g4]
    return folded != valid and prod(folded) == prod(int(extent or 0) for extent in valid)


def _linear(tile: Tile, view: GmView) -> Piece:
    """One copy of all elements."""
    lines = tile if tile.buf.layout == "ND" else tile.turned()
    if not lines.is_linear or not is_contiguous(view):
        message = "tile and view have other shapes; their elements can be copied only if neither has gaps"
        raise Refused(message, kind="invalid")
    return Piece(prod(int(known(extent) or 0) for extent in tile.valid) * tile.buf.element_bytes, (Axis(1, 0, 0),))


def _is_short(tile: Tile) -> bool:
    """Whether lines are shorter than the granules that a burst begins at."""
    cols = tile.pitch * tile.buf.element_bytes
    return tile.buf.layout in ("ND", "DN") and cols % GRANULE != 0 and 1 not in tile.buf.shape


def _full_rows(build: Builder, tile: Tile, view: GmView) -> Piece:
    """One copy of all rows of a tile whose rows are short, to or from a view without gaps."""
    lines = tile if tile.buf.layout == "ND" else tile.turned()
    view = view if tile.buf.layout == "ND" else _turned(view)
    length = lines.pitch
    if known(lines.cols) != length or known(view.sizes[4]) != length or not is_contiguous(view):
        size = length * tile.buf.element_bytes
        message = f"lines of {size} bytes are moved only together, all of each line and without gaps in GM"
        raise Refused(message, kind="misaligned")
    total: Number = 1
    for size in view.sizes[:4]:
        total = build.times(total, size)
    rows = common(build, lines.rows, total, "rows")
    return Piece(build.times(rows, length * tile.buf.element_bytes), (Axis(1, 0, 0),))


def is_contiguous(view: GmView) -> bool:
    """Whether the elements follow each other in the order of the dimensions."""
    expected = 1
    for size, stride in zip(reversed(view.sizes), reversed(view.strides), strict=True):
        if known(size) != 1 and known(stride) != expected:
            return False
        expected *= known(size) or 0
    return True


# --- blocks of columns ------------------------------------------------------------------------------------------------


def _blocks(build: Builder, tile: Tile, view: GmView) -> Iterator[Piece]:
    """Columns in blocks of 32 bytes, each block a contiguous run of rows; a last block that is short row by row."""
    (g0, g1, g2, g3, g4), (s0, s1, s2, s3, s4) = view.sizes, view.strides
    width, per_block = tile.buf.element_bytes, tile.buf.box[1]
    block = per_block * width
    _in_blocks(build, g4, per_block)
    rows = common(build, tile.rows, build.times(g2, g3), "rows")
    cols = common(build, tile.cols, build.times(build.times(g0, g1), per_block), "columns")
    _adjacent(build, per_block, s4)
    _adjacent(build, rows, s3, per_block)
    _adjacent(build, g2, s2, build.times(g3, per_block))
    pitch = tile.pitch * block
    outer = Axis(g0, build.times(s0, width), build.times(g1, pitch))
    inner = Axis(g1, build.times(s1, width), pitch)
    whole, rest = build.quotient(cols, per_block), build.remainder(cols, per_block)
    axes = [axis for axis in (outer, inner) if known(axis.count) != 1]
    yield from _first(build, whole, axes, build.times(rows, block))
    if known(rest) != 0:
        length = build.times(rest, width)
        number = build.most(g1, 1)
        far, near = build.quotient(whole, number), build.remainder(whole, number)
        gm = build.plus(build.times(far, outer.gm), build.times(near, inner.gm))
        yield Piece(length, (Axis(rows, block, block),), gm, build.times(whole, pitch), is_rest=True)


def _in_blocks(build: Builder, size: Number, expected: int) -> None:
    message = f"the last dimension of a view for an NZ tile is not a block of {expected} elements"
    if known(size) is None:
        require(build, build.compare("eq", size, expected), "invalid", message, fatal=True)
    elif known(size) != expected:
        raise Refused(message, kind="invalid")
