"""Vector loads and stores between UB and registers: the tables of the effects floor as shuffles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ptosim.effects import vector_memory
from ptosim.effects.element import BLOCKS, GRANULE, VECTOR_BYTES, Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import vector_memory as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Bind, Operands, lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I64, Type, Value
from ptosim.native.observe.hooks import OnChipAccess
from ptosim.native.routines.demanded_lanes import logical_window
from ptosim.native.vector.numbers import lane_type
from ptosim.native.vector.registers import (
    Mask,
    any_lane,
    extract,
    gather,
    insert,
    masked_store,
    shuffle,
    splat,
    view,
    zeroed,
)
from ptosim.native.vector.tables import distributed, gated, kind_of, unit_of, units


@dataclass(frozen=True)
class _Way:
    """An access as far as it is known before it runs: its mode, the bytes of an element, and whether a moved pointer is
    a result instead of part of the address.
    """

    mode: Any
    unit: int
    post: bool

    def moved(self, base: Value, offset: Value) -> tuple[Value, tuple[Value, ...]]:
        """The address of an access, and the moved pointer where that is a result."""
        further = base + offset * self.unit
        return (base, (further,)) if self.post else (further, ())


def _way(role: str, mode_of: Callable[[Static], Any]) -> Bind:
    return lambda static: {"way": _Way(mode_of(static), static.elements[role].bytes, "next" in static.present)}


# --- loads ------------------------------------------------------------------------------------------------------------


def _loaded(
    f: FunctionBuilder, core: Core, address: Value, mode: vector_memory.LoadMode, mask: Mask | None, element: Element
) -> list[Value]:
    """The registers that a mode fills, their lanes outside of a mask cleared."""
    if mask is None:
        return _filled(f, core.window("reads", Space.UB, address, mode.footprint, mode.alignment), mode)
    window = logical_window(f, core, address, mode, mode.alignment, mask, element.bytes)
    return [zeroed(view(f, value, lane_type(element)), mask) for value in _filled(f, window, mode)]


def _filled(f: FunctionBuilder, window: Value, mode: vector_memory.LoadMode) -> list[Value]:
    size = unit_of(*mode.tables)
    if mode.footprint == size:
        return [splat(f, window.load(kind_of(size, 0)), VECTOR_BYTES // size)]
    if mode.footprint % size or mode.footprint > 4 * VECTOR_BYTES:
        raise AssertionError(f"{mode.name} is no window of whole units")
    memory = window.load(kind_of(size, mode.footprint // size))
    return [distributed(f, units(table, size), memory) for table in mode.tables]


def _loads(result: str, mode_of: Callable[[Static], vector_memory.LoadMode]) -> Bind:
    return lambda static: {**_way("source", mode_of)(static), "loaded": static.elements[result]}


@lowering(op.VLds, bind=_loads("result", lambda static: vector_memory.load_mode(static.words.get("dist"))))
@lowering(op.VLdsX2, bind=_loads("low", lambda static: vector_memory.DUAL_LOAD_MODES[static.words["dist"]]))
def load(
    f: FunctionBuilder, core: Core, source: Value, offset: Value, mask: Mask | None, way: _Way, loaded: Element
) -> tuple[Value, ...]:
    address, following = way.moved(source, offset)
    return *_loaded(f, core, address, way.mode, mask, loaded), *following


@lowering(op.VSld, bind=_way("source", lambda static: vector_memory.STRIDED_LOAD_MODES[static.words["stride"]]))
def vsld(f: FunctionBuilder, core: Core, source: Value, offset: Value, way: _Way) -> Value:
    mode, size = way.mode, way.mode.alignment
    window = core.window("reads", Space.UB, source + offset * way.unit, mode.footprint, size)
    numbers = f.constant(I64.vector(VECTOR_BYTES // size), units(mode.tables[0], size))
    return gather(f, kind_of(size, 0), window, numbers)


# --- stores -----------------------------------------------------------------------------------------------------------


def _stored(
    f: FunctionBuilder, core: Core, address: Value, mode: vector_memory.StoreMode, mask: Mask | None, *values: Value
) -> None:
    size = min(unit_of(mode.source), _gate_unit(mode))
    order = units(mode.source, size)
    registers = [view(f, value, kind_of(size, 0)) for value in values]
    # units at their places: what lies between is not stored
    data = shuffle(f, [max(0, place) for place in order], *registers)
    gates = mode.gate[::size]
    if mask is not None and vector_memory.ALWAYS not in gates:
        active = gated(f, mask, gates)
        masked_store(f, core.masked_window(address, active, size, mode.alignment), data, active)
        return
    written = [int(place != vector_memory.NOTHING) for place in order]
    lanes = f.constant(I1.vector(len(written)), 1 if all(written) else written)
    some = None if all(written) else lambda: lanes
    access = OnChipAccess("writes", Space.UB, address, mode.footprint, mode.alignment, some, size)
    masked_store(f, core.whole_window(access), data, lanes)


def _gate_unit(mode: vector_memory.StoreMode) -> int:
    """The largest unit of memory that one predicate bit enables as a whole."""
    sizes = (size for size in (8, 4, 2, 1) if mode.footprint % size == 0)
    return next(
        size for size in sizes if all(len(set(mode.gate[at : at + size])) == 1 for at in range(0, mode.footprint, size))
    )


@lowering(op.VSts, bind=_way("dest", vector_memory.store_mode_of))
def vsts(
    f: FunctionBuilder, core: Core, value: Value, dest: Value, offset: Value, mask: Mask | None, way: _Way
) -> tuple[Value, ...]:
    address, following = way.moved(dest, offset)
    _stored(f, core, address, way.mode, mask, value)
    return following


@lowering(op.VStsX2, bind=_way("dest", lambda static: vector_memory.DUAL_STORE_MODES[static.words["dist"]]))
def vstsx2(
    f: FunctionBuilder, core: Core, low: Value, high: Value, dest: Value, offset: Value, mask: Mask, way: _Way
) -> None:
    _stored(f, core, dest + offset * way.unit, way.mode, None, low, high)


@lowering(op.VSst, bind=_way("dest", lambda static: vector_memory.STRIDED_STORE_MODES[static.words["stride"]]))
def vsst(f: FunctionBuilder, core: Core, value: Value, dest: Value, offset: Value, way: _Way) -> None:
    _stored(f, core, dest + offset * way.unit, way.mode, None, value)


# --- blocks at equal distances ----------------------------------------------------------------------------------------


def _blocks(f: FunctionBuilder, static: Static, base: Value, operands: Operands) -> tuple[Value, Value]:
    """The addresses of the 8 blocks, <8 x i64>, and the pointer advanced by the repeat stride."""
    strides = {role: getattr(operands, role) for role in ("control", "block_stride", "repeat_stride")}
    wide = Operands(**{role: value.zext(I64) for role, value in strides.items() if value is not None})
    starts = f.poison(I64.vector(BLOCKS))
    for number, offset in enumerate(vector_memory.block_offsets(wide, static)):
        starts = insert(starts, number, base + offset)
    return starts, base + vector_memory.block_strides(wide, static)[1] * GRANULE


def _of_block(f: FunctionBuilder, vector: Value, number: int) -> Value:
    lanes = vector.kind.lanes // BLOCKS
    return shuffle(f, range(number * lanes, (number + 1) * lanes), vector)


@lowering(op.VSldb)
def vsldb(f: FunctionBuilder, core: Core, operands: Operands, source: Value, mask: Mask, static: Static) -> Any:
    """A block of which any predicate bit is set is loaded; the others are zero."""
    core.aligned("reads", Space.UB, source, GRANULE)
    starts, advanced = _blocks(f, static, source, operands)
    groups = mask.bits.bitcast(Type(f"i{mask.bits.kind.lanes // BLOCKS}", BLOCKS))
    active = groups != 0
    value = core.granules(starts, active)
    return (value, advanced) if "next" in static.present else value


@lowering(op.VSstb)
def vsstb(
    f: FunctionBuilder, core: Core, operands: Operands, value: Value, dest: Value, mask: Mask, static: Static
) -> Any:
    """Each element by its own lane of the mask."""
    core.aligned("writes", Space.UB, dest, GRANULE)
    starts, advanced = _blocks(f, static, dest, operands)
    lanes = mask.for_lanes_of(value.kind)
    active = lanes.bitcast(Type(f"i{lanes.kind.lanes // BLOCKS}", BLOCKS)) != 0
    full = any_lane(lanes ^ True) ^ True
    places = core.lanes("writes", starts, active, GRANULE, together=full, units=lanes)
    for number in range(BLOCKS):
        window = core.base(Space.UB).at(extract(places, number))
        masked_store(f, window, _of_block(f, value, number), _of_block(f, lanes, number))
    return advanced if "next" in static.present else None
