"""Copies in the older spelling: what can be proven with what their registers hold where they are issued."""

from __future__ import annotations

import pytest

import ptosim

KERNEL = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f32, gm>, %n: i64, %flag: i1) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %size = arith.constant 1024 : i64
    %false = arith.constant false
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    {body}
    return
  }}
}}
"""
TWO_BUFFERS = """
    %far = arith.constant 4096 : i64
    %other = pto.castptr %far : i64 -> !pto.ptr<f32, ub>
    {write}
    pto.copy_ubuf_to_gm %other, %x, %zero, %one, %size, %zero, %size, %size
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64
    %y = pto.addptr %x, %c2k : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    pto.copy_gm_to_ubuf %y, %ub, %zero, %one, %size, %zero, %zero, %false, %zero, %size, %size
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"""


STRIDE = "pto.set_loop1_stride_outtoub %size, %size : i64, i64"


@pytest.mark.parametrize(
    ("write", "proven"),
    [
        ("", True),
        ("pto.set_loop_size_outtoub %one, %one : i64, i64", True),
        (f"pto.set_loop_size_outtoub %two, %one : i64, i64\n{STRIDE}", True),
        (f"pto.set_loop_size_outtoub %n, %one : i64, i64\n{STRIDE}", True),  # assuming that it stays in its buffer
        (f"pto.set_loop_size_outtoub %five, %one : i64, i64\n{STRIDE}", False),  # 5 x 1024 bytes reach the other one
        (f"scf.if %flag {{\npto.set_loop_size_outtoub %two, %one : i64, i64\n}}\n{STRIDE}", False),  # nobody knows
    ],
)
def test_copies_between_different_buffers_are_proven_apart(write: str, proven: bool):
    """The stored buffer lies 4 KiB behind the loaded one, and their places in GM apart."""
    constants = "%c2k = arith.constant 2048 : index\n    %five = arith.constant 5 : i64\n"
    kernel = ptosim.load(KERNEL.format(body=constants + TWO_BUFFERS.format(write=write))).kernel("kernel")
    assert ptosim.prove(kernel).proven == proven
