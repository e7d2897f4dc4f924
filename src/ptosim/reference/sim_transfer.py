"""Transfers in global memory: copied at once, and until somebody waits for them not known to have ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptosim.effects.names import Space
from ptosim.effects.record import Static
from ptosim.language import sim_transfer as op
from ptosim.machine.entry import Site
from ptosim.reference.core import Core
from ptosim.reference.fault import Fault
from ptosim.reference.semantics import semantics


def _facts(static: Static) -> Mapping[str, Any]:
    return static.facts


@semantics(op.SimTransfer, bind=_facts)
def transfer(core: Core, site: Site, dst: int, src: int, bytes: int, session: int) -> int:
    if bytes < 0:
        raise Fault("invalid", f"a transfer of {bytes} bytes")
    event = core.begin_transfer(site, session, {"dst": dst, "src": src, "bytes": bytes})
    if bytes:
        core.write(Space.GM, dst, core.read(Space.GM, src, bytes).copy())
    return event


@semantics(op.SimWaitTransfers, bind=_facts)
def wait_transfers(core: Core, site: Site, event: int, session: int) -> None:
    core.machine.settle(site, session, event)
