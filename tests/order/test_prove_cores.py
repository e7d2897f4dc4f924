"""Proofs of kernels whose cores signal each other, and that none contradicts a check at any number of iterations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from observed import findings
from ptosim.report.proof import Proof
from repair.wrong_lines import wrong_lines
from tiles.test_fifo import Fifo, to_vector

EXAMPLES = Path(__file__).parents[2] / "examples"
BLAMED = {"race", "deadlock", "unmatched-wait", "double-set", "undrained", "semaphore-overflow"}
"""What a proof excludes."""


def tiles_a5(n: int) -> list[Any]:
    return [np.ones(8 * 256, "f4"), np.zeros(8 * 256, "f4"), n]


def rows_a2a3(n: int) -> list[Any]:
    return [np.ones(8 * 128, "f4"), np.zeros(32, "f4"), np.zeros(8 * 128, "f4"), n]


ARGUMENTS = {"producer_consumer_a5": tiles_a5, "producer_consumer_a2a3": rows_a2a3}


@pytest.mark.parametrize("name", [*ARGUMENTS, "tiles/linear_gelu"])
@pytest.mark.parametrize("sync", ["auto", "insert"])
def test_cores_that_signal_in_loops_with_equal_bounds_are_proven(name: str, sync: str):
    proof = ptosim.prove(ptosim.load(EXAMPLES / f"{name}.pto", sync=sync).kernel())
    assert proof.proven, proof


@pytest.mark.parametrize("name", ["flash_attention", "tiles/flash_attention", "tiles/moe_expert"])
def test_a_branch_around_a_signal_is_undecided_and_named(name: str):
    proof = ptosim.prove(ptosim.load(EXAMPLES / f"{name}.pto").kernel())
    assert not proof.proven and proof.counterexample is None
    assert "this branch decides which signals another core gets" in str(proof)


def _no_contradiction(name: str, every: int, iterations: range) -> tuple[int, int]:
    """Whatever a check finds is not proven; gives how often it found something, and how many texts are proven."""
    reported, proven = 0, 0
    for wrong in list(wrong_lines((EXAMPLES / f"{name}.pto").read_text()))[::every]:
        try:
            kernel = ptosim.load(wrong.text).kernel()
        except ptosim.PTOError:
            continue
        proof = ptosim.prove(kernel)
        proven += proof.proven
        for n in iterations:
            kinds = {found.kind for found in findings(kernel, *ARGUMENTS[name](n))}
            reported += bool(kinds & BLAMED)
            assert not proof.proven or not kinds & BLAMED, f"{wrong}: {kinds} at {n} iterations"
    return reported, proven


@pytest.mark.parametrize("name", ARGUMENTS)
def test_no_proof_where_a_check_finds_something(name: str):
    reported, _ = _no_contradiction(name, 16, range(1, 4, 2))
    assert reported >= 4


@pytest.mark.full
@pytest.mark.parametrize("name", ARGUMENTS)
def test_no_proof_where_a_check_finds_something_at_any_number_of_iterations(name: str):
    reported, proven = _no_contradiction(name, 1, range(7))
    assert reported > 100 and proven


PAIR = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @pair(%x: !pto.ptr<f32, gm>, %n: index, %m: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %len = arith.constant 32 : i64
    %l1 = pto.castptr %z : i64 -> !pto.ptr<f32, l1>
    %ub = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
    pto.section.cube {{
      {cube}
    }}
    pto.section.vector {{
      %me = pto.get_subblock_idx
      %first = arith.cmpi eq, %me, %z : i64
      scf.if %first {{
        {vector}
      }}
      pto.barrier #pto.pipe<PIPE_ALL>
    }}
    return
  }}
}}
"""
COPY = """pto.mte_l1_ub %l1, %ub, %len nburst(%one, %z, %z)
          : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64"""
STORE = """pto.mte_ub_gm %ub, %x, %len nburst(%one, %len, %len)
          : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"""


def proof_of(cube: str, vector: str) -> Proof:
    return ptosim.prove(ptosim.load(PAIR.format(cube=cube, vector=vector)).kernel())


def loop(body: str, bound: str = "%n") -> str:
    return f"scf.for %i = %c0 to {bound} step %c1 {{\n{body}\n}}"


