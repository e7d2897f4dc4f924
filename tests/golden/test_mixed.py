"""Cube and vector cores together: results to UB and L1, dual destinations, signals, attention, softmax."""

import re

import numpy as np
import pytest

import ptosim
from golden.cube import K, M, N, buffers, exact, flag, frac, loads, mad, matrices, mixed_kernel, to_gm, to_ub
from golden.numbers import close, equal
from golden.program import constants, gm, line_of, module, outcome, ub
from tables import table

P = ub("f32")
FEEDS = f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}"


def store_out(
    source: str, target: str, rows: int, length: int, ub_stride: int, gm_stride: int, element: str = "f32"
) -> str:
    return f"""      pto.mte_ub_gm {source}, {target}, %c{length}_i64 nburst(%c{rows}_i64, %c{ub_stride}_i64,
          %c{gm_stride}_i64)
        : {ub(element)}, {gm(element)}, i64, i64, i64, i64
"""


def only_first(body: str) -> str:
    return f"""      %sub = pto.get_subblock_idx
      %first = arith.cmpi eq, %sub, %c0_i64 : i64
      scf.if %first {{
{body}      }}
"""


COMMON = f"    %ub0 = pto.castptr %c0_i64 : i64 -> {P}\n    %ub1 = pto.castptr %c65536_i64 : i64 -> {P}\n"
CUBE = buffers("f16", "f32") + loads(M, N, K, "f16") + mad(M, N, K, "f16", "f32") + flag("M", "FIX")


@pytest.mark.parametrize("signal", ["sync.set", "set_intra_block"])
def test_result_in_ub_of_the_first_vector_core(signal: str) -> None:
    wait = {"sync.set": "sync.wait", "set_intra_block": "wait_intra_block"}[signal]
    cube = CUBE + to_ub("%ub0", M, N, "f32", "f32", "%c0_i64") + f"      pto.{signal} <PIPE_FIX>, 1\n"
    vector = (
        only_first(f"      pto.{wait} <PIPE_MTE3>, 1\n" + store_out("%ub0", "%c", M, 256, 256, 256))
        + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    )
    text = mixed_kernel(COMMON, cube, vector, FEEDS)
    a, b = matrices(M, N, K)
    equal(
        outcome(text, a, b, np.zeros((M, N), "f4"), schedules=["random:1", "delay:FIX", "delay:MTE3"])[2], exact(a, b)
    )


