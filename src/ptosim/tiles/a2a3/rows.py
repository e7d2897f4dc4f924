"""A2/A3 sequences of operations that go row by row: comparisons, selections, conversions, gathers, moves in UB."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ptosim.effects.element import GRANULE
from ptosim.tiles.a2a3.sequence import SequenceWriter, sequence
from ptosim.tiles.tile_values import Tile

_BOX = 16
"""Rows of a block that vnchwconv turns."""


@sequence("tcmp")
def _compared(write: SequenceWriter, src0: Tile) -> None:
    write.each_row("vcmp", src0.rows, src0.cols, src0.kind.bytes)


@sequence("tcmps")
def _compared_with_scalar(write: SequenceWriter, src: Tile) -> None:
    write.each_row("vcmp", src.rows, src.cols, src.kind.bytes)


@sequence("tsel", "tsels")
def _selected(write: SequenceWriter, dst: Tile) -> None:
    """The mask of a row is spread first."""
    write.each_row("vdup", dst.rows, write.build.ceiling(dst.cols, 8), 1)
    write.each_row("vsel", dst.rows, dst.cols, dst.kind.bytes)


@sequence("tcvt")
def _converted(write: SequenceWriter, src: Tile, dst: Tile) -> None:
    width = max(src.kind.bytes, dst.kind.bytes)
    write.each_row("vconv", dst.rows, dst.cols, width)


@sequence("tpartadd", "tpartmul", "tpartmax", "tpartmin")
def _in_part(write: SequenceWriter, op: object, dst: Tile) -> None:
    write.over(_IN_PART[getattr(op, "name", "")], dst)


_IN_PART = {"pto.tpartadd": "vadd", "pto.tpartmul": "vmul", "pto.tpartmax": "vmax", "pto.tpartmin": "vmin"}


@sequence("tgather")
def _gathered(write: SequenceWriter, src: Tile, idx: Tile | None, dst: Tile, scalar: SSAValue | None) -> None:
    """By indices element by element, else by a pattern that leaves some out."""
    if idx is not None:
        write.each_row("vgather", dst.rows, dst.cols, dst.kind.bytes)
    elif scalar is None:
        write.each_row("vreducev2", src.rows, src.cols, src.kind.bytes)
    else:
        write.is_known = False


@sequence("tgatherb")
def _gathered_blocks(write: SequenceWriter, dst: Tile) -> None:
    write.each_row("vgather", dst.rows, dst.cols, dst.kind.bytes)


@sequence("ttrans")
def _turned(write: SequenceWriter, src: Tile) -> None:
    """Through working memory, then copied."""
    build, width = write.build, src.kind.bytes
    columns = build.ceiling(src.cols, GRANULE // width)
    rows = build.ceiling(src.rows, GRANULE if width == 1 else _BOX)
    size = build.times(src.rows, build.times(src.cols, width))
    write.some("vnchwconv", columns, rows, build.quotient(size, build.most(columns, 1)), width)
    write.copy(1, size)


@sequence("tmov", "textract", "tinsert")
def _moved(write: SequenceWriter, src: Tile, dst: Tile) -> None:
    """From UB to UB: a copy as large as the smaller of the two."""
    if src.buf.loc == dst.buf.loc == "vec":
        build = write.build
        rows, cols = build.least(src.rows, dst.rows), build.least(src.cols, dst.cols)
        write.copy(1, build.times(rows, build.times(cols, dst.kind.bytes)))


@sequence("tconcat")
def _joined(write: SequenceWriter, src0: Tile, src1: Tile) -> None:
    build = write.build
    for src in (src0, src1):
        write.copy(1, build.times(src.rows, build.times(src.cols, src.kind.bytes)))
