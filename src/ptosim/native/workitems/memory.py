"""Accesses of a warp, one routine for each memory, direction and width: consecutive lanes at once, others gathered
under the mask, and where lanes point into several buffers one after the other. A routine gives the lanes outside."""

from __future__ import annotations

from ptosim.effects.names import GM, Space
from ptosim.effects.simt import WARP
from ptosim.native.build.core import Unit
from ptosim.native.build.global_memory import GmPlace, leaves_buffer, locate, may_access
from ptosim.native.ir.context import MEMORIES
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, PTR, Type, Value
from ptosim.native.observe.hooks import UNOBSERVED
from ptosim.native.vector.registers import extract
from ptosim.native.workitems.values import ALL_LANES, as_bits, from_bits, numbers, spread

ADDRESSES = I64.vector(WARP)


def load_routine(unit: Unit, space: Space, kind: Type) -> FunctionBuilder:
    """(addresses, active) -> lanes outside, lanes."""
    name = f"{space}_loads_{kind.bits}"
    if name not in unit.routines:
        made = unit.module.function(name, (ADDRESSES, I32), (I32, kind.vector(WARP)), "internal")
        unit.routines[name] = made
        addresses, active = made.parameters
        results = (
            _ub(made, unit, addresses, active, kind, None)
            if space is not GM
            else _gm(made, unit, addresses, active, kind, None)
        )
        made.finish(*results)
    return unit.routines[name]


def store_routine(unit: Unit, space: Space, kind: Type) -> FunctionBuilder:
    """(addresses, active, lanes) -> lanes outside."""
    name = f"{space}_stores_{kind.bits}"
    if name not in unit.routines:
        made = unit.module.function(name, (ADDRESSES, I32, kind.vector(WARP)), (I32,), "internal")
        unit.routines[name] = made
        addresses, active, data = made.parameters
        results = (
            _ub(made, unit, addresses, active, kind, data)
            if space is not GM
            else _gm(made, unit, addresses, active, kind, data)
        )
        made.finish(results[0])
    return unit.routines[name]


def _ub(
    f: FunctionBuilder, unit: Unit, addresses: Value, active: Value, kind: Type, data: Value | None
) -> tuple[Value, ...]:
    size, width = unit.target.memory[Space.UB.value], kind.bits // 8
    wrong = addresses.compare("ugt", size - width)
    outside = as_bits(wrong) & active
    inside = active & ~outside
    unit.spaces[Space.UB] = max(unit.spaces.get(Space.UB, 0), 0 if data is None else size)
    base = f.base(MEMORIES[Space.UB])
    confined = wrong.select(addresses.like(0), addresses)
    return outside, *_moved(f, base, confined, inside, kind, data)


def _moved(
    f: FunctionBuilder, base: Value, offsets: Value, inside: Value, kind: Type, data: Value | None
) -> tuple[Value, ...]:
    """Bytes behind a host address, those of lanes that are inside."""
    width = kind.bits // 8
    first = extract(offsets, 0)
    row = numbers(f, I64, [lane * width for lane in range(WARP)])
    consecutive = (as_bits((offsets - spread(f, first)) == row) == ALL_LANES) & (inside == ALL_LANES)
    lanes = kind.vector(WARP)

    def together() -> list[Value]:
        if data is not None:
            base.at(first).store(data)
            return []
        return [base.at(first).load(lanes)]

    def apart() -> list[Value]:
        places = f.emit(PTR.vector(WARP), f"getelementptr i8, {base}, {offsets}")
        mask = from_bits(inside)
        if data is not None:
            f.do(f"call void @llvm.masked.scatter.{lanes.mangled}.v{WARP}p0({data}, {_aligned(places)}, {mask})")
            return []
        zero = f.constant(lanes, 0)
        call = f"call {lanes} @llvm.masked.gather.{lanes.mangled}.v{WARP}p0({_aligned(places)}, {mask}, {zero})"
        return [f.emit(lanes, call)]

    return tuple(f.choose(consecutive, together, apart))


def _aligned(places: Value) -> str:
    return f"<{WARP} x ptr> align 1 {places.text}"


def _gm(
    f: FunctionBuilder, unit: Unit, addresses: Value, active: Value, kind: Type, data: Value | None
) -> tuple[Value, ...]:
    """Most lanes point into one buffer: that of the lowest."""
    width = kind.bits // 8
    lane = f.intrinsic("llvm.cttz", I32, active, f.constant(I1, 0), overloads=(I32,))
    lane = lane.compare("ult", WARP).select(lane, 0)
    first = extract(addresses, lane.zext(I64))
    place = locate(f, first)
    offsets = addresses - spread(f, first - place.offset)
    wrong = offsets.compare("ugt", spread(f, place.size - width)) | spread(f, (place.size < width) | (place.known ^ 1))
    wrong = wrong | spread(f, barred(f, unit, data, first))
    outside = as_bits(wrong) & active
    zero = [] if data is not None else [f.constant(kind.vector(WARP), 0)]

    def alike() -> list[Value]:
        confined = wrong.select(offsets.like(0), offsets)
        return [f.constant(I32, 0), *_moved(f, place.base, confined, active, kind, data)]

    def one_by_one() -> list[Value]:
        return _each(f, unit, addresses, active, kind, data)

    return tuple(
        f.choose(outside == 0, lambda: f.choose(active != 0, alike, lambda: [f.constant(I32, 0), *zero]), one_by_one)
    )


def barred(f: FunctionBuilder, unit: Unit, data: Value | None, pointer: Value) -> Value:
    """Whether an observed kernel has no stand-in for a load from GM, or for a store of data."""
    if unit.observer is UNOBSERVED:
        return f.constant(I1, 0)
    return ~may_access(f, "reads" if data is None else "writes", pointer)


def _each(
    f: FunctionBuilder, unit: Unit, addresses: Value, active: Value, kind: Type, data: Value | None
) -> list[Value]:
    width = kind.bits // 8
    lanes = f.slot(I64, WARP, 64)
    lanes.store(addresses, 64)
    room = f.slot(kind, WARP, 64)
    room.store(data if data is not None else f.constant(kind.vector(WARP), 0), 64)
    result = f.slot(I32)
    result.store(f.constant(I32, 0), 4)
    with f.each(WARP) as lane:
        bit = f.constant(I32, 1) << lane.trunc(I32)
        with f.when((active & bit) != 0):
            pointer = lanes.at(lane * 8).load(I64, 8)
            place = locate(f, pointer)
            own = room.at(lane * width)

            def fits(place: GmPlace = place, own: Value = own) -> None:
                at = place.address
                if data is not None:
                    at.store(own.load(kind))
                else:
                    own.store(at.load(kind))

            def strays(bit: Value = bit) -> None:
                result.store(result.load(I32, 4) | bit, 4)

            f.either(leaves_buffer(place, 0, width) | barred(f, unit, data, pointer), strays, fits)
    return [result.load(I32, 4), *([] if data is not None else [room.load(kind.vector(WARP), 64)])]
