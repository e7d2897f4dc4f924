"""Queries of a workitem, and exchanges between the lanes of a warp."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.record import Static
from ptosim.effects.simt import WARP
from ptosim.language.simt import simt_lane as op
from ptosim.machine.observer import CROSSED
from ptosim.reference.semantics import define, semantics
from ptosim.reference.workitems.arithmetic import greater, lesser
from ptosim.reference.workitems.values import Active, LaneTaint, Values, bits_of, floats_of, rounded, wrapped
from ptosim.reference.workitems.warp import LANES, Warp, computed

# --- queries ----------------------------------------------------------------------------------------------------------


def _in_all(number: int) -> Values:
    return np.full(WARP, number, np.int64)


def _clock(warp: Warp, active: Active) -> Values:
    found = warp.clocks.copy()
    warp.clocks[active] += 1
    warp.launch.changes += 1
    return found


def _none(use: str) -> Callable[[Warp, Active], Values]:
    def query(warp: Warp, active: Active) -> Values:
        warp.lint(f"{warp.site.name} is always 0; use {use}", active)
        return _in_all(0)

    return query


def _index(warp: Warp, active: Active) -> Values:
    if warp.core.machine.block_num > 1:
        warp.lint(f"{warp.site.name} is always 0; use pto.get_block_idx", active)
    return _in_all(0)


def _lane_mask(choose: Callable[[Values], Any]) -> Callable[[Warp, Active], Values]:
    masks = np.array([sum(1 << int(lane) for lane in np.flatnonzero(choose(LANES - own))) for own in range(WARP)])
    held = (masks + (1 << 31) & (1 << 32) - 1) - (1 << 31)
    return lambda warp, active: held


def _core_number(warp: Warp, active: Active) -> Values:
    machine = warp.core.machine
    return _in_all(machine.block * machine.subblock_num + machine.subblock)


_QUERIES: Mapping[str, Callable[[Warp, Active], Values]] = {
    **{f"get_tid_{axis}": lambda warp, active, n=n: warp.coordinates[n] for n, axis in enumerate("xyz")},
    **{
        f"get_block_dim_{axis}": lambda warp, active, n=n: _in_all(warp.launch.sizes[n]) for n, axis in enumerate("xyz")
    },
    **{f"get_grid_dim_{axis}": _none("pto.get_block_num") for axis in "xyz"},
    **{f"get_block_idx_{axis}": _index for axis in "xyz"},
    "get_veccoreid": _core_number,
    "get_laneid": lambda warp, active: LANES.astype(np.int64),
    "get_clock32": lambda warp, active: wrapped(_clock(warp, active), Element("i32", 32, "signed")),
    "get_clock64": _clock,
    "get_lanemask_eq": _lane_mask(lambda distance: distance == 0),
    "get_lanemask_lt": _lane_mask(lambda distance: distance < 0),
    "get_lanemask_le": _lane_mask(lambda distance: distance <= 0),
    "get_lanemask_gt": _lane_mask(lambda distance: distance > 0),
    "get_lanemask_ge": _lane_mask(lambda distance: distance >= 0),
}

for _name, _query in _QUERIES.items():
    define(f"pto.{_name}", _query, parameters=("warp", "active"))


# --- votes ------------------------------------------------------------------------------------------------------------


@semantics(op.VoteAll)
def vote_all(condition: Values, active: Active) -> Values:
    return _in_all(int((condition[active] != 0).all()))


@semantics(op.VoteAny)
def vote_any(condition: Values, active: Active) -> Values:
    return _in_all(int((condition[active] != 0).any()))


@semantics(op.VoteUni)
def vote_uni(condition: Values, active: Active) -> Values:
    return _in_all(int(len(np.unique(condition[active])) <= 1))


@semantics(op.VoteBallot)
def vote_ballot(condition: Values, active: Active) -> Values:
    bits = int(((1 << LANES) * ((condition != 0) & active)).sum())
    return _in_all(bits - (1 << 32) if bits >> 31 else bits)


# --- shuffles ---------------------------------------------------------------------------------------------------------


def _by_index(first: Values, own: Values, control: Values, width: int) -> Values:
    return first + control % width


def _up(first: Values, own: Values, control: Values, width: int) -> Values:
    return np.where(own - control < first, own, own - control)


def _down(first: Values, own: Values, control: Values, width: int) -> Values:
    return np.where(own + control > first + width - 1, own, own + control)


def _butterfly(first: Values, own: Values, control: Values, width: int) -> Values:
    return np.where((own ^ control) > first + width - 1, own, own ^ control)


_SOURCES = {"shuffle_idx": _by_index, "shuffle_up": _up, "shuffle_down": _down, "shuffle_bfly": _butterfly}


def _shuffle(source: Callable[[Values, Values, Values, int], Values]) -> Callable[..., Any]:
    def shuffle(
        warp: Warp,
        active: Active,
        taints: dict[str, LaneTaint | None],
        value: Values,
        control: Values,
        width: int | None,
    ) -> tuple[Values, LaneTaint | None]:
        own = LANES.astype(np.int64)
        size = width or WARP
        lanes = source(own - own % size, own, control & (WARP - 1), size)
        asleep = ~active[lanes]
        lanes = np.where(asleep, own, lanes)
        return value[lanes], _shuffled(warp, active, taints, lanes, asleep & active, value)

    return shuffle


def _shuffled(
    warp: Warp, active: Active, taints: dict[str, LaneTaint | None], lanes: Values, asleep: Active, value: Values
) -> LaneTaint | None:
    """A lane that does not take part has nothing to give."""
    if warp.onlooker is None:
        return None
    found = np.zeros(value.shape, np.uint8)
    if (given := computed(taints["value"])) is not None:
        found = given[lanes]
    if (doubt := computed(taints["control"])) is not None:
        found = np.maximum(found, doubt if value.ndim == 1 else doubt[:, np.newaxis])
    if asleep.any():
        number = warp.onlooker.undefined(warp, "shuffles from a lane that does not execute it", asleep)
        found[asleep] = number | CROSSED
    return found if found.any() else None


for _name, _source in _SOURCES.items():
    define(f"pto.{_name}", _shuffle(_source), parameters=("warp", "active", "taints", "value", "control", "width"))


# --- reductions -------------------------------------------------------------------------------------------------------


def _reduced(value: Values, active: Active, join: Callable[[Values, Values], Values]) -> Values:
    """Neighbours first; where one of a pair is absent the other is the result."""
    numbers, present = value, active
    while len(numbers) > 1:
        left, right = numbers[0::2], numbers[1::2]
        has_left, has_right = present[0::2], present[1::2]
        both = join(left, right)
        numbers = np.where(has_left & has_right, both, np.where(has_left, left, right))
        present = has_left | has_right
    return _in_all(int(numbers[0]))


def _element(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["value"]}


@semantics(op.ReduxAdd, bind=_element)
def redux_add(value: Values, active: Active, kind: Element) -> Values:
    def add(a: Values, b: Values) -> Values:
        if kind.is_integer:
            return wrapped(a + b, kind)
        return rounded(floats_of(a, kind) + floats_of(b, kind), kind)

    return _reduced(value, active, add)


def _extreme(is_greatest: bool, value: Values, active: Active, kind: Element, signedness: str | None) -> Values:
    def join(a: Values, b: Values) -> Values:
        if not kind.is_integer:
            return rounded((greater if is_greatest else lesser)(floats_of(a, kind), floats_of(b, kind)), kind)
        x, y = (bits_of(a, kind), bits_of(b, kind)) if signedness == "unsigned" else (a, b)
        return np.where((x > y) == is_greatest, a, b)

    return _reduced(value, active, join)


@semantics(op.ReduxMax, bind=_element)
def redux_max(value: Values, active: Active, kind: Element, signedness: str | None) -> Values:
    return _extreme(True, value, active, kind, signedness)


@semantics(op.ReduxMin, bind=_element)
def redux_min(value: Values, active: Active, kind: Element, signedness: str | None) -> Values:
    return _extreme(False, value, active, kind, signedness)
