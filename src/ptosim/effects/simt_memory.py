"""Loads and stores of a workitem."""

from __future__ import annotations

from typing import Literal

from ptosim.effects.names import Pipe, Space
from ptosim.effects.pointer import element_extent
from ptosim.effects.record import Access, Effects, Static, Taint, named
from ptosim.effects.simt import WORKITEM


def _element(name: str, direction: Literal["read", "write"], timing: str) -> Effects:
    def accesses(static: Static) -> tuple[Access, ...]:
        width = static.elements["pointer"].bytes
        space = static.spaces.get("pointer", Space.GM)
        return (Access(direction, space, "pointer", element_extent(width), width),)

    return Effects(f"pto.{name}", Pipe.S, timing, Taint.MOVEMENT, accesses)


EFFECTS: dict[str, Effects] = named(
    _element("load", "read", "scalar"),
    _element("store", "write", "scalar"),
    _element("ldg", "read", WORKITEM),
    _element("stg", "write", WORKITEM),
)
