"""The lowering of every tile operation: the rooms of this floor, put together."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ptosim.language.catalogue import operations
from ptosim.tiles.fifo.fifo_protocols import TAKEN_APART
from ptosim.tiles.lowering import LOWERINGS, Lowering

ROOMS = tuple(
    """
    view copy move rearrange elementwise partial compare convert reduce column_sum expand sort fill philox
    scalar_access quantise histogram sync mx gather scatter table matrix scales
    comm comm_copy collective comm_async
    """.split()
)


@cache
def _complete() -> dict[str, Lowering]:
    for room in ROOMS:
        import_module(f"ptosim.tiles.{room}")
    return LOWERINGS


def lowering_of(name: str) -> Lowering | None:
    """The lowering of an operation by its name, or None where it has none."""
    return _complete().get(name)


def lowered() -> frozenset[str]:
    """The names of all operations that have a lowering, or that an earlier pass takes apart (lower_fifos.py)."""
    apart = {op.name for op in operations() if issubclass(op, TAKEN_APART)}
    return frozenset(_complete()) | apart
