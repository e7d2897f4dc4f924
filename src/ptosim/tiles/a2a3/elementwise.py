"""A2/A3 sequences of operations element by element.

Most are one instruction over the tile. A scalar that has no instruction of its own is spread over a tile first.
"""

from __future__ import annotations

from collections.abc import Callable

from ptosim.tiles.a2a3.sequence import SequenceWriter, define_sequence, sequence
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.row_view import in_rows

_UNARY = {
    "tabs": "vabs",
    "tneg": "vmuls",  # by -1
    "tnot": "vnot",
    "texp": "vexp",
    "tlog": "vln",
    "tsqrt": "vsqrt",
    "trsqrt": "vrsqrt",
    "trelu": "vrelu",
    "tadds": "vadds",
    "tsubs": "vadds",  # of the negative
    "tmuls": "vmuls",
    "tmaxs": "vmaxs",
    "tmins": "vmins",
    "tlrelu": "vlrelu",
    "taxpy": "vaxpy",
    "tshls": "vshl",
    "tshrs": "vshr",
}
"""Operations of one tile, with or without a scalar."""

_BINARY = {
    "tadd": ("vadd",),
    "tsub": ("vsub",),
    "tmul": ("vmul",),
    "tdiv": ("vdiv",),
    "tmax": ("vmax",),
    "tmin": ("vmin",),
    "tand": ("vand",),
    "tor": ("vor",),
    "txor": ("vor", "vand", "vnot", "vand"),
    "taddrelu": ("vadd", "vrelu"),
}

_SPREAD = {"trecip": ("vdiv",), "tands": ("vand",), "tors": ("vor",), "txors": ("vor", "vand", "vnot", "vand")}
"""Behind the scalar in every element."""

_TERNARY = {"taddc": ("vadd", "vadd"), "tsubc": ("vsub", "vadd")}
_SCALAR_BETWEEN = {"taddsc": ("vadds", "vadd"), "tsubsc": ("vadds", "vadd")}


def _unary(instruction: str) -> Callable[..., None]:
    def said(write: SequenceWriter, src: Tile, dst: Tile) -> None:
        write.over(instruction, *in_rows(dst, src))

    return said


def _binary(instructions: tuple[str, ...]) -> Callable[..., None]:
    def said(write: SequenceWriter, src0: Tile, src1: Tile, dst: Tile) -> None:
        for instruction in instructions:
            write.over(instruction, *in_rows(dst, src0, src1))

    return said


def _spread(instructions: tuple[str, ...]) -> Callable[..., None]:
    def said(write: SequenceWriter, src: Tile, dst: Tile) -> None:
        for instruction in ("vdup", *instructions):
            write.over(instruction, *in_rows(dst, src))

    return said


def _ternary(instructions: tuple[str, ...]) -> Callable[..., None]:
    def said(write: SequenceWriter, src0: Tile, src1: Tile, src2: Tile, dst: Tile) -> None:
        for instruction in instructions:
            write.over(instruction, *in_rows(dst, src0, src1, src2))

    return said


@sequence("tdivs")
def _divided(write: SequenceWriter, src0: object, src1: object, dst: Tile) -> None:
    tiles = in_rows(dst, *(source for source in (src0, src1) if isinstance(source, Tile)))
    write.over("vdup", *tiles)
    write.over("vdiv", *tiles)


@sequence("texpands")
def _filled(write: SequenceWriter, dst: Tile) -> None:
    if dst.buf.loc == "vec":
        write.over("vdup", *in_rows(dst))


for _table, _family in ((_BINARY | _SCALAR_BETWEEN, _binary), (_SPREAD, _spread), (_TERNARY, _ternary)):
    for _name, _instructions in _table.items():
        define_sequence(_name, _family(_instructions))
for _name, _instruction in _UNARY.items():
    define_sequence(_name, _unary(_instruction))
