"""Buffers of a workitem, bytes behind LLVM pointers, and values that are put together from parts.

A private address is one in the memory of each workitem; those of UB and GM are what pto.castptr gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.simt import private_memory as op
from ptosim.reference.semantics import semantics
from ptosim.reference.workitems.lifting import on_warps
from ptosim.reference.workitems.memory import WarpAccess, bytes_of_taint, taint_of_bytes, whole
from ptosim.reference.workitems.values import Active, LaneTaint, Values, as_bytes, from_bytes, joined, zeros
from ptosim.reference.workitems.warp import Warp, computed

Taints = dict[str, LaneTaint | None]


@semantics(op.Alloca)
@on_warps(op.Alloca)
def alloca(warp: Warp, active: Active, size: int, buffer: int | None) -> Values:
    does = "loads from a private buffer what it has not stored"
    undefined = 0 if warp.onlooker is None else warp.onlooker.undefined(warp, does, active)
    left = None if buffer is None else warp.core.workitems.buffers.get((buffer, warp.number))
    start = warp.private.allocate(size, None, undefined) if left is None else warp.private.allocate(size, *left)
    if buffer is not None:
        warp.brought[buffer] = start, size
    return np.full(len(active), start, np.int64)


@semantics(op.GetElementPtr)
def getelementptr(base: Values, index: Values | None, constant: int | None, step: int) -> Values:
    return base + (np.int64(constant or 0) if index is None else index) * step


@semantics(op.LLVMIntToPtr)
def inttoptr(address: Values) -> Values:
    return address


@semantics(op.PrivateLoad)
def private_load(
    warp: Warp, active: Active, taints: Taints, pointer: Values, space: Space | None, kind: Element
) -> tuple[Values, LaneTaint | None]:
    warp.use("address", taints["pointer"], active)
    count, is_packed = len(active), kind.kind == "packed"
    if space is not None:
        access = WarpAccess(warp, "reads", space, pointer, active, kind.bytes, kind.bytes)
        taint = access.told()
        value = from_bytes(whole(access.present(), access.lanes, count), kind)
        return value, taint_of_bytes(taint, access.lanes, count, kind.count, is_packed)
    inside = _inside(warp, "reads", pointer, active, kind)
    lanes, cells = _cells(pointer, inside, kind)
    value = from_bytes(whole(warp.private.data[lanes[:, np.newaxis], cells], lanes, count), kind)
    taint = warp.private.taint[lanes[:, np.newaxis], cells]
    return value, taint_of_bytes(taint, lanes, count, kind.count, is_packed)


@semantics(op.PrivateStore)
def private_store(
    warp: Warp, active: Active, taints: Taints, value: Values, pointer: Values, space: Space | None, kind: Element
) -> None:
    warp.use("address", taints["pointer"], active)
    data, marks = as_bytes(value, kind), bytes_of_taint(taints["value"], kind.bytes)
    if space is not None:
        access = WarpAccess(warp, "writes", space, pointer, active, kind.bytes, kind.bytes)
        access.store(data[access.lanes], None if marks is None else marks[access.lanes])
        return
    warp.launch.changes += 1
    inside = _inside(warp, "writes", pointer, active, kind)
    lanes, cells = _cells(pointer, inside, kind)
    warp.private.data[lanes[:, np.newaxis], cells] = data[lanes]
    warp.private.taint[lanes[:, np.newaxis], cells] = 0 if marks is None else marks[lanes]


def _cells(pointer: Values, inside: Active, kind: Element) -> tuple[Any, Any]:
    lanes = np.flatnonzero(inside)
    return lanes, pointer[lanes, np.newaxis] + np.arange(kind.bytes)


def _inside(warp: Warp, verb: str, pointer: Values, active: Active, kind: Element) -> Active:
    """The lanes whose bytes lie in their private memory."""
    odd = active & (pointer % kind.bytes != 0)
    if odd.any():
        start = int(pointer[np.argmax(odd)])
        message = f"{verb} private memory at {start}, which is not a multiple of {kind.bytes}"
        warp.complain("misaligned", message, odd)
    size = warp.private.data.shape[1]
    outside = active & ((pointer < 64) | (pointer > size - kind.bytes))
    if outside.any():
        start = int(pointer[np.argmax(outside)])
        message = f"{verb} private memory outside of the buffers of the workitem, at {start}"
        warp.complain("out-of-bounds", message, outside, (start, start + kind.bytes))
    return active & ~outside


# --- values of several parts ------------------------------------------------------------------------------------------


def _types(static: Static) -> dict[str, Any]:
    return {"given": static.elements["operand"], "wanted": static.elements["result"]}


@semantics(op.LLVMBitcast, bind=_types)
def bitcast(operand: Values, given: Element, wanted: Element) -> Values:
    return from_bytes(as_bytes(operand, given), wanted)


@semantics(op.LLVMUndef)
def undef(warp: Warp, active: Active, taints: Taints, result_element: Element) -> tuple[Values, LaneTaint | None]:
    value = zeros(result_element)
    if warp.onlooker is None:
        return value, None
    return value, np.full(value.shape, warp.onlooker.undefined(warp, "makes an undefined value", active), np.uint8)


@semantics(op.ExtractElement)
def extract(
    warp: Warp, active: Active, taints: Taints, vector: Values, index: Values
) -> tuple[Values, LaneTaint | None]:
    place = _number(warp, active, vector, index)
    rows = np.arange(len(active))
    given = taints["vector"]
    taint = None if given is None else given[rows, place]
    return vector[rows, place], _with_index(taint, taints["index"])


@semantics(op.InsertElement)
def insert(
    warp: Warp, active: Active, taints: Taints, value: Values, vector: Values, index: Values
) -> tuple[Values, LaneTaint | None]:
    place = _number(warp, active, vector, index)
    rows, result = np.arange(len(active)), vector.copy()
    result[rows, place] = value
    taint = np.zeros(vector.shape, np.uint8) if taints["vector"] is None else taints["vector"].copy()
    taint[rows, place] = 0 if taints["value"] is None else taints["value"]
    if (doubt := computed(taints["index"])) is not None:
        taint = np.maximum(taint, doubt[:, np.newaxis])
    return joined(active, result, vector), taint if taint.any() else None


def _number(warp: Warp, active: Active, vector: Values, index: Values) -> Values:
    wrong = active & ((index < 0) | (index >= vector.shape[1]))
    if wrong.any():
        number = int(index[np.argmax(wrong)])
        warp.complain("out-of-bounds", f"element {number} of a vector of {vector.shape[1]}", wrong)
    return np.clip(index, 0, vector.shape[1] - 1)


def _with_index(taint: LaneTaint | None, index: LaneTaint | None) -> LaneTaint | None:
    doubt = computed(index)
    found = [each for each in (taint, doubt) if each is not None]
    return np.maximum.reduce(found) if found else None
