"""What lowerings use besides the instruction set."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

EFFECTS: dict[str, Effects] = table(Pipe.S, Taint.NONE, {"rename": "sim.require sim.print_tile"})
