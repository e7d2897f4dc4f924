"""Arrays and structs on the stack of the scalar unit: no memory that another pipe could reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

EFFECTS: dict[str, Effects] = table(
    Pipe.S,
    Taint.NONE,
    {"scalar": "declare_local_array local_array_get local_array_set declare_struct struct_get struct_set"},
)


def position(shape: Sequence[int], indices: Sequence[Any]) -> Any:
    """The number of an element, rows first; a quantity of effects/geometry.py."""
    place: Any = 0
    for extent, index in zip(shape, indices, strict=True):
        place = place * extent + index
    return place


def outside(dimension: int, extent: int) -> str:
    """The message about an index, which stands for `{}`."""
    return f"index {{}} of dimension {dimension} of a local array, which has {extent} elements"