def test_both_vector_cores_take_a_half() -> None:
    """split_m writes rows to the two cores, split_n columns, both at the same address on either core."""
    cube = CUBE + to_ub("%ub0", M, N, "f32", "f32", "split_m") + to_ub("%ub1", M, N, "f32", "f32", "split_n", ds=N)
    cube += "      pto.sync.set <PIPE_FIX>, 1\n      pto.sync.set <PIPE_FIX>, 17\n"
    vector = f"""      pto.sync.wait <PIPE_MTE3>, 1
      %sub = pto.get_subblock_idx
      %k = arith.index_cast %sub : i64 to index
      %rows = arith.muli %k, %c{M // 2 * N} : index
      %columns = arith.muli %k, %c{N // 2} : index
      %c_m = pto.addptr %c, %rows : {gm("f32")} -> {gm("f32")}
      %c_n = pto.addptr %d, %columns : {gm("f32")} -> {gm("f32")}
"""
    vector += store_out("%ub0", "%c_m", M // 2, 256, 256, 256) + store_out("%ub1", "%c_n", M, 128, 256, 256)
    vector += "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    text = mixed_kernel(COMMON, cube, vector, FEEDS + f", %d: {gm('f32')}")
    a, b = matrices(M, N, K)
    out = outcome(text, a, b, np.zeros((M, N), "f4"), np.zeros((M, N), "f4"), schedules=["random:1", "random:2"])
    equal(out[2], exact(a, b))
    equal(out[3], exact(a, b))


def test_result_through_gm_needs_no_barrier_in_the_cube_section() -> None:
    """The vector core waits for the signal behind the copy, and drains its own pipes: all of the kernel has ended."""
    cube = CUBE + to_gm("%c", M, N, "f32", "f32") + "      pto.sync.set <PIPE_FIX>, 1\n"
    vector = only_first(
        f"""      pto.sync.wait <PIPE_MTE2>, 1
      pto.mte_gm_ub %c, %ub0, %c0_i64, %c{4 * M * N}_i64 nburst(%c1_i64, %c{4 * M * N}_i64, %c{4 * M * N}_i64)
        : {gm("f32")}, {P}, i64, i64, i64, i64, i64
{flag("MTE2", "MTE3")}"""
        + store_out("%ub0", "%d", 1, 4 * M * N, 4 * M * N, 4 * M * N)
        + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    )
    a, b = matrices(M, N, K)

    def findings(cube: str, vector: str) -> list[str]:
        text = mixed_kernel(COMMON, cube, vector, FEEDS + f", %d: {gm('f32')}")
        report = ptosim.check(ptosim.load(text).kernel(), a, b, np.zeros((M, N), "f4"), np.zeros((M, N), "f4"))
        return [finding.message for finding in report.findings]

    assert findings(cube, vector) == []
    alone = findings(cube.replace("      pto.sync.set <PIPE_FIX>, 1\n", ""), "")
    assert alone == ["the kernel ends while FIX may still be copying: nothing waits for it"]


def through_l1(blocks: int, signals: str) -> str:
    """The product row-major in L1, to UB in rows of so many blocks; MTE1 is chained into FIX before the signals."""
    cube = (
        CUBE
        + f"""      %l1c = pto.castptr %c327680_i64 : i64 -> !pto.ptr<f32, l1>
      pto.mte_l0c_l1 %l0c, %l1c, %c{M}_i64, %c{N}_i64, %c48_i64, %c{N}_i64, nz2nd
        : !pto.ptr<f32, l0c>, !pto.ptr<f32, l1>, i64, i64, i64, i64
"""
    )
    cube += flag("FIX", "MTE1", 1)
    cube += (
        f"      pto.mte_l1_ub %l1c, %ub0, %c{blocks}_i64 nburst(%c{M}_i64, %c0_i64, %c0_i64)"
        f" : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64\n"
    )
    cube += flag("MTE1", "FIX", 1) + signals
    vector = (
        only_first("      pto.sync.wait <PIPE_MTE3>, 1\n" + store_out("%ub0", "%c", M, 256, 256, 256))
        + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    )
    return mixed_kernel(COMMON, cube, vector, FEEDS)


def test_result_through_l1() -> None:
    """To UB in 32-byte units with gaps."""
    text = through_l1(8, "      pto.sync.set <PIPE_FIX>, 1\n")
    a, b = matrices(M, N, K)
    equal(outcome(text, a, b, np.zeros((M, N), "f4"))[2], exact(a, b))


def test_result_through_l1_with_oversized_copies() -> None:
    """len 64 and 40 bursts copy eight times too much: the undefined rest is never used, so nothing is said."""
    text = through_l1(64, "      pto.sync.set <PIPE_FIX>, 1\n      pto.sync.set <PIPE_FIX>, 17\n")
    a, b = matrices(M, N, K)
    equal(outcome(text, a, b, np.zeros((M, N), "f4"))[2], exact(a, b))
    report = ptosim.check(ptosim.load(text).kernel(), a, b, np.zeros((M, N), "f4"))
    assert {f.kind for f in report.findings} <= {"undrained", "lint"} and any(
        f.kind == "undrained" for f in report.findings
    )


def test_round_trip_over_l1_and_back_to_both_cores() -> None:
    """512 bytes each: UB of both cores to L1 (offset by the core), signal, back with the selector of the older copy."""
    cube = f"""      pto.sync.wait <PIPE_MTE1>, 0
      pto.sync.wait <PIPE_MTE1>, 16
      pto.copy_cbuf_to_ubuf %l1, %ub1, %c0_i64, %c1_i64, %c32_i64, %c0_i64, %c0_i64
        : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64, i64
      pto.copy_cbuf_to_ubuf %l1, %ub1, %c1_i64, %c1_i64, %c32_i64, %c0_i64, %c0_i64
        : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64, i64
{flag("MTE1", "FIX")}      pto.sync.set <PIPE_FIX>, 1
      pto.sync.set <PIPE_FIX>, 17
"""
    vector = f"""      %sub = pto.get_subblock_idx
      %k = arith.index_cast %sub : i64 to index
      %from = arith.muli %k, %c128 : index
      %to = arith.muli %k, %c256 : index
      %x_k = pto.addptr %x, %from : {gm("f32")} -> {gm("f32")}
      %l1_k = pto.addptr %l1, %from : !pto.ptr<f32, l1> -> !pto.ptr<f32, l1>
      %y_k = pto.addptr %y, %to : {gm("f32")} -> {gm("f32")}
      pto.mte_gm_ub %x_k, %ub0, %c0_i64, %c512_i64 nburst(%c1_i64, %c512_i64, %c512_i64)
        : {gm("f32")}, {P}, i64, i64, i64, i64, i64
{flag("MTE2", "MTE3")}      pto.mte_ub_l1 %ub0, %l1_k, %c16_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : {P}, !pto.ptr<f32, l1>, i64, i64, i64, i64
      pto.sync.set <PIPE_MTE3>, 0
      pto.sync.wait <PIPE_MTE3>, 1
"""
    vector += store_out("%ub1", "%y_k", 1, 1024, 1024, 1024) + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    common = COMMON + "    %l1 = pto.castptr %c4096_i64 : i64 -> !pto.ptr<f32, l1>\n"
    text = mixed_kernel(common, cube, vector, f"%x: {gm('f32')}, %y: {gm('f32')}")
    x = np.random.default_rng(1).uniform(-1, 1, 256).astype("f4")
    equal(outcome(text, x, np.zeros(512, "f4"), schedules=["random:1", "delay:MTE1", "delay:FIX"])[1], np.tile(x, 2))


@pytest.mark.parametrize("mode", ["nd2nz", "dn2nz"])
def test_rows_of_three_are_packed_to_four(mode: str) -> None:
    """smallc0: five rows of three f16 take eight bytes each, zeros fill 32 bytes; two groups, 64 bytes apart."""
    n, d = 5, 3
    inner, outer = (d * 2, n * d * 2) if mode == "nd2nz" else (n * 2, n * d * 2)
    cube = f"""      %true = arith.constant true
      pto.mte_gm_l1_frac %x, %l1, {mode}, shape(%c{n}_i64, %c{d}_i64), src_layout(%c{inner}_i64, %c{outer}_i64),
          dst_group(%c2_i64, %c7_i64, %c9_i64, %c2_i64), ctrl(%c0_i64, %true)
        : {gm("f16")}, !pto.ptr<f16, l1>, {mode}, shape i64, i64, src_layout(i64, i64), dst_group i64, i64, i64, i64,
            ctrl i64, i1
{flag("MTE2", "MTE1")}      pto.mte_l1_ub %l1, %ub, %c4_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
        : !pto.ptr<f16, l1>, !pto.ptr<f16, ub>, i64, i64, i64, i64
{flag("MTE1", "FIX")}      pto.sync.set <PIPE_FIX>, 1
"""
    vector = only_first("      pto.sync.wait <PIPE_MTE3>, 1\n" + store_out("%ub", "%y", 1, 128, 128, 128, "f16"))
    vector += "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    common = """    %l1 = pto.castptr %c4096_i64 : i64 -> !pto.ptr<f16, l1>
    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<f16, ub>
"""
    text = mixed_kernel(common, cube, vector, f"%x: {gm('f16')}, %y: {gm('f16')}")
    x = np.arange(1, 31, dtype="f2").reshape(2, n, d)
    stored = x if mode == "nd2nz" else x.transpose(0, 2, 1).copy()
    expected = np.zeros((2, 8, 4), "f2")
    expected[:, :n, :d] = x
    equal(outcome(text, stored, np.zeros(64, "f2"))[1].reshape(2, 8, 4), expected)


def test_the_public_round_trip_that_lacks_a_chain_is_called_racy() -> None:
    """FIX signals what MTE1 copies. It runs in program order; check names the race."""
    cube = f"""      pto.sync.wait <PIPE_MTE1>, 0
      pto.sync.wait <PIPE_MTE1>, 16
      pto.copy_cbuf_to_ubuf %l1, %ub1, %c0_i64, %c1_i64, %c16_i64, %c0_i64, %c0_i64
        : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64, i64
      pto.copy_cbuf_to_ubuf %l1, %ub1, %c1_i64, %c1_i64, %c16_i64, %c0_i64, %c0_i64
        : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64, i64
      pto.sync.set <PIPE_FIX>, 1
      pto.sync.set <PIPE_FIX>, 17
"""
    vector = f"""      pto.mte_gm_ub %x, %ub0, %c0_i64, %c512_i64 nburst(%c1_i64, %c512_i64, %c512_i64)
        : {gm("f32")}, {P}, i64, i64, i64, i64, i64
{flag("MTE2", "MTE3")}      pto.copy_ubuf_to_cbuf %ub0, %l1, %c0_i64, %c1_i64, %c16_i64, %c0_i64, %c0_i64
        : {P}, !pto.ptr<f32, l1>, i64, i64, i64, i64, i64
      pto.sync.set <PIPE_MTE3>, 0
      pto.sync.wait <PIPE_MTE3>, 1
"""
    vector += only_first(store_out("%ub1", "%y", 1, 512, 512, 512)) + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    common = COMMON + "    %l1 = pto.castptr %c4096_i64 : i64 -> !pto.ptr<f32, l1>\n"
    text = mixed_kernel(common, cube, vector, f"%x: {gm('f32')}, %y: {gm('f32')}")
    x = np.random.default_rng(1).uniform(-1, 1, 128).astype("f4")
    equal(outcome(text, x, np.zeros(128, "f4"), clean=False)[1], x)
    report = ptosim.check(ptosim.load(text).kernel(), x, np.zeros(128, "f4"))
    races = [f for f in report.findings if f.kind == "race"]
    assert not report.ok and {f.severity for f in races} == {"error", "warning"}, str(report)


def test_shared_code_runs_on_every_core() -> None:
    """Addresses by block and sub-block, on two clusters."""
    common = f"""    %block = pto.get_block_idx
    %blocks = pto.get_block_num
    %sub0 = pto.get_subblock_idx
    %subs = pto.get_subblock_num
    %bi = arith.index_cast %block : i64 to index
    %row = arith.muli %bi, %c16 : index
    %out = pto.addptr %y, %row : {gm("i64")} -> {gm("i64")}
"""
    vector = """      %s = arith.index_cast %sub0 : i64 to index
      %at = arith.muli %s, %c4 : index
      %v0 = arith.addi %block, %c100_i64 : i64
      pto.store_scalar %v0, %out[%at] : !pto.ptr<i64, gm>, i64
      %at1 = arith.addi %at, %c1 : index
      pto.store_scalar %blocks, %out[%at1] : !pto.ptr<i64, gm>, i64
      %at2 = arith.addi %at, %c2 : index
      pto.store_scalar %sub0, %out[%at2] : !pto.ptr<i64, gm>, i64
      %at3 = arith.addi %at, %c3 : index
      pto.store_scalar %subs, %out[%at3] : !pto.ptr<i64, gm>, i64
      pto.barrier #pto.pipe<PIPE_ALL>
"""
    cube = """      pto.store_scalar %sub0, %out[%c8] : !pto.ptr<i64, gm>, i64
      pto.store_scalar %subs, %out[%c9] : !pto.ptr<i64, gm>, i64
"""
    text = mixed_kernel(common, cube, vector, f"%y: {gm('i64')}")
    out = outcome(text, np.full(32, -1, "i8"), grid=2)[0].reshape(2, 16)
    for b in range(2):
        assert out[b].tolist() == [100 + b, 2, 0, 2, 100 + b, 2, 1, 2, 0, 1] + [-1] * 6


def pair(target: str, cube: str, vector: str) -> str:
    """Form B: an outer module with two inner ones that define the same symbol."""
    return f"""module attributes {{"pto.target_arch" = "{target}"}} {{
  module attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    func.func @kernel(%x: !pto.ptr<i32, gm>, %y: !pto.ptr<i32, gm>) attributes {{pto.kernel}} {{
{constants(cube)}
{cube}      return
    }}
  }}
  module attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    func.func @kernel(%x: !pto.ptr<i32, gm>, %y: !pto.ptr<i32, gm>) attributes {{pto.kernel}} {{
{constants(vector)}
{vector}      return
    }}
  }}
}}
"""


VECTOR_COPY = """      %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<i32, ub>
      %sub = pto.get_subblock_idx
      %k = arith.index_cast %sub : i64 to index
      %o = arith.muli %k, %c16 : index
      %x_k = pto.addptr %x, %o : <i32, gm> -> <i32, gm>
      %y_k = pto.addptr %y, %o : <i32, gm> -> <i32, gm>
      pto.mte_gm_ub %x_k, %ub, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
        : !pto.ptr<i32, gm>, !pto.ptr<i32, ub>, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
