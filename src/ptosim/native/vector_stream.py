"""Unaligned loads and stores, whose state travels in align values (native/routines/stream.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptosim.effects.element import GRANULE, VECTOR_BYTES, Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.vector_memory import load_mode
from ptosim.effects.vector_stream import primed_granule
from ptosim.language.micro import vector_stream as op
from ptosim.native.build.core import Core
from ptosim.native.build.lowering import Operands, define, lowering
from ptosim.native.build.state import Align
from ptosim.native.ir.context import Register
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I8, I32, I64, Value
from ptosim.native.routines.demanded_lanes import logical_window
from ptosim.native.routines.stream import append, empty, flush
from ptosim.native.vector.numbers import lane_type
from ptosim.native.vector.registers import Mask, register_type, zeroed

# --- loads ------------------------------------------------------------------------------------------------------------


@lowering(op.VLdas)
def vldas(f: FunctionBuilder, core: Core, source: Value) -> Align:
    """The granule that a load stream has read ahead concerns checks only."""
    nothing, granule = empty(f), primed_granule(source)
    return Align(granule, nothing.pending, _content(core, granule)) if core.is_observed else nothing


def _content(core: Core, granule: Value) -> Value:
    """The bytes of a granule; one that UB does not have is told by the load."""
    is_inside = (granule >= 0) & (granule < core.target.memory[Space.UB.value])
    return core.base(Space.UB).at(is_inside.select(granule, 0)).load(I8.vector(GRANULE))


def _loaded(f: FunctionBuilder, core: Core, address: Value, mask: Mask | None, unit: int, element: Element) -> Value:
    if mask is None:
        return core.window("reads", Space.UB, address, VECTOR_BYTES, unit).load(register_type(I8))
    window = logical_window(f, core, address, load_mode(None), unit, mask, element.bytes)
    return zeroed(window.load(register_type(lane_type(element))), mask)


@lowering(op.VLdus, bind=lambda static: {"unit": static.elements["source"].bytes})
def vldus(
    f: FunctionBuilder, core: Core, operands: Operands, static: Static, unit: int, result_element: Element
) -> tuple[Any, ...]:
    """The older form with an updated pointer and no increment goes on by one register."""
    source, increment = operands.source, operands.increment
    ahead = operands.align
    core.suspect(lambda: ahead.start != primed_granule(source))
    core.suspect(lambda: (ahead.data != _content(core, ahead.start)).bitcast(I32) != 0)
    value = _loaded(f, core, source, operands.mask, unit, result_element)
    following = source + (VECTOR_BYTES if increment is None else increment * unit)
    after = vldas(f, core, following)
    return (value, after, following) if "next" in static.present else (value, after)


@lowering(op.UVld, bind=lambda static: {"unit": static.elements["source"].bytes})
def uvld(
    f: FunctionBuilder, core: Core, source: Value, offset: Value, mask: Mask | None, unit: int, result_element: Element
) -> Value:
    return _loaded(f, core, source + offset * unit, mask, unit, result_element)


# --- stores -----------------------------------------------------------------------------------------------------------


define(op.InitAlign.name, empty)


def _store_facts(static: Static) -> dict[str, Any]:
    return {"unit": static.elements["dest"].bytes, "lanes": static.elements["value"].lanes}


@lowering(op.VStus, bind=_store_facts)
def vstus(
    core: Core, align: Align, offset: Value, value: Value, dest: Value, mode: str | None, static: Static, unit: int
) -> Any:
    """The offset is how many elements are stored, and how far the pointer advances."""
    count = offset.signed(I64)
    most = VECTOR_BYTES // unit
    outside = count.compare("ugt", most)
    core.fail(outside, "invalid", f"a register has {most} elements; {{}} of them cannot be stored", count)
    length = outside.select(count.like(0), count) * unit
    after = append(core, align, dest, value, length)
    advanced = dest if mode == "NO_POST_UPDATE" else dest + length
    return (after, advanced) if "next" in static.present else after


@lowering(op.VStu, bind=_store_facts)
def vstu(
    f: FunctionBuilder, core: Core, operands: Operands, mode: str | None, unit: int, lanes: int
) -> tuple[Align, Value]:
    """A whole register: at `base`, or `offset` elements behind the pointer."""
    align, base, offset, value = operands.align, operands.base, operands.offset, operands.value
    whole = f.constant(I64, VECTOR_BYTES)
    if base is not None:
        after = append(core, align, base, value, whole)
        return after, base if operands.update is None else (operands.update != 0).select(base + lanes * unit, base)
    after = append(core, align, operands.dest + offset * unit, value, whole)
    return after, offset + lanes if mode == "POST_UPDATE" else offset


@lowering(op.VStur)
def vstur(core: Core, align: Align, value: Value, dest: Value, mode: str) -> Align:
    """Stores the rest of the last squeeze behind those of earlier ones: SQZN bytes at AR."""
    kept, reached = core.register(Register.SQZN), core.register(Register.AR)
    after = append(core, align, dest + reached, value, kept)
    if mode == "POST_UPDATE":
        core.set_register(Register.AR, (reached + kept).trunc(I32).zext(I64))
    return after


# --- flushes ----------------------------------------------------------------------------------------------------------


@lowering(op.VStas, bind=lambda static: {"unit": static.elements["dest"].bytes})
def vstas(core: Core, align: Align, dest: Value, offset: Value, static: Static, unit: int) -> Value | None:
    """Older text counts the offset in bytes: a flush that fits either way is not complained of."""
    if "next" in static.present:
        flush(core, align, lambda: [dest])
        return dest + offset.signed(I64) * unit
    flush(core, align, lambda: _either_way(dest, offset, unit))
    return None


def _either_way(dest: Value, offset: Value, unit: int) -> Sequence[Value]:
    return dest + offset.signed(I64) * unit, dest + offset.signed(I64)


@lowering(op.VSta, bind=lambda static: {"unit": static.elements["dest"].bytes})
def vsta(core: Core, align: Align, dest: Value, offset: Value, unit: int) -> None:
    flush(core, align, lambda: _either_way(dest, offset, unit))


@lowering(op.VStar)
def vstar(core: Core, align: Align, dest: Value) -> None:
    flush(core, align, lambda: [dest + core.register(Register.AR)])
