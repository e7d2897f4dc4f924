"""Atomic operations: lanes of a warp apply one after the other, in ascending order; the scalar unit is one lane."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.simt_atomic import atomic_name
from ptosim.language.simt import simt_atomic as op
from ptosim.machine.entry import Site
from ptosim.machine.observer import CROSSED
from ptosim.reference.core import Core
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.port import AccessPlace, Atomic
from ptosim.reference.semantics import define
from ptosim.reference.workitems.arithmetic import greater, lesser
from ptosim.reference.workitems.lifting import enter
from ptosim.reference.workitems.memory import UPDATES, Place, WarpAccess, bytes_of_taint, taint_of_bytes, whole
from ptosim.reference.workitems.values import (
    Active,
    LaneTaint,
    Values,
    as_bytes,
    bits_of,
    floats_of,
    from_bytes,
    part_of,
    rounded,
    wrapped,
)
from ptosim.reference.workitems.warp import Warp

Combine = Callable[[Values, Values, Values, Element], Values]
"""(old, compare, value) -> new, of numbers of one type."""


def _sum(sign: int) -> Combine:
    def combine(old: Values, compare: Values, value: Values, kind: Element) -> Values:
        if kind.is_integer:
            return wrapped(old + sign * value, kind)
        return rounded(floats_of(old, kind) + sign * floats_of(value, kind), kind)

    return combine


def _limit(is_greatest: bool) -> Combine:
    def combine(old: Values, compare: Values, value: Values, kind: Element) -> Values:
        if not kind.is_integer:
            return rounded((greater if is_greatest else lesser)(floats_of(old, kind), floats_of(value, kind)), kind)
        a, b = old, value
        if kind.kind == "unsigned":
            a, b = old.view(np.uint64), value.view(np.uint64)  # pyright: ignore[reportAssignmentType]
        return np.where((a > b) == is_greatest, old, value)

    return combine


_COMBINE: dict[str, Combine] = {
    "exch": lambda old, compare, value, kind: value,
    "add": _sum(1),
    "sub": _sum(-1),
    "min": _limit(False),
    "max": _limit(True),
    "and": lambda old, compare, value, kind: old & value,
    "or": lambda old, compare, value, kind: old | value,
    "xor": lambda old, compare, value, kind: old ^ value,
}


def _facts(name: str) -> Callable[[Static], dict[str, Any]]:
    def facts(static: Static) -> dict[str, Any]:
        kind, sign = static.elements["pointer"], static.words.get("signedness")
        return {
            "kind": kind,
            "space": static.spaces["pointer"],
            "update": atomic_name(name, kind.name, sign),
            "combine": _cas if name.endswith("cas") else _COMBINE[name.removeprefix("pto.atomic_")],
            "number": _numbers(part_of(kind), sign),
            "uses_old": static.facts["uses_old"],
        }

    return facts


def _numbers(kind: Element, sign: str | None) -> Element:
    """The type by which the numbers are read."""
    return Element(f"u{kind.name}", kind.bits, "unsigned") if sign == "unsigned" and kind.is_integer else kind


def _cas(old: Values, compare: Values, value: Values, kind: Element) -> Values:
    equal = bits_of(old, kind) == bits_of(compare, kind)
    return np.where(equal if equal.ndim == 1 else equal.all(axis=1, keepdims=True), value, old)


def _read(numbers: Values, number: Element) -> Values:
    return wrapped(numbers, number)


# --- the scalar unit --------------------------------------------------------------------------------------------------


def _one(number: int, kind: Element) -> Values:
    return np.array([number - (1 << 64) if number >= 1 << 63 else number], np.int64)


def _on_scalar_unit(
    core: Core, site: Site, pointer: int, compare: int, value: int, kind: Element, space: Space, update: str,
    combine: Combine, number: Element,
) -> int:  # fmt: skip
    """One step: read and write at once."""
    core.machine.before_load(site, space, pointer, kind.bytes)
    given, expected = _one(value, kind), _one(compare, kind)

    def joined(old: Bytes, row: Bytes) -> Bytes:
        numbers = from_bytes(old.reshape(1, -1), kind)
        new = combine(_read(numbers, number), _read(expected, number), _read(given, number), number)
        return as_bytes(new, kind).reshape(old.shape)

    if not core.holds("writes", space, pointer, kind.bytes, kind.bytes):
        return 0
    place = AccessPlace(space, np.array([pointer]), kind.bytes, kind.bytes, None, True)
    data = core.memories.read(place).copy()  # not through the port: a read of its own would be no atomic access
    core.port.write(place, as_bytes(given, kind), None, Atomic(update, kind.bytes, joined))
    old = int(wrapped(from_bytes(data.reshape(1, -1), kind), kind)[0])
    return old & (1 << kind.bits) - 1 if kind.is_float else old


# --- warps ------------------------------------------------------------------------------------------------------------


def _on_warp(
    warp: Warp, active: Active, taints: dict[str, LaneTaint | None], pointer: Values, compare: Values | None,
    value: Values, kind: Element, space: Space, update: str, combine: Combine, number: Element,
    uses_old: bool,
) -> tuple[Values, LaneTaint | None]:  # fmt: skip
    warp.use("address", taints["pointer"], active)
    access = WarpAccess(warp, UPDATES, space, pointer, active, kind.bytes, kind.bytes)
    if warp.launch.tally is not None:
        warp.launch.tally.update(space, access.starts, uses_old)
    marks = _told(warp, access, value, kind, taints, update)
    old = np.zeros((len(access.starts), kind.bytes), np.uint8)
    for place in access.places:
        for rows in _turns(place.offsets):
            which, cells = place.which[rows], place.cells(kind.bytes)[rows]
            lanes = access.lanes[which]
            found = place.memory[cells]
            numbers = _read(from_bytes(found, kind), number)
            expected = numbers if compare is None else _read(compare[lanes], number)
            new = as_bytes(combine(numbers, expected, _read(value[lanes], number), number), kind)
            warp.launch.changes += int((new != found).any())
            old[which], place.memory[cells] = found, new
    count = len(active)
    result = from_bytes(whole(old, access.lanes, count), kind)
    return result, taint_of_bytes(marks, access.lanes, count, kind.count, kind.kind == "packed")


def _turns(offsets: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Updates of different places at once; of one place, in the order of their lanes."""
    order = np.argsort(offsets, kind="stable")
    heads = np.concatenate(([True], np.diff(offsets[order]) != 0))
    firsts = np.flatnonzero(heads)
    turn = np.arange(len(order)) - np.repeat(firsts, np.diff(np.append(firsts, len(order))))
    for number in range(int(turn.max(initial=-1)) + 1):
        yield order[turn == number]