"""
COPY_OUT = (
    "      pto.mte_ub_gm %ub, %y_k, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)"
    " : !pto.ptr<i32, ub>, !pto.ptr<i32, gm>, i64, i64, i64, i64\n"
)


def test_a5_signals_one_to_one_in_two_modules() -> None:
    """The cube core starts both vector cores and waits for both; per-pipe waits, ids 16 higher for the second core."""
    cube = """      pto.set_intra_block "PIPE_FIX", 3
      pto.set_intra_block "PIPE_FIX", 19
      pto.wait_intra_core "PIPE_MTE2", 4
      pto.wait_intra_core "PIPE_MTE2", 20
      pto.barrier #pto.pipe<PIPE_ALL>
"""
    vector = (
        '      pto.wait_intra_core "PIPE_MTE2", 3\n'
        + VECTOR_COPY
        + COPY_OUT
        + '      pto.set_intra_block "PIPE_MTE3", 4\n      pto.barrier #pto.pipe<PIPE_ALL>\n'
    )
    x = np.arange(32, dtype="i4")
    text = pair("a5", cube, vector)
    equal(outcome(text, x, np.zeros(32, "i4"), schedules=["random:1", "random:2", "delay:MTE2"])[1], x)


def test_a2a3_broadcasts_and_reduces() -> None:
    """One set reaches both vector cores; one wait of the cube core needs both of them."""
    cube = """      pto.set_cross_core %c0_i64, %c3_i64 : i64, i64
      pto.wait_flag_dev %c0_i64, %c4_i64 : i64, i64
      pto.set_cross_core %c0_i64, %c5_i64 : i64, i64
      pto.barrier #pto.pipe<PIPE_ALL>
