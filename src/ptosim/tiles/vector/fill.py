"""Tiles that are made of numbers alone: counting, and triangles of ones. Random words are in philox.py."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import SSAValue

from ptosim.language.builder import Builder, Number
from ptosim.language.tile.tile_vector_fill import TCi, TTri
from ptosim.tiles.element_layout import element_offset
from ptosim.tiles.lowering import lowering
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import Lanes, RegisterAccess, tail
from ptosim.tiles.vector.registers import Registers, as_element, signless


@lowering(TCi)
def tci(build: Builder, scalar: SSAValue, dst: Tile, descending: bool) -> None:
    """The scalar unit writes one number after the other into row 0."""
    type_ = signless(dst.element)
    first = as_element(build, scalar, type_)
    step, pointer = build.constant(-1 if descending else 1, type_), dst.pointer(build, type_)

    def number(at: SSAValue, value: SSAValue) -> Sequence[SSAValue]:
        build.store_scalar(value=value, pointer=pointer, offset=build.index(element_offset(build, dst, 0, at)))
        return [build.op("arith.addi", lhs=value, rhs=step, result=type_)]

    build.loop(build.times(dst.cols, build.least(dst.rows, 1)), 1, number, first)


@lowering(TTri)
def ttri(build: Builder, scalar: SSAValue, dst: Tile, upperOrLower: int) -> None:
    """A row begins with ones (lower) or zeros (upper), as many as follow from its number, and goes on with the others.

    The lower triangle has j <= i + scalar, so i + scalar + 1 ones; the upper one i + scalar zeros.
    """
    diagonal = scalar if isinstance(scalar.type, IndexType) else as_element(build, scalar, i64)
    in_front = build.plus(build.index(diagonal), 1 - upperOrLower)

    def scope() -> None:
        v = Registers(build, dst.element)
        front, behind = v.every(1 - upperOrLower), v.every(upperOrLower)
        lanes = Lanes(build, dst.cols, dst.buf.cols, dst.kind.bytes)

        def row(number: SSAValue) -> None:
            def register(at: SSAValue, mask: SSAValue, rest: SSAValue) -> Sequence[SSAValue]:
                leading, rest = tail(build, rest, dst.kind.bytes)
                value = v.select(leading, front, behind)
                RegisterAccess(build, mask, lanes.full, number, at).store(dst, value)
                return [rest]

            lanes.each(register, _clipped(build, build.plus(in_front, number), dst.buf.cols))

        build.loop(dst.rows, 1, row)

    build.scope(scope)


def _clipped(build: Builder, count: Number, most: int) -> SSAValue:
    return build.cast(build.least(build.most(count, 0), most), i32)
