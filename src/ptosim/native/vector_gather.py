"""Gathers and scatters: one address per lane or block. Inactive lanes are not touched and, gathered, become zero."""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.effects.element import BLOCKS, GRANULE
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.vector_gather import SCATTER_SOURCE, block_offsets, lane_offsets
from ptosim.language.micro import vector_gather as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Type, Value
from ptosim.native.vector.lanes import first_lane
from ptosim.native.vector.registers import any_lane, gather_at, lane_numbers, shuffle, splat, view


def _active(f: FunctionBuilder, lanes: int, operands: Operands) -> Value:
    """The requests that are made: those of active lanes, or the first so many."""
    if operands.mask is not None:
        bits = operands.mask.lanes(operands.offsets.kind.bits // 8)
        return bits if bits.kind.lanes == lanes else shuffle(f, range(lanes), bits)
    wanted = operands.active_lanes
    # a negative count means none, one beyond the lanes all
    count = f.intrinsic("llvm.smin", I64, wanted, wanted.like(lanes))
    return lane_numbers(f, I64, lanes) < splat(f, count, lanes)


def _starts(f: FunctionBuilder, pointer: Value, offsets: Value, static: Static) -> Value:
    lanes = offsets.kind.lanes
    return lane_offsets(Operands(offsets=offsets.zext(I64)), static) + splat(f, pointer, lanes)


def _stay_within(f: FunctionBuilder, core: Core, operands: Operands, active: Value, static: Static) -> None:
    """Offsets beyond the elements that the instruction says there are: a remark, since they stay in UB."""
    limit = static.integers.get("within")
    if limit is not None:
        offsets = operands.offsets.zext(I64)
        core.suspect(lambda: any_lane(active & (offsets >= splat(f, f.constant(I64, limit), offsets.kind.lanes))))


# --- gathers ----------------------------------------------------------------------------------------------------------


@lowering(op.VGather2, op.VGather2Bc)
def vgather2(f: FunctionBuilder, core: Core, operands: Operands, static: Static) -> Value:
    """Elements that are narrower than their lanes are zero-extended."""
    size, offsets = static.elements["source"].bytes, operands.offsets
    active = _active(f, offsets.kind.lanes, operands)
    _stay_within(f, core, operands, active, static)
    places = core.lanes("reads", _starts(f, operands.source, offsets, static), active, size, size)
    elements = gather_at(f, Type(f"i{8 * size}"), core.base(Space.UB), places).zext(offsets.kind.element)
    return active.select(elements, elements.like(0))


@lowering(op.VGatherB)
def vgatherb(f: FunctionBuilder, core: Core, operands: Operands, static: Static) -> Value:
    """Lane b of the b32 mask, of the offsets and of the count stands for block b."""
    core.aligned("reads", Space.UB, operands.source, GRANULE)
    active = _active(f, BLOCKS, operands)
    used = shuffle(f, range(BLOCKS), operands.offsets).zext(I64)
    starts = block_offsets(Operands(offsets=used), static) + splat(f, operands.source, BLOCKS)
    return core.granules(starts, active, GRANULE)


# --- scatters ---------------------------------------------------------------------------------------------------------


@lowering(op.VScatter)
def vscatter(f: FunctionBuilder, core: Core, operands: Operands, static: Static) -> None:
    """Lanes are stored from the last to the first, so that the lowest one stays where several meet."""
    size = static.elements["value"].bytes
    active = _active(f, operands.offsets.kind.lanes, operands)
    _stay_within(f, core, operands, active, static)
    starts = _starts(f, operands.dest, operands.offsets, static)
    if core.target.rules.scatter_duplicates == "illegal":
        _meetings(f, core, starts, active)
    places = core.lanes("writes", starts, active, size, size, backwards=True)
    kind = Type(f"i{8 * size}")
    elements = shuffle(f, [byte // size for byte in SCATTER_SOURCE[size]], view(f, operands.value, kind))
    _store_backwards(f, core, elements, places, active)


def _store_backwards(f: FunctionBuilder, core: Core, elements: Value, places: Value, active: Value) -> None:
    """A loop: hosts scatter no faster than lane by lane. What an inactive lane holds goes behind the end of UB."""
    lanes, kind = elements.kind.lanes, elements.kind.element
    behind = 1 << (core.target.memory[Space.UB.value] - 1).bit_length()
    addresses, data = f.scratch(lanes * 8), f.slot(elements.kind, 1, 64)
    addresses.store(active.select(places, places.like(behind)), 64)
    data.store(elements, 64)
    base = core.base(Space.UB)
    with f.each(lanes) as number:
        last = lanes - 1 - number
        base.at(addresses.at(last * 8).load(I64, 8)).store(data.at(last * (kind.bits // 8)).load(kind))


def _meetings(f: FunctionBuilder, core: Core, starts: Value, active: Value) -> None:
    """Two lanes that store to one element: of the lowest such address, its two lowest lanes."""
    lanes = starts.kind.lanes
    numbers = lane_numbers(f, I64, lanes)
    room = f.scratch(lanes * 8)
    room.store(starts, 64)
    flags = active.bitcast(Type(f"i{lanes}"))
    farthest = f.constant(I64, (1 << 63) - 1)

    def lane(number: Value, carried: list[Value]) -> Sequence[Value]:
        best, pair = carried
        start = room.at(number * 8).load(I64, 8)
        same = active & (starts == splat(f, start, lanes)) & (numbers > splat(f, number, lanes))
        mine = (flags.lshr(number.convert("zext" if lanes > 64 else "trunc", flags.kind)) & 1) != 0
        better = mine & any_lane(same) & (start < best)
        both = number | (first_lane(f, same) << 16)
        return better.select(start, best), better.select(both, pair)

    best, pair = f.for_loop(f.constant(I64, 0), lanes, 1, [farthest, f.constant(I64, 0)], lane, polls=False)
    message = "lanes {} and {} store to the same element, at ub {}; on a2a3 it is undefined which one stays"
    f.check(best != farthest, core.site("meeting", message), best, pair)