"""
    vector = "      pto.wait_flag_dev %c3_i64 : i64\n" + VECTOR_COPY + COPY_OUT
    vector += (
        "      pto.set_cross_core %c0_i64, %c4_i64 : i64, i64\n"
        "      pto.wait_flag_dev %c0_i64, %c5_i64 : i64, i64\n      pto.barrier #pto.pipe<PIPE_ALL>\n"
    )
    x = np.arange(32, dtype="i4")
    text = pair("a3", cube, vector)
    equal(outcome(text, x, np.zeros(32, "i4"), schedules=["random:1", "random:2"])[1], x)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_core_to_core_data_over_gm(target: str) -> None:
    """Core 0 and 1 write, the cube core passes the baton, each reads what the other wrote."""
    if target == "a5":
        cube = (
            "      pto.sync.wait <PIPE_MTE2>, 0\n      pto.sync.wait <PIPE_MTE2>, 16\n"
            "      pto.sync.set <PIPE_MTE2>, 1\n      pto.sync.set <PIPE_MTE2>, 17\n"
        )
    else:
        cube = "      pto.sync.wait <PIPE_MTE2>, 0\n      pto.sync.set <PIPE_FIX>, 1\n"
    cube += "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    vector = (
        VECTOR_COPY
        + COPY_OUT
        + """      pto.sync.set <PIPE_MTE3>, 0
      pto.sync.wait <PIPE_MTE2>, 1
      %other = arith.subi %c1, %k : index
      %oo = arith.muli %other, %c16 : index
      %y_o = pto.addptr %y, %oo : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>
      %z_k = pto.addptr %y_k, %c32 : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>
      %ub2 = pto.castptr %c4096_i64 : i64 -> !pto.ptr<i32, ub>
      pto.mte_gm_ub %y_o, %ub2, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
        : !pto.ptr<i32, gm>, !pto.ptr<i32, ub>, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID1"]
      pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID1"]
      pto.mte_ub_gm %ub2, %z_k, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
        : !pto.ptr<i32, ub>, !pto.ptr<i32, gm>, i64, i64, i64, i64
      pto.barrier #pto.pipe<PIPE_ALL>
