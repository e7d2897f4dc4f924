"""Pointers are integers: a byte address on chip, argument and offset in GM. Scalar loads and stores of one element."""

from __future__ import annotations

from typing import Any

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import pointer as op
from ptosim.native.build.core import Core
from ptosim.native.build.global_memory import read_inside, write_inside
from ptosim.native.build.lowering import lowering
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Type, Value


@lowering(op.CastPtr)
def castptr(static: Static, input: Value) -> Value:
    """A pointer has 64 bits; an integer is extended by its sign."""
    given, wanted = static.elements["input"], static.elements["result"]
    kind = I64 if "result" in static.spaces else Type(f"i{wanted.bits}")
    unsigned = given.kind == "unsigned" or given.bits == 1
    return input.zext(kind) if unsigned and kind.bits > input.kind.bits else input.signed(kind)


@lowering(op.PtrToInt)
def ptrtoint(pointer: Value) -> Value:
    return pointer


@lowering(op.IntToPtr)
def inttoptr(address: Value) -> Value:
    return address


@lowering(op.AddPtr, bind=lambda static: {"width": static.elements["pointer"].bytes})
def addptr(pointer: Value, offset: Value, width: int) -> Value:
    return pointer + offset * width


def _place(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["pointer"], "space": static.spaces["pointer"]}


@lowering(op.LoadScalar, op.LdDev, bind=_place)
def load_scalar(f: FunctionBuilder, core: Core, pointer: Value, offset: Value, kind: Element, space: Space) -> Value:
    address, stored = pointer + offset * kind.bytes, Type(f"i{8 * kind.bytes}")
    if space is not Space.GM:
        source = core.window("reads", space, address, kind.bytes, kind.bytes)
    else:
        core.touches_global("reads", address, kind.bytes)
        place, _ = core.global_place("reads", address, kind.bytes, kind.bytes)
        source = place.address
        if core.unit.drop:
            source = f.scratch(kind.bytes)
            read_inside(place, source, f.constant(I64, kind.bytes))
    return source.load(stored).trunc(Type(f"i{kind.bits}"))


@lowering(op.StoreScalar, op.StDev, bind=_place)
def store_scalar(
    f: FunctionBuilder, core: Core, value: Value, pointer: Value, offset: Value, kind: Element, space: Space
) -> None:
    address, stored = pointer + offset * kind.bytes, value.zext(Type(f"i{8 * kind.bytes}"))
    if space is not Space.GM:
        core.window("writes", space, address, kind.bytes, kind.bytes).store(stored)
        return
    core.touches_global("writes", address, kind.bytes)
    core.moves()
    place, _ = core.global_place("writes", address, kind.bytes, kind.bytes)
    if not core.unit.drop:
        place.address.store(stored)
        return
    room = f.scratch(kind.bytes)
    room.store(stored)
    write_inside(place, room, f.constant(I64, kind.bytes))
