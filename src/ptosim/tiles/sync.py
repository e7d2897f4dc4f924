"""Synchronisation in terms of tiles: scoped waits become waits for bytes, event ids are kept by the scalar unit."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number
from ptosim.language.micro.sync import pipe_of
from ptosim.language.tile.tile_sync import DeclareEventIdArray, EventIdArrayGet, EventIdArraySet, TSync
from ptosim.language.tile.tile_types import EventIdArrayType, LocalArrayType
from ptosim.language.tile.tile_types import ViewExtents as ViewType
from ptosim.tiles.lowering import lowering
from ptosim.tiles.tile_values import GmView, Tile


@lowering(TSync)
def tsync(build: Builder, op: TSync, tiles: tuple[Tile | GmView, ...]) -> None:
    """A wait for what touches the bytes; with the class of an operation a barrier of its pipe."""
    pipe = pipe_of(op, "op_class") if op.op_class is not None else None
    if pipe is not None:
        build.barrier(pipe=f"PIPE_{pipe}")
    if tiles:
        ranges = [_range(build, each) for each in tiles]
        build.sim_tsync(addresses=[start for start, _ in ranges], sizes=[build.i64(size) for _, size in ranges])


def unit_flag(build: Builder, accumulator: Tile) -> None:
    """The wait that unit flags stand for: a store waits for the products that it stores, and the next product for the
    store. Both are waited for by the bytes of the accumulator, before the operation is issued."""
    first, size = _range(build, accumulator)
    build.sim_tsync(addresses=[first], sizes=[build.i64(size)])


def _range(build: Builder, value: Tile | GmView) -> tuple[SSAValue, Number]:
    """The first byte and how many there are, from the first element to the last."""
    if isinstance(value, Tile):
        return value.pointer(build), value.span
    elements: Number = 1
    for size, stride in zip(value.sizes, value.strides, strict=True):
        elements = build.plus(elements, build.times(build.minus(size, 1), stride))
    return value.pointer, build.times(elements, value.width)


@lowering(DeclareEventIdArray)
def declare_eventid_array(build: Builder, op: DeclareEventIdArray) -> SSAValue:
    type_ = op.result.type
    assert isinstance(type_, EventIdArrayType)
    return build.declare_local_array(result=LocalArrayType(ViewType((type_.data,), i64)))


@lowering(EventIdArrayGet)
def eventid_array_get(build: Builder, op: EventIdArrayGet, array: SSAValue, index: SSAValue) -> SSAValue:
    value = build.local_array_get(array=array, indices=[build.index(index)], result=i64)
    return build.cast(value, op.result.type)


@lowering(EventIdArraySet)
def eventid_array_set(build: Builder, array: SSAValue, index: SSAValue, value: SSAValue) -> None:
    build.local_array_set(array=array, indices=[build.index(index)], value=build.i64(value))
