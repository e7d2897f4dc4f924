"""The lowering of every tile operation: the rooms of this floor, put together."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ptosim.language.catalogue import operations
from ptosim.tiles.a2a3.sequence import SEQUENCES
from ptosim.tiles.fifo.fifo_protocols import TAKEN_APART
from ptosim.tiles.lowering import LOWERINGS, Lowering

FOLDERS = {
    "": "view scalar_access sync",
    "moves.": "copy move rearrange gm_table matrix scales",
    "vector.": """
        elementwise partial compare convert reduce column_sum expand sort fill philox quantise histogram mx
        gather scatter
    """,
    "communication.": "comm comm_copy collective comm_async",
    "a2a3.": "elementwise reduce expand rows",
}
"""The modules with lowerings, and those with what operations are on A2/A3, folder by folder."""


@cache
def _complete() -> dict[str, Lowering]:
    for folder, rooms in FOLDERS.items():
        for room in rooms.split():
            import_module(f"ptosim.tiles.{folder}{room}")
    return LOWERINGS


def lowering_of(name: str) -> Lowering | None:
    """The lowering of an operation by its name, or None where it has none."""
    return _complete().get(name)


def sequence_of(name: str) -> Lowering | None:
    """The A2/A3 sequence of an operation, or None where that is not known."""
    _complete()
    return SEQUENCES.get(name)


def lowered() -> frozenset[str]:
    """The names of all operations that have a lowering, or that an earlier pass takes apart (lower_fifos.py)."""
    apart = {op.name for op in operations() if issubclass(op, TAKEN_APART)}
    return frozenset(_complete()) | apart
