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


EFFECTS: dict[str, Effects] = named(Effects("pto.simt_launch", Pipe.V, LAUNCH, Taint.NONE)) | table(
    Pipe.S, Taint.MOVEMENT, {WORKITEM: "syncthreads threadfence threadfence_block keep resume"}
)