def _told(
    warp: Warp, access: WarpAccess, value: Values, kind: Element, taints: dict[str, LaneTaint | None], update: str
) -> LaneTaint | None:
    """An observer is told; the taint of the old values."""
    if warp.onlooker is None:
        return None
    found = access.seen()
    word = update.partition(" ")[0]
    given = [
        marks for role in ("compare", "value") if (marks := bytes_of_taint(taints.get(role), kind.bytes)) is not None
    ]
    left = None if found is None or word == "exch" else found
    for marks in given:
        left = marks[access.lanes] if left is None else np.maximum(left, marks[access.lanes])
    if left is not None:
        left = np.where(left != 0, left | np.uint8(CROSSED), np.uint8(0)).astype(np.uint8)
    data = as_bytes(value, kind)
    for place in access.places:
        if len(place.which):
            _tell(warp, access, place, data, left, update)
    return found


def _tell(warp: Warp, access: WarpAccess, place: Place, data: Bytes, left: LaneTaint | None, update: str) -> None:
    assert warp.onlooker is not None
    lanes, cells = access.lanes[place.which], place.cells(access.width)
    warp.onlooker.stored(
        warp,
        access.space,
        access.starts[place.which],
        data[lanes],
        lanes,
        lambda: place.memory[cells].reshape(-1),
        None if left is None else left[place.which],
        update,
    )


_SHARED = ("kind", "space", "update", "combine", "number")
_COUNTED = (*_SHARED, "uses_old")
for _operation in (*op.OPERATIONS, op.AtomicCas):
    _name = _operation.name
    _roles = ("pointer", "compare", "value") if _operation is op.AtomicCas else ("pointer", "value")

    def _scalar(*given: Any, has_compare: bool = "compare" in _roles) -> int:
        full: list[Any] = [*given[:3], *([] if has_compare else [0]), *given[3:]]
        return _on_scalar_unit(*full)

    def _warp(*given: Any, has_compare: bool = "compare" in _roles) -> Any:
        full: list[Any] = [*given[:4], *([] if has_compare else [None]), *given[4:]]
        return _on_warp(*full)

    define(_name, _scalar, _facts(_name), ("core", "site", *_roles, *_SHARED))
    enter(_name, _warp, ("warp", "active", "taints", *_roles, *_COUNTED), _facts(_name))
