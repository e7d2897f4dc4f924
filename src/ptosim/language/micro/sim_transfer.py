"""Transfers between two places in global memory that go on while the scalar unit does: what those of comm_async.py
become."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import IndexType

from ptosim.language.operation import Problem, Property, PTOOperation, VariadicOperand
from ptosim.language.rules.operand_rules import nth, pointed


class _OfSession(PTOOperation):
    """`session` numbers the queues of a core."""

    placement = "outside"
    session = Property()

    def facts(self) -> Mapping[str, Any]:
        return {"session": self.integer("session") or 0}

    def rules(self, target: str) -> Iterator[Problem]:
        if (self.integer("session") or 0) < 0:
            yield Problem("sessions are numbered from 0", at="session")


class SimTransfer(_OfSession, name="pto.sim.transfer"):
    """Begin to copy bytes from one place in GM to another.

    Transfers of a session follow each other; the result is how many it has begun. This one ends some time before
    pto.sim.wait_transfers of that number, or of a later one of the session: until then both places count as in use. A
    run copies at once. No bytes: nothing is copied.

        %event = pto.sim.transfer %dst, %src, %bytes {session = 0 : i64}
            : !pto.ptr<f32, gm>, !pto.ptr<f32, gm>, i64 -> i64
    """

    form = "$dst:gm, $src:gm, $bytes:i64 -> $result:i64"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if pointed(self, "dst") != pointed(self, "src"):
            yield Problem(f"dst points to {pointed(self, 'dst')}, but src to {pointed(self, 'src')}", at="src")


class SimApart(PTOOperation, name="pto.sim.apart"):
    """Remark that two views of GM should have no element in common.

    Nothing happens. A check asks whether what is copied from `src` to `dst`, in parts, is overwritten on the way. Of n
    dimensions there are n sizes, n strides of `dst` and n strides of `src`, in elements of `bytes` bytes.

        pto.sim.apart %dst, %src, %c64, %c1, %c1 {bytes = 4 : i64} : !pto.ptr<f32, gm>, !pto.ptr<f32, gm>
    """

    form = "$dst:gm, $src:gm, $extents..."
    placement = "outside"
    extents = VariadicOperand()
    bytes = Property()

    def rules(self, target: str) -> Iterator[Problem]:
        if len(self.extents) % 3:
            yield Problem("sizes, strides of dst and strides of src are equally many", at="extents")
        for index, value in enumerate(self.extents):
            if not isinstance(value.type, IndexType):
                yield Problem(f"sizes and strides are of type index, not {value.type}", at=nth("extents", index))
        if (self.integer("bytes") or 0) < 1:
            yield Problem("an element has at least one byte", at="bytes")


class SimWaitTransfers(_OfSession, name="pto.sim.wait_transfers"):
    """Wait until so many transfers of a session of this core have ended.

    The scalar unit waits for those that pto.sim.transfer has begun; 0: for none.

        pto.sim.wait_transfers %number {session = 0 : i64} : i64
    """

    form = "$event:i64"
