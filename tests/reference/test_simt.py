"""Launches of workitems: forms, order of warps, control flow, barriers."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from workitem_programs import both, lanes, section

X = np.random.default_rng(6).integers(0, 1000, 32).astype("i4")
ENTRY = """module attributes {pto.target_arch = "a5"} {
  func.func @body(%x: !pto.ptr<i32, gm>, %n: i32) attributes {pto.simt_entry} {
    %t = pto.get_tid_x : i32
    %i = arith.index_cast %t : i32 to index
    %v = pto.load %x[%i] : !pto.ptr<i32, gm> -> i32
    %s = arith.addi %v, %n : i32
    pto.threadfence
    pto.threadfence_block
    pto.store %s, %x[%i] : !pto.ptr<i32, gm>, i32
    return
  }
  func.func @k(%x: !pto.ptr<i32, gm>, %n: i32) attributes {pto.kernel} {
    %c1 = arith.constant 1 : i32
    LAUNCH
    return
  }
}
"""
DIRECT = "pto.simt_launch @body<<<%n, %c1, %c1>>>(%x, %n) : (!pto.ptr<i32, gm>, i32) -> ()"
CALL = "func.call @body(%x, %n) : (!pto.ptr<i32, gm>, i32) -> ()"
STORE = "pto.store_vfsimt_info %c1, %c1, %n : i32, i32, i32"
ENGINES = pytest.mark.parametrize("engine", ["reference", "native"])


@ENGINES
@pytest.mark.parametrize("launch", [DIRECT, f"{STORE}\n{CALL}"])
def test_forms_of_a_launch(launch: str, engine: str) -> None:
    x = np.arange(40, dtype="i4")
    ptosim.load(ENTRY.replace("LAUNCH", launch)).kernel()(x, 40, engine=engine)
    assert x.tolist() == [each + 40 for each in range(40)]


@ENGINES
def test_dimensions_stay_until_they_are_stored_again(engine: str) -> None:
    loop = f"""%c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %one = arith.constant 1 : index
    {STORE}
    scf.for %j = %c0 to %c3 step %one {{ {CALL} }}"""
    x = np.zeros(8, "i4")
    ptosim.load(ENTRY.replace("LAUNCH", loop)).kernel()(x, 8, engine=engine)
    assert x.tolist() == [24] * 8


@ENGINES
@pytest.mark.parametrize(("launch", "count"), [(CALL, 4), (DIRECT, 0), (DIRECT, 1025), (DIRECT, -3)])
def test_a_launch_that_cannot_be(launch: str, count: int, engine: str) -> None:
    kernel, x = ptosim.load(ENTRY.replace("LAUNCH", launch)).kernel(), np.zeros(2000, "i4")
    with pytest.raises(ptosim.PTOError) as raised:
        kernel(x, count, engine=engine)
    (found,) = raised.value.diagnostics
    assert (found.kind, found.line) == ("invalid", 14) and not x.any()
    report = ptosim.check(kernel, x, count)
    assert [each.kind for each in report.findings] == ["invalid"]


def test_steps_of_lanes_differ() -> None:
    text = (
        """
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      %r:2 = scf.while (%n = %a, %k = %c0) : (i32, i32) -> (i32, i32) {
        %go = arith.cmpi sgt, %n, %c1 : i32
        scf.condition(%go) %n, %k : i32, i32
      } do {
      ^bb0(%n: i32, %k: i32):
        %odd = arith.andi %n, %c1 : i32
        %is = arith.cmpi eq, %odd, %c1 : i32
        %m = scf.if %is -> (i32) {
          %t3 = arith.muli %n, %c3 : i32
          %u = arith.addi %t3, %c1 : i32
          scf.yield %u : i32
        } else {
          %h = arith.divsi %n, %c2 : i32
          scf.yield %h : i32
        }
        %k1 = arith.addi %k, %c1 : i32
        scf.yield %m, %k1 : i32, i32
      }
    """.replace("%r:2 =", "%s:2 =")
        + "\n%r = arith.addi %s#1, %c0 : i32"
    )
    assert lanes(text, [("i32", X + 1)], "i32").tolist() == [collatz(int(x) + 1) for x in X]


def collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


def test_bounds_of_lanes_differ() -> None:
    text = """
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : index
      %n = arith.index_cast %a : i32 to index
      %r = scf.for %j = %i to %n step %c1 iter_args(%s = %c0) -> (i32) {
        %w = arith.index_cast %j : index to i32
        %u = arith.addi %s, %w : i32
        scf.yield %u : i32
      }
    """
    bounds = X % 50
    assert lanes(text, [("i32", bounds)], "i32").tolist() == [sum(range(t, int(bounds[t]))) for t in range(32)]


def test_helpers_run_once_per_workitem() -> None:
    source = section(
        "%r = func.call @twice(%t) : (i32) -> i32\npto.store %r, %x[%i] : !pto.ptr<i32, gm>, i32",
        ["%x: !pto.ptr<i32, gm>"],
    )
    helper = (
        "  func.func private @twice(%n: i32) -> i32 {\n    %r = arith.addi %n, %n : i32\n    return %r : i32\n  }\n}\n"
    )
    out = np.zeros(32, "i4")
    both([], out, source.rstrip()[:-1] + helper)
    assert out.tolist() == [2 * t for t in range(32)]


def test_a_tree_of_sums_by_barriers() -> None:
    text = """
      %v = pto.load %x[%i] : !pto.ptr<i32, gm> -> i32
      pto.store %v, %ub[%i] : !pto.ptr<i32, ub>, i32
      pto.syncthreads
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %one = arith.constant 1 : index
      %c128 = arith.constant 128 : i32
      %c1 = arith.constant 1 : i32
      %last = scf.for %j = %c0 to %c8 step %one iter_args(%s = %c128) -> (i32) {
        %low = arith.cmpi slt, %t, %s : i32
        scf.if %low {
          %o = arith.addi %t, %s : i32
          %oi = arith.index_cast %o : i32 to index
          %p = pto.load %ub[%i] : !pto.ptr<i32, ub> -> i32
          %q = pto.load %ub[%oi] : !pto.ptr<i32, ub> -> i32
          %pq = arith.addi %p, %q : i32
          pto.store %pq, %ub[%i] : !pto.ptr<i32, ub>, i32
        }
        pto.syncthreads
        %h = arith.shrui %s, %c1 : i32
        scf.yield %h : i32
      }
      %r = pto.load %ub[%c0] : !pto.ptr<i32, ub> -> i32
      pto.store %r, %out[%i] : !pto.ptr<i32, gm>, i32
    """
    x, out = np.arange(256, dtype="i4"), np.zeros(256, "i4")
    source = section(text, ["%x: !pto.ptr<i32, gm>", "%out: !pto.ptr<i32, gm>"], "256, 1, 1")
    both([x], out, source)
    assert out.tolist() == [x.sum()] * 256
    assert not ptosim.check(ptosim.load(source).kernel(), x, out).findings


@ENGINES
def test_a_barrier_that_some_do_not_reach(engine: str) -> None:
    text = """%c20 = arith.constant 20 : i32
      %low = arith.cmpi slt, %t, %c20 : i32
      scf.if %low { pto.syncthreads }"""
    kernel = ptosim.load(section(text, ["%x: !pto.ptr<i32, gm>"], "64, 1, 1")).kernel()
    with pytest.raises(ptosim.PTOError) as raised:
        kernel(np.zeros(1, "i4"), engine=engine)
    (found,) = raised.value.diagnostics
    assert (found.kind, found.line) == ("deadlock", 11) and "20 of 64 workitems" in found.message
    assert found.workitem is not None and found.workitem.number == 20
    whole = text.replace("20", "32")
    kernel = ptosim.load(section(whole, ["%x: !pto.ptr<i32, gm>"], "64, 1, 1")).kernel()
    (found,) = ptosim.check(kernel, np.zeros(1, "i4")).findings
    assert found.kind == "deadlock" and "32 of 64 workitems are there" in found.message and "has ended" in found.message


@ENGINES
def test_an_endless_spin_is_a_limit(engine: str) -> None:
    text = """%c0 = arith.constant 0 : i32
      %w = scf.while (%s = %c0) : (i32) -> i32 {
        %v = pto.load %ub[%i] : !pto.ptr<i32, ub> -> i32
        %go = arith.cmpi eq, %v, %c0 : i32
        scf.condition(%go) %v : i32
      } do {
      ^bb0(%v: i32):
        scf.yield %v : i32
      }"""
    kernel = ptosim.load(section(text, ["%x: !pto.ptr<i32, gm>"])).kernel()
    with pytest.raises(ptosim.PTOError) as raised:
        kernel(np.zeros(1, "i4"), engine=engine, max_steps=2000)
    assert raised.value.diagnostics[0].kind == "limit"


@ENGINES
def test_traps_name_the_workitem(engine: str) -> None:
    text = "%c7 = arith.constant 7 : i32\n%is = arith.cmpi sge, %t, %c7 : i32\nscf.if %is { pto.trap }"
    kernel = ptosim.load(section(text, ["%x: !pto.ptr<i32, gm>"])).kernel()
    with pytest.raises(ptosim.PTOError) as raised:
        kernel(np.zeros(1, "i4"), engine=engine)
    (found,) = raised.value.diagnostics
    assert found.kind == "trap" and found.workitem is not None and found.workitem.number == 7


def test_syncthreads_orders_what_the_warps_do() -> None:
    text = """
      pto.store %t, %ub[%i] : !pto.ptr<i32, ub>, i32
      pto.syncthreads
      %c95 = arith.constant 95 : i32
      %m = arith.subi %c95, %t : i32
      %mi = arith.index_cast %m : i32 to index
      %r = pto.load %ub[%mi] : !pto.ptr<i32, ub> -> i32
      pto.store %r, %out[%i] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(96, "i4")
    both([], out, section(text, ["%out: !pto.ptr<i32, gm>"], "96, 1, 1"))
    assert out.tolist() == [95 - t for t in range(96)]


