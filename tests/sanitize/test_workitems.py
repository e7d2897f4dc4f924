"""Races of workitems, what is undefined, and the launch among the other entries of its core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptosim
from tables import table
from workitem_programs import section

OUT = ["%x: !pto.ptr<i32, gm>"]


def findings(body: str, count: int = 64, size: int = 256, grid: int = 1) -> list[tuple[str, str]]:
    kernel = ptosim.load(section(body, OUT, f"{count}, 1, 1")).kernel()
    report = ptosim.check(kernel, np.zeros(size, "i4"), grid=grid, unwritten="off")
    return [(found.kind, found.severity) for found in report.findings]


NEIGHBOUR = """
  pto.store %t, %ub[%i] : !pto.ptr<i32, ub>, i32
  BARRIER
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %n = arith.addi %t, %c1 : i32
  %m = arith.andi %n, %c63 : i32
  %mi = arith.index_cast %m : i32 to index
  %v = pto.load %ub[%mi] : !pto.ptr<i32, ub> -> i32
  pto.store %v, %x[%i] : !pto.ptr<i32, gm>, i32
"""


def test_a_barrier_that_is_missing() -> None:
    assert findings(NEIGHBOUR.replace("BARRIER", "pto.syncthreads")) == []
    kernel = ptosim.load(section(NEIGHBOUR.replace("BARRIER", ""), OUT, "64, 1, 1")).kernel()
    report = ptosim.check(kernel, np.zeros(64, "i4"))
    race = next(found for found in report.findings if found.kind == "race")
    assert race.severity == "error" and race.workitem is not None
    assert {race.line, race.related[0].line} == {10, 17} and race.related[1].role == "launched here"
    assert "workitem 63 (tx 63, ty 0, tz 0)" in race.message and "workitem 0 (tx 0, ty 0, tz 0)" in race.message


@table(
    "body, expected",
    # one instruction, different values; equal ones
    ("%c0 = arith.constant 0 : index\npto.store %t, %ub[%c0] : !pto.ptr<i32, ub>, i32", [("race", "error")]),
    (
        "%c0 = arith.constant 0 : index\n%c7 = arith.constant 7 : i32\n"
        "pto.store %c7, %ub[%c0] : !pto.ptr<i32, ub>, i32",
        [("race", "warning")],
    ),
    # atomics with each other, of one operation and of two, against a plain load
    ("%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32", []),
    (
        "%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32\n"
        "%p = pto.atomic_min %ub, %t : !pto.ptr<i32, ub>, i32 -> i32",
        [("lint", "warning")],
    ),
    (
        "%c0 = arith.constant 0 : index\n%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32\n"
        "%p = pto.load %ub[%c0] : !pto.ptr<i32, ub> -> i32",
        [("race", "error")],
    ),
)
def test_what_meets_in_one_place(body: str, expected: list[tuple[str, str]]) -> None:
    assert findings(body) == expected


def test_updates_of_two_operations_in_no_order_are_named() -> None:
    body = "".join(f"%{verb} = pto.atomic_{verb} %ub, %t : !pto.ptr<i32, ub>, i32 -> i32\n" for verb in ("add", "min"))
    kernel = ptosim.load(section(body, OUT, "64, 1, 1")).kernel()
    (found,) = ptosim.check(kernel, np.zeros(64, "i4"), unwritten="off").findings
    one, other = (f"workitem {number} (tx {number}, ty 0, tz 0)" for number in (0, 1))
    said = f"{one} updates ub[0:4] (min i32) and {other} does (add i32), in no order: what is left depends on it"
    assert found.message == said


def test_a_race_within_a_warp_is_a_warning() -> None:
    assert findings(NEIGHBOUR.replace("BARRIER", "").replace("63", "31"), 32) == [("race", "warning")]


CHAIN = """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %i40 = arith.constant 40 : index
  %one = arith.constant 1 : index
  %flag = pto.addptr %ub, %one : !pto.ptr<i32, ub> -> !pto.ptr<i32, ub>
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {
    pto.store %c32, %ub[%i40] : !pto.ptr<i32, ub>, i32
    FENCE
    %o = pto.atomic_exch %flag, %c1 : !pto.ptr<i32, ub>, i32 -> i32
  }
  %last = arith.cmpi eq, %t, %c32 : i32
  scf.if %last {
    %w = scf.while (%s = %c0) : (i32) -> i32 {
      %o = ATOMIC
      %go = arith.cmpi eq, %o, %c0 : i32
      scf.condition(%go) %o : i32
    } do {
    ^bb0(%s: i32):
      scf.yield %s : i32
    }
    %v = pto.load %ub[%i40] : !pto.ptr<i32, ub> -> i32
    %z = arith.constant 0 : index
    pto.store %v, %x[%z] : !pto.ptr<i32, gm>, i32
  }
