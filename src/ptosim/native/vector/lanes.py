"""Operations on lanes for several rooms: results at the front of a register, prefix sums, counting and finding
lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptosim.effects.element import VECTOR_BYTES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I8, I64, Type, Value
from ptosim.native.vector.registers import any_lane, counted, lane_bytes, register_type, shuffle

LANES_AT_ONCE = 8
"""The number of lanes in one round of a loop over lanes."""


def chosen(active: Value, lanes: Value, otherwise: Value) -> Value:
    """The lanes where they are active, and those of another register elsewhere."""
    return lanes if active.text == "splat (i1 true)" else active.select(lanes, otherwise)


def at_the_front(f: FunctionBuilder, values: Value) -> Value:
    """A register that begins with these values; its other lanes are zero."""
    count, lanes = values.kind.lanes, register_type(values.kind.element).lanes
    return shuffle(f, [*range(count), *[count] * (lanes - count)], values, values.like(0))


def half_of(f: FunctionBuilder, vector: Value, which: Value) -> Value:
    """The low half of the lanes where a number is 0, else the high one."""
    half = vector.kind.lanes // 2
    low, high = shuffle(f, range(half), vector), shuffle(f, range(half, 2 * half), vector)
    return (which == 0).select(low, high)


def prefix_sums(f: FunctionBuilder, vector: Value) -> Value:
    """Each lane and all lanes before it, added."""
    lanes, step = vector.kind.lanes, 1
    while step < lanes:
        vector = vector + moved_up(f, vector, step)
        step *= 2
    return vector


def moved_up(f: FunctionBuilder, vector: Value, count: int) -> Value:
    """Lanes at higher numbers; zeros come in below."""
    lanes = vector.kind.lanes
    return shuffle(f, [*[lanes] * count, *range(lanes - count)], vector, vector.like(0))


def count_lanes(f: FunctionBuilder, condition: Value) -> Value:
    """In how many lanes a condition holds, i64."""
    return counted(f, "llvm.ctpop", condition)


def first_lane(f: FunctionBuilder, condition: Value) -> Value:
    """The lowest lane in which a condition holds, i64; 0 where there is none."""
    place = counted(f, "llvm.cttz", condition, f.constant(I1, 0))
    return any_lane(condition).select(place, 0)


Step = Callable[[Value, Value, list[Value]], Sequence[Value]]  # (lane, active as i8, carried) -> carried


def each_lane(f: FunctionBuilder, vector: Value, active: Value, carried: Sequence[Value], step: Step) -> list[Value]:
    """One lane after the other, in a loop: its integer value and whether it is active, 0 or 1."""
    size = lane_bytes(vector.kind)
    lanes = f.scratch(2 * VECTOR_BYTES)
    flags = lanes.at(VECTOR_BYTES)
    lanes.store(vector, 64)
    flags.store(active.zext(I8), 64)

    def rounds(index: Value, values: list[Value]) -> Sequence[Value]:
        for number in range(LANES_AT_ONCE):
            lane = lanes.at(index * size).at(number * size).load(Type(f"i{8 * size}"), size)
            values = list(step(lane, flags.at(index).at(number).load(I8), values))
        return values

    start = f.constant(I64, 0)
    return f.for_loop(start, vector.kind.lanes, LANES_AT_ONCE, carried, rounds)
