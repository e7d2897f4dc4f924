"""Atomic operations: lanes of a warp one after the other, in ascending order; the scalar unit is one lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.names import GM, Space
from ptosim.effects.record import Static
from ptosim.effects.simt import WARP
from ptosim.language.simt import simt_atomic as op
from ptosim.native.build.core import Core, Unit
from ptosim.native.build.global_memory import GmPlace, leaves_buffer, locate, read_inside, write_inside
from ptosim.native.build.lowering import define
from ptosim.native.ir.context import MEMORIES, WORD_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I1, I32, I64, Type, Value
from ptosim.native.simt_math import greater, lesser
from ptosim.native.vector.numbers import bits_of, lane_type, lanes_as, narrow, widen
from ptosim.native.workitems.access import aligned, wrong_lanes
from ptosim.native.workitems.memory import ADDRESSES, barred
from ptosim.native.workitems.values import ALL_LANES, PackedLanes, WarpValue, as_bits, spread
from ptosim.native.workitems.warp_body import enter
from ptosim.native.workitems.warp_core import WarpCore

Combine = Callable[[FunctionBuilder, Value, Value, Value], Value]
"""(old, compare, value) -> new, of whole elements as integers."""


def _facts(name: str) -> Callable[[Static], dict[str, Any]]:
    def facts(static: Static) -> dict[str, Any]:
        kind, sign = static.elements["pointer"], static.words.get("signedness")
        word = name.removeprefix("pto.atomic_")
        return {
            "kind": kind,
            "space": static.spaces["pointer"],
            "update": f"{word}_{'u' if sign == 'unsigned' else ''}{_plain(kind)}",
            "combine": _combination(word, kind, sign == "unsigned"),
        }

    return facts


def _plain(kind: Element) -> str:
    return f"{kind.count}x{kind.part.name}" if kind.part is not None else kind.name


def _combination(word: str, kind: Element, unsigned: bool) -> Combine:
    if word == "cas":
        return lambda f, old, compare, value: (old == compare).select(value, old)
    part = kind.part or kind
    single = _single(word, part, unsigned)

    def combine(f: FunctionBuilder, old: Value, compare: Value, value: Value) -> Value:
        if kind.part is None:
            return single(old, value)
        whole, bits = old.kind, Type(f"i{part.bits}")
        total = old.like(0)
        for number in range(kind.count):
            a, b = (each.lshr(number * part.bits).trunc(bits) for each in (old, value))
            total = total | single(a, b).zext(whole) << number * part.bits
        return total

    return combine


def _single(word: str, kind: Element, unsigned: bool) -> Callable[[Value, Value], Value]:
    def floats(join: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
        def joined(a: Value, b: Value) -> Value:
            x, y = (widen(kind, lanes_as(each, lane_type(kind))) for each in (a, b))
            return bits_of(narrow(kind, join(x, y)))

        return joined

    sign = "u" if unsigned else "s"
    if word in ("min", "max") and kind.is_integer:
        order = f"{sign}{'gt' if word == 'max' else 'lt'}"
        return lambda a, b: a.compare(order, b).select(a, b)
    if word in ("min", "max"):
        return floats(greater if word == "max" else lesser)
    plain: dict[str, Callable[[Value, Value], Value]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "exch": lambda a, b: b,
    }
    return floats(plain[word]) if word in ("add", "sub") and kind.is_float else plain[word]


# --- the scalar unit --------------------------------------------------------------------------------------------------


def _on_scalar_unit(
    f: FunctionBuilder, core: Core, pointer: Value, compare: Value | None, value: Value, kind: Element, space: Space,
    update: str, combine: Combine,
) -> Value:  # fmt: skip
    width = kind.bytes
    if space is not GM:
        place = core.window("writes", space, pointer, width, width)
        old = place.load(value.kind)
        place.store(combine(f, old, old if compare is None else compare, value))
        return old
    core.touches_global("writes", pointer, width)
    core.moves()
    found, _ = core.global_place("writes", pointer, width, width)
    if not core.unit.drop:
        old = found.address.load(value.kind)
        found.address.store(combine(f, old, old if compare is None else compare, value))
        return old
    room = f.scratch(width)
    read_inside(found, room, f.constant(I64, width))
    old = room.load(value.kind)
    room.store(combine(f, old, old if compare is None else compare, value))
    write_inside(found, room, f.constant(I64, width))
    return old


# --- warps ------------------------------------------------------------------------------------------------------------


def _routine(unit: Unit, space: Space, kind: Type, update: str, combine: Combine, is_noted: bool) -> FunctionBuilder:
    """(addresses, active, compare, values) -> lanes outside, old values. `is_noted`: changes are counted."""
    name = f"{space}_{update}{'_noted' * is_noted}"
    if name not in unit.routines:
        lanes = kind.vector(WARP)
        made = unit.module.function(name, (ADDRESSES, I32, lanes, lanes), (I32, lanes), "internal")
        unit.routines[name] = made
        made.finish(*_each(made, unit, space, kind, combine, is_noted))
    return unit.routines[name]


def _each(
    f: FunctionBuilder, unit: Unit, space: Space, kind: Type, combine: Combine, is_noted: bool
) -> tuple[Value, Value]:
    addresses, active, compare, values = f.parameters
    width, size = kind.bits // 8, unit.target.memory[Space.UB.value]
    places = f.slot(I64, WARP, 64)
    places.store(addresses, 64)
    rooms = [f.slot(kind, WARP, 64) for _ in range(3)]
    for room, data in zip(rooms, (compare, values, values.like(0)), strict=True):
        room.store(data, 64)

    def update(lane: Value, at: Value) -> None:
        expected, value = (room.at(lane * width).load(kind) for room in rooms[:2])
        old = at.load(kind)
        new = combine(f, old, expected, value)
        at.store(new)
        rooms[2].at(lane * width).store(old)
        if is_noted:
            changes = f.word(ContextWord.SIMT_CHANGES)
            changes.store(changes.load(I64, WORD_BYTES) + (old != new).zext(I64), WORD_BYTES)

    if space is GM:
        outside = _each_in_gm(f, unit, active, places, width, update)
    else:
        unit.spaces[Space.UB] = size
        outside = as_bits(addresses.compare("ugt", size - width)) & active
        inside, base = active & ~outside, f.base(MEMORIES[Space.UB])
        _each_bit(f, inside, lambda lane: update(lane, base.at(places.at(lane * 8).load(I64, 8))))
    return outside, rooms[2].load(kind.vector(WARP), 64)


def _each_bit(f: FunctionBuilder, active: Value, act: Callable[[Value], None]) -> None:
    """Lane by lane; all of them without asking where all are active."""

    def every() -> None:
        for lane in range(WARP):
            act(f.constant(I64, lane))

    def some() -> None:
        def step(carried: list[Value]) -> Sequence[Value]:
            (left,) = carried
            act(f.intrinsic("llvm.cttz", I32, left, f.constant(I1, 1), overloads=(I32,)).zext(I64))
            return [left & (left - 1)]

        f.while_loop([active], lambda carried: (carried[0] != 0, carried), step)

    f.either(active == ALL_LANES, every, some)


def _each_in_gm(
    f: FunctionBuilder, unit: Unit, active: Value, places: Value, width: int, update: Callable[[Value, Value], None]
) -> Value:
    """Gives the lanes outside."""
    outside = f.slot(I32)
    outside.store(f.constant(I32, 0), 4)
    with f.each(WARP) as lane:
        bit = f.constant(I32, 1) << lane.trunc(I32)
        with f.when((active & bit) != 0):
            pointer = places.at(lane * 8).load(I64, 8)
            place = locate(f, pointer)

            def strays(bit: Value = bit) -> None:
                outside.store(outside.load(I32, 4) | bit, 4)

            def fits(lane: Value = lane, place: GmPlace = place) -> None:
                update(lane, place.address)

            f.either(leaves_buffer(place, 0, width) | barred(f, unit, pointer, pointer), strays, fits)
    return outside.load(I32, 4)


def _on_warp(
    core: WarpCore, pointer: Value, compare: Value | None, value: WarpValue, kind: Element, space: Space, update: str,
    combine: Combine,
) -> WarpValue:  # fmt: skip
    f, warp = core.f, core.warp
    assert warp is not None
    whole = Type(f"i{8 * kind.bytes}")
    addresses = spread(f, pointer)
    given = _whole(f, value, kind, whole)
    expected = given if compare is None else _whole(f, compare, kind, whole)
    aligned(core, VERB, space, addresses, kind.bytes, kind.bytes)
    routine = _routine(core.unit, space, whole, update, combine, warp.turns is not None and warp.turns.may_wait)
    bad, old = f.call(routine, addresses, as_bits(warp.mask), expected, given)
    wrong_lanes(core, VERB, space, addresses, bad, kind.bytes)
    warp.watch.loaded(warp.watch.lanes(core, VERB, space, addresses, kind.bytes, update))
    if space is GM:
        core.moves()
    if kind.part is None:
        return old
    bits = Type(f"i{kind.part.bits}")
    return PackedLanes(tuple(old.lshr(number * kind.part.bits).trunc(bits) for number in range(kind.count)))


VERB = "updates"


def _whole(f: FunctionBuilder, value: WarpValue, kind: Element, whole: Type) -> Value:
    if isinstance(value, Value):
        return spread(f, value)
    assert kind.part is not None
    total = spread(f, value.parts[0]).zext(whole)
    for number, part in enumerate(value.parts[1:], 1):
        total = total | spread(f, part).zext(whole) << number * kind.part.bits
    return total


_SHARED = ("kind", "space", "update", "combine")
for _operation in (*op.OPERATIONS, op.AtomicCas):
    _name = _operation.name
    _has_compare = _operation is op.AtomicCas
    _roles = ("pointer", "compare", "value") if _has_compare else ("pointer", "value")

    def _scalar(*given: Any, has_compare: bool = _has_compare) -> Value:
        full: list[Any] = [*given[:3], *([] if has_compare else [None]), *given[3:]]
        return _on_scalar_unit(*full)

    def _warp(*given: Any, has_compare: bool = _has_compare) -> WarpValue:
        full: list[Any] = [*given[:2], *([] if has_compare else [None]), *given[2:]]
        return _on_warp(*full)

    define(_name, _scalar, _facts(_name), parameters=("f", "core", *_roles, *_SHARED))
    enter(_name, _warp, ("core", *_roles, *_SHARED), _facts(_name))
