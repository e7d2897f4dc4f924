"""Moves between local memories: where a window begins and how large it is, and who moves it.

The memories of the two tiles decide; how a path becomes instructions is in the rooms that PATHS names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number
from ptosim.language.tile.tile_extract import Move, TExtract, TInsert
from ptosim.tiles.moves.accumulator import QUANT_WORD, advanced, move_accumulator
from ptosim.tiles.moves.cube_extents import held
from ptosim.tiles.moves.cube_operand import move_operand, move_to_l1
from ptosim.tiles.moves.fixpipe import StoreEpilogue
from ptosim.tiles.moves.parameter_rows import copy_parameters, move_bias
from ptosim.tiles.moves.scales import Meaning, move_scales
from ptosim.tiles.moves.tile_window import TileWindow, inside, part
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile

Place = tuple[Number, Number]

PATHS: dict[tuple[str, str], Callable[[Builder, TileWindow], None]] = {
    ("mat", "left"): move_operand,
    ("mat", "right"): move_operand,
    ("mat", "bias"): move_bias,
    ("vec", "mat"): move_to_l1,
}
"""Moves that know nothing but the window."""

_ORIGIN: Place = (0, 0)


@dataclass(frozen=True)
class QuantisationSource:
    """The source of quantisation: a tile of parameters, or a word; and where the operand of scales is found."""

    fp: Tile | None
    word: SSAValue | None
    meaning: Meaning
    """The facts about other tiles of the function."""


def transfer(
    build: Builder, op: Move, src: Tile, dst: Tile, parameters: QuantisationSource, at: Place = _ORIGIN
) -> None:
    """A move between different memories. All of a tile is as much as its destination takes in L0, and as it has to
    give elsewhere; a window is taken out at a place, or put there."""
    match op:
        case TExtract():
            inside(build, src, at, dst)
            window = TileWindow(src, dst, op.src, at, _ORIGIN, dst.valid)
        case TInsert():
            inside(build, dst, at, src)
            window = TileWindow(src, dst, op.src, _ORIGIN, at, src.valid)
        case _:
            extent = dst.valid if src.buf.loc == "mat" else _taken(build, op, src, dst)
            window = TileWindow(src, dst, op.src, _ORIGIN, _ORIGIN, extent)
    if src.buf.loc == "acc":
        move_accumulator(build, window, _epilogue(build, op, window, parameters))
    elif op.moves_scales:
        move_scales(build, window, op.dst, parameters.meaning)
    elif op.path == ("mat", "scaling"):
        copy_parameters(build, part(build, src, window.start, window.extent), dst, op.dst)
    elif (move := PATHS.get(op.path)) is not None:
        move(build, window)
    else:
        raise Refused(f"moves from {op.path[0]} to {op.path[1]} are not lowered", "dst_type")


def _taken(build: Builder, op: Move, src: Tile, dst: Tile) -> Place:
    """The valid part of src that dst has room for; two vector cores have twice the room."""
    mode = str(op.setting("accToVecMode"))
    rows, cols = dst.buf.rows * (1 + mode.endswith("split_m")), dst.buf.cols * (1 + mode.endswith("split_n"))
    return (
        src.rows if src.buf.rows <= rows else held(build, src.rows, rows, "src has more valid rows than dst has"),
        src.cols if src.buf.cols <= cols else held(build, src.cols, cols, "src has more valid columns than dst has"),
    )


def _epilogue(build: Builder, op: Move, window: TileWindow, parameters: QuantisationSource) -> StoreEpilogue:
    words = None
    if parameters.fp is not None:
        skipped = build.times(window.start[1], QUANT_WORD // 4)  # a pointer to f32 names words of 8 bytes
        words = advanced(build, parameters.fp.pointer(build, f32), skipped)
    relu = op.setting("reluPreMode") == "normal_relu"
    return StoreEpilogue(words, parameters.word, relu, cores=str(op.setting("accToVecMode")))
