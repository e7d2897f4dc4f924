"""Rearrangement of lanes within and between registers."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Spread, Taint, named, table
from ptosim.effects.requirement import fits

_SQUEEZED = Taint(Spread.MOVEMENT, placed_by_mask=True)

EFFECTS: dict[str, Effects] = {
    **table(Pipe.V, Taint.MOVEMENT, {"other": "vintlv vdintlv vintlvv2 vdintlvv2 vpack"}),
    **table(Pipe.V, Taint.MOVEMENT, {"other": "vsunpack vzunpack"}, *fits("part", 1)),
    **named(
        Effects("pto.vsqz", Pipe.V, "squeeze", _SQUEEZED, writes=("SQZN",)),
        Effects("pto.vusqz", Pipe.V, "squeeze", Taint.NONE, writes=("SQZN",)),
    ),
}
