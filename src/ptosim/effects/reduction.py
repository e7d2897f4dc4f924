"""Reductions of a register to one value, to one per 32-byte block, or to one per pair of lanes."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

EFFECTS: dict[str, Effects] = table(
    Pipe.V,
    Taint.REDUCTION,
    {
        "reduce_add": "vcadd",
        "reduce_minmax": "vcmax vcmin vcbmax vcbmin",
        "group_add": "vcgadd",
        "group_minmax": "vcgmax vcgmin",
        "pair_add": "vcpadd",
        "other": "dhistv2 chistv2",
    },
)
