"""Copies between global memory and vector tiles: rows, columns or blocks of columns, as the tile is laid out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from xdsl.dialects.builtin import IntegerType, UnitAttr
from xdsl.ir import Attribute, SSAValue

from ptosim.effects.catalogue import effects
from ptosim.effects.names import Pipe
from ptosim.language.builder import Builder, known
from ptosim.language.micro.burst import PREFETCH
from ptosim.language.tile.tile_buf import is_fp4
from ptosim.language.tile.tile_move import TLoad, TPrefetch, TStore
from ptosim.language.types import PtrType, element_of
from ptosim.tiles.lowering import lowering
from ptosim.tiles.moves.accumulator import store_accumulator
from ptosim.tiles.moves.bursts import each_copy, strides
from ptosim.tiles.moves.mat_load import load_matrix, load_parameters
from ptosim.tiles.moves.pad_values import pad_bits
from ptosim.tiles.moves.view_folding import Axis, Piece, pieces
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import GmView, Tile
from ptosim.tiles.view_layout import layout_of

_ATOMIC_TYPES = {"f32": "f32", "f16": "f16", "bf16": "bf16", "i32": "s32", "i16": "s16", "i8": "s8"}
"""The mode of an atomic store by the elements in GM."""


@lowering(TLoad)
def tload(build: Builder, op: TLoad, src: GmView, dst: Tile, target: str) -> None:
    if dst.buf.loc == "scaling":
        load_parameters(build, src, dst, op.dst, target)
    else:
        load_tile(build, src, dst, target)


@lowering(TPrefetch)
def tprefetch(build: Builder, op: TPrefetch, src: GmView, dst: Tile, target: str) -> None:
    """A load whose data is not used, so that rows or columns of the view may lie in any tile as they are."""
    before, blayout = op.prev_op, {"nd": "row_major", "dn": "col_major"}.get(layout_of(src))
    if blayout is not None and not is_fp4(dst.element):
        dst = replace(dst, buf=replace(dst.buf, blayout=blayout, slayout="none_box"))
    load_tile(build, src, dst, target)
    made = op.prev_op
    while made is not None and made is not before:
        for each in made.walk():
            if (record := effects().get(each.name)) is not None and record.pipe is Pipe.MTE2:
                each.attributes[PREFETCH] = UnitAttr()
        made = made.prev_op


def load_tile(build: Builder, src: GmView, dst: Tile, target: str) -> None:
    """The common part of view and valid region."""
    if dst.buf.loc != "vec":
        load_matrix(build, src, dst, target)
        return
    element = _pad_type(dst)
    gm, ub = src.pointer, dst.pointer(build)
    if element != dst.element:
        gm, ub = (build.castptr(input=pointer, result=_pointing(pointer, element)) for pointer in (gm, ub))
    moved, pad = pieces(build, dst, src), None
    if dst.buf.pad and dst.unboxed().buf.layout != "NZ":
        pad = build.pattern(pad_bits(dst.kind, dst.buf.pad), element)
        moved = [_padded(piece, dst.unboxed()) for piece in moved]
    for piece in moved:
        each_copy(build, piece, gm, ub, partial(_load, build, pad))


@lowering(TStore)
def tstore(
    build: Builder,
    op: TStore,
    src: Tile,
    fp: Tile | None,
    pre_quant: SSAValue | None,
    dst: GmView,
    atomicType: str,
) -> None:
    if src.buf.loc == "acc":
        store_accumulator(build, op, src, dst, fp, pre_quant)
        return
    if src.buf.loc == "mat":
        _store_matrix(build, src, dst, pieces(build, src, dst, stores=True), atomicType)
        return
    store_tile(build, src, dst, adds=atomicType == "atomic_add")


def store_tile(build: Builder, src: Tile, dst: GmView, adds: bool = False) -> None:
    """A tile of vec; `adds`: atomically to what is there."""
    moved = pieces(build, src, dst, stores=True)
    adds = adds and bool(moved)
    if adds:
        build.op(f"set_atomic_{_ATOMIC_TYPES[element_of(dst.element).name.removeprefix('s')]}")
        build.set_atomic_add()
    for piece in moved:
        each_copy(build, piece, dst.pointer, src.pointer(build), partial(_store, build, "pto.mte_ub_gm"))
    if adds:
        build.set_atomic_none()


def _store_matrix(build: Builder, src: Tile, dst: GmView, moved: Sequence[Piece], atomic: str) -> None:
    """From L1, on a2a3: the layout stays as it is."""
    if atomic == "atomic_add":
        raise Refused("a tile of mat is not added to the contents of GM", "atomicType", kind="invalid")
    for piece in moved:
        each_copy(build, piece, dst.pointer, src.pointer(build), partial(_store, build, "pto.sim.l1_gm"))


def _padded(piece: Piece, tile: Tile) -> Piece:
    """Bursts are padded up to their distance. Where that is not the length of the tile's own rows, as in a part of a
    wider tile or where there is one row, each is a burst by itself, whose distance says where its row ends."""
    rows, cols = tile.buf.shape
    length = (cols if tile.buf.layout == "ND" else rows) * tile.buf.element_bytes
    axes = tuple(axis for axis in piece.axes if known(axis.count) != 1)
    return piece if axes and known(axes[0].tile) == length else replace(piece, axes=(Axis(1, 0, length), *axes))


def _pad_type(tile: Tile) -> Attribute:
    """The type that a row is padded in: the element type, or integers as wide as it; zeros in four bytes for eight."""
    if not tile.buf.pad or tile.kind.name in ("f32", "f16", "bf16", "i8", "i16", "i32"):
        return tile.element
    return IntegerType(min(tile.kind.bits, 32))


def _pointing(pointer: SSAValue, element: Attribute) -> PtrType:
    assert isinstance(pointer.type, PtrType)
    return PtrType.of(element, pointer.type.space)


# --- pieces as copies -------------------------------------------------------------------------------------------------


def _load(
    build: Builder, pad: SSAValue | None, gm: SSAValue, ub: SSAValue, piece: Piece, rows: Axis, loops: tuple[Axis, ...]
) -> None:
    build.mte_gm_ub(
        source=gm,
        dest=ub,
        l2_cache_ctl=build.i64(0),
        **strides(build, piece, rows, loops),
        pad_value=pad,
        left_padding=None if pad is None else build.i64(0),
        right_padding=None if pad is None else build.i64(0),
    )


def _store(
    build: Builder, name: str, gm: SSAValue, local: SSAValue, piece: Piece, rows: Axis, loops: tuple[Axis, ...]
) -> None:
    build.op(name, source=local, dest=gm, **strides(build, piece, rows, loops, into_gm=True))
