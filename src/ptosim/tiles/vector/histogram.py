"""Cumulative histograms of one byte of every element of a row.

The bytes of 256 elements are taken apart into registers of their own, one for each byte of an element. Of these the
chosen one is counted where all higher ones are what idx says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import i8, i16, i32
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder
from ptosim.language.tile.tile_vector_quantise import THistogram
from ptosim.language.types import VregType
from ptosim.tiles.lowering import lowering
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import everything, offset, tail
from ptosim.tiles.vector.registers import Registers, with_sign
from ptosim.tiles.vector.row_view import bounded
from ptosim.tiles.vector.single_element import load_everywhere

_BYTES, _COUNTS, _TOTALS = (VregType.of(with_sign(type_, "unsigned")) for type_ in (i8, i16, i32))
_ELEMENTS = _BYTES.lanes
"""Elements that are counted at a time."""


@lowering(THistogram)
def thistogram(build: Builder, src: Tile, idx: Tile, dst: Tile, byte: int) -> None:
    build.scope(lambda: _count_rows(build, src, idx, dst, byte))


def _count_rows(build: Builder, src: Tile, idx: Tile, dst: Tile, byte: int) -> None:
    counts, totals = (Registers(build, type_.element) for type_ in (_COUNTS, _TOTALS))
    nothing, none = counts.every(0), totals.every(0)
    wide, all_counts, all_totals = src.kind.bytes, everything(build, 2), everything(build, 4)
    of_all = None if wide == 2 else [load_everywhere(build, idx, row) for row in range(wide - 1 - byte)]

    def row(number: SSAValue) -> None:
        wanted = of_all if of_all is not None else [load_everywhere(build, idx, number)] * (1 - byte)

        def elements(at: SSAValue, rest: SSAValue, *so_far: SSAValue) -> Sequence[SSAValue]:
            mask, after = tail(build, rest, 1)
            planes = _planes(build, src, number, at, rest)
            for place, value in enumerate(wanted):
                mask = Registers(build, _BYTES.element).compare("eq", planes[wide - 1 - place], value, mask)
            found: list[SSAValue] = []
            for half in range(2):
                given = {"acc": nothing, "input": planes[byte], "mask": mask, "bin": build.constant(half, i32)}
                some = build.chistv2(**given, result=_COUNTS)
                for part in ("EVEN", "ODD"):
                    more = counts.op("vcvt", some, all_counts, part=part, result=_TOTALS)
                    found.append(totals.op("vadd", so_far[len(found)], more, all_totals))
            return [after, *found]

        _, *bins = build.loop(src.cols, _ELEMENTS, elements, build.cast(src.cols, i32), *[none] * 4)
        for half in range(2):
            there = offset(build, dst, number, half * _COUNTS.lanes)
            pair = {"low": bins[2 * half], "high": bins[2 * half + 1], "mask": all_totals}
            build.vstsx2(**pair, dest=dst.pointer(build), offset=there, dist="INTLV_B32")

    build.loop(build.times(bounded(build, src, dst, 0).rows, build.least(src.cols, 1)), 1, row)


def _planes(build: Builder, src: Tile, row: SSAValue, at: SSAValue, rest: SSAValue) -> Sequence[SSAValue]:
    """The bytes of 256 elements: a register for each, the lowest first."""

    def pair(first: int, mask: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Even and odd bytes of half a kilobyte."""
        there = offset(build, src, row, build.plus(at, first))
        given = {"source": src.pointer(build), "offset": there, "dist": "DINTLV_B8", "mask": mask}
        return build.vldsx2(**given, low=_BYTES, high=_BYTES)

    if src.kind.bytes == 2:
        return pair(0, tail(build, rest, 1)[0])
    mask, more = tail(build, build.times(rest, 2), 1)
    halves = pair(0, mask), pair(_ELEMENTS // 2, tail(build, more, 1)[0])
    (b0, b2), (b1, b3) = (
        cast("tuple[SSAValue, SSAValue]", build.vdintlv(lhs=lhs, rhs=rhs, low=_BYTES, high=_BYTES))
        for lhs, rhs in zip(*halves, strict=True)
    )
    return b0, b1, b2, b3
