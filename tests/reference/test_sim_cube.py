"""What lowerings of the cube core use besides the instruction set: accumulators started, parameter words made."""

import numpy as np
import pytest

import ptosim

BARRIER = "pto.barrier <PIPE_ALL>"


def run(body: str, parameters: str, *arrays: np.ndarray) -> None:
    """A kernel of the cube core, on both engines alike."""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k({parameters}) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c16 = arith.constant 16 : i64
    %c64 = arith.constant 64 : i64
    %n = arith.constant 16 : i64
    %acc = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>
    {body}
    {BARRIER}
    return
  }}
}}
"""
    kernel = ptosim.load(text).kernel()
    copies = [array.copy() for array in arrays]
    kernel(*copies, engine="native")
    kernel(*arrays, engine="reference")
    assert all(np.array_equal(one, other) for one, other in zip(arrays, copies, strict=True))


STORE = """pto.mte_l0c_gm %acc, %out, %n, %n, %c16, %c16, %c0, %c0, nz2nd
      : !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"""


def test_accumulators_start_from_zero():
    out = np.full((16, 16), 7, np.float32)
    start = "pto.sim.start_acc %acc, %n, %n : !pto.ptr<f32, l0c>, i64, i64"
    run(f"{start}\n{BARRIER}\n{STORE}", "%out: !pto.ptr<f32>", out)
    assert not out.any()


def test_accumulators_start_from_a_bias():
    bias, out = np.arange(16, dtype=np.float32), np.zeros((16, 16), np.float32)
    load = f"""%l1 = pto.castptr %c0 : i64 -> !pto.ptr<f32, l1>
    %bt = pto.castptr %c0 : i64 -> !pto.ptr<f32, bt>
    pto.mte_gm_l1 %bias, %l1, %c64 nburst(%c1, %c64, %c64) : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64
    {BARRIER}
    %blocks = arith.constant 2 : i64
    pto.mte_l1_bt %l1, %bt, %blocks nburst(%c1, %c0, %c0) : !pto.ptr<f32, l1>, !pto.ptr<f32, bt>, i64, i64, i64, i64
    {BARRIER}
    pto.sim.start_acc %acc, %n, %n, %bt : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<f32, bt>"""
    run(f"{load}\n{BARRIER}\n{STORE}", "%bias: !pto.ptr<f32>, %out: !pto.ptr<f32>", bias, out)
    assert np.array_equal(out, np.broadcast_to(bias, (16, 16)))


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_scales_become_words(scale: float):
    """A product of the accumulators, all from a bias of ones, with one scale for each column."""
    scales, ones, out = (np.full(16, scale, np.float32), np.ones(16, np.float32), np.zeros((16, 16), np.float16))
    scales[3] = 2 * scale
    load = f"""%a = pto.castptr %c0 : i64 -> !pto.ptr<f32, l1>
    %b = pto.castptr %c64 : i64 -> !pto.ptr<f32, l1>
    %bt = pto.castptr %c0 : i64 -> !pto.ptr<f32, bt>
    %fb = pto.castptr %c0 : i64 -> !pto.ptr<f32, fb>
    pto.mte_gm_l1 %ones, %a, %c64 nburst(%c1, %c64, %c64) : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64
    pto.mte_gm_l1 %scales, %b, %c64 nburst(%c1, %c64, %c64) : !pto.ptr<f32, gm>, !pto.ptr<f32, l1>, i64, i64, i64, i64
    {BARRIER}
    %blocks = arith.constant 2 : i64
    pto.mte_l1_bt %a, %bt, %blocks nburst(%c1, %c0, %c0) : !pto.ptr<f32, l1>, !pto.ptr<f32, bt>, i64, i64, i64, i64
    pto.sim.scale_words %b, %fb, %c16 : !pto.ptr<f32, l1>, !pto.ptr<f32, fb>, i64
    {BARRIER}
    pto.sim.start_acc %acc, %n, %n, %bt : !pto.ptr<f32, l0c>, i64, i64, !pto.ptr<f32, bt>
    {BARRIER}
    pto.mte_l0c_gm %acc, %out, %n, %n, %c16, %c16, %c0, %c0, pre_quant(%fb, mode = qf322f16_pre_vec), nz2nd
      : !pto.ptr<f32, l0c>, !pto.ptr<f16, gm>, i64, i64, i64, i64, i64, i64, !pto.ptr<f32, fb>"""
    run(load, "%ones: !pto.ptr<f32>, %scales: !pto.ptr<f32>, %out: !pto.ptr<f16>", ones, scales, out)
    assert np.array_equal(out, np.broadcast_to(scales, (16, 16)).astype(np.float16))
