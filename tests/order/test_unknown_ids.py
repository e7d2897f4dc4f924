"""Proofs of flags and buffers whose ids only the run knows: the same value on both sides needs no number."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import ptosim
from order.test_brackets import ALL, HEAD, LOAD, STORE, held, loop, proof
from order.test_replay import FREE, READY, branch, flag
from ptosim.cli.commands import main

ROWS = [
    "%block64 = pto.get_block_idx",
    "%blocks64 = pto.get_block_num",
    "%block = arith.index_cast %block64 : i64 to index",
    "%blocks = arith.index_cast %blocks64 : i64 to index",
]
COUNTED = ["%stride = arith.muli %blocks, %c64 : index"]
SLOTS = [
    "%done = arith.divui %row, %stride : index",
    "%s = arith.remui %done, %c2 : index",
    "%o = arith.muli %s, %c64 : index",
    "%b = pto.addptr %ub, %o : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>",
    "%yo = pto.addptr %y, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>",
]


def pingpong(*stride: str, first: str = "%start", left_out: str = "") -> list[str]:
    """Rows of 64 in strides of all blocks; the slot is (row / stride) mod 2."""
    body = [
        *SLOTS,
        flag("wait_flag", FREE, "%s"),
        LOAD.replace("%ub,", "%b,"),
        flag("set_flag", READY, "%s"),
        flag("wait_flag", READY, "%s"),
        STORE.replace("%ub,", "%b,").replace("%y,", "%yo,"),
        flag("set_flag", FREE, "%s"),
    ]
    return [
        *ROWS,
        *stride,
        "%start = arith.muli %block, %c64 : index",
        *(flag("set_flag", FREE, event) for event in (0, 1)),
        f"scf.for %row = {first} to %n step %stride {{",
        *(line for line in body if line != left_out),
        "}",
        *(flag("wait_flag", FREE, event) for event in (0, 1)),
        ALL,
    ]


def test_a_row_divided_by_the_stride_of_its_loop_is_counted():
    found = proof(*pingpong(*COUNTED))
    assert found.proven, found
    wrong = proof(*pingpong(*COUNTED, left_out=flag("wait_flag", READY, "%s")))
    assert {each.kind for each in wrong.findings} >= {"race"}


def test_one_sentence_says_what_cannot_be_followed_and_why():
    lines = pingpong("%stride = arith.addi %m, %c1 : index")
    text = "\n".join([HEAD, *lines])
    at = {part: 1 + text[: text.index(part)].count("\n") for part in ("%done =", "wait_flag_dyn", "ub_gm %b")}
    found = proof(*lines)
    assert not found.findings and all(each.severity == "warning" for each in found.undecided)
    (said,) = [each for each in found.undecided if each.kind == "lint"]
    assert said.message == (
        f"cannot follow the flag id %s (line {at['%done =']}: a division by %stride, which only the run knows): "
        f"nothing is decided about lines {at['wait_flag_dyn']} to {at['ub_gm %b'] + 1}"
    )
    assert said.hint == "count iterations 0, 1, 2 ... and take arith.remui of that"
    assert len(found.undecided) == 1


PASSED = [flag("set_flag", READY, "%m"), flag("wait_flag", READY, "%m"), STORE, ALL]


def test_an_id_that_is_an_argument_needs_no_number():
    found = proof(LOAD, *PASSED)
    assert found.proven and any("ids that only the run knows" in each for each in found.assumptions)


def test_an_id_that_is_another_one_in_each_iteration_is_taken_in_the_one_that_sets_it():
    """It may be anything, as long as nothing of it is left for the next iteration."""
    computed = ["%square = arith.muli %i, %i : index", "%s = arith.remui %square, %c2 : index"]
    there, back = (flag("set_flag", READY, "%s"), flag("wait_flag", READY, "%s")), "pto.barrier #pto.pipe<PIPE_ALL>"
    assert proof(*loop(*computed, LOAD, *there, STORE, back), ALL).proven
    left = proof(*loop(*computed, LOAD, there[0], STORE, back), ALL)
    assert not left.proven and not left.findings


@pytest.mark.parametrize("other", ["0", "%n"])
def test_an_id_that_may_be_that_of_another_flag_is_not_followed(other: str):
    event = int(other) if other.isdecimal() else other
    found = proof(LOAD, *PASSED[:2], flag("set_flag", READY, event), flag("wait_flag", READY, event), STORE, ALL)
    assert not found.proven and not found.findings
    assert any("cannot follow the flag id %m (%m is an argument)" in each.message for each in found.undecided)


def test_a_buffer_id_that_is_an_argument_is_followed_where_all_are_the_same():
    cast = "%id = arith.index_cast %m : index to i64"
    assert proof(cast, *held("MTE2", LOAD, "%id"), *held("MTE3", STORE, "%id"), ALL).proven
    assert not proof(cast, *held("MTE2", LOAD, "%id"), *held("MTE3", STORE, "%l0"), ALL).proven


def test_a_buffer_that_one_way_has_not_released_asks_for_nothing_of_it():
    assert proof(*branch("%some", *held("MTE2", LOAD)), *held("MTE3", STORE), ALL).proven


@pytest.mark.parametrize(
    ("lines", "code", "strict"),
    [
        (["pto.barrier #pto.pipe<PIPE_ALL>"], 0, 0),
        ([LOAD, STORE, ALL], 1, 1),
        (pingpong("%stride = arith.addi %m, %c1 : index"), 3, 1),
    ],
    ids=["proven", "refuted", "undecided"],
)
def test_exit_codes(tmp_path: Path, lines: list[str], code: int, strict: int):
    path = tmp_path / "kernel.pto"
    path.write_text("\n".join([HEAD, *lines, "return", "}", "}", ""]))
    assert CliRunner().invoke(main, ["prove", str(path)]).exit_code == code
    assert CliRunner().invoke(main, ["prove", str(path), "--strict"]).exit_code == strict
    assert ptosim.load(path)


def test_an_id_that_is_turned_over_through_a_nest_of_loops_is_named():
    """In the inner loop it comes in turns, that begin with another one in each iteration of the outer loop."""
    text = """module attributes {pto.target_arch = "a5"} {
      func.func @k(%n: index, %m: index) attributes {pto.kernel} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %last = scf.for %i = %c0 to %n step %c1 iter_args(%first = %c0) -> (index) {
          %next = scf.for %j = %c0 to %m step %c1 iter_args(%id = %first) -> (index) {
            pto.set_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %id]
            pto.wait_flag_dyn["PIPE_MTE2", "PIPE_MTE3", %id]
            pto.barrier #pto.pipe<PIPE_ALL>
            %other = arith.subi %c1, %id : index
            scf.yield %other : index
          }
          scf.yield %next : index
        }
        return
      }
    }"""
    proof = ptosim.prove(ptosim.load(text).kernel())
    assert not proof.findings
    assert proof.proven or "cannot follow the flag id %id" in str(proof)
