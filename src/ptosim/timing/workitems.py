"""The time of a launch of workitems: the static model, from counts of its instructions and accesses.

It is as long as the busiest of four: the schedulers of warps, the longest warp, the port of UB, the way to GM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from ptosim.effects.simt import LATENCIES
from ptosim.target.tables import WorkitemPrice

APPROXIMATE = (
    "approximate: SIMT; little is published of the unit: cycles of launches rank variants by a model of warps, banks "
    "and sectors"
)


class LaunchCounts(Protocol):
    """The counts of a launch in a run."""

    warps: int
    instructions: Counter[tuple[int, str]]
    barriers: int
    ub: Counter[int]
    ub_requests: Counter[int]
    hits: Counter[int]
    misses: Counter[int]
    sectors: int
    stored: int
    ub_atomics: int
    gm_atomics: Counter[int]
    uses_old: bool


def launch_cycles(counts: LaunchCounts, price: WorkitemPrice) -> int:
    """Cycles of one launch."""
    latency: Mapping[str, int] = {name: getattr(price, name) for name in LATENCIES}
    issued, waited = Counter[int](), Counter[int]()
    for (warp, kind), times in counts.instructions.items():
        issued[warp % price.schedulers] += times
        waited[warp] += latency.get(kind, 0) * times
    for warp in range(counts.warps):
        waited[warp] += counts.ub[warp] + price.ub * counts.ub_requests[warp]
        waited[warp] += price.gm_hit * counts.hits[warp] + price.gm_miss * counts.misses[warp]
    moved = price.sector * (counts.sectors + counts.stored) / price.gm_bytes_per_cycle
    bound = max(
        max(issued.values(), default=0),
        max(waited.values(), default=0),
        sum(counts.ub.values()) + price.ub_atomic * counts.ub_atomics,
        round(moved) + _atomics(counts, price),
    )
    return price.launch + bound + price.barrier * counts.barriers


def _atomics(counts: LaunchCounts, price: WorkitemPrice) -> int:
    """Updates of one sector come one after the other, those of others beside them."""
    if not counts.gm_atomics:
        return 0
    each = price.gm_atomic_used if counts.uses_old else price.gm_atomic
    most, total = max(counts.gm_atomics.values()), sum(counts.gm_atomics.values())
    return each * max(most, -(-total // price.gm_atomic_lanes))
