"""Reductions of a register to one value, to one per 32-byte block, or to one per pair of lanes."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table
from ptosim.effects.requirement import fits

_HISTOGRAM = Taint.reduction("register", results=None, keeps="acc")

EFFECTS: dict[str, Effects] = (
    table(Pipe.V, Taint.reduction("register"), {"reduce_add": "vcadd", "reduce_minmax": "vcbmax vcbmin"})
    | table(Pipe.V, Taint.reduction("register", results=2), {"reduce_minmax": "vcmax vcmin"})  # where it is, as well
    | table(Pipe.V, _HISTOGRAM, {"other": "dhistv2 chistv2"}, *fits("bin", 1))
    | table(Pipe.V, Taint.reduction("block"), {"group_add": "vcgadd", "group_minmax": "vcgmax vcgmin"})
    | table(Pipe.V, Taint.reduction("pair"), {"pair_add": "vcpadd"})
)
