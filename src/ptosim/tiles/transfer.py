"""Moves between local memories: where a window begins and how large it is, and who moves it.

The memories of the two tiles decide; how a path becomes instructions is in the rooms that PATHS names.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ptosim.language.build import Builder, Number
from ptosim.language.tile_extract import Move, TExtract, TInsert, TMov
from ptosim.tiles.accumulator import QUANT_WORD, Window, advanced, move_accumulator
from ptosim.tiles.fixpipe import Epilogue
from ptosim.tiles.lowering import lowering
from ptosim.tiles.operand import move_operand
from ptosim.tiles.parameters import move_bias, move_parameters
from ptosim.tiles.refusal import Refused
from ptosim.tiles.shape import must
from ptosim.tiles.values import Tile

Place = tuple[Number, Number]

PATHS: dict[tuple[str, str], Callable[[Builder, Window], None]] = {
    ("mat", "left"): move_operand,
    ("mat", "right"): move_operand,
    ("mat", "bias"): move_bias,
    ("mat", "scaling"): move_parameters,
}
"""Moves that know nothing but the window."""

_ORIGIN: Place = (0, 0)


@lowering(TMov)
def tmov(build: Builder, op: TMov, src: Tile, fp: Tile | None, pre_quant: SSAValue | None, dst: Tile) -> None:
    """All of a tile: as much as its destination takes in L0, as it has to give elsewhere."""
    extent = dst.valid if src.buf.loc == "mat" else src.valid
    _move(build, op, Window(src, dst, op.src, _ORIGIN, _ORIGIN, extent), fp, pre_quant)


@lowering(TExtract)
def textract(
    build: Builder,
    op: TExtract,
    src: Tile,
    row: SSAValue,
    col: SSAValue,
    fp: Tile | None,
    pre_quant: SSAValue | None,
    dst: Tile,
) -> None:
    _inside(build, (row, col), dst.valid, src)
    _move(build, op, Window(src, dst, op.src, (row, col), _ORIGIN, dst.valid), fp, pre_quant)


@lowering(TInsert)
def tinsert(
    build: Builder,
    op: TInsert,
    src: Tile,
    row: SSAValue,
    col: SSAValue,
    fp: Tile | None,
    pre_quant: SSAValue | None,
    dst: Tile,
) -> None:
    _inside(build, (row, col), src.valid, dst)
    _move(build, op, Window(src, dst, op.src, _ORIGIN, (row, col), src.valid), fp, pre_quant)


def _inside(build: Builder, start: Place, extent: Place, tile: Tile) -> None:
    """A window lies in its tile, since other tiles lie behind it."""
    for side, first, size, limit in zip(("row", "col"), start, extent, tile.buf.shape, strict=True):
        must(build, "sge", first, 0, "out-of-bounds", f"{side} is negative; a window begins inside the tile", side)
        message = f"the window reaches beyond the {limit} {'rows' if side == 'row' else 'columns'} of its tile"
        must(build, "sle", build.plus(first, size), limit, "out-of-bounds", message, side)


def _move(build: Builder, op: Move, window: Window, fp: Tile | None, pre_quant: SSAValue | None) -> None:
    if window.src.buf.loc == "acc":
        move_accumulator(build, window, _epilogue(build, op, window, fp, pre_quant))
    elif (move := PATHS.get(op.path)) is not None:
        move(build, window)
    else:
        raise Refused(f"moves from {op.path[0]} to {op.path[1]} are not lowered", "dst_type")


def _epilogue(build: Builder, op: Move, window: Window, fp: Tile | None, pre_quant: SSAValue | None) -> Epilogue:
    words = None
    if fp is not None:
        skipped = build.times(window.start[1], QUANT_WORD // 4)  # a pointer to f32 names words of 8 bytes
        words = advanced(build, fp.pointer(build, f32), skipped)
    return Epilogue(words, pre_quant, op.setting("reluPreMode") == "normal_relu", cores=op.setting("accToVecMode"))
