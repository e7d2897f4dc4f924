"""Indices of elements as the offsets that gathers and scatters take.

An index counts elements of a whole tile. Elements of four bytes take offsets of 32 bits, narrower ones of 16: a 32-bit
index is then taken apart, its upper half choosing one of few ranges of 65536 elements. One that is in none of them is
turned to an address outside of UB, so that the machine reports it.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr, i16, i64
from xdsl.ir import SSAValue

from ptosim.effects.names import Space
from ptosim.language.builder import Builder
from ptosim.language.types import VregType
from ptosim.target import load_target
from ptosim.tiles.moves.tile_window import bits
from ptosim.tiles.tile_values import Tile
from ptosim.tiles.vector.lane_walk import load
from ptosim.tiles.vector.registers import Registers, with_sign
from ptosim.tiles.vector.relayout_by_index import OFFSET_LIMIT, element_pointer

Visit = Callable[[SSAValue, SSAValue, SSAValue, IntegerAttr | None], None]
"""A visit of a pointer, a register of offsets from it, the mask of the lanes that lie there, and the number of
elements that follow.
"""


def each_range(build: Builder, target: str, data: Tile, idx: Tile, at: SSAValue, mask: SSAValue, visit: Visit) -> None:
    """The elements of data that a register of indices names, both tiles of bits; inside a scope."""
    wide, elements = data.kind.bytes == 4, data.storage[0] * data.storage[1]
    if wide or idx.kind.bytes == 2:
        visit(data.pointer(build), _loaded(build, idx, at, mask, wide), mask, IntegerAttr(elements, i64))
        return
    half = with_sign(i16, "unsigned")
    low, high = build.vldsx2(
        source=idx.pointer(build, half),
        offset=build.index(build.times(at, 2)),
        dist="DINTLV_B16",
        mask=mask,
        low=VregType.of(half),
        high=VregType.of(half),
    )
    v = Registers(build, half)
    ranges = -(-elements // OFFSET_LIMIT)
    for number in range(ranges):
        here, first = v.compare("eq", high, number, mask), number * OFFSET_LIMIT
        visit(element_pointer(build, data, first), low, here, IntegerAttr(elements - first, i64))
    capacity = load_target(target).memory[Space.UB]
    outside = build.pointer(build.i64(capacity), data.element, Space.UB, "outside")
    visit(outside, low, v.compare("ge", high, ranges, mask), None)


def _loaded(build: Builder, idx: Tile, at: SSAValue, mask: SSAValue, wide: bool) -> SSAValue:
    """Indices as offsets; narrow ones of wide elements are widened without sign."""
    if wide and idx.kind.bytes == 2:
        return Registers(build, bits(4)).cast(load(build, idx, at, mask, "UNPK_B16"))
    return load(build, idx, at, mask)