@pytest.mark.parametrize("given", ["f16", "f32"])
@pytest.mark.parametrize(("sign", "wanted"), [("s", "i8"), ("s", "i32"), ("u", "i16"), ("u", "i64")])
def test_floats_become_integers_in_every_lane(given: str, sign: str, wanted: str) -> None:
    low, high = {"i8": (-128, 127), "i32": (-(1 << 31), (1 << 31) - 1), "i16": (0, 65535), "i64": (0, 1 << 63)}[wanted]
    numbers = np.linspace(-300, 300, 32).astype({"f16": "f2", "f32": "f4"}[given])
    numbers[:4] = np.nan, np.inf, -0.75, 0.75
    numbers[1] = 0 if wanted == "i64" else numbers[1]
    found = lanes(f"%r = arith.fpto{sign}i %a : {given} to {wanted}", [(given, numbers)], wanted)
    expected = [0 if np.isnan(each) else int(np.clip(float(each), low, high)) for each in numbers]
    assert [int(each) & (1 << int(wanted[1:])) - 1 for each in found] == [
        each & (1 << int(wanted[1:])) - 1 for each in expected
    ]


def test_a_loop_of_some_lanes_carries_what_comes_to_differ() -> None:
    body = """
      %c16 = arith.constant 16 : i32
      %zero32 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %inside = arith.cmpi ult, %t, %c16 : i32
      scf.if %inside {
        %r = scf.for %j = %c0 to %c4 step %c1 iter_args(%s = %zero32) -> (i32) {
          %u = arith.addi %s, %t : i32
          scf.yield %u : i32
        }
        pto.store %r, %y[%i] : !pto.ptr<i32, gm>, i32
      }"""
    out = np.zeros(32, "i4")
    both([], out, section(body, ["%y: !pto.ptr<i32, gm>"]))
    assert out.tolist() == [4 * each if each < 16 else 0 for each in range(32)]
