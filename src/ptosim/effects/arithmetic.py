"""Element-wise vector arithmetic."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

EFFECTS: dict[str, Effects] = table(Pipe.V, Taint.ELEMENTWISE, {"abs": "vabs"})
