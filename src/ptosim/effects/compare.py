"""Comparisons and selection between registers."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

EFFECTS: dict[str, Effects] = (
    table(Pipe.V, Taint.ELEMENTWISE, {"compare": "vcmp vcmps"})
    | table(Pipe.V, Taint.MOVEMENT, {"select": "vsel"})
    | table(Pipe.V, Taint.CROSSING, {"permute": "vselr vselrv2"})
)
