"""Rows that stand beside a product: the bias, and the parameters of the fixpipe."""

from __future__ import annotations

from xdsl.dialects.builtin import f32

from ptosim.language.build import Builder, known
from ptosim.tiles.refusal import Refused
from ptosim.tiles.values import Tile
from ptosim.tiles.window import Window

_WORD = 8
"""Bytes of the parameter word of a column."""


def move_bias(build: Builder, window: Window) -> None:
    """The whole row: of 16-bit floats, too, which are widened."""
    src, dst = window.src, window.dst
    _is_a_row(dst, "bias", 64, dst.buf.cols * 4)
    length = -(-dst.buf.cols * src.buf.element_bytes // 32)
    _copy(build, "mte_l1_bt", src, dst, length)


def move_parameters(build: Builder, window: Window) -> None:
    copy_parameters(build, window.src, window.dst)


def copy_parameters(build: Builder, src: Tile, dst: Tile) -> None:
    """A row of parameters from L1 to the fixpipe buffer: words as they are, scales as the words that mean them."""
    size = dst.buf.cols * _WORD
    _is_a_row(dst, "scaling", 64 if dst.kind.is_float else 128, dst.buf.size)
    if dst.kind.is_integer:
        _copy(build, "mte_l1_fb", src, dst, -(-size // 64))
    elif known(dst.cols) != 0:
        count = build.i64(dst.cols)
        build.op("pto.sim.scale_words", source=src.pointer(build), dest=dst.pointer(build, f32), count=count)


def _is_a_row(dst: Tile, place: str, unit: int, size: int) -> None:
    if dst.buf.rows != 1:
        raise Refused(f"a tile in {place} has one row, not {dst.buf.rows}", "dst_type", kind="invalid")
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
