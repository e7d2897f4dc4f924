"""Transfers between two places in global memory that go on while the scalar unit does: what those of comm_async.py
become."""

from __future__ import annotations

from collections.abc import Iterator

from ptosim.effects.names import Space
from ptosim.language.operands import are_i64, pointed
from ptosim.language.operation import Operand, Problem, PTOOperation


class SimTransfer(PTOOperation):
    """Begin to copy bytes from one place in GM to another.

    It ends some time before the next pto.sim.wait_transfers of this core: until then both places count as in use. A run
    copies at once. No bytes: nothing happens.

        pto.sim.transfer %dst, %src, %bytes : !pto.ptr<f32, gm>, !pto.ptr<f32, gm>, i64
    """

    name = "pto.sim.transfer"
    form = "$dst, $src, $bytes"
    placement = "outside"
    spaces = {"dst": (Space.GM,), "src": (Space.GM,)}
    dst = Operand()
    src = Operand()
    bytes = Operand()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from are_i64(self, "bytes")
        if pointed(self, "dst") != pointed(self, "src"):
            yield Problem(f"dst points to {pointed(self, 'dst')}, but src to {pointed(self, 'src')}", at="src")


class SimWaitTransfers(PTOOperation):
    """Wait until the transfers of this core have ended.

    The scalar unit waits for those that pto.sim.transfer has begun.

        pto.sim.wait_transfers
    """

    name = "pto.sim.wait_transfers"
    placement = "outside"
