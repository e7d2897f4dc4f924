"""The lowering of every instruction: the rooms of this floor, put together."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from ptosim.effects.catalogue import ROOMS
from ptosim.native.build.lowering import LOWERINGS, Lowering


@cache
def _with_all_rooms() -> dict[str, Lowering]:
    for room in ROOMS:
        if find_spec(f"ptosim.native.{room}") is not None:
            import_module(f"ptosim.native.{room}")
    return LOWERINGS


def lowering_of(name: str) -> Lowering | None:
    """The lowering of an operation by its name, or None while it is pending."""
    return _with_all_rooms().get(name)


def lowered() -> frozenset[str]:
    """The names of all operations that have a lowering."""
    return frozenset(_with_all_rooms())