"""
    )
    x = np.arange(32, dtype="i4")
    out = outcome(pair(target, cube, vector), x, np.zeros(64, "i4"), schedules=["random:1", "random:2", "random:3"])[1]
    equal(out, np.concatenate([x, x[16:], x[:16]]))


# --- attention --------------------------------------------------------------------------------------------------------


def attention() -> str:
    """One query tile of 16 x 16 against 32 keys: scores on the cube core, softmax and values on the vector core."""
    v, m = "!pto.vreg<64xf32>", "!pto.mask<b32>"
    common = f"""    %block = pto.get_block_idx
    %bi = arith.index_cast %block : i64 to index
    %q_off = arith.muli %bi, %c256 : index
    %o_off = arith.muli %bi, %c128 : index
    %q_b = pto.addptr %q, %q_off : {gm("f32")} -> {gm("f32")}
    %o_b = pto.addptr %o, %o_off : {gm("f32")} -> {gm("f32")}
    %scores = pto.castptr %c0_i64 : i64 -> {P}
    %values = pto.castptr %c4096_i64 : i64 -> {P}
    %result = pto.castptr %c8192_i64 : i64 -> {P}
"""
    cube = (
        buffers("f32", "f32")
        + frac("%q_b", "%l1a", 16, 16, "f32", 16)
        + frac("%kt", "%l1b", 16, 32, "f32", 16)
        + flag("MTE2", "MTE1")
    )
    cube += """      pto.mte_l1_l0a %l1a, %l0a, %c16_i64, %c16_i64 : !pto.ptr<f32, l1>, !pto.ptr<f32, l0a>, i64, i64
      pto.mte_l1_l0b %l1b, %l0b, %c16_i64, %c32_i64 {transpose = true} : !pto.ptr<f32, l1>, !pto.ptr<f32, l0b>, i64, i64
"""
    cube += flag("MTE1", "M") + mad(16, 32, 16, "f32", "f32", "unit_flag(check_and_set)") + flag("M", "FIX")
    cube += to_ub(
        "%scores",
        16,
        32,
        "f32",
        "f32",
        "%c0_i64",
        ", unit_flag(check_and_clear), nz2nd, loop3(%c1_i64, %c0_i64, %c0_i64), sat",
        ", i64, i64, i64",
    )
    cube += "      pto.sync.set <PIPE_FIX>, 1\n"
    step = f"""            %next_max = pto.vmax %row_max, %chunk_max, %on : {v}, {v}, {m} -> {v}
            %shrink = pto.vexpdif %row_max, %next_max, %on, "ODD" : {v}, {v}, {m} -> {v}
            %e = pto.vexpdif %s, %next_max, %on, "ODD" : {v}, {v}, {m} -> {v}"""
    vector = only_first(
        f"""        pto.sync.wait <PIPE_V>, 1
        pto.mte_gm_ub %vt, %values, %c0_i64, %c128_i64 nburst(%c8_i64, %c128_i64, %c128_i64)
          : {gm("f32")}, {P}, i64, i64, i64, i64, i64
        pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
        pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
        pto.vecscope {{
          %on = pto.pset_b32 "PAT_VL16" : {m}
          %one = pto.pset_b32 "PAT_VL1" : {m}
          %zero = arith.constant 0.0 : f32
          %low = arith.constant 0xFF800000 : f32
          scf.for %row = %c0 to %c16 step %c1 {{
            %at = arith.muli %row, %c32 : index
            %at2 = arith.addi %at, %c16 : index
            %s = pto.vlds %scores[%at] : {P} -> {v}
            %s2 = pto.vlds %scores[%at2] : {P} -> {v}
            %c1max = pto.vcmax %s, %on : {v}, {m} -> {v}
            %row_max = pto.vdup %c1max, %on {{position = "LOWEST"}} : {v}, {m} -> {v}
            %e1 = pto.vexpdif %s, %row_max, %on, "ODD" : {v}, {v}, {m} -> {v}
            %sum1 = pto.vcadd %e1, %on : {v}, {m} -> {v}
            %c2max = pto.vcmax %s2, %on : {v}, {m} -> {v}
            %chunk_max = pto.vdup %c2max, %on {{position = "LOWEST"}} : {v}, {m} -> {v}
{step}
            %e2 = pto.vexpdif %s2, %next_max, %on, "ODD" : {v}, {v}, {m} -> {v}
            %sum2 = pto.vcadd %e2, %on : {v}, {m} -> {v}
            %kept = pto.vmul %sum1, %shrink, %one : {v}, {v}, {m} -> {v}
            %total = pto.vadd %kept, %sum2, %one : {v}, {v}, {m} -> {v}
            scf.for %d = %c0 to %c8 step %c1 {{
              %vat = arith.muli %d, %c32 : index
              %vat2 = arith.addi %vat, %c16 : index
              %v1 = pto.vlds %values[%vat] : {P} -> {v}
              %v2 = pto.vlds %values[%vat2] : {P} -> {v}
              %p1 = pto.vmul %e, %v1, %on : {v}, {v}, {m} -> {v}
              %p2 = pto.vmul %e2, %v2, %on : {v}, {v}, {m} -> {v}
              %a1 = pto.vcadd %p1, %on : {v}, {m} -> {v}
              %a2 = pto.vcadd %p2, %on : {v}, {m} -> {v}
              %acc = pto.vadd %a1, %a2, %one : {v}, {v}, {m} -> {v}
              %r = pto.vdiv %acc, %total, %one : {v}, {v}, {m} -> {v}
              %ro = arith.muli %row, %c8 : index
              %rat = arith.addi %ro, %d : index
              pto.vsts %r, %result[%rat], %one {{dist = "1PT_B32"}} : {v}, {P}, {m}
            }}
          }}
        }}
        pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
        pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
