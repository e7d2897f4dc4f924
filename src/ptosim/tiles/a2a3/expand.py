"""A2/A3 sequences of a row or a column of elements for a whole tile."""

from __future__ import annotations

from collections.abc import Callable

from ptosim.language.tile.tile_operation import TileOperation
from ptosim.language.tile.tile_vector_expand import column_role
from ptosim.tiles.a2a3.sequence import SequenceWriter, define_sequence, sequence
from ptosim.tiles.tile_values import Tile

_JOINS = {
    "add": ("vadd",),
    "sub": ("vsub",),
    "mul": ("vmul",),
    "div": ("vdiv",),
    "max": ("vmax",),
    "min": ("vmin",),
    "expdif": ("vsub", "vexp"),
}
_BLOCKS = 8
"""Elements that a repeat of vbrcb makes blocks of."""


@sequence("trowexpand")
def _spread_rows(write: SequenceWriter, dst: Tile) -> None:
    write.each_row("vdup", dst.rows, dst.cols, dst.kind.bytes, is_counted=True)


@sequence("tcolexpand")
def _copied_rows(write: SequenceWriter, dst: Tile) -> None:
    write.copy(dst.rows, write.build.times(dst.cols, dst.kind.bytes))


def _with_column(instructions: tuple[str, ...]) -> Callable[..., None]:
    """The column becomes blocks that a repeat can read; where it is written as blocks it is ready."""

    def said(write: SequenceWriter, op: TileOperation, src0: Tile, src1: Tile, dst: Tile) -> None:
        build, width = write.build, dst.kind.bytes
        if (src0 if column_role(op) == "src0" else src1).buf.layout == "DN":
            rows = build.times(dst.rows, build.least(dst.cols, 1))
            size = build.times(rows, 32)
            write.some("vbrcb", build.least(rows, 1), build.ceiling(rows, _BLOCKS), size, width)
        _by_columns(write, instructions, dst)

    return said


def _with_row(instructions: tuple[str, ...]) -> Callable[..., None]:
    def said(write: SequenceWriter, dst: Tile) -> None:
        _by_columns(write, instructions, dst)

    return said


def _by_columns(write: SequenceWriter, instructions: tuple[str, ...], dst: Tile) -> None:
    """For each 256 bytes of a row an instruction of a repeat for each row."""
    build, width = write.build, dst.kind.bytes
    per_row = write.per_row(dst.cols, width)
    size = build.times(dst.rows, build.times(dst.cols, width))
    share = build.quotient(size, build.most(per_row, 1))
    for instruction in instructions:
        write.some(instruction, per_row, dst.rows, share, width)


for _name, _instructions in _JOINS.items():
    define_sequence(f"trowexpand{_name}", _with_column(_instructions))
    define_sequence(f"tcolexpand{_name}", _with_row(_instructions))
