"""Launches of workitems, and what orders workitems: a launch is one entry of V, its body reaches what it likes."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, named, table

WARP = 32
"""Workitems that execute one instruction together."""
LAUNCH, WORKITEM = "launch", "workitem"
"""Timing classes: a whole launch, and an instruction of a warp."""
HANDOVER = 100_000
"""Rounds of loops after which a warp that still runs lets others go on."""


SIMT_LAUNCH = "pto.simt_launch"
"""The operation whose entry may let other cores go first."""

EFFECTS: dict[str, Effects] = named(Effects(SIMT_LAUNCH, Pipe.V, LAUNCH, Taint.NONE)) | table(
    Pipe.S, Taint.MOVEMENT, {WORKITEM: "syncthreads threadfence threadfence_block keep resume"}
)

COUNTED = (
    *("workitems", "warps", "instructions", "active_lanes"),
    *("ub_requests", "ub_cycles", "gm_requests", "gm_sectors"),
)
"""The counts of a launch that a profile shows."""
ACCESS = "access"
LATENCIES = ("integer", "float", "convert", "special", "shuffle", "reduce")
"""The class of latency of an instruction of a warp."""
_OF_NAME = {
    "float": "addf subf mulf negf maximumf minimumf maxnumf minnumf cmpf absf fma fmin fmax ceil floor rint round",
    "convert": "convert mulhi mul_i32toi64 sitofp uitofp fptosi fptoui extf truncf",
    "special": "sqrt exp log pow sin cos divf remf divsi divui remsi remui floordivsi ceildivsi ceildivui",
    "shuffle": "shuffle_idx shuffle_up shuffle_down shuffle_bfly vote_all vote_any vote_uni vote_ballot",
    "reduce": "redux_add redux_max redux_min",
}
_LATENCY = {name: latency for latency, names in _OF_NAME.items() for name in names.split()}


def latency_class(name: str) -> str:
    """By the name of an operation; accesses have their own."""
    if name.startswith(("pto.load", "pto.store", "pto.ldg", "pto.stg", "pto.atomic_")):
        return ACCESS
    return _LATENCY.get(name.partition(".")[2], "integer")