"""
        + store_out("%result", "%o_b", 1, 512, 512, 512)
    )
    vector += "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    parameters = f"%q: {gm('f32')}, %kt: {gm('f32')}, %vt: {gm('f32')}, %o: {gm('f32')}, %seq: i32, %rows: i32"
    return mixed_kernel(common, cube, vector, parameters)


def test_attention_over_three_clusters() -> None:
    random = np.random.default_rng(4)
    q, kt, vt = (random.uniform(-1, 1, s).astype("f4") for s in ((48, 16), (16, 32), (8, 32)))
    scores = q.astype("f8") @ kt
    weights = np.exp(scores - scores.max(1, keepdims=True))
    expected = weights / weights.sum(1, keepdims=True) @ vt.astype("f8").T
    out = outcome(attention(), q, kt, vt, np.zeros((48, 8), "f4"), 32, 48, grid=3)[3]
    close(out, expected, 2e-3)
    close(out, expected, 1e-5)


def test_online_softmax_update() -> None:
    """24 rows of 73 columns, 8 per block, previous maximum and sum per row, an idle block."""
    v, m = "!pto.vreg<64xf32>", "!pto.mask<b32>"

    def bring(name: str, rows_bytes: str, length: int, stride: int) -> str:
        return f"""      pto.mte_gm_ub %{name}_b, %ub_{name}, %c0_i64, %c{length}_i64 nburst({rows_bytes},
          %c{length}_i64, %c{stride}_i64)
        : {gm("f32")}, {P}, i64, i64, i64, i64, i64
"""

    pointers = "".join(
        (
            f"    %{n}_o = arith.muli %first, %c{w} : index\n"
            f"    %{n}_b = pto.addptr %{n}, %{n}_o : {gm('f32')} -> {gm('f32')}\n"
        )
        for n, w in (("x", 73), ("mo", 1), ("so", 1), ("y", 73), ("mn", 1), ("sn", 1))
    )
    body = f"""    %block = pto.get_block_idx
    %bi = arith.index_cast %block : i64 to index
    %n = arith.index_cast %rows : i32 to index
    %first = arith.muli %bi, %c8 : index
    %left = arith.subi %n, %first : index
    %some = arith.cmpi sgt, %left, %c0 : index
    %own = arith.minsi %left, %c8 : index
{pointers}    %ub_x = pto.castptr %c0_i64 : i64 -> {P}
    %ub_y = pto.castptr %c8192_i64 : i64 -> {P}
    %ub_mo = pto.castptr %c16384_i64 : i64 -> {P}
    %ub_so = pto.castptr %c16640_i64 : i64 -> {P}
    %ub_mn = pto.castptr %c16896_i64 : i64 -> {P}
    %ub_sn = pto.castptr %c17152_i64 : i64 -> {P}
    scf.if %some {{
      %own_i64 = arith.index_cast %own : index to i64
      %bytes = arith.muli %own_i64, %c4_i64 : i64
{bring("x", "%own_i64", 292, 320)}      pto.mte_gm_ub %mo_b, %ub_mo, %c0_i64, %bytes nburst(%c1_i64, %bytes, %c32_i64)
        : {gm("f32")}, {P}, i64, i64, i64, i64, i64
      pto.mte_gm_ub %so_b, %ub_so, %c0_i64, %bytes nburst(%c1_i64, %bytes, %c32_i64)
        : {gm("f32")}, {P}, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.vecscope {{
        %all = pto.pset_b32 "PAT_ALL" : {m}
        %one = pto.pset_b32 "PAT_VL1" : {m}
        %zero = arith.constant 0.0 : f32
        scf.for %row = %c0 to %own step %c1 {{
          %base = arith.muli %row, %c80 : index
          %m0 = pto.vlds %ub_mo[%row] {{dist = "BRC_B32"}} : {P} -> {v}
          %s0 = pto.vlds %ub_so[%row] {{dist = "BRC_B32"}} : {P} -> {v}
          %z = pto.vdup %zero, %all : f32, {m} -> {v}
          %max:2 = scf.for %c = %c0 to %c73 step %c64 iter_args(%best = %m0, %rem = %c73_i32) -> ({v}, i32) {{
            %on, %next = pto.plt_b32 %rem : i32 -> {m}, i32
            %at = arith.addi %base, %c : index
            %e = pto.vlds %ub_x[%at] : {P} -> {v}
            %k = pto.vcmax %e, %on : {v}, {m} -> {v}
            %d = pto.vdup %k, %all {{position = "LOWEST"}} : {v}, {m} -> {v}
            %b = pto.vmax %best, %d, %all : {v}, {v}, {m} -> {v}
            scf.yield %b, %next : {v}, i32
          }}
          %scale = pto.vexpdif %m0, %max#0, %all, "ODD" : {v}, {v}, {m} -> {v}
          %start = pto.vmul %s0, %scale, %all : {v}, {v}, {m} -> {v}
          %sum:2 = scf.for %c = %c0 to %c73 step %c64 iter_args(%acc = %start, %rem = %c73_i32) -> ({v}, i32) {{
            %on, %next = pto.plt_b32 %rem : i32 -> {m}, i32
            %at = arith.addi %base, %c : index
            %e = pto.vlds %ub_x[%at] : {P} -> {v}
            %p = pto.vexpdif %e, %max#0, %on, "ODD" : {v}, {v}, {m} -> {v}
            pto.vsts %p, %ub_y[%at], %on : {v}, {P}, {m}
            %k = pto.vcadd %p, %on : {v}, {m} -> {v}
            %d = pto.vdup %k, %all {{position = "LOWEST"}} : {v}, {m} -> {v}
            %first_chunk = arith.cmpi eq, %c, %c0 : index
            %pair:2 = scf.if %first_chunk -> ({v}, {v}) {{
              %t = pto.vadd %acc, %d, %all : {v}, {v}, {m} -> {v}
              scf.yield %t, %z : {v}, {v}
            }} else {{
              %t = pto.vadd %acc, %d, %all : {v}, {v}, {m} -> {v}
              scf.yield %t, %t : {v}, {v}
            }}
            scf.yield %pair#0, %next : {v}, i32
          }}
          pto.vsts %max#0, %ub_mn[%row], %one {{dist = "1PT_B32"}} : {v}, {P}, {m}
          pto.vsts %sum#0, %ub_sn[%row], %one {{dist = "1PT_B32"}} : {v}, {P}, {m}
        }}
      }}
      pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.mte_ub_gm %ub_y, %y_b, %c292_i64 nburst(%own_i64, %c320_i64, %c292_i64) : {P}, {gm("f32")}, i64, i64, i64, i64
      pto.mte_ub_gm %ub_mn, %mn_b, %bytes nburst(%c1_i64, %c32_i64, %bytes) : {P}, {gm("f32")}, i64, i64, i64, i64
      pto.mte_ub_gm %ub_sn, %sn_b, %bytes nburst(%c1_i64, %c32_i64, %bytes) : {P}, {gm("f32")}, i64, i64, i64, i64
    }}
    pto.barrier #pto.pipe<PIPE_ALL>"""

    names = ", ".join(f"%{n}: {gm('f32')}" for n in ("x", "mo", "so", "y", "mn", "sn")) + ", %rows: i32"
    text = module(body, names)
    random = np.random.default_rng(0)
    for rows in (24, 21):
        x = random.uniform(-4, 4, (rows, 73)).astype("f4")
        mo, so = random.uniform(-3, 3, rows).astype("f4"), random.uniform(0, 9, rows).astype("f4")
        out = outcome(text, x, mo, so, np.zeros_like(x), np.zeros(rows, "f4"), np.zeros(rows, "f4"), rows, grid=4)
        new = np.maximum(mo, x.max(1))
        p = np.exp(x.astype("f8") - new[:, None])
        close(out[3], p, 1e-5)
        equal(out[4], new)
        close(out[5], so * np.exp(mo.astype("f8") - new) + p.sum(1), 1e-4)


