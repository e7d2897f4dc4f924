"""Copies between global memory and vector tiles: rows, columns or blocks of columns, as the tile is laid out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from ptosim.language.build import Builder, Number, known
from ptosim.language.tile_move import TLoad, TPrefetch, TStore
from ptosim.language.types import PtrType, element_of
from ptosim.tiles.folding import Axis, Piece, pieces
from ptosim.tiles.lowering import lowering
from ptosim.tiles.pad import pad_bits
from ptosim.tiles.refusal import Refused
from ptosim.tiles.values import Tile, View

_ATOMIC_TYPES = {"f32": "f32", "f16": "f16", "bf16": "bf16", "i32": "s32", "i16": "s16", "i8": "s8"}
"""The mode of an atomic store by the elements in GM."""


@lowering(TLoad, TPrefetch)
def tload(build: Builder, src: View, dst: Tile) -> None:
    """A prefetch is a load, too: what it leaves in its tile is open."""
    _in_vec(dst, "dst")
    element = _pad_type(dst)
    gm, ub = src.pointer, dst.pointer(build)
    if element != dst.element:
        gm, ub = (build.castptr(input=pointer, result=_pointing(pointer, element)) for pointer in (gm, ub))
    pad = build.pattern(pad_bits(dst.kind, dst.buf.pad), element) if dst.buf.pad and dst.buf.layout != "NZ" else None
    for piece in pieces(build, dst, src):
        _each_copy(build, piece, gm, ub, partial(_load, build, pad))


@lowering(TStore)
def tstore(build: Builder, src: Tile, dst: View, atomicType: str) -> None:
    _in_vec(src, "src")
    moved = pieces(build, src, dst, stores=True)
    adds = atomicType == "atomic_add" and bool(moved)
    if adds:
        build.op(f"set_atomic_{_ATOMIC_TYPES[element_of(dst.element).name]}")
        build.set_atomic_add()
    for piece in moved:
        _each_copy(build, piece, dst.pointer, src.pointer(build), partial(_store, build))
    if adds:
        build.set_atomic_none()


def _in_vec(tile: Tile, role: str) -> None:
    if tile.buf.loc != "vec":
        raise Refused(f"copies between GM and {tile.buf.loc} are not lowered", f"{role}_type")


def _pad_type(tile: Tile) -> Attribute:
    """The type that a row is padded in: the element type, or integers as wide as it; zeros in four bytes for eight."""
    if not tile.buf.pad or tile.kind.name in ("f32", "f16", "bf16", "i8", "i16", "i32"):
        return tile.element
    return IntegerType(min(tile.kind.bits, 32))


def _pointing(pointer: SSAValue, element: Attribute) -> PtrType:
    assert isinstance(pointer.type, PtrType)
    return PtrType.of(element, pointer.type.space)


# --- pieces as copies ---------------------------------------------------------------------------------------------

Copy = Callable[[SSAValue, SSAValue, Piece, Axis, tuple[Axis, ...]], None]
"""Of GM and UB: the rows of a piece, and the loops around them."""


def _load(
    build: Builder, pad: SSAValue | None, gm: SSAValue, ub: SSAValue, piece: Piece, rows: Axis, loops: tuple[Axis, ...]
) -> None:
    build.mte_gm_ub(
        source=gm,
        dest=ub,
        l2_cache_ctl=build.i64(0),
        len_burst=build.i64(piece.length),
        n_burst=build.i64(rows.count),
        source_stride=build.i64(rows.gm),
        dest_stride=build.i64(rows.tile),
        loop_counts=[build.i64(loop.count) for loop in loops],
        loop_source_strides=[build.i64(loop.gm) for loop in loops],
        loop_dest_strides=[build.i64(loop.tile) for loop in loops],
        pad_value=pad,
        left_padding=None if pad is None else build.i64(0),
        right_padding=None if pad is None else build.i64(0),
    )


def _store(build: Builder, gm: SSAValue, ub: SSAValue, piece: Piece, rows: Axis, loops: tuple[Axis, ...]) -> None:
    build.mte_ub_gm(
        source=ub,
        dest=gm,
        len_burst=build.i64(piece.length),
        n_burst=build.i64(rows.count),
        source_stride=build.i64(rows.tile),
        dest_stride=build.i64(rows.gm),
        loop_counts=[build.i64(loop.count) for loop in loops],
        loop_source_strides=[build.i64(loop.tile) for loop in loops],
        loop_dest_strides=[build.i64(loop.gm) for loop in loops],
    )


def _each_copy(build: Builder, piece: Piece, gm: SSAValue, ub: SSAValue, copy: Copy) -> None:
    """A piece that may be nothing is tried first."""
    counts = [piece.length, *(axis.count for axis in piece.axes)]
    open_ = [count for count in counts if known(count) is None]
    if not piece.is_rest or not open_:
        _copy_piece(build, piece, gm, ub, copy)
        return
    total = open_[0]
    for count in open_[1:]:
        total = build.times(total, count)
    build.choose(build.compare("ne", total, 0), lambda: _copy_piece(build, piece, gm, ub, copy))


def _copy_piece(build: Builder, piece: Piece, gm: SSAValue, ub: SSAValue, copy: Copy) -> None:
    """The rows and two loops around them are one copy; what is beyond is repeated by the scalar unit."""
    there, here = _moved(build, gm, piece.gm), _moved(build, ub, piece.tile)
    rows, *outer = piece.axes
    inner, beyond = tuple(outer[:2]), outer[2:]
    if not beyond:
        copy(there, here, piece, rows, inner)
        return
    (axis,) = beyond

    def step(number: SSAValue) -> None:
        gm_now = _moved(build, there, build.times(number, axis.gm))
        copy(gm_now, _moved(build, here, build.times(number, axis.tile)), piece, rows, inner)

    build.loop(axis.count, 1, step)


def _moved(build: Builder, pointer: SSAValue, distance: Number) -> SSAValue:
    """A pointer so many bytes further on."""
    if known(distance) == 0:
        return pointer
    elements = build.quotient(distance, element_of(pointer.type).bytes)
    return build.addptr(pointer=pointer, offset=build.index(elements), result=pointer.type)
