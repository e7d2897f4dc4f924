"""Rows that stand beside a product: the bias, and the parameters of the fixpipe."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr, f32
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, known
from ptosim.language.rules.tile_place_rules import element_at
from ptosim.language.tile.tile_extract import Move
from ptosim.language.tile.tile_move import TStore
from ptosim.language.types import element_of
from ptosim.tiles.moves.tile_window import TileWindow
from ptosim.tiles.refusal import Refused
from ptosim.tiles.tile_values import Tile

_WORD = 8
"""Bytes of the parameter word of a column."""


def move_bias(build: Builder, window: TileWindow) -> None:
    """The whole row: of 16-bit floats, too, which are widened."""
    src, dst = window.src, window.dst
    if dst.buf.rows != 1:
        raise Refused(f"a tile in bias has one row, not {dst.buf.rows}", "dst_type", kind="invalid")
    _is_whole("bias", 64, dst.buf.cols * 4)
    length = -(-dst.buf.cols * src.buf.element_bytes // 32)
    _copy(build, "mte_l1_bt", src, dst, length)


def copy_parameters(build: Builder, src: Tile, dst: Tile, value: SSAValue) -> None:
    """A row of parameters from L1 to the fixpipe buffer: words as they are, scales as the words that mean them. Of more
    rows the first one counts. `value` is the tile that they go to."""
    if not dst.kind.is_integer and dst.kind.name not in ("f16", "bf16", "f32"):
        message = f"parameters are words, or scales of f16, bf16 or f32, not {dst.kind.name}"
        raise Refused(message, "dst_type", kind="invalid")
    size = dst.buf.cols * _WORD
    _is_whole("scaling", 64 if dst.kind.is_float else 128, size)
    if dst.kind.is_integer:
        _copy(build, "mte_l1_fb", src, dst, -(-size // 64))
    elif known(dst.cols) != 0:
        build.op(
            "pto.sim.scale_words",
            source=src.pointer(build),
            dest=dst.pointer(build, f32),
            count=build.i64(dst.cols),
            unsigned=UnitAttr() if _serves_unsigned(value) else None,
        )


def _serves_unsigned(scales: SSAValue) -> bool:
    """Whether 8-bit results of the stores and moves that a tile of scales serves are unsigned: a scale does not say it,
    as a word does."""
    users = [use.operation for use in scales.uses]
    stores = [op for op in users if isinstance(op, TStore | Move) and op.fp is scales]
    kinds = [element_of(element_at(op, "dst")) for op in stores]
    signs = {kind.kind == "unsigned" for kind in kinds if kind.is_integer and kind.bytes == 1}
    if len(signs) > 1:
        raise Refused("scales for results with a sign and for those without are two tiles", "dst", kind="unsupported")
    return True in signs


def _is_whole(place: str, unit: int, size: int) -> None:
    if size % unit:
        raise Refused(f"a row in {place} is a multiple of {unit} bytes, not {size}", "dst_type", kind="misaligned")


def _copy(build: Builder, name: str, src: Tile, dst: Tile, length: int) -> None:
    if known(dst.cols) == 0:
        return
    build.op(
        name,
        source=src.pointer(build),
        dest=dst.pointer(build),
        len_burst=build.i64(length),
        n_burst=build.i64(1),
        source_gap=build.i64(0),
        dest_gap=build.i64(0),
    )