"""
ATOMIC = "pto.atomic_exch %flag, %c1 : !pto.ptr<i32, ub>, i32 -> i32"
PLAIN = "pto.load %ub[%one] : !pto.ptr<i32, ub> -> i32"


def test_a_chain_of_fence_and_atomics() -> None:
    clean = CHAIN.replace("FENCE", "pto.threadfence_block").replace("ATOMIC", ATOMIC)
    assert not any(kind == "race" for kind, _ in findings(clean))
    without = CHAIN.replace("FENCE", "").replace("ATOMIC", ATOMIC)
    assert ("race", "error") in findings(without)
    plain = CHAIN.replace("FENCE", "pto.threadfence").replace("ATOMIC", PLAIN)
    assert ("race", "error") in findings(plain)


def test_undefined_values_that_are_computed_with() -> None:
    load = "%v = pto.load %ub[%i] : !pto.ptr<i32, ub> -> i32\n"
    store = "pto.store %v, %x[%i] : !pto.ptr<i32, gm>, i32"
    assert findings(load + store) == [("uninitialized", "warning")]
    assert findings(f"{load}%w = arith.addi %v, %t : i32\n{store.replace('%v', '%w')}") == [("uninitialized", "error")]
    chosen = f"""{load}%c0 = arith.constant 0 : i32
      %never = arith.cmpi slt, %t, %c0 : i32
      %s = arith.select %never, %v, %t : i32
      {store.replace("%v", "%s")}"""
    assert findings(chosen) == []
    assert findings(f"{load}%i2 = arith.index_cast %v : i32 to index\npto.store %t, %x[%i2] : !pto.ptr<i32, gm>, i32")[
        0
    ] == ("uninitialized", "error")


def test_a_shuffle_from_a_lane_that_sleeps() -> None:
    body = """
      %c1 = arith.constant 1 : i32
      %c8 = arith.constant 8 : i32
      %low = arith.cmpi slt, %t, %c8 : i32
      scf.if %low {
        %s = pto.shuffle_down %t, %c1 : i32, i32 -> i32
        pto.store %s, %x[%i] : !pto.ptr<i32, gm>, i32
      }
    """
    assert findings(body, 32) == [("uninitialized", "error")]


def test_bounds_are_findings_that_a_check_goes_on_behind() -> None:
    body = "%v = pto.ldg %x[%i] : !pto.ptr<i32, gm> -> i32\npto.stg %v, %x[%i] : !pto.ptr<i32, gm>, i32"
    kernel = ptosim.load(section(body, OUT, "64, 1, 1")).kernel()
    report = ptosim.check(kernel, np.zeros(40, "i4"))
    assert [(found.kind, found.line, found.workitem and found.workitem.number) for found in report.findings] == [
        ("out-of-bounds", 9, 40),
        ("out-of-bounds", 10, 40),
    ]


def test_blocks_share_gm() -> None:
    own = "pto.stg %t, %x[%i] : !pto.ptr<i32, gm>, i32"
    assert findings(own, 32, 32, grid=2) == [("race", "warning")]
    assert findings("%o = pto.atomic_add %x, %t : !pto.ptr<i32, gm>, i32 -> i32", 32, 32, grid=2) == []


FLAGS = """module attributes {pto.target_arch = "a5"} {
  func.func @scale(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %a = arith.constant 2.0 : f32
    %ub = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %ub, %c0, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.section.simt<<<64, 1, 1>>> {
      %t = pto.get_tid_x : i32
      %i = arith.index_cast %t : i32 to index
      %v = pto.load %ub[%i] : !pto.ptr<f32, ub> -> f32
      %m = arith.mulf %a, %v : f32
      pto.store %m, %ub[%i] : !pto.ptr<f32, ub>, f32
    }
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %ub, %y, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }
}
"""


@pytest.mark.parametrize("pair", ['"PIPE_MTE2", "PIPE_V"', '"PIPE_V", "PIPE_MTE3"'])
def test_a_flag_that_is_missing_is_found_at_its_line_and_mended(pair: str) -> None:
    x, y = np.ones(64, "f4"), np.zeros(64, "f4")
    assert not ptosim.check(ptosim.load(FLAGS).kernel(), x, y).findings
    assert ptosim.prove(ptosim.load(FLAGS).kernel()).proven
    text = "\n".join(line for line in FLAGS.splitlines() if f"flag[{pair}" not in line) + "\n"
    report = ptosim.check(ptosim.load(text).kernel(), x, y)
    assert not report.ok and report.findings[0].kind == "race"
    fix = report.fix()
    assert fix.verified
    assert not ptosim.check(ptosim.load(fix.text).kernel(), x, y).findings


def test_a_line_that_the_cache_may_hold() -> None:
    load = "%v = pto.ldg %x[%i] : !pto.ptr<i32, gm> -> i32\npto.store %v, %ub[%i] : !pto.ptr<i32, ub>, i32"
    flags = 'pto.set_flag["PIPE_V", "S", "EVENT_ID0"]'.replace('"S"', '"PIPE_S"')
    between = f"""{flags}
      {flags.replace("set", "wait")}
      %first = arith.constant 0 : index
      %nine = arith.constant 9 : i32
      pto.store %nine, %x[%first] : !pto.ptr<i32, gm>, i32
      pto.set_flag["PIPE_S", "PIPE_V", "EVENT_ID1"]
      pto.wait_flag["PIPE_S", "PIPE_V", "EVENT_ID1"]
      pto.section.simt<<<32, 1, 1>>> {{
        %t = pto.get_tid_x : i32
        %i = arith.index_cast %t : i32 to index
        {load}
      }}"""
    text = section(load, OUT).replace("pto.barrier", f"{between}\n    pto.barrier")
    (found,) = ptosim.check(ptosim.load(text).kernel(), np.zeros(32, "i4"), unwritten="off").findings
    assert (found.kind, found.severity) == ("stale-cache", "warning")
    past = text.replace("%x[%i] :", "%x[%i] l1cache(uncache) :")
    assert not ptosim.check(ptosim.load(past).kernel(), np.zeros(32, "i4"), unwritten="off").findings


def test_workitems_write_through_their_own_cache() -> None:
    """However their launch is written."""
    body = """%v = pto.load %x[%i] : !pto.ptr<i32, gm> -> i32
      pto.store %v, %x[%i] : !pto.ptr<i32, gm>, i32
      pto.syncthreads
      %w = pto.ldg %x[%i] : !pto.ptr<i32, gm> -> i32"""
    assert findings(body) == []
    outside = """    %one = arith.constant 1 : i32
    %count = arith.constant 64 : i32
    pto.store_vfsimt_info %one, %one, %count : i32, i32, i32
    func.call @body(%x) : (!pto.ptr<i32, gm>) -> ()
