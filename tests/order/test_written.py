"""Written order that a proof follows: scoped waits, arrays of event ids, ids that go round, waits in front of sets."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from ptosim.report.proof import Proof

TILE = "!pto.tile_buf<vec, 16x64xf32>"
PART = "!pto.partition_tensor_view<16x64xf32>"

HEAD = f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>, %n: index, %m: index, %c: i1)
      attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %rows = arith.constant 192 : index
    %va = pto.make_tensor_view %a, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %vb = pto.make_tensor_view %b, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %pa = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %pb = pto.partition_view %vb, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %x = pto.alloc_tile : {TILE}
    %y = pto.alloc_tile : {TILE}
    %z = pto.alloc_tile : {TILE}
"""
LOAD_X = f"pto.tload ins(%pa : {PART}) outs(%x : {TILE})"
LOAD_Y = f"pto.tload ins(%pa : {PART}) outs(%y : {TILE})"
SUM = f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%z : {TILE})"
SUM_Y = f"pto.tadd ins(%x, %y : {TILE}, {TILE}) outs(%z : {TILE})"
STORE = f"pto.tstore ins(%z : {TILE}) outs(%pb : {PART})"


def kernel(*lines: str) -> ptosim.Kernel:
    return ptosim.load("\n".join([HEAD, *lines, "return", "}", "}", ""]), sync="written").kernel()


def proof(*lines: str) -> Proof:
    return ptosim.prove(kernel(*lines))


def flag(word: str, pipes: str, event: str = '"EVENT_ID0"') -> str:
    source, destination = pipes.split()
    name = word if event.startswith('"') else f"{word}_dyn"
    return f'pto.{name}["PIPE_{source}", "PIPE_{destination}", {event}]'


def tsync(*tiles: str) -> str:
    return f"pto.tsync ins({', '.join(f'%{tile}' for tile in tiles)} : {', '.join([TILE] * len(tiles))})"


# --- scoped waits -----------------------------------------------------------------------------------------------------


def test_a_scoped_wait_orders_what_touches_its_tile():
    assert proof(LOAD_X, tsync("x"), SUM, tsync("z"), STORE).proven


def test_a_scoped_wait_says_nothing_of_another_tile():
    found = proof(LOAD_X, LOAD_Y, tsync("x"), SUM_Y, tsync("z"), STORE)
    assert not found.proven and found.counterexample is not None and found.counterexample.kind == "race"
    assert proof(LOAD_X, LOAD_Y, tsync("x", "y"), SUM_Y, tsync("z"), STORE).proven


def test_a_scoped_wait_in_a_loop_covers_the_iterations_before():
    body = [tsync("x", "z"), LOAD_X, tsync("x"), SUM, tsync("z"), STORE]
    loop = ["scf.for %i = %c0 to %n step %c1 {", *body, "}"]
    assert proof(*loop).proven
    loop[1] = tsync("x")
    found = proof(*loop)  # the sum may overwrite %z while the last iteration still stores it
    assert {(each.kind, each.pipe) for each in found.findings} >= {("race", "V")}


# --- ids --------------------------------------------------------------------------------------------------------------

IDS = [
    "%ids = pto.declare_eventid_array -> !pto.eventid_array<2>",
    "pto.eventid_array_set %ids[%c0], %c3 : !pto.eventid_array<2>, index",
    "pto.eventid_array_set %ids[%c1], %c1 : !pto.eventid_array<2>, index",
]


def test_ids_from_an_array_of_them():
    get = ["%id = pto.eventid_array_get %ids[%c0] : !pto.eventid_array<2> -> index"]
    tail = [flag("set_flag", "V MTE3"), flag("wait_flag", "V MTE3"), STORE]
    set_, wait = flag("set_flag", "MTE2 V", "%id"), flag("wait_flag", "MTE2 V", '"EVENT_ID3"')
    assert proof(*IDS, *get, LOAD_X, set_, wait, SUM, *tail).proven
    other = flag("wait_flag", "MTE2 V", '"EVENT_ID1"')
    found = proof(*IDS, *get, LOAD_X, set_, other, SUM, *tail)
    assert not found.proven and found.counterexample is not None


@pytest.mark.parametrize("array", ["in turn", "overwritten"])
def test_ids_in_turn_from_an_array(array: str):
    """A table that is written again holds something that only the run knows."""
    changed = ["pto.eventid_array_set %ids[%c0], %c2 : !pto.eventid_array<2>, index"] if array == "overwritten" else []
    lines = [
        *IDS,
        *(flag("set_flag", "V MTE2", f'"EVENT_ID{id_}"') for id_ in (1, 3)),
        "scf.for %i = %c0 to %n step %c1 {",
        "%slot = arith.remui %i, %c2 : index",
        "%id = pto.eventid_array_get %ids[%slot] : !pto.eventid_array<2> -> index",
        *(flag("wait_flag", "V MTE2", "%id"), LOAD_X, flag("set_flag", "MTE2 V", "%id")),
        *(flag("wait_flag", "MTE2 V", "%id"), SUM, flag("set_flag", "V MTE2", "%id")),
        "}",
        *changed,
        *(flag("wait_flag", "V MTE2", f'"EVENT_ID{id_}"') for id_ in (1, 3)),
    ]
    found = proof(*lines)
    if array == "in turn":  # ids 1 and 3 let the load run two iterations ahead, but there is one tile
        assert found.counterexample is not None and found.counterexample.kind == "race"
    else:
        assert not found.findings and any("cannot follow the flag id" in each.message for each in found.undecided)


