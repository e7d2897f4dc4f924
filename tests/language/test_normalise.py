"""Older spellings on the copy that engines read: what they become, and what registers give them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError
from tables import table

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
    %true = arith.constant true
    %false = arith.constant false
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    {body}
    return
  }}
}}
"""
TYPES = ": !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64"
LOAD = f"pto.copy_gm_to_ubuf %x, %ub, %zero, %one, %size, %zero, %zero, {{}}, %zero, %size, %size {TYPES}"
COPY = LOAD.format("%false")
SET = "pto.set_loop_size_outtoub"
WRITE = f"{SET} %two, %one : i64, i64"


def lowered(body: str) -> str:
    return str(ptosim.load(KERNEL.format(body=body)).lowered())


@table(
    "body, expected",
    (COPY, None),
    (f"{WRITE}\n{COPY}", "%two"),
    (f"{SET} %one, %one : i64, i64\n{WRITE}\n{COPY}", "%two"),
    (f"{COPY}\n{WRITE}", None),
    (f"{SET} %n, %one : i64, i64\n{COPY}", "%n"),
    (f"{WRITE}\nscf.for %i = %c0 to %c2 step %c1 {{\n{COPY}\n}}", "%two"),
    (f"scf.for %i = %c0 to %c2 step %c1 {{\n{WRITE}\n{COPY}\n}}", "%two"),
    (f"scf.for %i = %c0 to %c2 step %c1 {{\n{COPY}\n{WRITE}\n}}", "%outtoub_loop1_size"),
    (f"scf.if %flag {{\n{WRITE}\n}}\n{COPY}", "%outtoub_loop1_size"),
    (f"scf.if %flag {{\n{SET} %one, %one : i64, i64\n}}\n{COPY}", None),
    (f"{WRITE}\nscf.if %flag {{\n{COPY}\n}}", "%two"),
    (f"func.call @helper(%n) : (i64) -> ()\n{COPY}", "%outtoub_loop1_size"),
)
def test_the_write_that_a_copy_sees(body: str, expected: str | None):
    """Where nobody knows which write came last, the register is read; a loop of one round is none."""
    kernel = (
        KERNEL
        if "helper" in body
        else KERNEL.replace("set_loop_size_outtoub %n, %one", "set_loop_size_ubtoout %n, %one")
    )
    text = str(ptosim.load(kernel.format(body=body)).lowered())
    loop = re.search(r"loop\((%\w+), ", text)
    assert (loop and loop[1]) == expected
    assert ('pto.sim.register {field = "outtoub_loop1_size"} : i64' in text) == (expected == "%outtoub_loop1_size")


def test_in_a_helper_its_callers_decide():
    helper = KERNEL.replace("func.func @helper(%n: i64) {{", "func.func @helper(%n: i64, %x: !pto.ptr<f32, gm>) {{")
    body = f"{WRITE}\nfunc.call @load(%x) : (!pto.ptr<f32, gm>) -> ()"
    inside = f"""func.func @load(%x: !pto.ptr<f32, gm>) {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %size = arith.constant 1024 : i64
    %false = arith.constant false
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    {COPY}
    return
  }}
  func.func @kernel("""
    text = helper.format(body=body).replace("func.func @kernel(", inside)
    assert str(ptosim.load(text).lowered()).count("pto.sim.register") == 2  # both loops


def test_padding_is_a_clause_that_may_have_a_condition():
    pad = "%p = arith.constant 1.0 : f32\npto.set_mov_pad_val %p : f32\n"
    assert "pad(" not in lowered(pad + LOAD.format("%false"))
    assert re.search(r"pad\(%c1065353216_i32, %zero, %zero\)", lowered(pad + LOAD.format("%true")))  # the bits of 1.0
    assert re.search(r"pad\(%c1065353216_i32, %zero, %zero, %flag\)", lowered(pad + LOAD.format("%flag")))


def test_what_was_written_stays():
    module = ptosim.load(KERNEL.format(body=COPY))
    assert "pto.copy_gm_to_ubuf" in str(module) and "mte_gm_ub" not in str(module)


def test_a_finding_names_what_was_written():
    far = "%far = arith.constant 300000 : i64\n%bad = pto.castptr %far : i64 -> !pto.ptr<f32, ub>\n"
    kernel = ptosim.load(KERNEL.format(body=far + COPY.replace("%ub", "%bad"))).kernel("kernel")
    report = ptosim.check(kernel, np.zeros(1024, np.float32), 1, False)
    assert "pto.copy_gm_to_ubuf" in str(report) and "mte_gm_ub" not in str(report)


def test_only_an_older_copy_has_a_condition_for_its_padding():
    types = ": !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, pad f32, i64, i64, i1"
    rows = "pto.mte_gm_ub %x, %ub, %zero, %size nburst(%one, %size, %size) pad(%p, %zero, %zero, %flag)"
    body = f"%p = arith.constant 1.0 : f32\n{rows} {{}} {types}"
    ptosim.load(KERNEL.format(body=body.format("{older}")))
    with pytest.raises(PTOError, match="pad takes a value, or a value, left and right"):
        ptosim.load(KERNEL.format(body=body.format("")))
