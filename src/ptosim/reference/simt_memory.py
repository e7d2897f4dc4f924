"""Loads and stores of workitems: one element for each active lane."""

from __future__ import annotations

from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro.pointer import LoadScalar, StoreScalar
from ptosim.language.simt.simt_memory import Ldg, Stg
from ptosim.reference.semantics import semantics
from ptosim.reference.workitems.lifting import on_warps
from ptosim.reference.workitems.memory import WarpAccess, bytes_of_taint, taint_of_bytes, whole
from ptosim.reference.workitems.values import Active, LaneTaint, Values, as_bytes, from_bytes, further
from ptosim.reference.workitems.warp import Warp


def _place(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["pointer"], "space": static.spaces["pointer"]}


def _address(
    warp: Warp, active: Active, pointer: Values, offset: Values, kind: Element, taints: dict[str, LaneTaint | None]
) -> Values:
    for role in ("pointer", "offset"):
        warp.use("address", taints[role], active)
    return further(pointer, offset, kind.bytes)


@semantics(Ldg, bind=_place)
@on_warps(LoadScalar, bind=_place)
def load(
    warp: Warp, active: Active, taints: dict[str, LaneTaint | None], pointer: Values, offset: Values, kind: Element,
    space: Space,
) -> tuple[Values, LaneTaint | None]:  # fmt: skip
    addresses = _address(warp, active, pointer, offset, kind, taints)
    access = WarpAccess(warp, "reads", space, addresses, active, kind.bytes, kind.bytes)
    taint, count = access.told(), len(active)
    value = from_bytes(whole(access.present(), access.lanes, count), kind)
    return value, taint_of_bytes(taint, access.lanes, count, kind.count, kind.kind == "packed")


@semantics(Stg, bind=_place)
@on_warps(StoreScalar, bind=_place)
def store(
    warp: Warp, active: Active, taints: dict[str, LaneTaint | None], value: Values, pointer: Values, offset: Values,
    kind: Element, space: Space,
) -> None:  # fmt: skip
    addresses = _address(warp, active, pointer, offset, kind, taints)
    access = WarpAccess(warp, "writes", space, addresses, active, kind.bytes, kind.bytes)
    marks = bytes_of_taint(taints["value"], kind.bytes)
    data = as_bytes(value, kind)[access.lanes]
    access.store(data, None if marks is None else marks[access.lanes])
