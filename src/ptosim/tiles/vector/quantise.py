"""Rows of 8-bit integers with a scale of their own, from f32 and back. Groups with a common power of two: mx.py."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import f16, f32, i8, i32
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder
from ptosim.language.tile.tile_vector_quantise import TDequant, TQuant
from ptosim.language.types import VregType
from ptosim.tiles.lowering import lowering
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, RegisterAccess, everything
from ptosim.tiles.vector.registers import Registers, with_sign
from ptosim.tiles.vector.single_element import load_everywhere


@lowering(TQuant)
def tquant(build: Builder, src: Tile, fp: Tile, offset: Tile | None, dst: Tile, quant_type: str) -> None:
    """Multiplied, moved, rounded to a whole number, and brought to bytes step by step, clamping each time. The kind
    says whether these have a sign, whatever the type of the result says."""
    v, byte = Registers(build, f32), with_sign(i8, "unsigned" if quant_type == "INT8_ASYM" else "signless")
    dst = replace(dst, buf=replace(dst.buf, element=byte))

    def scope() -> None:
        lanes = Lanes(build, dst.cols, dst.buf.cols, 4)
        of_halves = everything(build, 2)

        def row(number: SSAValue) -> None:
            scale = load_everywhere(build, fp, number)
            shift = None if offset is None else load_everywhere(build, offset, number)

            def register(at: SSAValue, mask: SSAValue) -> None:
                here = RegisterAccess(build, mask, lanes.full, number, at)
                x = v.op("vmul", here.load(src), scale, mask)
                if shift is not None:
                    x = v.op("vadd", x, shift, mask)
                whole = v.op("vcvt", x, mask, rnd="R", sat="SAT", result=VregType.of(i32))
                x = v.op("vcvt", whole, mask, rnd="R", result=v.type)
                half = v.op("vcvt", x, mask, rnd="R", sat="SAT", part="EVEN", result=VregType.of(f16))
                q = v.op("vcvt", half, of_halves, rnd="R", sat="SAT", part="EVEN", result=VregType.of(byte))
                here.store(dst, q, dist="PK4_B32")

            lanes.each(register)

        build.loop(build.times(dst.rows, build.least(dst.cols, 1)), 1, row)

    build.scope(scope)


@lowering(TDequant)
def tdequant(build: Builder, src: Tile, scale: Tile, offset: Tile, dst: Tile) -> None:
    """(q - offset) * scale, rounded twice."""
    v = Registers(build, f32)

    def scope() -> None:
        lanes = Lanes(build, dst.cols, dst.buf.cols, 4)
        of_source = everything(build, src.kind.bytes)

        def row(number: SSAValue) -> None:
            factor, shift = (load_everywhere(build, tile, number) for tile in (scale, offset))

            def register(at: SSAValue, mask: SSAValue) -> None:
                here = RegisterAccess(build, mask, lanes.full, number, at)
                q = _as_float(v, here.load(src, dist=_WIDENING[src.kind.bytes]), src, of_source, mask)
                here.store(dst, v.op("vmul", v.op("vsub", q, shift, mask), factor, mask))

            lanes.each(register)

        build.loop(build.times(dst.rows, build.least(dst.cols, 1)), 1, row)

    build.scope(scope)


_WIDENING = {1: "UNPK4", 2: "UNPK_B16"}
"""Loads that put a byte, or two, into the low end of a lane of four."""


def _as_float(v: Registers, loaded: SSAValue, src: Tile, of_source: SSAValue, mask: SSAValue) -> SSAValue:
    """Integers of 8 or 16 bits, one in each lane of 32 bits, as floats: exact."""
    wide = with_sign(i32, "unsigned" if src.kind.name.startswith("u") else "signless")
    part = "P0" if src.kind.bytes == 1 else "EVEN"
    whole = v.op("vcvt", loaded, of_source, part=part, result=VregType.of(wide))
    return v.op("vcvt", v.of(i32).cast(whole), mask, rnd="R", result=v.type)
