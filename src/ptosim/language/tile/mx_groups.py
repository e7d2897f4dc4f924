"""The tiles of pto.tquant.mx: the shapes of the results for groups of 32 elements, and the room that it needs.

Of each group there are an exponent, a greatest magnitude and a scale. They stand in rows and columns like the groups,
or in a tile of one row one after the other (flat).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ptosim.language.operation import Problem
from ptosim.language.rules.tile_rules import at_type, extents, name_of, tiles
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_operation import TileOperation

GROUP = 32
_ROLES = ("src", "dst", "exp", "max", "scaling", "exp_zz")
_WHOLE_ROWS = 256


@dataclass(frozen=True)
class _Groups:
    """An operation whose tiles are static: M x N elements of an R x C tile."""

    op: TileOperation
    src: TileBuf
    valid: tuple[int, int]
    by_rows: bool
    """Whether groups lie along rows (axis1)."""
    fp4: bool

    @property
    def wide(self) -> bool:
        return self.src.element_bytes == 4

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of groups."""
        rows, cols = self.valid
        return (rows, cols // GROUP) if self.by_rows else (rows // GROUP, cols)

    @property
    def count(self) -> int:
        return prod(self.shape)


def group_rules(op: TileOperation, fp4: bool) -> Iterator[Problem]:
    """The rules of shapes, of an operation whose tiles have the right elements."""
    known = [(role, tile) for role, tile in tiles(op, *_ROLES) if None in tile.valid]
    for role, tile in known:
        yield at_type(op, role, "with a static valid shape", extents(tile.valid))
    rows, cols = op.tile("src").valid
    if known or rows is None or cols is None:
        return
    groups = _Groups(op, op.tile("src"), (rows, cols), op.setting("grpAxis") == "axis1", fp4)
    found = list(_source(groups))
    yield from found
    if not found:
        yield from _result(groups)
        yield from _of_groups(groups, "max")
        yield from _of_groups(groups, "scaling")
        yield from _room_of_scales(groups)
        yield from _exponents(groups)
        yield from _in_order_of_products(groups)


# --- the elements -----------------------------------------------------------------------------------------------------


def _source(groups: _Groups) -> Iterator[Problem]:
    op, src, (rows, cols) = groups.op, groups.src, groups.valid
    side, extent = ("columns", cols) if groups.by_rows else ("rows", rows)
    if extent % GROUP or not extent:
        yield at_type(op, "src", f"with a multiple of {GROUP} valid {side}, the groups", extent)
    if groups.fp4 and src.cols % 2:
        yield at_type(op, "src", "with an even number of columns, which fp4 pairs", src.cols)
    if not groups.wide and src.cols != cols and 128 % src.cols == 0 and rows * src.cols % 128:
        message = f"of 16-bit elements without padding columns, or in whole registers of 128 (rows of {src.cols})"
        yield at_type(op, "src", message, f"{rows * src.cols} elements")
    if groups.fp4 and not groups.by_rows and name_of(src.element) == "f16" and src.cols // 2 % 32:
        yield at_type(op, "src", "of f16 along axis0 with packed rows of a multiple of 32 bytes", src.cols // 2)


def _result(groups: _Groups) -> Iterator[Problem]:
    op, dst, per_byte = groups.op, groups.op.tile("dst"), 1 + groups.fp4
    expected = (groups.valid[0], groups.valid[1] // per_byte)
    if dst.valid != expected:
        yield at_type(op, "dst", f"with the valid shape {extents(expected)}", extents(dst.valid))
    elif (groups.by_rows or groups.fp4) and dst.cols != (cols := groups.src.cols // per_byte):
        yield at_type(op, "dst", f"to have {cols} columns, as src", dst.cols)


# --- what is said of groups -------------------------------------------------------------------------------------------


def _is_flat(groups: _Groups, tile: TileBuf) -> bool:
    return tile.rows == 1 and tile.valid == (1, groups.count)


def _of_groups(groups: _Groups, role: str) -> Iterator[Problem]:
    """Along rows packed or flat, else with the columns of the source."""
    op, tile, cols = groups.op, groups.op.tile(role), groups.shape[1] if groups.by_rows else groups.src.cols
    if (tile.valid == groups.shape and tile.cols == cols) or (groups.by_rows and _is_flat(groups, tile)):
        return
    flat = f", or {extents((1, groups.count))} in one row" if groups.by_rows else ""
    expected = f"to have the valid shape {extents(groups.shape)} in rows of {cols}{flat}"
    yield at_type(op, role, expected, f"{extents(tile.valid)} of {extents(tile.shape)}")


def _room_of_scales(groups: _Groups) -> Iterator[Problem]:
    """Flat scales are stored in whole registers."""
    op, tile, src = groups.op, groups.op.tile("scaling"), groups.src
    if not groups.by_rows or not _is_flat(groups, tile):
        return
    if not groups.wide and op.setting("quantScaleAlg") == "nv":
        yield at_type(op, "scaling", "of 16-bit elements by nv to have a row for each row of src", "one row")
        return
    unit, count = (64 if groups.wide else 128), groups.count
    size = src.rows * src.cols
    if groups.wide and size > 1024 and size % _WHOLE_ROWS == 0 and groups.valid[0] * src.cols % _WHOLE_ROWS == 0:
        count *= 2
    least = -(-count // unit) * unit
    if tile.cols < least:
        yield at_type(op, "scaling", f"to have room for {least} elements, which are written", tile.cols)


def _exponents(groups: _Groups) -> Iterator[Problem]:
    op, tile, src = groups.op, groups.op.tile("exp"), groups.src
    rows, cols = groups.shape
    if op.setting("interleave"):
        yield from _interleaved(groups)
        return
    packed = src.cols == groups.valid[1]
    in_rows = tile.valid == groups.shape and (groups.wide if groups.by_rows else tile.cols == src.cols)
    if in_rows or (packed and _is_flat(groups, tile)):
        return
    known = [f"{extents((1, groups.count))} in one row"] if packed else []
    if not groups.by_rows:
        known.append(f"{extents((rows, cols))} in rows of {src.cols}")
    elif groups.wide:
        known.append(extents((rows, cols)))
    expected = f"to have the valid shape {' or '.join(known) or 'of a source without padding columns'}"
    yield at_type(op, "exp", expected, f"{extents(tile.valid)} of {extents(tile.shape)}")


def _interleaved(groups: _Groups) -> Iterator[Problem]:
    """The exponents of two groups, one below the other, side by side."""
    op, tile, src, (rows, cols) = groups.op, groups.op.tile("exp"), groups.src, groups.valid
    if groups.by_rows or groups.wide:
        yield Problem(f"{op.name} has interleave only with grpAxis axis0 and elements of 16 bits", at="interleave")
        return
    valid, shape = (rows // (2 * GROUP), 2 * cols), (src.rows // (2 * GROUP), -(-2 * src.cols // 32) * 32)
    if rows % (2 * GROUP):
        yield at_type(op, "src", f"of interleave with a multiple of {2 * GROUP} valid rows", rows)
    elif (tile.valid, tile.shape) != (valid, shape):
        expected = f"of interleave to be {extents(shape)} with the valid shape {extents(valid)}"
        yield at_type(op, "exp", expected, f"{extents(tile.shape)} with {extents(tile.valid)}")


def _in_order_of_products(groups: _Groups) -> Iterator[Problem]:
    op = groups.op
    if not op.has("exp_zz"):
        return
    tile = op.tile("exp_zz")
    if not groups.by_rows or op.attribute("storeMode") is None:
        yield Problem(f"{op.name} has exp_zz only with grpAxis axis1 and storeMode", at="exp_zz")
        return
    if (found := prod(extent or 0 for extent in tile.valid)) != groups.count:
        yield at_type(op, "exp_zz", f"to have {groups.count} exponents, one for each group", found)
    rows, cols = groups.shape
    if (boxes := -(-rows // 16) * -(-cols // 2)) * 32 > prod(tile.shape):
        yield at_type(op, "exp_zz", f"to have room for {boxes} boxes of 32 exponents", prod(tile.shape))
