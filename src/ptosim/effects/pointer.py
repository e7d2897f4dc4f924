"""Pointer arithmetic, and loads and stores of single elements by the scalar unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named, table

CAST = "pto.castptr"
"""The instruction that makes a pointer of an address."""


def element_extent(width: int) -> Callable[[Any], Extent]:
    """One element, `offset` elements behind the pointer."""

    def extent(operands: Any) -> Extent:
        low = operands.offset * width
        return low, low + width

    return extent


def _scalar(name: str, direction: Literal["read", "write"]) -> Effects:
    def accesses(static: Static) -> tuple[Access, ...]:
        width = static.elements["pointer"].bytes
        space = static.spaces.get("pointer", Space.GM)
        return (Access(direction, space, "pointer", element_extent(width), width),)

    return Effects(f"pto.{name}", Pipe.S, "scalar", Taint.MOVEMENT, accesses)


EFFECTS: dict[str, Effects] = table(Pipe.S, Taint.NONE, {"scalar": "castptr addptr ptrtoint inttoptr"}) | named(
    _scalar("load_scalar", "read"),
    _scalar("ld_dev", "read"),
    _scalar("store_scalar", "write"),
    _scalar("st_dev", "write"),
)
