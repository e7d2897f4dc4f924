"""Tiles and views: what they are, where they lie, how large their valid region is. None of it moves data.

A valid extent that is too large for its tile is cut to the tile, as the hardware would; `check` names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.operation import PTOOperation
from ptosim.language.tile import tensor_view, tile_view
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_reserve import ReserveBuffer
from ptosim.language.tile.tile_types import TileBufType
from ptosim.tiles.element_layout import byte_offset
from ptosim.tiles.lowering import lowering
from ptosim.tiles.refusal import Refused
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import GmView, Slots, Tile, ViewLayout

RANK = 5
"""Views of any rank are read as five dimensions."""

# --- tiles ------------------------------------------------------------------------------------------------------------


def clipped(build: Builder, valid: SSAValue | None, extent: int, written: int | None, role: str) -> Number:
    """A valid extent within its tile: a written one as it is, a given one cut to the tile."""
    if valid is None:
        return extent if written is None else written
    if (value := known(valid)) is not None:
        return min(max(value, 0), extent)
    message = f"{role} is not within 0 to {extent}, as many as the tile has"
    require(build, build.compare("ule", valid, extent), "invalid", message)
    return build.least(build.most(valid, 0), extent)


def region(
    build: Builder, buf: TileBuf, valid_row: SSAValue | None, valid_col: SSAValue | None
) -> tuple[Number, Number]:
    """The valid region of a tile."""
    rows = clipped(build, valid_row, buf.rows, buf.valid[0], "valid_row")
    return rows, clipped(build, valid_col, buf.cols, buf.valid[1], "valid_col")


@lowering(tile_view.AllocTile)
def alloc_tile(
    build: Builder,
    op: tile_view.AllocTile,
    addr: SSAValue,
    valid_row: SSAValue | None,
    valid_col: SSAValue | None,
    name: str,
) -> Tile | Slots:
    buf, valid = op.tile, region(build, op.tile, valid_row, valid_col)
    if op.slots > 1:
        return Slots(buf, _slots(build, op, addr), valid, name)
    return Tile(buf, addr, valid, buf.shape, name)


@lowering(tile_view.AllocMultiTile)
def alloc_multi_tile(
    build: Builder,
    op: tile_view.AllocMultiTile,
    addr: SSAValue,
    valid_row: SSAValue | None,
    valid_col: SSAValue | None,
    name: str,
) -> Slots:
    return Slots(op.tile, _slots(build, op, addr), region(build, op.tile, valid_row, valid_col), name)


def _slots(build: Builder, op: tile_view.AllocTile | tile_view.AllocMultiTile, addr: SSAValue) -> tuple[SSAValue, ...]:
    return tuple(build.i64(build.plus(addr, slot * op.pitch)) for slot in range(op.slots))


@lowering(tile_view.MultiTileGet)
def multi_tile_get(build: Builder, source: Slots, slot: SSAValue) -> Tile:
    """A slot by number; one that is not known is looked up, and one that does not exist is an error."""
    if (number := known(slot)) is not None:
        address = source.addresses[number]
    else:
        count = len(source.addresses)
        message = f"slot is beyond the {count} of {source.name}"
        require(build, build.compare("ult", slot, count), "out-of-bounds", message, fatal=True)
        address = source.addresses[-1]
        for number in reversed(range(count - 1)):
            chosen = build.compare("eq", slot, number)
            address = build.op(
                "arith.select", condition=chosen, if_true=source.addresses[number], if_false=address, result=i64
            )
    return Tile(source.buf, address, source.valid, source.buf.shape, source.name)


@lowering(tile_view.DeclareTile)
def declare_tile(build: Builder, op: tile_view.DeclareTile, name: str) -> Tile:
    """A tile whose address is said later; until then it lies at the start of its memory."""
    buf = _tile_type(op)
    return Tile(buf, build.i64(0), region(build, buf, None, None), buf.shape, name)


@lowering(tile_view.TAssign)
def tassign(source: Tile, addr: SSAValue) -> Tile:
    return replace(source, address=addr)


@lowering(ReserveBuffer)
def reserve_buffer(build: Builder, op: ReserveBuffer) -> SSAValue:
    return build.constant(op.integer("base") or 0, i32)


@lowering(tile_view.SubView)
def subview(
    build: Builder,
    op: tile_view.SubView,
    source: Tile,
    row: SSAValue,
    col: SSAValue,
    valid_row: SSAValue | None,
    valid_col: SSAValue | None,
    name: str,
) -> Tile:
    """The parent's bytes from an element on, with the parent's distances."""
    buf = _tile_type(op)
    _inside(build, row, buf.rows, source.buf.rows, "row")
    _inside(build, col, buf.cols, source.buf.cols, "col")
    address = build.i64(build.plus(source.address, build.i64(byte_offset(build, source, row, col))))
    return Tile(buf, address, region(build, buf, valid_row, valid_col), source.storage, name)


def _inside(build: Builder, start: SSAValue, size: int, extent: int, role: str) -> None:
    """A rectangle that only the run knows lies in its tile, since other tiles lie behind it."""
    if known(start) is None:
        message = f"{role} is beyond the {extent} of the tile for a view of {size}"
        require(build, build.compare("ule", start, extent - size), "out-of-bounds", message, fatal=True)


@lowering(tile_view.TReshape)
def treshape(op: tile_view.TReshape, source: Tile, name: str) -> Tile:
    buf = _tile_type(op)
    rows, cols = (extent if extent is not None else whole for extent, whole in zip(buf.valid, buf.shape, strict=True))
    return Tile(buf, source.address, (rows, cols), buf.shape, name)


@lowering(tile_view.BitCast)
def bitcast(op: tile_view.BitCast, source: Tile, name: str) -> Tile:
    """The valid region stays, and rows of a part of a tile are as far apart as they were."""
    buf = _tile_type(op)
    if source.is_gapless:
        return Tile(buf, source.address, source.valid, buf.shape, name)
    if buf.element_bytes != source.buf.element_bytes:
        raise Refused(f"{source.name} is a part of a tile with gaps between its rows; its elements keep their width")
    return replace(source, buf=buf, name=name)


@lowering(tile_view.GetValidShape)
def get_validshape(build: Builder, source: Tile) -> tuple[SSAValue, SSAValue]:
    return build.index(source.rows), build.index(source.cols)


@lowering(tile_view.TileValidRows)
def tile_valid_rows(build: Builder, source: Tile) -> SSAValue:
    return build.index(source.rows)


@lowering(tile_view.TileValidCols)
def tile_valid_cols(build: Builder, source: Tile) -> SSAValue:
    return build.index(source.cols)


@lowering(tile_view.TileBufAddr)
def tile_buf_addr(build: Builder, source: Tile) -> SSAValue:
    return source.pointer(build)


def _tile_type(op: PTOOperation) -> TileBuf:
    type_ = op.results[0].type
    assert isinstance(type_, TileBufType)
    return type_.data


# --- views of global memory -------------------------------------------------------------------------------------------


@lowering(tensor_view.MakeTensorView)
def make_tensor_view(
    op: tensor_view.MakeTensorView,
    pointer: SSAValue,
    shape: Sequence[SSAValue],
    strides: Sequence[SSAValue],
    build: Builder,
) -> GmView:
    sizes = tuple(_number(value) for value in shape)
    steps = tuple(_number(value) for value in strides)
    return GmView(pointer, *_five(build, sizes, steps), len(sizes), cast("ViewLayout | None", op.word("layout")), sizes)


@lowering(tensor_view.DeclareGlobal)
def declare_global() -> GmView:
    """An entry of a FIFO gives a declared view its place, before tiles are lowered."""
    raise Refused("nothing gives this view its place: no entry of a FIFO is bound to it", "result", kind="invalid")


@lowering(tensor_view.PartitionView)
def partition_view(build: Builder, source: GmView, offsets: Sequence[SSAValue], sizes: Sequence[SSAValue]) -> GmView:
    start: Number = 0
    for offset, stride in zip(offsets, source.strides[RANK - source.rank :], strict=True):
        start = build.plus(start, build.times(offset, stride))
    parts = tuple(_number(value) for value in sizes)
    _within(build, source, offsets, parts)
    pointer = build.addptr(pointer=source.pointer, offset=build.index(start), result=source.pointer.type)
    return replace(source, pointer=pointer, sizes=(*([1] * (RANK - source.rank)), *parts))


def _within(build: Builder, source: GmView, offsets: Sequence[SSAValue], sizes: Sequence[Number]) -> None:
    """A part that reaches beyond its view is only remarked: the copy runs on."""
    for number, (offset, size, extent) in enumerate(zip(offsets, sizes, source.shape, strict=True)):
        end = build.plus(offset, size)
        if known(end) is None or known(extent) is None:
            message = f"the partition reaches beyond its view in dimension {number}"
            require(build, build.compare("sle", end, extent), "lint", message)


@lowering(tensor_view.GetTensorViewDim)
def get_tensor_view_dim(build: Builder, source: GmView, dimension: SSAValue) -> SSAValue:
    return _nth(build, source.sizes[RANK - source.rank :], dimension)


@lowering(tensor_view.GetTensorViewStride)
def get_tensor_view_stride(build: Builder, source: GmView, dimension: SSAValue) -> SSAValue:
    return _nth(build, source.strides[RANK - source.rank :], dimension)


def _nth(build: Builder, numbers: Sequence[Number], which: SSAValue) -> SSAValue:
    if (number := known(which)) is not None:
        return build.index(numbers[number])
    found = build.index(numbers[-1])
    for number in reversed(range(len(numbers) - 1)):
        chosen, value = build.compare("eq", which, number), build.index(numbers[number])
        found = build.op("arith.select", condition=chosen, if_true=value, if_false=found, result=found.type)
    return found


@lowering(tensor_view.TensorViewAddr)
def tensor_view_addr(source: GmView) -> SSAValue:
    return source.pointer


def _five(
    build: Builder, sizes: Sequence[Number], strides: Sequence[Number]
) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """Lower ranks are right-aligned; the stride of a missing dimension is the size of the next one times its stride."""
    all_sizes, all_strides = list(sizes), list(strides)
    while len(all_sizes) < RANK:
        all_strides.insert(0, build.times(all_sizes[0], all_strides[0]))
        all_sizes.insert(0, 1)
    return tuple(all_sizes), tuple(all_strides)


def _number(value: SSAValue) -> Number:
    number = known(value)
    return value if number is None else number
