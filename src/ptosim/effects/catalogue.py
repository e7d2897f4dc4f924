"""Every effects record by operation name: the rooms of this floor, put together."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from ptosim.effects.record import Effects

ROOMS = tuple(
    """
    scalar control pointer scope sync
    dma dma_granules dma_layout configuration
    vector_memory vector_gather vector_stream predicate arithmetic conversion reduction compare rearrange sfu
    system tile_local sim sim_table sim_signal sim_transfer
    cube_load cube_load_raw mad fixpipe fixpipe_raw
    simt simt_lane simt_memory simt_atomic simt_math simt_state private_memory
    """.split()
)


@cache
def effects() -> dict[str, Effects]:
    """All records. A room is a module with a dictionary `EFFECTS`."""
    records: dict[str, Effects] = {}
    for room in ROOMS:
        if find_spec(f"ptosim.effects.{room}") is not None:
            records |= getattr(import_module(f"ptosim.effects.{room}"), "EFFECTS", {})
    return records
