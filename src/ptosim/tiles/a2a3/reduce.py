"""A2/A3 sequences of reductions.

A row of several registers is joined to one in working memory, then every row is reduced by one repeat. A column is
joined row by row, each instruction behind the one before.
"""

from __future__ import annotations

from collections.abc import Callable

from ptosim.language.builder import Number, known
from ptosim.tiles.a2a3.sequence import REPEAT_BYTES, SequenceWriter, define_sequence
from ptosim.tiles.tile_values import Tile

_ROWS = {"trowsum": ("vcadd", "vadd", "vcgadd"), "trowmax": ("vcmax", "vmax", "vcgmax")}
_ROWS["trowmin"] = ("vcmin", "vmin", "vcgmin")
_COLUMNS = {"tcolsum": "vadd", "tcolmax": "vmax", "tcolmin": "vmin", "tcolprod": "vmul"}

_IN_GROUPS = {(64, 128), (32, 256), (16, 512), (8, 1024)}
"""Shapes of f32 whose rows are reduced in groups of 32 bytes where the results stand below each other."""
_GROUP = 8


def _row_reduction(lanes: str, join: str, groups: str) -> Callable[..., None]:
    def said(write: SequenceWriter, src: Tile, dst: Tile) -> None:
        shape = known(src.rows), known(src.cols)
        if src.kind.name == "f32" and dst.buf.layout == "DN" and shape in _IN_GROUPS and src.is_linear:
            _by_groups(write, src, join, groups)
            return
        build, width = write.build, src.kind.bytes
        rows: Number = build.times(src.rows, build.least(src.cols, 1))
        per_row = write.per_row(src.cols, width)
        joins = build.most(build.minus(per_row, 1), 0)
        used = build.least(build.times(src.cols, width), REPEAT_BYTES)
        write.some(join, joins, rows, build.times(rows, REPEAT_BYTES), width)
        write.some(lanes, build.least(rows, 1), rows, build.times(rows, used), width, is_counted=True)

    return said


def _by_groups(write: SequenceWriter, src: Tile, join: str, groups: str) -> None:
    rows, left = src.buf.rows, src.buf.cols // _GROUP
    write.run(groups, rows * src.buf.cols * 4, 4)
    while left > _GROUP:
        left //= 2
        write.run(join, rows * left * 4, 4)
    write.run(groups, rows * left * 4, 4)


def _column_reduction(join: str) -> Callable[..., None]:
    def said(write: SequenceWriter, src: Tile) -> None:
        joins = write.build.most(write.build.minus(src.rows, 1), 0)
        write.each_row(join, joins, src.cols, src.kind.bytes)

    return said


for _name, _instructions in _ROWS.items():
    define_sequence(_name, _row_reduction(*_instructions))
for _name, _join in _COLUMNS.items():
    define_sequence(_name, _column_reduction(_join))