def nest(start: str, ids: str) -> list[str]:
    """A load and a sum in the inner loop of two; `ids` says the id from the indices."""
    return [
        start,
        *(flag("set_flag", "V MTE2", f'"EVENT_ID{id_}"') for id_ in (0, 1)),
        "scf.for %j = %c0 to %m step %c1 {",
        "scf.for %i = %c0 to %n step %c1 {",
        ids,
        "%id = arith.remui %count, %c2 : index",
        *(flag("wait_flag", "V MTE2", "%id"), LOAD_X, flag("set_flag", "MTE2 V", "%id")),
        *(flag("wait_flag", "MTE2 V", "%id"), SUM, flag("set_flag", "V MTE2", "%id")),
        "pto.barrier #pto.pipe<PIPE_ALL>",
        "}",
        "}",
        *(flag("wait_flag", "V MTE2", f'"EVENT_ID{id_}"') for id_ in (0, 1)),
    ]


def test_ids_that_count_from_a_value_that_only_the_run_knows():
    """Both ids have a token before the loop, so it does not matter which comes first."""
    found = proof(*nest("%s = arith.addi %n, %m : index", "%count = arith.addi %i, %s : index"))
    assert found.proven, found


def test_without_a_prime_for_one_of_them_it_does_matter():
    lines = nest("%s = arith.addi %n, %m : index", "%count = arith.addi %i, %s : index")
    lines.remove(flag("set_flag", "V MTE2", '"EVENT_ID1"'))
    lines.remove(flag("wait_flag", "V MTE2", '"EVENT_ID1"'))
    assert not proof(*lines).proven


COUNTER = """%k = pto.declare_local_array -> !pto.local_array<1xi64>"""
COUNTED = """%held = pto.local_array_get %k[%c0] : !pto.local_array<1xi64> -> i64
%count = arith.index_cast %held : i64 to index"""
GOES_ON = """%next = arith.addi %count, %c1 : index
%rest = arith.remui %next, %c2 : index
%stored = arith.index_cast %rest : index to i64
pto.local_array_set %k[%c0], %stored : !pto.local_array<1xi64>, i64"""


def test_ids_that_count_through_a_nest():
    lines = nest(COUNTER, COUNTED)
    lines[-4:-4] = [GOES_ON]
    found = proof(*lines)
    assert found.proven, found
    x = np.ones((192, 64), "f4")
    assert ptosim.check(kernel(*lines), x, np.zeros_like(x), 3, 3, 1).ok


START = """%none = arith.constant 0 : i64
pto.local_array_set %k[%c0], %none : !pto.local_array<1xi64>, i64"""


def test_a_counter_begins_between_the_halves_of_a_pair_with_one_of_its_ids():
    around = [LOAD_X, flag("set_flag", "MTE2 V"), COUNTER, START, flag("wait_flag", "MTE2 V"), SUM]
    lines = nest("\n".join(around), COUNTED)
    lines[-4:-4] = [GOES_ON]
    found = proof(*lines)
    assert found.proven, found


def test_a_counter_that_is_used_after_it_went_on_is_followed_state_by_state():
    assert proof(*nest(COUNTER, f"{COUNTED}\n{GOES_ON}")).proven
    half = [line for line in nest(COUNTER, f"{COUNTED}\n{GOES_ON}") if "EVENT_ID1" not in line]
    assert not proof(*half).proven


# --- what cannot be followed ------------------------------------------------------------------------------------------


def test_a_wait_in_front_of_its_set_is_undecided():
    """The vector pipe waits, the scalar unit goes on and issues what releases it."""
    lines = [flag("wait_flag", "MTE2 V"), SUM, LOAD_X, flag("set_flag", "MTE2 V")]
    found = proof(*lines)
    assert not found.proven and not found.findings
    x = np.ones((192, 64), "f4")
    kinds = {each.kind for each in ptosim.check(kernel(*lines), x, np.zeros_like(x), 1, 1, 1).findings}
    assert not kinds & {"deadlock", "unmatched-wait"}


def test_a_wait_that_holds_back_its_own_set_is_a_deadlock():
    lines = [flag("wait_flag", "MTE2 V"), SUM, flag("set_flag", "V MTE2"), flag("wait_flag", "V MTE2"), LOAD_X]
    found = proof(*lines, flag("set_flag", "MTE2 V"))
    assert found.counterexample is not None and found.counterexample.kind == "unmatched-wait"


