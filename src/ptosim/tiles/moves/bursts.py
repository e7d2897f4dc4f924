"""Pieces of a copy between GM and a local memory as instructions: bursts, loops around them, and loops of the scalar
unit around those."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number, known
from ptosim.language.types import element_of
from ptosim.tiles.moves.view_folding import Axis, Piece

Copy = Callable[[SSAValue, SSAValue, Piece, Axis, tuple[Axis, ...]], None]
"""A copy between GM and the local memory: the rows of a piece, and the loops around them."""


def each_copy(build: Builder, piece: Piece, gm: SSAValue, local: SSAValue, copy: Copy) -> None:
    """A piece that may be nothing is tried first."""
    counts = [piece.length, *(axis.count for axis in piece.axes)]
    open_ = [count for count in counts if known(count) is None]
    if not piece.is_rest or not open_:
        _copy_piece(build, piece, gm, local, copy)
        return
    total = open_[0]
    for count in open_[1:]:
        total = build.times(total, count)
    build.choose(build.compare("ne", total, 0), lambda: _copy_piece(build, piece, gm, local, copy))


def _copy_piece(build: Builder, piece: Piece, gm: SSAValue, local: SSAValue, copy: Copy) -> None:
    """The rows and two loops around them are one copy; what is beyond is repeated by the scalar unit."""
    there, here = moved(build, gm, piece.gm), moved(build, local, piece.tile)
    rows, *loops = piece.axes
    if len(loops) <= 2:
        copy(there, here, piece, rows, tuple(loops))
        return
    *inner, axis = loops

    def step(number: SSAValue) -> None:
        gm_now, here_now = build.times(number, axis.gm), build.times(number, axis.tile)
        one = replace(piece, axes=(rows, *inner), gm=gm_now, tile=here_now)
        _copy_piece(build, one, there, here, copy)

    build.loop(axis.count, 1, step)


def strides(
    build: Builder, piece: Piece, rows: Axis, loops: tuple[Axis, ...], into_gm: bool = False
) -> dict[str, SSAValue | list[SSAValue]]:
    """The operands of a copy that say its rows and the loops around them."""
    source, dest = ("tile", "gm") if into_gm else ("gm", "tile")

    def number(axis: Axis, side: str) -> SSAValue:
        return build.i64(axis.gm if side == "gm" else axis.tile)

    return {
        "len_burst": build.i64(piece.length),
        "n_burst": build.i64(rows.count),
        "source_stride": number(rows, source),
        "dest_stride": number(rows, dest),
        "loop_counts": [build.i64(loop.count) for loop in loops],
        "loop_source_strides": [number(loop, source) for loop in loops],
        "loop_dest_strides": [number(loop, dest) for loop in loops],
    }


def moved(build: Builder, pointer: SSAValue, distance: Number) -> SSAValue:
    """A pointer so many bytes further on."""
    if known(distance) == 0:
        return pointer
    elements = build.quotient(distance, element_of(pointer.type).bytes)
    return build.addptr(pointer=pointer, offset=build.index(elements), result=pointer.type)
