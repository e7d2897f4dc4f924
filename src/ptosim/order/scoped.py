"""Scoped waits: which entries one is sure to wait for.

For every pipe a scoped wait asks for all entries up to the last that touches one of its tiles. An entry that has
nothing to do there has nothing to do at all: all that a tile operation touches is as large as its valid region.
"""

from __future__ import annotations

from ptosim.order.conflict import surely_in
from ptosim.order.model import EntryNode, LoopNode, OrderProgram, TileWait
from ptosim.order.places import Places


def touching(program: OrderProgram, wait: TileWait, loop: LoopNode | None, apart: int) -> int:
    """The entries that are sure to touch the bytes of a wait so many iterations of a loop later."""
    name = loop.name if loop is not None else None
    return sum(1 << entry.number for entry in program.entries if _touches(entry, wait, name, apart))


def awaiting(program: OrderProgram, places: Places) -> dict[EntryNode, list[TileWait]]:
    """For each entry the waits in the same loops whose bytes it is sure to touch when it comes by."""
    waits = [node for node in program.body.walk() if isinstance(node, TileWait)]
    around = {node: places.innermost[places.block_of[node]] for node in (*waits, *program.entries)} if waits else {}
    return {
        entry: [wait for wait in waits if around[wait] is around[entry] and _touches(entry, wait, None, 0)]
        for entry in (program.entries if waits else ())
    }


def _touches(entry: EntryNode, wait: TileWait, loop: int | None, apart: int) -> bool:
    return any(surely_in(touch.range, each, loop, apart) for touch in entry.touches for each in wait.ranges)
