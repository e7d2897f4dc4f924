"""Loads with `for %mask`: the whole footprint is read wherever that is harmless, and only a tail that leaves UB asks
which lanes call for it."""

from __future__ import annotations

from ptosim.effects.names import Space
from ptosim.effects.vector_memory import Demand, LoadMode, demand
from ptosim.native.build.core import Core
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, Value
from ptosim.native.observe.hooks import OnChipAccess
from ptosim.native.vector.registers import Mask, as_word, insert, shuffle


def logical_window(
    f: FunctionBuilder, core: Core, address: Value, mode: LoadMode, alignment: int, mask: Mask, width: int
) -> Value:
    """The host address of a footprint of which the active lanes, of `width` bytes, must lie in UB."""
    wanted = demand(mode, width)
    if mask.is_full and mask.width <= width and wanted.is_whole:
        return core.window("reads", Space.UB, address, mode.footprint, alignment)

    def active() -> Value:
        return _called_for(f, mask.lanes(width), wanted)

    access = OnChipAccess("reads", Space.UB, address, mode.footprint, alignment, active, wanted.unit)
    return core.partial_window(access)


def _called_for(f: FunctionBuilder, lanes: Value, wanted: Demand) -> Value:
    """The units of memory that some active lane is filled from."""
    if max(map(len, wanted.lanes)) > 2:
        return _called_for_by_many(f, lanes, wanted)
    none = lanes.kind.lanes  # the first lane of the second operand
    first, second = ([each[n] if n < len(each) else none for each in wanted.lanes] for n in (0, 1))
    called = shuffle(f, first, lanes, lanes.like(0))
    return called if min(second) == none else called | shuffle(f, second, lanes, lanes.like(0))


def _called_for_by_many(f: FunctionBuilder, lanes: Value, wanted: Demand) -> Value:
    word = as_word(lanes)
    called = f.constant(I1.vector(len(wanted.lanes)), 0)
    for number, each in enumerate(wanted.lanes):
        called = insert(called, number, (word & sum(1 << lane for lane in each)) != 0)
    return called
