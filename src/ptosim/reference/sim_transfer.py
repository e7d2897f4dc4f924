"""Transfers in global memory: copied at once, and until somebody waits for them not known to have ended."""

from __future__ import annotations

from ptosim.effects.names import Space
from ptosim.language import sim_transfer as op
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.semantics import semantics


@semantics(op.SimTransfer)
def transfer(core: Core, site: Site, dst: int, src: int, bytes: int) -> None:
    if bytes < 0:
        raise Fault("invalid", f"a transfer of {bytes} bytes")
    core.begin_transfer(site)
    if bytes:
        core.write(Space.GM, dst, core.read(Space.GM, src, bytes).copy())


@semantics(op.SimWaitTransfers)
def wait_transfers(core: Core, site: Site) -> None:
    core.machine.settle(site)
