"""Signals that join cores of one kind: the two vector cores of a cluster (ffts_mode 1), all of a kind (mode 0)."""

from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from golden.numbers import equal
from golden.program import constants, gm, module, outcome

I32, UB = gm("i32"), "!pto.ptr<i32, ub>"

EXCHANGE = f"""      %ub = pto.castptr %c0_i64 : i64 -> {UB}
      %ub2 = pto.castptr %c4096_i64 : i64 -> {UB}
      %mine_off = arith.muli %me, %c16 : index
      %theirs_off = arith.muli %next, %c16 : index
      %x_k = pto.addptr %x, %mine_off : {I32} -> {I32}
      %y_k = pto.addptr %y, %mine_off : {I32} -> {I32}
      %y_n = pto.addptr %y, %theirs_off : {I32} -> {I32}
      %z_k = pto.addptr %z, %mine_off : {I32} -> {I32}
      pto.mte_gm_ub %x_k, %ub, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
        : {I32}, {UB}, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
      pto.mte_ub_gm %ub, %y_k, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64) : {UB}, {I32}, i64, i64, i64, i64
      SIGNAL
      pto.mte_gm_ub %y_n, %ub2, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
        : {I32}, {UB}, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID1"]
      pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID1"]
      pto.mte_ub_gm %ub2, %z_k, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64) : {UB}, {I32}, i64, i64, i64, i64
      pto.barrier #pto.pipe<PIPE_ALL>
"""
"""Every core copies its part of x to y, meets the others, and copies the part of y that the next one wrote to z."""

PARAMETERS = f"%x: {I32}, %y: {I32}, %z: {I32}"


def pair_kernel(signal: str, target: str) -> str:
    """The two vector cores of a cluster; the cube core has nothing to do."""
    vector = f"""      %sub = pto.get_subblock_idx
      %me = arith.index_cast %sub : i64 to index
      %next = arith.subi %c1, %me : index
{EXCHANGE.replace("SIGNAL", signal)}"""
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
  func.func @kernel({PARAMETERS}) attributes {{pto.aicore}} {{
{constants(vector)}
    pto.section.cube {{
    }}
    pto.section.vector {{
{vector}    }}
    return
  }}
}}
"""


def ring_kernel(signal: str, target: str) -> str:
    """One vector core in each of several blocks."""
    body = f"""      %block = pto.get_block_idx
      %blocks = pto.get_block_num
      %me = arith.index_cast %block : i64 to index
      %count = arith.index_cast %blocks : i64 to index
      %after = arith.addi %me, %c1 : index
      %next = arith.remui %after, %count : index
{EXCHANGE.replace("SIGNAL", signal)}"""
    return module(body, PARAMETERS, target, attributes="pto.kernel_kind = #pto.kernel_kind<vector>")


def arrays(parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(16 * parts, dtype="i4"), np.zeros(16 * parts, "i4"), np.zeros(16 * parts, "i4")


def rolled(x: np.ndarray) -> np.ndarray:
    return np.roll(x, -16)


MODE_1 = ("pto.sync.set <PIPE_MTE3>, 2 {ffts_mode = 1 : i32}", "pto.sync.wait <PIPE_MTE2>, 2 {ffts_mode = 1 : i32}")
MODE_0 = ("pto.sync.set <PIPE_MTE3>, 2 {ffts_mode = 0 : i32}", "pto.sync.wait <PIPE_MTE2>, 2 {ffts_mode = 0 : i32}")
CROSS_BLOCK = ("pto.set_cross_block <PIPE_MTE3>, 3", "pto.wait_cross_block <PIPE_MTE2>, 3 {ffts_mode = 0 : i32}")


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_two_vector_cores_meet(target: str) -> None:
    x, y, z = arrays(2)
    out = outcome(
        pair_kernel("\n      ".join(MODE_1), target), x, y, z, schedules=["random:1", "random:2", "delay:MTE3"]
    )
    equal(out[1], x)
    equal(out[2], rolled(x))


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("signal", [MODE_0, CROSS_BLOCK], ids=["mode 0", "cross block"])
def test_all_vector_cores_meet(signal: tuple[str, str], target: str) -> None:
    x, y, z = arrays(5)
    text = ring_kernel("\n      ".join(signal), target)
    out = outcome(text, x, y, z, grid=5, schedules=["random:1", "random:2", "delay:MTE3"])
    equal(out[1], x)
    equal(out[2], rolled(x))


def kinds(text: str, parts: int, grid: int) -> set[tuple[str, str]]:
    report = ptosim.check(ptosim.load(text).kernel(), *arrays(parts), grid=grid)
    return {(finding.kind, finding.severity) for finding in report.findings}


@pytest.mark.parametrize("signal, kernel, parts, grid", [(MODE_1, pair_kernel, 2, 1), (MODE_0, ring_kernel, 3, 3)])
def test_a_missing_half_of_a_meeting_is_reported(
    signal: tuple[str, str], kernel: Callable[[str, str], str], parts: int, grid: int
) -> None:
    """Without the wait the next part may not be there, without the set nobody comes."""
    assert ("race", "error") in kinds(kernel(signal[0], "a5"), parts, grid)
    assert ("unmatched-wait", "error") in kinds(kernel(signal[1], "a5"), parts, grid)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_all_must_come(target: str) -> None:
    """The last block does not set: no wait of mode 0 is passed."""
    signal = f"""%last = arith.cmpi eq, %next, %c0 : index
      scf.if %last {{
      }} else {{
        {MODE_0[0]}
      }}
      {MODE_0[1]}"""
    assert ("unmatched-wait", "error") in kinds(ring_kernel(signal, target), 3, 3)


def test_the_cube_core_is_no_vector_core() -> None:
    text = pair_kernel("\n      ".join(MODE_1), "a5").replace(
        "    pto.section.cube {\n", f"    pto.section.cube {{\n      {MODE_1[0].replace('MTE3', 'FIX')}\n"
    )
    assert ("wrong-pipe", "error") in kinds(text, 2, 1)
