"""Configuration registers where only the run knows what they hold: the copy reads them (pto.sim.register)."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim

KERNEL = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f32, gm>, %flag: i1) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %size = arith.constant 1024 : i64
    %short = arith.constant 1000 : i64
    %false = arith.constant false
    %true = arith.constant true
    %c1024 = arith.constant 1024 : index
    %p = arith.constant -2.0 : f32
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %y = pto.addptr %x, %c1024 : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    {body}
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.copy_ubuf_to_gm %ub, %y, %zero, %two, %size, %zero, %size, %size
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64
    return
  }}
}}
"""
LOAD = """pto.copy_gm_to_ubuf %x, %ub, %zero, %one, {length}, %zero, %zero, {pads}, %zero, %size, %size
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"""


def stored(body: str, flag: bool, engine: str) -> np.ndarray:
    """What the kernel stores 4096 bytes behind the numbers 0, 1, 2 ... that it loads."""
    data = np.arange(2048, dtype=np.float32)
    ptosim.load(KERNEL.format(body=body)).kernel("kernel")(data, flag, engine=engine)
    return data[1024:1536]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("flag", [False, True])
def test_loops_of_a_register_that_a_branch_writes(engine: str, flag: bool):
    strides = "pto.set_loop1_stride_outtoub %size, %size : i64, i64"
    write = "scf.if %flag {\npto.set_loop_size_outtoub %two, %one : i64, i64\n}"
    found = stored(f"{strides}\n{write}\n{LOAD.format(length='%size', pads='%false')}", flag, engine)
    assert (found[:256] == np.arange(256)).all()
    assert (found[256:] == (np.arange(256, 512) if flag else 0)).all()


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("pads", ["%true", "%flag"])
def test_the_pad_value_of_a_register_that_a_branch_writes(engine: str, flag: bool, pads: str):
    """250 of 256 elements are loaded; the rest is padded, with 0 where nothing was written."""
    write = "scf.if %flag {\npto.set_mov_pad_val %p : f32\n}"
    found = stored(f"{write}\n{LOAD.format(length='%short', pads=pads)}", flag, engine)
    assert (found[:250] == np.arange(250)).all()
    assert (found[250:256] == (-2.0 if flag else 0.0)).all()
