"""Each rule of the A5 vector unit in a kernel of its own, by the figures of the target, which has published ones.

A scope costs its start-up and its drain, and what lies between: a load feeds its consumer after some cycles (vdup
sooner), the last store takes its latency. Figures of the target are held by target/test_published_figures.py.
"""

from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from ptosim.effects.catalogue import effects
from ptosim.target import load_target
from tables import table

F32, F16, I32 = "!pto.vreg<64xf32>", "!pto.vreg<128xf16>", "!pto.vreg<64xi32>"
B32, B16 = "!pto.mask<b32>", "!pto.mask<b16>"
A5 = load_target("a5")
LAUNCH = A5.figures["vector.startup"].value + A5.figures["vector.drain"].value
LOADED, STORED = A5.figures["forward.load.alu"].value[0], A5.figures["class.store.latency"].value[0]

KERNEL = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%s: f32, %n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c0_i64 = arith.constant 0 : i64
    %c65536_i64 = arith.constant 65536 : i64
    %in = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
    %half = pto.castptr %c0_i64 : i64 -> !pto.ptr<f16, ub>
    %int = pto.castptr %c0_i64 : i64 -> !pto.ptr<i32, ub>
    %out = pto.castptr %c65536_i64 : i64 -> !pto.ptr<f32, ub>
    %half_out = pto.castptr %c65536_i64 : i64 -> !pto.ptr<f16, ub>
    %int_out = pto.castptr %c65536_i64 : i64 -> !pto.ptr<i32, ub>
    pto.vecscope {{
      %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %m16 = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
      {body}
    }}
    return
  }}
}}
"""

LOAD = f"%a = pto.vlds %in[%c0] : !pto.ptr<f32, ub> -> {F32}"
LOADS = f"{LOAD}\n%b = pto.vlds %in[%c64] : !pto.ptr<f32, ub> -> {F32}"
HALF = f"%a = pto.vlds %half[%c0] : !pto.ptr<f16, ub> -> {F16}"
HALVES = f"{HALF}\n%b = pto.vlds %half[%c128] : !pto.ptr<f16, ub> -> {F16}"
INT = f"%a = pto.vlds %int[%c0] : !pto.ptr<i32, ub> -> {I32}\n%b = pto.vlds %int[%c64] : !pto.ptr<i32, ub> -> {I32}"
STORE = f"pto.vsts %r, %out[%c0], %m : {F32}, !pto.ptr<f32, ub>, {B32}"
STORE_HALF = f"pto.vsts %r, %half_out[%c0], %m16 : {F16}, !pto.ptr<f16, ub>, {B16}"
STORE_INT = f"pto.vsts %r, %int_out[%c0], %m : {I32}, !pto.ptr<i32, ub>, {B32}"


def cycles(*lines: str, n: int = 0) -> int:
    kernel = ptosim.load(KERNEL.format(body="\n".join(lines))).kernel()
    (event,) = ptosim.profile(kernel, np.float32(1), n).timeline
    return event.cycles


def unary(name: str, operand: str = "%a", result: str = "%r") -> str:
    return f"{result} = pto.{name} {operand}, %m : {F32}, {B32} -> {F32}"


def binary(name: str, one: str = "%a", other: str = "%b", result: str = "%r") -> str:
    return f"{result} = pto.{name} {one}, {other}, %m : {F32}, {F32}, {B32} -> {F32}"


def scalar(name: str) -> str:
    return f"%r = pto.{name} %a, %s, %m : {F32}, f32, {B32} -> {F32}"


def behind(producer: str, consumer: str = "store", narrow: bool = False) -> int:
    """The cycles from an instruction to one that takes its result, or to a store, by the figures of the target."""
    made = effects()[f"pto.{producer}"].timing
    if consumer != "store":
        consumer = A5.figures[f"class.{effects()[f'pto.{consumer}'].timing}.consumer"].value
    return A5.figures[f"forward.{made}.{consumer}"].value[narrow]


@table(
    "written, loads, names",
    (unary, LOAD, "vabs vrelu vneg vexp vln vsqrt vcmax vcmin vcadd vcgmax vcgmin vcgadd"),
    (binary, LOADS, "vadd vsub vmul vmax vmin vdiv"),
    (scalar, LOAD, "vadds vmuls vmaxs vmins"),
)
def test_one_instruction(written: Callable[[str], str], loads: str, names: str):
    for name in names.split():
        assert cycles(loads, written(name), STORE) == LAUNCH + LOADED + behind(name) + STORED, name


def test_logic():
    for name in "vand vor vxor vshl vshr".split():
        operation = f"%r = pto.{name} %a, %b, %m : {I32}, {I32}, {B32} -> {I32}"
        assert cycles(INT, operation, STORE_INT) == LAUNCH + LOADED + behind(name) + STORED, name


def test_halves():
    for name in "vexp vln vsqrt vabs vcmax".split():
        operation = f"%r = pto.{name} %a, %m16 : {F16}, {B16} -> {F16}"
        assert cycles(HALF, operation, STORE_HALF) == LAUNCH + LOADED + behind(name, narrow=True) + STORED, name
    operation = f"%r = pto.vdiv %a, %b, %m16 : {F16}, {F16}, {B16} -> {F16}"
    assert cycles(HALVES, operation, STORE_HALF) == LAUNCH + LOADED + behind("vdiv", narrow=True) + STORED


def test_a_lane_is_broadcast_early():
    operation = f'%r = pto.vdup %a, %m {{position = "LOWEST"}} : {F32}, {B32} -> {F32}'
    assert cycles(LOAD, operation, STORE) == LAUNCH + 2 + 4 + STORED


PAIRS = (
    "vadd vabs, vadd vmul, vmul vexp, vmax vadd, vabs vadd, vexp vadd, vdiv vexp, vcmax vmax, vcadd vadd, vcgmax vmax"
)


def test_forwarding():
    for first, second in (pair.split() for pair in PAIRS.split(", ")):
        written = {name: binary if name in ("vadd", "vmul", "vmax", "vdiv") else unary for name in (first, second)}
        lines = written[first](first, result="%p"), written[second](second, "%p")
        expected = LAUNCH + LOADED + behind(first, second) + behind(second) + STORED
        assert cycles(LOADS, *lines, STORE) == expected, (first, second)


def test_a_comparison_decides_a_selection():
    compare = f'%c = pto.vcmp %a, %b, %m, "lt" : {F32}, {F32}, {B32} -> {B32}'
    select = f"%r = pto.vsel %a, %b, %c : {F32}, {F32}, {B32} -> {F32}"
    assert cycles(LOADS, compare, select, STORE) == LAUNCH + LOADED + 2 + 4 + STORED


def test_stores_of_pairs_take_longer():
    store = f'pto.vstsx2 %a, %b, %out[%c0], "INTLV_B32", %m : {F32}, {F32}, !pto.ptr<f32, ub>, index, {B32}'
    assert cycles(LOADS, store) - cycles(LOADS, binary("vadd"), STORE) == 7 + 12 - (LOADED + 5 + STORED)


def loop(*lines: str) -> str:
    return "\n".join(["scf.for %i = %c0 to %n step %c1 {", *lines, "}"])


@table(
    "lines, interval",
    ([LOAD, unary("vabs"), STORE], 1),  # a load and a store share a cycle
    ([LOADS, binary("vadd"), STORE], 2),  # two loads and a store do not
    ([LOAD, unary("vexp"), STORE], 2),  # an interval of 4 on two ports
    ([LOAD, unary("vcmax"), STORE], 1),
    ([LOAD, unary("vcmax", result="%p"), unary("vcadd", "%p"), STORE], 2),  # both on EXU0
    ([HALF, f"%r = pto.vexp %a, %m16 : {F16}, {B16} -> {F16}", STORE_HALF], 4),  # 8 on two ports
    ([HALF, f"%r = pto.vcmax %a, %m16 : {F16}, {B16} -> {F16}", STORE_HALF], 2),
    ([LOAD, unary("vabs"), STORE, STORE.replace("%c0", "%c64")], 2),  # a store in a cycle
)
def test_what_an_iteration_takes_in_the_long_run(lines: list[str], interval: int):
    few, many = (cycles(loop(*lines), n=n) for n in (500, 1500))
    assert many - few == pytest.approx(1000 * interval, abs=2)  # the last iterations may fall differently
