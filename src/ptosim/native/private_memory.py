"""Buffers of a workitem, bytes behind LLVM pointers, and values that are put together from parts.

The private memory of a warp is room on its stack, a row for each lane; an address is a place in the row.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.effects.simt import WARP
from ptosim.language.simt import private_memory as op
from ptosim.language.simt.simt import MOST_WORKITEMS
from ptosim.native.build.lowering import lowering
from ptosim.native.ir.context import KEPT_BYTES, ContextWord
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I32, I64, PTR, Type, Value
from ptosim.native.run.explain import PRIVATE
from ptosim.native.workitems.access import LONGEST, apart, joined, load, pieces, places, store
from ptosim.native.workitems.values import PackedLanes, WarpValue, as_bits, numbers, part_type, spread
from ptosim.native.workitems.warp_body import FIRST_PRIVATE, WarpBody, on_warps
from ptosim.native.workitems.warp_core import WarpCore


@lowering(op.Alloca)
@on_warps(op.Alloca)
def alloca(warp: WarpBody, size: int, buffer: int | None) -> Value:
    start = warp.arena
    warp.arena += size
    if buffer is not None:
        _bring(warp, start, size, buffer)
    elif warp.defined is not None:
        _tell_defined(warp, start, size, 0)
    return warp.f.constant(I64, start)


def _bring(warp: WarpBody, start: int, size: int, buffer: int) -> None:
    """A persistent buffer is copied from where it survives, and back at the end."""
    kept = warp.f.base(ContextWord.WORKITEMS).at(warp.number * (WARP * size) + (KEPT_BYTES + buffer * MOST_WORKITEMS))
    rows = warp.private

    def copied(back: bool) -> None:
        for lane in range(WARP):
            own, other = rows.at(lane * warp.row + start), kept.at(lane * size)
            (other if back else own).copy_from(own if back else other, size)

    copied(back=False)
    if warp.defined is not None:  # the verifier sees that all of it is stored first
        _tell_defined(warp, start, size, -1)
    warp.left.append(lambda: copied(back=True))


def _tell_defined(warp: WarpBody, start: int, size: int, byte: int) -> None:
    assert warp.defined is not None
    for lane in range(WARP):
        warp.defined.at(lane * warp.row + start).fill(byte, size)


@lowering(op.GetElementPtr)
def getelementptr(f: FunctionBuilder, base: Value, index: Value | None, constant: int | None, step: int) -> Value:
    if index is None:
        return base + (constant or 0) * step
    far = index.signed(I64) * step
    return base + far if base.kind.lanes == far.kind.lanes else spread(f, base) + spread(f, far)


@lowering(op.LLVMIntToPtr)
def inttoptr(address: Value) -> Value:
    return address


@lowering(op.PrivateLoad)
def private_load(core: WarpCore, warp: WarpBody, pointer: Value, space: Space | None, kind: Element) -> WarpValue:
    addresses = spread(core.f, pointer)
    if space is not None:
        return load(core, space, places(core, pointer, None, kind.bytes), kind)
    offsets = _offsets(core, warp, "reads", addresses, kind)
    found = _gathered(core.f, warp, warp.private, offsets, kind)
    if warp.defined is not None:
        known = _gathered(core.f, warp, warp.defined, offsets, kind)
        lacking = [as_bits(part != -1) for part in known]
        warp.watch.loaded([reduce(lambda one, other: one | other, lacking) & as_bits(warp.mask)])
    return joined(found, kind)


def _gathered(f: FunctionBuilder, warp: WarpBody, base: Value, offsets: Value, kind: Element) -> list[Value]:
    found: list[Value] = []
    for far, piece in pieces(kind):
        lanes = piece.vector(WARP)
        zero = f.constant(lanes, 0)
        at = _spots(f, base, offsets, far)
        call = f"call {lanes} @llvm.masked.gather.{lanes.mangled}.v{WARP}p0({at}, {warp.mask}, {zero})"
        found.append(f.emit(lanes, call))
    return found


@lowering(op.PrivateStore)
def private_store(
    core: WarpCore, warp: WarpBody, value: WarpValue, pointer: Value, space: Space | None, kind: Element
) -> None:
    addresses = spread(core.f, pointer)
    if space is not None:
        store(core, space, places(core, pointer, None, kind.bytes), value, kind)
        return
    warp.changes()
    offsets = _offsets(core, warp, "writes", addresses, kind)
    for (far, _), data in zip(pieces(kind), apart(core, value, kind), strict=True):
        _scattered(core.f, warp, warp.private, offsets, far, data)
        if warp.defined is not None:
            _scattered(core.f, warp, warp.defined, offsets, far, core.f.constant(data.kind, -1))


def _scattered(f: FunctionBuilder, warp: WarpBody, base: Value, offsets: Value, far: int, data: Value) -> None:
    at = _spots(f, base, offsets, far)
    f.do(f"call void @llvm.masked.scatter.{data.kind.mangled}.v{WARP}p0({data}, {at}, {warp.mask})")


def _spots(f: FunctionBuilder, base: Value, offsets: Value, far: int) -> str:
    places = f.emit(PTR.vector(WARP), f"getelementptr i8, {base}, {offsets + far if far else offsets}")
    return f"<{WARP} x ptr> align 1 {places.text}"


def _offsets(core: WarpCore, warp: WarpBody, verb: str, addresses: Value, kind: Element) -> Value:
    """The places of the elements in the rows of the lanes, checked."""
    f, width = core.f, kind.bytes
    odd = addresses.urem(width) != 0
    message = f"{verb} private memory at {{}}, which is not a multiple of {width}"
    core.fail_in(odd, "misaligned", message, addresses)
    wrong = (addresses < FIRST_PRIVATE) | (addresses > warp.row - width)
    core.fail_in(wrong, PRIVATE, [verb, width], addresses)
    rows = numbers(f, I64, [lane * warp.row for lane in range(WARP)])
    return wrong.select(addresses.like(0), addresses) + rows


# --- values of several parts ------------------------------------------------------------------------------------------


def _types(static: Static) -> dict[str, Any]:
    return {"given": static.elements["operand"], "wanted": static.elements["result"]}


@lowering(op.LLVMBitcast, bind=_types)
def bitcast(core: WarpCore, operand: WarpValue, given: Element, wanted: Element) -> WarpValue:
    parts = list(operand.parts) if isinstance(operand, PackedLanes) else [operand]
    if given.bytes > LONGEST:
        return operand if given.count == wanted.count else _regrouped(parts, given, wanted)
    (whole,) = apart(core, operand, given)
    return joined([whole], wanted)


def _regrouped(parts: list[Value], given: Element, wanted: Element) -> WarpValue:
    """Parts of another width."""
    old, new = 8 * given.bytes // given.count, part_type(wanted)
    if new.bits < old:
        ratio = old // new.bits
        return PackedLanes(tuple(part.lshr(new.bits * n).trunc(new) for part in parts for n in range(ratio)))
    ratio = new.bits // old
    groups = [parts[first : first + ratio] for first in range(0, len(parts), ratio)]
    return PackedLanes(tuple(_one(group, new, old) for group in groups))


def _one(group: list[Value], kind: Type, bits: int) -> Value:
    total = group[0].zext(kind)
    for number, part in enumerate(group[1:], 1):
        total = total | part.zext(kind) << number * bits
    return total


@lowering(op.LLVMUndef)
def undef(f: FunctionBuilder, warp: WarpBody, result_element: Element) -> WarpValue:
    warp.watch.loaded([f.constant(I32, -1)])
    zero = f.constant(part_type(result_element), 0)
    return PackedLanes((zero,) * result_element.count) if result_element.kind == "packed" else zero


@lowering(op.ExtractElement)
def extract(core: WarpCore, vector: PackedLanes, index: Value) -> Value:
    if index.literal is not None and 0 <= index.literal < len(vector.parts):
        return vector.parts[index.literal]
    parts = [spread(core.f, part) for part in vector.parts]
    number = _number(core, index, len(parts))
    found = parts[0]
    for place, part in enumerate(parts[1:], 1):
        found = (number == place).select(part, found)
    return found


@lowering(op.InsertElement)
def insert(core: WarpCore, warp: WarpBody, value: Value, vector: PackedLanes, index: Value) -> PackedLanes:
    if index.literal is not None and 0 <= index.literal < len(vector.parts):
        parts = list(vector.parts)
        parts[index.literal] = value
        return PackedLanes(tuple(parts))
    number = _number(core, index, len(vector.parts))
    new = spread(core.f, value)
    return PackedLanes(
        tuple((number == place).select(new, spread(core.f, part)) for place, part in enumerate(vector.parts))
    )


def _number(core: WarpCore, index: Value, count: int) -> Value:
    number = spread(core.f, index.signed(I64))
    wrong = number.compare("uge", count)
    core.fail_in(wrong, "out-of-bounds", f"element {{}} of a vector of {count}", number)
    return wrong.select((number < 0).select(number.like(0), number.like(count - 1)), number)
