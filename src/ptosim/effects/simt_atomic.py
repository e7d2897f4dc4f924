"""Atomic operations: an element is read and written at once."""

from __future__ import annotations

from typing import Any

from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Extent, Static, Taint, named

NAMES = tuple(f"pto.atomic_{word}" for word in "exch add sub min max and or xor cas".split())


def _accesses(static: Static) -> tuple[Access, ...]:
    width = static.elements["pointer"].bytes
    space = static.spaces.get("pointer", Space.GM)

    def extent(operands: Any) -> Extent:
        return 0, width

    return tuple(Access(direction, space, "pointer", extent, width) for direction in ("read", "write"))


EFFECTS: dict[str, Effects] = named(*(Effects(name, Pipe.S, "scalar", Taint.CROSSING, _accesses) for name in NAMES))


def atomic_name(name: str, kind: str, sign: str | None = None) -> str:
    """The name of an update, by which two of them are compared: `add f32`, as copies with atomics have it."""
    word = name.removeprefix("pto.atomic_")
    return f"{word} u{kind[1:]}" if sign == "unsigned" and word in ("min", "max") else f"{word} {kind}"
