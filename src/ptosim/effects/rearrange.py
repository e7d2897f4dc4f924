"""Rearrangement of lanes within and between registers."""

from __future__ import annotations

from dataclasses import replace

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

_MOVES = table(
    Pipe.V,
    Taint.MOVEMENT,
    {
        "other": "vintlv vdintlv vintlvv2 vdintlvv2 vpack vsunpack vzunpack",
        "squeeze": "vsqz",
    },
)
_MOVES["pto.vsqz"] = replace(_MOVES["pto.vsqz"], writes=("SQZN",))

EFFECTS: dict[str, Effects] = _MOVES | {
    "pto.vusqz": Effects("pto.vusqz", Pipe.V, "squeeze", Taint.NONE, writes=("SQZN",))
}
