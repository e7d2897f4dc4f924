"""Communication: copies, signals, collectives, transfers with events; what is rejected and where."""

import pytest

from language.move_kernel import accepts, module, only
from language.vector_kernel import read
from ptosim.diagnostics import PTOError
from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import cores_of
from refusals.comm import MEMBER, PUT, TWO, WAIT
from tables import table

BROADCAST = "pto.comm.tbroadcast(%src, recv(%ping), group({}) : {}, ND<16x64xf32>, {}) {{root = {} : i32}}"
GATHER = "pto.comm.t{}(%buffer, recv(%ping), group(%g0, %g1) : {}, {}, {}, {}) {{root = 0 : i32}}"
REDUCE = (
    "pto.comm.treduce(%dst, %acc, recv(%ping), group(%g0, %g1) : {}, {}, ND<16x64xf32>, PV<16x64xf32>, PV<16x64xf32>)"
)
SUM = " {reduceOp = #pto<reduce_op sum>, root = 0 : i32}"


# --- copies -----------------------------------------------------------------------------------------------------------


@table(
    "body",
    PUT.format(MEMBER, MEMBER, "ND<16x64xf32>"),
    PUT.format(MEMBER, MEMBER, "ND<16x64xf32>") + " {atomicType = #pto<atomic_type atomic_add>}",
    PUT.format("PV<?x64xf32>", "PV<?x64xf32>", "ND<16x64xf32, valid=?x?>"),
    PUT.format("TV<16x64xf32>", "TV<16x64xf32>", "ND<16x64xf32>"),
    PUT.format("PV<2x2x1x32x32xf32>", "PV<2x2x1x32x32xf32>", "ND<16x32xf32>"),
    PUT.format("PV<256xf32>", "PV<256xf32>", "ND<1x256xf32>"),
    PUT.format("PV<7x10xf32>", "PV<7x10xf32>", "ND<5x8xf32, valid=?x?>"),
    TWO.format("ND<16x64xf32>", "ND<16x64xf32>"),
)
def test_copies(body: str) -> None:
    accepts(body, "a5")
    accepts(body, "a2a3")
    op = only(body)
    assert op.pipes == (Pipe.MTE2, Pipe.MTE3)
    assert op.pipe("a5") is Pipe.MTE3
    assert cores_of(op) == (CoreKind.AIV,)
    assert (op.reads[0], op.writes, op.scratch) == ("src", ("dst",), ("ping", "pong"))


def test_a_static_extent_of_zero_is_refused() -> None:
    with pytest.raises(PTOError) as raised:
        read(module(PUT.format("PV<0x64xf32>", "PV<0x64xf32>", "ND<16x64xf32>")), "a5")
    expected = [f"pto.comm.tput expects {role} to have positive extents, not 0x64" for role in ("dst", "src")]
    assert [found.message for found in raised.value.diagnostics] == expected
    accepts(PUT.format("PV<?x64xf32>", "PV<?x64xf32>", "ND<16x64xf32, valid=?x?>"))


# --- signals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["#pto<notify_op atomic_add>", "#pto.notify_op<atomic_add>"])
def test_signals_in_both_spellings(spelling: str) -> None:
    body = f"pto.comm.tnotify(%signal, %value : PV<1xi32>, i32) {{notifyOp = {spelling}}}"
    assert "{notifyOp = #pto<notify_op atomic_add>}" in accepts(body)
    op = only(body)
    assert op.pipe("a5") is Pipe.S
    assert cores_of(op) == (CoreKind.AIC, CoreKind.AIV)


@pytest.mark.parametrize("comparison", ["eq", "ne", "gt", "ge", "lt", "le"])
def test_waits(comparison: str) -> None:
    accepts(WAIT.format("PV<4x8xi32>", "i32").replace("ge", comparison))
    accepts(f"%ok = pto.comm.ttest(%signal, %value : PV<2x1xi32>, i32) {{cmp = #pto<wait_cmp {comparison}>}} -> i1")


# --- collectives ------------------------------------------------------------------------------------------------------


def test_the_phases_of_a_collective() -> None:
    op = only(REDUCE.format(MEMBER, "ND<16x64xf32>") + SUM)
    assert op.pipes == (Pipe.MTE2, Pipe.V, Pipe.MTE3)
    assert op.pipe("a5") is Pipe.MTE3
    assert (op.reads, op.writes, op.scratch) == (("group",), ("dst",), ("acc", "ping", "pong"))
    op = only(BROADCAST.format("%g0, %g1", MEMBER, f"{MEMBER}, {MEMBER}", 1))
    assert (op.reads[0], op.writes) == ("src", ("group",))
    op = only(GATHER.format("gather", "PV<40x64xf32>", "ND<16x64xf32>", MEMBER, MEMBER))
    assert op.overwrites == ()  # further rows keep their contents
