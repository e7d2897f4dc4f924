"""The published cycles of whole vector functions against kernels as one writes them: with masks, pointers and indices.

`calibration_points` has the bare instructions; a kernel also makes a mask, before its loops or for each register.
"""

import numpy as np
import pytest

import ptosim
from timing.calibration_points import TABLE

REGISTER, MASK, POINTER = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"

INSTRUCTIONS = {
    "vmins": f"%r = pto.vmins %a0, %s, %m : {REGISTER}, f32, {MASK} -> {REGISTER}",
    "vexp": f"%r = pto.vexp %a0, %m : {REGISTER}, {MASK} -> {REGISTER}",
    "vadd": f"%r = pto.vadd %a0, %a1, %m : {REGISTER}, {REGISTER}, {MASK} -> {REGISTER}",
}

ALL = f'%m = pto.pset_b32 "PAT_ALL" : {MASK}'
REST = f"%m, %left = pto.plt_b32 %rest : i32 -> {MASK}, i32"

KERNEL = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%count: i32) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %registers = arith.constant {registers} : index
    %rows = arith.constant {rows} : index
    %row_size = arith.constant {row_size} : index
    %s = arith.constant 1.0 : f32
    %c0_i64 = arith.constant 0 : i64
    %c65536_i64 = arith.constant 65536 : i64
    %c131072_i64 = arith.constant 131072 : i64
    %p0 = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
    %p1 = pto.castptr %c65536_i64 : i64 -> !pto.ptr<f32, ub>
    %out = pto.castptr %c131072_i64 : i64 -> !pto.ptr<f32, ub>
    pto.vecscope {{
      {body}
    }}
    return
  }}
}}
"""


def one_loop(name: str, loads: int, counted: bool) -> str:
    """Each access returns the pointer that the next iteration uses; a counted mask covers what is left."""
    carried = [(f"%q{i}", f"%p{i}", f"%next{i}", POINTER) for i in range(loads)]
    carried.append(("%qo", "%out", "%next_out", POINTER))
    carried += [("%rest", "%count", "%left", "i32")] if counted else []
    types = ", ".join(entry[3] for entry in carried)
    lines = [REST] if counted else []
    lines += [f"%a{i}, %next{i} = pto.vlds %q{i}[%c64] : {POINTER} -> {REGISTER}, {POINTER}" for i in range(loads)]
    lines += [INSTRUCTIONS[name]]
    lines += [f"%next_out = pto.vsts %r, %qo[%c64], %m : {REGISTER}, {POINTER}, {MASK} -> {POINTER}"]
    lines += [f"scf.yield {', '.join(entry[2] for entry in carried)} : {types}"]
    arguments = ", ".join(f"{argument} = {initial}" for argument, initial, _, _ in carried)
    loop = f"%_:{len(carried)} = scf.for %i = %c0 to %registers step %c1 iter_args({arguments}) -> ({types})"
    return "\n".join(([] if counted else [ALL]) + [f"{loop} {{", *lines, "}"])


def two_loops(name: str, loads: int, counted: bool) -> str:
    """A row begins at its own index, and so does each register of it."""
    lines = ["%column = arith.muli %j, %c64 : index", "%place = arith.addi %row, %column : index"]
    lines += [REST] if counted else []
    lines += [f"%a{i} = pto.vlds %p{i}[%place] : {POINTER} -> {REGISTER}" for i in range(loads)]
    lines += [INSTRUCTIONS[name], f"pto.vsts %r, %out[%place], %m : {REGISTER}, {POINTER}, {MASK}"]
    loop = "scf.for %j = %c0 to %registers step %c1"
    if counted:
        loop = f"%_ = {loop} iter_args(%rest = %count) -> (i32)"
        lines += ["scf.yield %left : i32"]
    inner = [f"{loop} {{", *lines, "}"]
    outer = ["scf.for %i = %c0 to %rows step %c1 {", "%row = arith.muli %i, %row_size : index", *inner, "}"]
    return "\n".join(([] if counted else [ALL]) + outer)


def vector_cycles(name: str, loads: int, rows: int, registers: int, counted: bool) -> int:
    body = (one_loop if rows == 1 else two_loops)(name, loads, counted)
    text = KERNEL.format(registers=registers, rows=rows, row_size=64 * registers, body=body)
    (event,) = ptosim.profile(ptosim.load(text).kernel(), np.int32(64 * registers)).timeline
    return event.cycles


@pytest.mark.parametrize("counted", [False, True], ids=["one mask", "a mask for each register"])
def test_all_points(counted: bool):
    errors: list[float] = []
    for (name, _, loads), points in TABLE.items():
        for shape, published in points.items():
            rows, registers = map(int, shape.split("x"))
            errors.append(abs(vector_cycles(name, loads, rows, registers, counted) / published - 1))
    assert len(errors) == 34
    assert sum(errors) / len(errors) <= 0.03
    assert max(errors) <= 0.10


@pytest.mark.parametrize("counted", [False, True], ids=["one mask", "a mask for each register"])
def test_a_mask_takes_nothing_from_the_execute_ports(counted: bool):
    # Each port takes an exponential every 4 cycles, so 15 rows of 20 take 15 * 40 cycles.
    few, many = (vector_cycles("vexp", 1, rows, 20, counted) for rows in (5, 20))
    assert many - few == 15 * 40


def test_the_worked_example_of_the_documentation():
    # docs/explanation/timing.md follows it by hand: four registers, vexp, 23 + 35 + 12 cycles.
    assert vector_cycles("vexp", 1, 1, 4, counted=False) == 70
