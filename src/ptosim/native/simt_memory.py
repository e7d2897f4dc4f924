"""Loads and stores of workitems."""

from __future__ import annotations

from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro.pointer import AddPtr, LoadScalar, StoreScalar
from ptosim.language.simt.simt_memory import Ldg, Stg
from ptosim.native.build.lowering import lowering
from ptosim.native.ir.values import Value
from ptosim.native.workitems.access import further, further_row, load, places, store
from ptosim.native.workitems.values import WarpValue
from ptosim.native.workitems.warp_body import WarpBody, on_warps
from ptosim.native.workitems.warp_core import WarpCore


def _place(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["pointer"], "space": static.spaces["pointer"]}


@lowering(Ldg, bind=_place)
@on_warps(LoadScalar, bind=_place)
def load_element(core: WarpCore, pointer: Value, offset: Value, kind: Element, space: Space) -> WarpValue:
    return load(core, space, places(core, pointer, offset, kind.bytes), kind)


@on_warps(AddPtr, bind=lambda static: {"width": static.elements["pointer"].bytes})
def addptr(core: WarpCore, warp: WarpBody, pointer: Value, offset: Value, width: int) -> Value:
    found = further(core.f, pointer, offset, width)
    start, far = warp.row_of(pointer), warp.row_of(offset)
    if found.kind.lanes and start is not None and far is not None:
        warp.rows[found.text] = further_row(start, far, width)
    return found


@lowering(Stg, bind=_place)
@on_warps(StoreScalar, bind=_place)
def store_element(core: WarpCore, value: WarpValue, pointer: Value, offset: Value, kind: Element, space: Space) -> None:
    store(core, space, places(core, pointer, offset, kind.bytes), value, kind)