"""
    text = section("", OUT).replace("    pto.barrier", f"{outside}    pto.barrier")
    entry = f"""  func.func @body(%x: !pto.ptr<i32, gm>) attributes {{pto.simt_entry}} {{
    %t = pto.get_tid_x : i32
    %i = arith.index_cast %t : i32 to index
    {body}
    return
  }}
"""
    kernel = ptosim.load(text.replace("  func.func @kernel", f"{entry}  func.func @kernel")).kernel()
    assert not ptosim.check(kernel, np.zeros(64, "i4")).findings


def test_the_cache_takes_the_top_of_ub() -> None:
    far = "%far = arith.constant 55296 : index\n%p = arith.addi %i, %far : index\n"
    body = far + "pto.store %t, %ub[%p] : !pto.ptr<i32, ub>, i32\npto.stg %t, %x[%i] : !pto.ptr<i32, gm>, i32"
    assert findings(body) == [("lint", "warning")]
    assert findings(body.replace("pto.stg %t, %x[%i] : !pto.ptr<i32, gm>, i32", "")) == []


def test_another_kernel_of_the_file_has_all_of_ub() -> None:
    launching = section("pto.stg %t, %x[%i] : !pto.ptr<i32, gm>, i32", OUT)
    other = """  func.func @other(%x: !pto.ptr<i32, gm>) attributes {pto.kernel} {
    %high = arith.constant 230000 : i64
    %ub = pto.castptr %high : i64 -> !pto.ptr<i32, ub>
    %zero = arith.constant 0 : index
    %seven = arith.constant 7 : i32
    pto.store_scalar %seven, %ub[%zero] : !pto.ptr<i32, ub>, i32
    return
  }