@pytest.mark.parametrize("schedule", ["program", "random:1", "random:4", "delay:MTE3"])
def test_an_error_of_an_entry_that_outlives_its_program_has_its_line(schedule: str) -> None:
    cube = CUBE + to_ub("%ub0", M, N, "f32", "f32", "%c0_i64") + "      pto.sync.set <PIPE_FIX>, 1\n"
    text = mixed_kernel(
        COMMON,
        cube,
        only_first("      pto.sync.wait <PIPE_MTE3>, 1\n" + store_out("%ub0", "%c", M, 256, 256, 256)),
        FEEDS,
    )
    a, b = matrices(M, N, K)
    with pytest.raises(ptosim.PTOError) as caught:
        ptosim.load(text).kernel()(a, b, np.zeros((M // 2, N), "f4"), engine="reference", schedule=schedule)
    first = caught.value.diagnostics[0]
    assert (first.kind, first.line, first.core) == ("out-of-bounds", line_of(text, "pto.mte_ub_gm"), "b0.aiv0")


# --- where there is no UB ---------------------------------------------------------------------------------------------

F32 = gm("f32")
FILL = f"""{COMMON}    pto.mte_gm_ub %c, %ub0, %c0_i64, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
      : {F32}, {P}, i64, i64, i64, i64, i64
"""
STORE = f"{COMMON}    pto.store_scalar %one, %ub0[%c0] : {P}, f32\n"
LOAD = f"{COMMON}    %loaded = pto.load_scalar %ub0[%c0] : {P} -> f32\n"
CALL = f"    func.call @fill(%c) : ({F32}) -> ()\n"


def without_ub(shared: str = "", cube: str = "", kind: str = "") -> str:
    """A kernel whose cube core meets UB in code of its own, in code for all cores, or in a helper."""
    sections = f"    pto.section.cube {{\n{cube}    }}\n    pto.section.vector {{\n    }}\n"
    text = f"    %one = arith.constant 1.0 : f32\n{shared}{'' if kind else sections}    pto.barrier <PIPE_ALL>"
    kernel = module(text, f"%c: {F32}", attributes=kind)
    helper = f"  func.func @fill(%c: {F32}) {{\n{constants(FILL)}\n{FILL}    return\n  }}\n"
    return kernel if kind else kernel.replace("  func.func @kernel", f"{helper}  func.func @kernel")


@table(
    "text, said",
    (without_ub(shared=CALL), "writes"),
    (without_ub(cube=CALL), "writes"),
    (without_ub(shared=LOAD), "reads"),
    (without_ub(shared=STORE), "writes"),
    (without_ub(cube=STORE), "writes"),
    (without_ub(shared=STORE, kind="pto.kernel_kind = #pto.kernel_kind<cube>"), "writes"),
    ids=["shared call", "called copy", "shared load", "shared store", "store", "cube kernel"],
)
def test_the_cube_core_has_no_ub(text: str, said: str) -> None:
    kernel = ptosim.load(text).kernel("kernel")
    for engine in ("reference", "native"):
        with pytest.raises(ptosim.PTOError) as caught:
            kernel(np.ones(64, "f4"), engine=engine)
        (found,) = caught.value.diagnostics
        assert (found.kind, found.message, found.core) == ("invalid", f"{said} ub, which aic does not have", "b0.aic")
    first = ptosim.check(kernel, np.ones(64, "f4")).findings[0]
    assert (first.kind, first.severity, first.core, first.line) == ("invalid", "error", "b0.aic", found.line)
    with pytest.raises(ptosim.PTOError, match="which aic does not have"):
        ptosim.profile(kernel, np.ones(64, "f4"))


def test_a_copy_of_all_cores_is_one_of_those_that_can() -> None:
    """Outside the sections stand a copy to UB, for the vector cores, and a copy to L1, for the cube core."""
    shared = f"""{COMMON}    %ub256 = pto.castptr %c256_i64 : i64 -> {P}
    %l1 = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, l1>
    pto.mte_gm_ub %a, %ub0, %c0_i64, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
      : {F32}, {P}, i64, i64, i64, i64, i64
    pto.mte_gm_l1 %b, %l1, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
      : {F32}, !pto.ptr<f32, l1>, i64, i64, i64, i64
    pto.barrier <PIPE_ALL>
"""
    cube = """      pto.copy_cbuf_to_ubuf %l1, %ub256, %c0_i64, %c1_i64, %c8_i64, %c0_i64, %c0_i64
        : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
      pto.set_intra_block <PIPE_MTE1>, 1
      pto.barrier <PIPE_ALL>
"""
    vector = "      pto.wait_intra_block <PIPE_MTE3>, 1\n" + store_out("%ub0", "%c", 2, 256, 256, 256)
    vector += "      pto.barrier <PIPE_ALL>\n"
    text = mixed_kernel(shared, cube, only_first(vector), f"%a: {F32}, %b: {F32}, %c: {F32}")
    loaded = ptosim.load(text)
    assert [warning.kind for warning in loaded.warnings] == ["lint", "lint"]
    a, b = np.arange(64, dtype="f4"), -np.arange(64, dtype="f4")
    for engine in ("reference", "native"):
        out = np.zeros(128, "f4")
        loaded.kernel()(a, b, out, engine=engine)
        equal(out, np.concatenate([a, b]))
    assert ptosim.check(loaded.kernel(), a, b, np.zeros(128, "f4")).findings == ()


def test_the_vector_cores_have_ub() -> None:
    """The same helper, called where it belongs."""
    swapped = {"cube": "vector", "vector": "cube"}
    text = re.sub(r"section\.(cube|vector)", lambda found: f"section.{swapped[found[1]]}", without_ub(cube=CALL))
    kernel = ptosim.load(text).kernel("kernel")
    for engine in ("reference", "native"):
        kernel(np.ones(64, "f4"), engine=engine)
    assert ptosim.check(kernel, np.ones(64, "f4")).findings == ()


@pytest.mark.parametrize("kind", ["kernel", "module"])
@pytest.mark.parametrize("start", [0, 1 << 18])
def test_a_kernel_of_the_cube_core_alone_writes_ub_of_idle_vector_cores(kind: str, start: int) -> None:
    """They have their memory, which ends where it always does, and run nothing."""
    copy = f"""{COMMON}    %l1 = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, l1>
    %at = arith.constant {start} : i64
    %ub = pto.castptr %at : i64 -> {P}
    pto.mte_l1_ub %l1, %ub, %c1_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
      : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64
    pto.barrier <PIPE_ALL>"""
    cube = "pto.kernel_kind = #pto.kernel_kind<cube>"
    text = module(copy, f"%c: {F32}", attributes="pto.kernel" if kind == "module" else cube)
    if kind == "module":
        text = text.replace("attributes {", f"attributes {{{cube}, ", 1)
    loaded = ptosim.load(text)
    kernel, cycles = loaded.kernel(), []
    for engine in ("reference", "native"):
        if start:
            with pytest.raises(ptosim.PTOError, match=f"out-of-bounds: writes bytes {start}"):
                kernel(np.ones(64, "f4"), engine=engine)
        else:
            kernel(np.ones(64, "f4"), engine=engine)
            cycles.append(ptosim.profile(kernel, np.ones(64, "f4"), engine=engine).cycles)
    assert len({*cycles}) == (not start)
    found = ptosim.check(kernel, np.ones(64, "f4")).findings
    expected = [("out-of-bounds", line_of(text, "pto.mte_l1_ub"))] if start else []
    assert [(each.kind, each.line) for each in found if each.severity == "error"] == expected
    assert str(ptosim.load(str(loaded.lowered())).kernel().signature) == str(kernel.signature)
