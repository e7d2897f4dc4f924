"""Rearrangement of lanes: interleave, squeeze, pack, unpack. Bits are moved, never computed with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.effects.element import VECTOR_BYTES, Element
from ptosim.language.micro import rearrange as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import given, lowering
from ptosim.native.ir.context import Register
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, Type, Value
from ptosim.native.vector.lanes import at_the_front, count_lanes, each_lane, half_of, moved_up, prefix_sums
from ptosim.native.vector.numbers import bits_of, lane_type
from ptosim.native.vector.registers import lane_bytes, prefix_mask, shuffle, zeroed

Move = Callable[[FunctionBuilder, Value, Value, int], Value]

# --- interleaving -----------------------------------------------------------------------------------------------------


def _interleaved(f: FunctionBuilder, lhs: Value, rhs: Value, half: int) -> Value:
    lanes = lhs.kind.lanes
    first = half * lanes // 2
    table = [lane + side for lane in range(first, first + lanes // 2) for side in (0, lanes)]
    return shuffle(f, table, bits_of(lhs), bits_of(rhs))


def _separated(f: FunctionBuilder, lhs: Value, rhs: Value, half: int) -> Value:
    return shuffle(f, range(half, 2 * lhs.kind.lanes, 2), bits_of(lhs), bits_of(rhs))


@lowering(op.VIntlv, bind=given(move=_interleaved))
@lowering(op.VDintlv, bind=given(move=_separated))
def both_halves(f: FunctionBuilder, lhs: Value, rhs: Value, move: Move) -> tuple[Value, Value]:
    return move(f, lhs, rhs, 0), move(f, lhs, rhs, 1)


@lowering(op.VIntlvV2, bind=given(move=_interleaved))
@lowering(op.VDintlvV2, bind=given(move=_separated))
def one_half(f: FunctionBuilder, lhs: Value, rhs: Value, part: str, move: Move) -> Value:
    return move(f, lhs, rhs, int(part == "HIGHER"))


# --- squeezing --------------------------------------------------------------------------------------------------------


@lowering(op.VSqz)
def vsqz(f: FunctionBuilder, core: Core, input: Value, active: Value) -> Value:
    """The active lanes moved together, in order; SQZN becomes the bytes they take."""
    lanes = bits_of(input)
    size = lane_bytes(lanes.kind)
    # Every lane is written behind those that were kept, also an inactive one: the next lane overwrites it, or the end.
    room = f.scratch(VECTOR_BYTES)

    def keep(lane: Value, flag: Value, carried: list[Value]) -> Sequence[Value]:
        (kept,) = carried
        room.at(kept).store(lane, size)
        return [kept + (flag.zext(I64) * size)]

    (kept,) = each_lane(f, lanes, active, [f.constant(I64, 0)], keep)
    core.set_register(Register.SQZN, kept)
    count = kept.udiv(size).trunc(I32)
    return zeroed(room.load(lanes.kind, 64), prefix_mask(f, size, count))


@lowering(op.VUsqz)
def vusqz(f: FunctionBuilder, core: Core, input: Value, active: Value) -> Value:
    """The number of active lanes before this one; the input only gives the type."""
    core.set_register(Register.SQZN, count_lanes(f, active) * lane_bytes(input.kind))
    return prefix_sums(f, moved_up(f, active.zext(input.kind.element), 1))


# --- packing ----------------------------------------------------------------------------------------------------------


@lowering(op.VPack)
def vpack(f: FunctionBuilder, input: Value, part: str, result_element: Element) -> Value:
    """The low half of every lane, into one half of the result; the other half is zero."""
    packed = at_the_front(f, input.trunc(lane_type(result_element)))
    lanes = packed.kind.lanes
    return packed if part == "LOWER" else shuffle(f, [*range(lanes // 2, lanes), *range(lanes // 2)], packed)


@lowering(op.VSunpack, bind=given(extend="sext"))
@lowering(op.VZunpack, bind=given(extend="zext"))
def unpack(f: FunctionBuilder, input: Value, part: Value, extend: str) -> Value:
    return half_of(f, input, part).convert(extend, Type(f"i{2 * input.kind.bits}"))