"""
    module = ptosim.load(launching.replace("  func.func @kernel", f"{other}  func.func @kernel"))
    assert not ptosim.check(module.kernel("other"), np.zeros(32, "i4"), unwritten="off").findings


def test_a_proof_knows_which_bytes_workitems_access() -> None:
    """Two halves of UB, one filled while workitems read the other; with one half alone nothing orders the two."""
    rms_norm = (Path(__file__).parents[2] / "examples" / "simt" / "rms_norm.pto").read_text()
    assert ptosim.prove(ptosim.load(rms_norm).kernel()).proven
    near = rms_norm.replace("%near = arith.muli %turn, %c256 : index", "%near = arith.muli %zero, %c256 : index")
    assert near != rms_norm and not ptosim.prove(ptosim.load(near).kernel()).proven
    unknown = FLAGS.replace("%i = arith.index_cast %t", "%f = pto.get_clock32 : i32\n%i = arith.index_cast %f")
    text = "\n".join(line for line in unknown.splitlines() if "_flag" not in line) + "\n"
    assert not ptosim.prove(ptosim.load(text).kernel()).proven


def test_a_copy_behind_a_launch_names_the_workitem_that_wrote() -> None:
    text = section("pto.store %t, %ub[%i] : !pto.ptr<i32, ub>, i32", OUT, "64, 1, 1")
    copy = "pto.mte_ub_gm %from, %x, %b nburst(%one, %b, %b) : !pto.ptr<i32, ub>, !pto.ptr<i32, gm>, i64, i64, i64, i64"
    head = "%one = arith.constant 1 : i64\n%b = arith.constant 64 : i64\n%skipped = arith.constant 160 : i64\n"
    head += "%from = pto.castptr %skipped : i64 -> !pto.ptr<i32, ub>\n"
    text = text.replace("    pto.section", head + "    pto.section").replace(
        "    pto.barrier", f"{copy}\n    pto.barrier"
    )
    (race,) = ptosim.check(ptosim.load(text).kernel(), np.zeros(16, "i4")).findings
    assert race.kind == "race" and race.pipe == "MTE3"
    assert race.workitem is not None and race.workitem.number == 40 and race.lanes == (8,)
