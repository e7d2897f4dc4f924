"""Pointers are 64-bit integers: a byte address on chip, argument and offset in GM. Loads and stores of one element."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ptosim.effects.element import Element, element
from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language.micro import pointer as op
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.numeric.integers import signed64, unsigned, wrap
from ptosim.reference.semantics import semantics


def _address_facts(static: Static) -> dict[str, Any]:
    return {"kind": ADDRESS if "result" in static.spaces else static.elements["result"]}


ADDRESS = element("i64")


@semantics(op.CastPtr, bind=_address_facts)
def castptr(input: int, kind: Element) -> int:
    return wrap(input, kind)


@semantics(op.PtrToInt)
def ptrtoint(pointer: int) -> int:
    return pointer


@semantics(op.IntToPtr)
def inttoptr(address: int) -> int:
    return address


@semantics(op.AddPtr, bind=lambda static: {"width": static.elements["pointer"].bytes})
def addptr(core: Core, pointer: int, offset: int, width: int, site: Site) -> int:
    address = signed64(pointer + offset * width)
    if core.wants_lint and address != pointer + offset * width:
        core.lint(f"the address wraps past 2^63: {offset} elements of {width} bytes behind the pointer", site=site)
    return address


def _place(static: Static) -> dict[str, Any]:
    return {"kind": static.elements["pointer"], "space": static.spaces["pointer"]}


@semantics(op.LoadScalar, op.LdDev, bind=_place)
def load_scalar(core: Core, site: Site, pointer: int, offset: int, kind: Element, space: Space) -> int:
    """The element as scalar code holds it: an integer by its sign, a float as its bits."""
    core.machine.before_load(site, space, pointer + offset * kind.bytes, kind.bytes)
    data = core.read(space, pointer + offset * kind.bytes, kind.bytes, kind.bytes).tobytes()
    bits = int.from_bytes(data, "little")
    return bits if kind.is_float else wrap(bits, kind)


@semantics(op.StoreScalar, op.StDev, bind=_place)
def store_scalar(core: Core, site: Site, value: int, pointer: int, offset: int, kind: Element, space: Space) -> None:
    data = np.frombuffer(unsigned(value, kind).to_bytes(kind.bytes, "little"), np.uint8)
    start, width = pointer + offset * kind.bytes, kind.bytes
    if core.machine.gives_way and not core.holds("writes", space, start, width, width):
        return  # otherwise the store would fail, or be left out, when it ends
    core.machine.store(site, space, start, width, partial(core.write, space, start, data, width))
