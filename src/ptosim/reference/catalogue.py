"""The meaning of every instruction: the rooms of this floor, put together."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from ptosim.effects.catalogue import ROOMS
from ptosim.reference.semantics import SEMANTICS, Semantics


@cache
def _with_all_rooms() -> dict[str, Semantics]:
    for room in ROOMS:
        if find_spec(f"ptosim.reference.{room}") is not None:
            import_module(f"ptosim.reference.{room}")
    return SEMANTICS


def semantics_of(name: str) -> Semantics | None:
    """The meaning of an operation by its name, or None while it is pending."""
    return _with_all_rooms().get(name)


def defined() -> frozenset[str]:
    """The names of all operations that have a meaning."""
    return frozenset(_with_all_rooms())
