"""Rows of 8-bit integers with a scale of their own, from f32 and back. Groups with a common power of two: mx.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import f16, f32, i8, i32
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder
from ptosim.language.tile.tile_vector_quantise import TDequant, TQuant
from ptosim.tiles.lowering import lowering
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import RegisterAccess
from ptosim.tiles.vector.logical_rows import LogicalLanes, TileVectors, of_element, with_known_sign
from ptosim.tiles.vector.registers import with_sign

_WORD = with_sign(i32, "signed")


@lowering(TQuant)
def tquant(build: Builder, src: Tile, fp: Tile, offset: Tile | None, dst: Tile, quant_type: str) -> None:
    """Multiplied, moved, rounded to a whole number, and brought to bytes step by step, clamping each time. The kind
    says whether these have a sign, whatever the type of the result says."""
    v, byte = TileVectors.of(build, 4), with_sign(i8, "unsigned" if quant_type == "INT8_ASYM" else "signed")

    def quantised(here: RegisterAccess, scale: SSAValue, shift: SSAValue | None = None) -> SSAValue:
        x = v.op("vmul", v.load(here, src), scale)
        if shift is not None:
            x = v.op("vadd", x, shift)
        whole = v.convert(v.convert(x, _WORD, "R", "SAT"), f32)
        return v.convert(v.convert(whole, f16, "R", "SAT"), byte, "R", "SAT")

    _each_row(build, of_element(dst, byte), (fp,) if offset is None else (fp, offset), quantised)


@lowering(TDequant)
def tdequant(build: Builder, src: Tile, scale: Tile, offset: Tile, dst: Tile) -> None:
    """(q - offset) * scale, rounded twice."""
    v, source = TileVectors.of(build, 4), of_element(src, with_known_sign(src.element))

    def dequantised(here: RegisterAccess, factor: SSAValue, shift: SSAValue) -> SSAValue:
        whole = v.convert(v.load(here, source), with_sign(source.element, source.kind.kind, 32))
        return v.op("vmul", v.op("vsub", v.convert(v.cast(whole, _WORD), f32), shift), factor)

    _each_row(build, dst, (scale, offset), dequantised)


def _each_row(build: Builder, dst: Tile, parameters: Sequence[Tile], compute: Callable[..., SSAValue]) -> None:
    """Rows in vectors of 32-bit lanes, each with parameters of its own."""
    v = TileVectors.of(build, 4)

    def scope() -> None:
        lanes = LogicalLanes(build, dst.cols, dst.buf.cols, 4)

        def row(number: SSAValue) -> None:
            values = [v.load_everywhere(tile, number) for tile in parameters]

            def register(at: SSAValue, mask: SSAValue) -> None:
                here = RegisterAccess(build, mask, lanes.full, number, at)
                v.store(here, dst, compute(here, *values))

            lanes.each(register)

        build.loop(build.times(dst.rows, build.least(dst.cols, 1)), 1, row)

    build.scope(scope)
