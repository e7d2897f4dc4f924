"""Atomic stores to GM: what CTRL says of them, and how a stored value is combined with the one that is there.

Nothing here is atomic between host threads: blocks of a kernel that may store so run one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ptosim.effects.ctrl import ATOMIC_OPERATIONS, ATOMIC_TYPES
from ptosim.effects.element import Element, element
from ptosim.native.build.core import Core, Unit
from ptosim.native.build.global_memory import GmPlace, read_inside, write_inside
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, PTR, Value
from ptosim.native.vector.numbers import lane_type, maximum, minimum, narrow, widen

Combine = Callable[[Value, Value], Value]


def atomic_type(ctrl: Value) -> Value:
    return ctrl.lshr(6) & 7


def is_atomic(ctrl: Value) -> Value:
    code = atomic_type(ctrl)
    return (code != 0) & (code != 7)


def element_bytes(ctrl: Value) -> Value:
    """The width of the elements that an atomic store combines."""
    code = atomic_type(ctrl)
    return ((code == 1) | (code == 4)).select(code.like(4), (code == 5).select(code.like(1), code.like(2)))


def atomic_checks(core: Core, length: Value, ctrl: Value) -> None:
    """An atomic store has whole elements; each type has a message of its own."""
    for code, name in ATOMIC_TYPES.items():
        partial = (length & (element(name).bytes - 1)) != 0
        for operation, chosen in _operations(ctrl):
            message = f"an atomic store of {{}} bytes is no whole number of {operation} {name} elements"
            core.fail(chosen & (atomic_type(ctrl) == code) & partial, "misaligned", message, length)


def _operations(ctrl: Value) -> list[tuple[str, Value]]:
    """Each operation, and whether CTRL names it; the one without a name is an addition."""
    code = ctrl.lshr(9) & 3
    unnamed = {"add": code == 3}
    return [
        (word, (code == number) | unnamed[word] if word in unnamed else code == number)
        for number, word in ATOMIC_OPERATIONS.items()
    ]


def accumulate(f: FunctionBuilder, unit: Unit, dest: Value, source: Value, count: Value, ctrl: Value) -> None:
    """Combine `count` bytes at a host address into those at another, element by element."""
    f.call(unit.routine("accumulate", [PTR, PTR, I64, I64], _accumulate), dest, source, count, ctrl)


def accumulate_inside(f: FunctionBuilder, unit: Unit, place: GmPlace, source: Value, width: Value, ctrl: Value) -> None:
    """One element, of so many bytes, to a place of GM: as far as that lies outside, it is as if there were zeros."""
    room = f.scratch(8)
    read_inside(place, room, width)
    accumulate(f, unit, room, source, width, ctrl)
    write_inside(place, room, width)


def _accumulate(f: FunctionBuilder) -> None:
    dest, source, count, ctrl = f.parameters
    for code, name in ATOMIC_TYPES.items():
        for word, chosen in _operations(ctrl):
            kind = element(name)
            combine, lane = _combination(f, word, kind), lane_type(kind)
            with f.when(chosen & (atomic_type(ctrl) == code)), f.each(count, kind.bytes) as offset:
                place = dest.at(offset)
                place.store(combine(place.load(lane), source.at(offset).load(lane)))


def _combination(f: FunctionBuilder, operation: str, kind: Element) -> Combine:
    if kind.is_float:
        combine = {"add": _sum, "max": partial(maximum, f), "min": partial(minimum, f)}[operation]
        return lambda a, b: narrow(kind, combine(widen(kind, a), widen(kind, b)))
    if operation == "add":
        return _sum
    return lambda a, b: f.intrinsic(f"llvm.s{operation}", a.kind, a, b)


def _sum(a: Value, b: Value) -> Value:
    return a + b
