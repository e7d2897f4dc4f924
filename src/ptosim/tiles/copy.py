"""Copies between global memory and vector tiles: rows, columns or blocks of columns, as the tile is laid out.

A tile is filled from a view of five dimensions: the last of them, or the fourth, runs along what is contiguous in the
tile, the others are repetitions. What is copied is what the valid region and the view have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ptosim.language.build import Builder, Number, known
from ptosim.language.tile_move import TLoad, TStore
from ptosim.language.types import element_of
from ptosim.tiles.lowering import lowering
from ptosim.tiles.accumulator import store_accumulator
from ptosim.tiles.mat_load import load_matrix
from ptosim.tiles.pad import pad_value
from ptosim.tiles.refusal import Refused
from ptosim.tiles.values import Tile, View


@dataclass(frozen=True)
class Axis:
    """A repetition: how often, and the bytes from one to the next in GM and in the tile."""

    count: Number
    gm: Number
    tile: Number


@dataclass(frozen=True)
class Bursts:
    """A copy as the hardware does it: so many bytes, repeated along axes, the innermost first."""

    length: Number
    axes: tuple[Axis, ...]


@lowering(TLoad)
def tload(build: Builder, src: View, dst: Tile, target: str) -> None:
    if dst.buf.loc != "vec":
        load_matrix(build, src, dst, target)
        return
    bursts = _bursts(build, dst, src)
    pad = pad_value(build, dst)
    _each_copy(
        build,
        bursts,
        src.pointer,
        dst.pointer(build),
        lambda gm, ub, n, inner: build.mte_gm_ub(
            source=gm,
            dest=ub,
            l2_cache_ctl=build.i64(0),
            len_burst=build.i64(bursts.length),
            n_burst=build.i64(n.count),
            source_stride=build.i64(n.gm),
            dest_stride=build.i64(n.tile),
            loop_counts=[build.i64(axis.count) for axis in inner],
            loop_source_strides=[build.i64(axis.gm) for axis in inner],
            loop_dest_strides=[build.i64(axis.tile) for axis in inner],
            pad_value=pad,
            left_padding=None if pad is None else build.i64(0),
            right_padding=None if pad is None else build.i64(0),
        ),
    )


@lowering(TStore)
def tstore(
    build: Builder, op: TStore, src: Tile, fp: Tile | None, pre_quant: SSAValue | None, dst: View
) -> None:
    if src.buf.loc == "acc":
        store_accumulator(build, op, src, dst, fp, pre_quant)
        return
    bursts = _bursts(build, src, dst)
    _each_copy(
        build,
        bursts,
        dst.pointer,
        src.pointer(build),
        lambda gm, ub, n, inner: build.mte_ub_gm(
            source=ub,
            dest=gm,
            len_burst=build.i64(bursts.length),
            n_burst=build.i64(n.count),
            source_stride=build.i64(n.tile),
            dest_stride=build.i64(n.gm),
            loop_counts=[build.i64(axis.count) for axis in inner],
            loop_source_strides=[build.i64(axis.tile) for axis in inner],
            loop_dest_strides=[build.i64(axis.gm) for axis in inner],
        ),
    )


def _bursts(build: Builder, tile: Tile, view: View) -> Bursts:
    match tile.buf.layout:
        case "ND":
            return _rows(build, tile, view.sizes, view.strides)
        case "DN":
            g0, g1, g2, g3, g4 = view.sizes
            s0, s1, s2, s3, s4 = view.strides
            return _rows(build, tile.turned(), (g0, g1, g2, g4, g3), (s0, s1, s2, s4, s3))
        case layout:
            raise Refused(f"copies between GM and a vector tile laid out as {layout} are not lowered", "dst_type")


def _rows(build: Builder, tile: Tile, sizes: tuple[Number, ...], strides: tuple[Number, ...]) -> Bursts:
    """Rows of a row-major tile, one after the other."""
    width, pitch = tile.buf.element_bytes, tile.pitch * tile.buf.element_bytes
    if known(strides[4]) not in (1, None):
        raise Refused(
            f"the elements of a row are {known(strides[4])} apart in GM; a copy needs them side by side", "src"
        )
    planes = [(count, stride) for count, stride in zip(sizes[:3], strides[:3], strict=True) if known(count) != 1]
    length = build.times(build.least(tile.cols, sizes[4]), width)
    rows = Axis(sizes[3] if planes else build.least(tile.rows, sizes[3]), build.times(strides[3], width), pitch)
    axes, extent = [rows], sizes[3]
    for count, stride in reversed(planes):
        axes.append(Axis(count, build.times(stride, width), build.times(extent, pitch)))
        extent = build.times(extent, count)
    return Bursts(length, tuple(axes))


def _each_copy(
    build: Builder,
    bursts: Bursts,
    gm: SSAValue,
    local: SSAValue,
    copy: Callable[[SSAValue, SSAValue, Axis, tuple[Axis, ...]], None],
) -> None:
    """The rows and two loops around them are one copy; what is beyond is repeated by the scalar unit."""
    rows, *outer = bursts.axes
    inner, beyond = tuple(outer[:2]), outer[2:]
    if not beyond:
        copy(gm, local, rows, inner)
        return
    (axis,) = beyond

    def step(number: SSAValue) -> None:
        there = _moved(build, gm, build.times(number, axis.gm))
        copy(there, _moved(build, local, build.times(number, axis.tile)), rows, inner)

    build.loop(axis.count, 1, step)


def _moved(build: Builder, pointer: SSAValue, distance: Number) -> SSAValue:
    """A pointer so many bytes further on."""
    elements = build.quotient(distance, element_of(pointer.type).bytes)
    return build.addptr(pointer=pointer, offset=build.index(elements), result=pointer.type)
