"""Pointer arithmetic and scalar memory accesses."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table

EFFECTS: dict[str, Effects] = table(Pipe.S, Taint.NONE, {"scalar": "castptr addptr ptrtoint inttoptr"})