def test_branches_on_one_condition_go_the_same_way():
    lines = ["scf.if %c {", LOAD_X, flag("set_flag", "MTE2 V"), "}"]
    taken = (flag("wait_flag", "MTE2 V"), SUM, "}")
    assert proof(*lines, "scf.if %c {", *taken).proven
    other = proof(*lines, "%d = arith.cmpi ult, %n, %m : index", "scf.if %d {", *taken)
    assert other.counterexample is not None and other.counterexample.kind in ("unmatched-wait", "undrained")


def test_a_loop_that_runs_once_is_not_taken_to_run_twice():
    lines = ["scf.for %i = %c0 to %c1 step %c1 {", LOAD_X, "}", flag("set_flag", "MTE2 V"), flag("wait_flag", "MTE2 V")]
    assert proof(*lines, SUM).proven


def test_a_flag_that_is_set_twice():
    lines = [LOAD_X, flag("set_flag", "MTE2 V"), LOAD_Y, flag("set_flag", "MTE2 V")]
    found = proof(*lines, flag("wait_flag", "MTE2 V"), flag("wait_flag", "MTE2 V"), SUM_Y)
    assert [each.kind for each in found.findings] == ["double-set"]


def test_a_flag_that_is_set_again_before_its_wait_is_known():
    """Nothing tells MTE2 that V has taken the first flag."""
    lines = [LOAD_X, flag("set_flag", "MTE2 V"), flag("wait_flag", "MTE2 V"), SUM]
    found = proof(*lines, LOAD_Y, flag("set_flag", "MTE2 V"), flag("wait_flag", "MTE2 V"), SUM_Y)
    assert [each.kind for each in found.findings] == ["double-set"]
    back = [flag("set_flag", "V MTE2"), flag("wait_flag", "V MTE2")]
    lines = [*lines, *back, LOAD_Y, flag("set_flag", "MTE2 V"), flag("wait_flag", "MTE2 V"), SUM_Y]
    assert proof(*lines).proven


# --- rows of global memory --------------------------------------------------------------------------------------------

ROWS = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f32, gm>, %n: index, %stride: index, %other: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %z = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %k = arith.constant 1024 : i64
    %elements = arith.constant 256 : index
    %ub = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
    pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]
    pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID1"]
    scf.for %i = %c0 to %n step %c1 {{
      %s = arith.remui %i, %c2 : index
      %slot = arith.muli %s, %elements : index
      %p = pto.addptr %ub, %slot : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
      %row = arith.muli %i, %stride : index
      %another = arith.muli %i, {distance} : index
      %from = pto.addptr %x, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %to = pto.addptr %x, %another : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      pto.wait_flag_dyn["PIPE_MTE3", "PIPE_MTE2", %s]
      pto.mte_gm_ub %from, %p, %z, %k nburst(%one, %k, %k)
        : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
      pto.set_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %s]
      pto.wait_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %s]
      pto.mte_ub_gm %p, %to, %k nburst(%one, %k, %k) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
      pto.set_flag_dyn["PIPE_MTE3", "PIPE_MTE2", %s]
    }}
    pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID1"]
    return
  }}
}}
"""


def test_rows_whose_distance_is_an_argument_are_taken_to_lie_apart():
    """In place, two rows under way: the load of a row comes before the store of the last one has ended."""
    found = ptosim.prove(ptosim.load(ROWS.format(distance="%stride")).kernel())
    assert found.proven, found
    assert "rows whose distance only the run knows do not overlap" in found.assumptions


def test_rows_of_two_distances_are_not_told_apart():
    found = ptosim.prove(ptosim.load(ROWS.format(distance="%other")).kernel())
    assert not found.proven and not found.findings


def test_insertion_at_load_does_not_take_rows_to_lie_apart():
    """It needs an edge from each store to the load of the next row."""
    kernel = ptosim.load(ROWS.format(distance="%stride"), sync="insert").kernel()
    x = np.zeros(4096, "f4")
    assert ptosim.check(kernel, x, 4, 128, 128).ok  # rows of 256 that overlap by half
    assert not ptosim.check(ptosim.load(ROWS.format(distance="%stride")).kernel(), x, 4, 128, 128).ok


@pytest.mark.parametrize(("often", "ids"), [(1, 1), (2, 2), (3, 3)])
def test_the_index_of_a_loop_that_runs_a_few_times_is_an_id(often: int, ids: int):
    """Where it is less than what it is taken modulo, the remainder is the index itself."""
    lines = [
        *(flag("set_flag", "V MTE2", f'"EVENT_ID{id_}"') for id_ in range(ids)),
        f"scf.for %i = %c0 to %c{often} step %c1 {{",
        "%s = arith.remui %i, %c3 : index",
        *(flag("wait_flag", "V MTE2", "%s"), LOAD_X, flag("set_flag", "MTE2 V", "%s")),
        *(flag("wait_flag", "MTE2 V", "%s"), SUM, "pto.barrier #pto.pipe<PIPE_ALL>", flag("set_flag", "V MTE2", "%s")),
        "}",
        *(flag("wait_flag", "V MTE2", f'"EVENT_ID{id_}"') for id_ in range(ids)),
    ]
    found = proof(*lines)
    assert found.proven, found
    assert proof(*lines[1:]).findings
