"""Pointers are integers: a byte address on chip, argument and offset in GM. Scalar loads and stores of one element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import pointer as op
from ptosim.reference.core import Core
from ptosim.reference.semantics import semantics


@semantics(op.CastPtr)
def castptr(input: int) -> int:
    return input


@semantics(op.PtrToInt)
def ptrtoint(pointer: int) -> int:
    return pointer


@semantics(op.IntToPtr)
def inttoptr(address: int) -> int:
    return address


@semantics(op.AddPtr, bind=lambda static: {"width": static.elements["pointer"].bytes})
def addptr(pointer: int, offset: int, width: int) -> int:
    return pointer + offset * width


def _place(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["pointer"], "space": static.spaces["pointer"]}


@semantics(op.LoadScalar, op.LdDev, bind=_place)
def load_scalar(core: Core, pointer: int, offset: int, kind: Element, space: Space) -> int:
    """The element as scalar code holds it: an integer by its sign, a float as its bits."""
    address = pointer + offset * kind.bytes
    data = core.read(space, address, kind.bytes, kind.bytes).tobytes()
    return int.from_bytes(data, "little", signed=kind.kind == "signed")


@semantics(op.StoreScalar, op.StDev, bind=_place)
def store_scalar(core: Core, value: int, pointer: int, offset: int, kind: Element, space: Space) -> None:
    bits = value & ((1 << kind.bits) - 1)
    data = np.frombuffer(bits.to_bytes(kind.bytes, "little"), np.uint8)
    core.write(space, pointer + offset * kind.bytes, data, kind.bytes)
