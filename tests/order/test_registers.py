"""Copies in the older spelling: what their registers hold where they are issued, and what can be proven with it."""

from __future__ import annotations

import pytest

import ptosim
from ptosim.language.registers import reaching

SET = "pto.set_loop_size_outtoub"
KERNEL = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @helper(%n: i64) {{
    %one = arith.constant 1 : i64
    pto.set_loop_size_outtoub %n, %one : i64, i64
    return
  }}
  func.func @kernel(%x: !pto.ptr<f32, gm>, %n: i64, %flag: i1) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
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
COPY = """pto.copy_gm_to_ubuf %x, %ub, %zero, %one, %size, %zero, %zero, %false, %zero, %size, %size
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"""
WRITE = f"{SET} %two, %one : i64, i64"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (COPY, "start"),
        (f"{WRITE}\n{COPY}", "%two"),
        (f"{SET} %one, %one : i64, i64\n{WRITE}\n{COPY}", "%two"),
        (f"{COPY}\n{WRITE}", "start"),
        (f"{WRITE}\nscf.for %i = %c0 to %c2 step %c1 {{\n{COPY}\n}}", "%two"),
        (f"scf.for %i = %c0 to %c2 step %c1 {{\n{WRITE}\n{COPY}\n}}", "%two"),
        (f"scf.for %i = %c0 to %c2 step %c1 {{\n{COPY}\n{WRITE}\n}}", None),
        (f"scf.if %flag {{\n{WRITE}\n}}\n{COPY}", None),
        (f"{WRITE}\nscf.if %flag {{\n{COPY}\n}}", "%two"),
        (f"func.call @helper(%n) : (i64) -> ()\n{COPY}", None),
    ],
)
def test_the_write_that_a_copy_sees(body: str, expected: str | None):
    parsed = ptosim.load(KERNEL.format(body=body)).verified.parsed
    copy = next(op for op in parsed.module.walk() if op.name == "pto.copy_gm_to_ubuf")
    found = reaching(copy, SET)
    assert (found if found in (None, "start") else parsed.name_of(found.operands[0])) == expected


def test_in_a_helper_its_callers_decide():
    text = KERNEL.format(body="func.call @helper(%n) : (i64) -> ()")
    parsed = ptosim.load(text).verified.parsed
    helper = next(op for op in parsed.module.walk() if op.name == "func.return")
    assert reaching(helper, "pto.set_loop_size_ubtoout") is None


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
