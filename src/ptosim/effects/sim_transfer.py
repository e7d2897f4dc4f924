"""Transfers in global memory: an access that the scalar unit begins, and whose end it does not see."""

from __future__ import annotations

from ptosim.effects.names import Pipe, Space
from ptosim.effects.record import Access, Effects, Static, Taint, named


def _accesses(static: Static) -> tuple[Access, ...]:
    return (
        Access("read", Space.GM, "src", lambda o: (0, o.bytes)),
        Access("write", Space.GM, "dst", lambda o: (0, o.bytes)),
    )


EFFECTS = named(
    Effects("pto.sim.transfer", Pipe.S, "transfer", Taint.MOVEMENT, _accesses),
    Effects("pto.sim.apart", Pipe.S, "rename"),
    Effects("pto.sim.wait_transfers", Pipe.S, "sync"),
)