FILL = f"pto.wait_intra_block <PIPE_MTE1>, 1\n{COPY}\npto.set_intra_block <PIPE_MTE1>, 0"
EMPTY = f"pto.wait_intra_block <PIPE_MTE3>, 0\n{STORE}\npto.set_intra_block <PIPE_MTE3>, 1"
PRIME, DRAIN = "pto.set_intra_block <PIPE_MTE3>, 1\n", "\npto.wait_intra_block <PIPE_MTE1>, 1"
TAIL = "\npto.barrier #pto.pipe<PIPE_ALL>"


def test_a_buffer_that_goes_to_and_fro():
    """The stores of MTE3 all write the same bytes of GM, which a barrier has to order."""
    held = "pto.barrier #pto.pipe<PIPE_MTE3>\n"
    assert proof_of(loop(FILL) + DRAIN, PRIME + loop(held + EMPTY)).proven


def test_loops_with_other_bounds_are_undecided():
    proof = proof_of(loop(FILL) + DRAIN, PRIME + loop(EMPTY, "%m"))
    assert not proof.proven and proof.counterexample is None


def test_a_consumer_that_does_not_wait_is_a_race_between_cores():
    early = f"{STORE}\npto.wait_intra_block <PIPE_MTE3>, 0\npto.set_intra_block <PIPE_MTE3>, 1"
    proof = proof_of(loop(FILL) + DRAIN, PRIME + loop(early))
    assert proof.counterexample is not None and proof.counterexample.kind == "race"


def test_a_wait_that_no_launch_has_a_signal_for_is_a_counterexample():
    proof = proof_of("pto.wait_intra_block <PIPE_MTE1>, 1\n" + COPY, "")
    assert [each.kind for each in proof.findings] == ["unmatched-wait"]
    sometimes = proof_of(loop("pto.wait_intra_block <PIPE_MTE1>, 1\n" + COPY), "")  # none where the loop does not run
    assert not sometimes.proven and not sometimes.findings


def test_a_producer_that_nothing_holds_back_counts_too_far():
    ahead = "pto.set_intra_block <PIPE_MTE1>, 0"
    behind = "pto.wait_intra_block <PIPE_MTE3>, 0"
    proof = proof_of(loop(ahead), loop(behind))
    assert not proof.proven and "beyond 15" in str(proof)


def test_two_pipes_that_set_one_semaphore_are_undecided():
    cube = "pto.set_intra_block <PIPE_MTE1>, 0\npto.set_intra_block <PIPE_FIX>, 0"
    vector = "pto.wait_intra_block <PIPE_MTE3>, 0\npto.wait_intra_block <PIPE_MTE3>, 0"
    proof = proof_of(cube, vector)
    assert not proof.proven and "another pipe than the rest" in str(proof)


@pytest.mark.parametrize("split", [1, 2])
def test_rows_with_gaps_are_not_taken_for_the_bytes_between_them(split: int):
    """The vector cores store the upper and the lower half of an entry, or every row's left and right half."""
    proof = ptosim.prove(ptosim.load(to_vector(Fifo(4, split, unrolled=True), 1)).kernel())
    assert proof.proven and proof.counterexample is None, proof


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("arith.cmpi uge, %local_array_get, %c4_i64", "arith.cmpi uge, %local_array_get, %c2_i64"),
        ("arith.cmpi uge, %local_array_get, %c4_i64", "arith.cmpi ult, %local_array_get, %c0_i64"),
        ("arith.cmpi eq, %remui_1, %c0_i64", "arith.cmpi ne, %remui_1, %c0_i64"),
        ("arith.subi %divui, %maxsi", "arith.subi %ceildivui, %maxsi"),
        ("pto.sim.fifo = array<i64: 4, 2>", "pto.sim.fifo = array<i64: 8, 2>"),
        ("pto.sim.fifo = array<i64: 4, 2>", "pto.sim.fifo = array<i64: 4, 1>"),
    ],
)
def test_slots_of_a_fifo_are_not_believed_without_their_conditions(old: str, new: str):
    """What gives slots back says how many there are; here the branch or the loop around it does something else."""
    text = ptosim.load(to_vector(Fifo(4, 1), 1)).lowered().source
    assert ptosim.prove(ptosim.load(text).kernel()).proven
    assert old in text
    assert not ptosim.prove(ptosim.load(text.replace(old, new)).kernel()).proven


def test_a_wait_for_a_slot_outside_of_its_branch_is_one_of_every_round():
    lines = ptosim.load(to_vector(Fifo(4, 1), 1)).lowered().source.split("\n")
    start = next(number for number, line in enumerate(lines) if "scf.if %andi" in line)
    del lines[start + 3], lines[start]
    proof = ptosim.prove(ptosim.load("\n".join(lines)).kernel())
    assert not proof.proven
