"""Proofs: every example is decided, and a proof never contradicts a check at any number of iterations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from observed import findings
from order.random_order import Replay, Written, random_program, with_flags
from order.test_insert import assert_sound
from order.test_kernels import TILE, Text, arrays, is_clean
from ptosim.order.conflict import Conflicts
from ptosim.order.insert import insert
from ptosim.order.pairs import Inserted
from ptosim.order.rounds import EarlyStart
from ptosim.order.state import State
from ptosim.order.strip import without, written_sync
from ptosim.order.walk import Walker
from ptosim.order.written_walk import TurnWalker

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = Path(__file__).parents[1] / "seeds"
SINGLE = sorted(
    path
    for path in (*EXAMPLES.glob("*.pto"), *EXAMPLES.glob("tiles/*.pto"), *SEEDS.glob("sync_example_*.pto"))
    if not re.search(r"pto\.(sync|set_intra|wait_intra|set_cross|wait_flag_dev|tpush|tpop)", path.read_text())
)
BLAMED = {"race", "deadlock", "unmatched-wait", "double-set", "undrained"}
"""What a proof excludes."""


def stripped(path: Path) -> ptosim.Module:
    """A module without the order that it has, and what is inserted in its place."""
    module = ptosim.load(path)
    numbers = {number for group in written_sync(module.verified).values() for number in group}
    return ptosim.load(without(module.verified, numbers), module.target, "insert")


@pytest.mark.parametrize("path", SINGLE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_example_of_one_core_is_proven_as_written_and_after_insertion(path: Path):
    for module in (ptosim.load(path), ptosim.load(path, sync="insert"), stripped(path)):
        for kernel in module.kernels.values():
            proof = ptosim.prove(kernel)
            assert proof.proven, proof
            assert proof.assumptions and "assuming that different arguments do not overlap" in str(proof)


def test_the_ping_pong_patterns_are_among_them():
    assert {"sync_example_3a_ping_pong_flags", "sync_example_3b_ping_pong_buffers"} <= {path.stem for path in SINGLE}


def test_flags_whose_ids_only_the_run_knows_are_undecided():
    """What such a wait orders is not known, so nothing can be said to be out of order either."""
    text = PARITY.format(even=arm("%p", 0, 0), odd=arm("%q", 1, 1))
    unknown = '%id = arith.remui %n, %c2 : index\n    pto.set_flag_dyn["PIPE_MTE3", "PIPE_MTE2", %id]'
    kernel = ptosim.load(text.replace('pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]', unknown, 1)).kernel()
    proof = ptosim.prove(kernel)
    assert not proof.proven and proof.counterexample is None
    assert any("cannot follow the flag id" in found.message for found in proof.undecided)


def mutants(text: str) -> list[tuple[str, str]]:
    """The text without one of its synchronising lines each, or with that line twice."""
    lines = text.splitlines()
    found: list[tuple[str, str]] = []
    for number, line in enumerate(lines):
        if re.search(r"pto\.(set_flag|wait_flag|get_buf|rls_buf|barrier)", line):
            for what, instead in (("without", ""), ("twice", f"{line}\n{line}")):
                found.append(
                    (f"{what} line {number + 1}", "\n".join([*lines[:number], instead, *lines[number + 1 :], ""]))
                )
    return found


def kernels() -> dict[str, Any]:
    """Examples whose number of iterations an argument says, and the arguments for n iterations."""
    x = np.ones(16 * 1024, "f4")

    def tiles(n: int) -> list[Any]:
        return [x, np.zeros_like(x), n, 1024 if n else 0]

    return {"pingpong": tiles, "singlebuffer": tiles}


def _no_contradiction(name: str, every: int, iterations: range) -> int:
    """Whatever a check finds is not proven; gives how often it found something."""
    text, reported = (EXAMPLES / f"{name}.pto").read_text(), 0
    for what, changed in mutants(text)[::every]:
        kernel = ptosim.load(changed).kernel()
        proof = ptosim.prove(kernel)
        for n in iterations:
            kinds = {found.kind for found in findings(kernel, *kernels()[name](n))}
            if kinds & BLAMED:
                reported += 1
                assert not proof.proven, f"{name} {what}: {kinds} at {n} iterations"
    return reported


@pytest.mark.parametrize("name", ["pingpong", "singlebuffer"])
def test_no_proof_where_a_check_finds_something(name: str):
    assert _no_contradiction(name, 4, range(1, 4, 2)) >= 4


@pytest.mark.full
@pytest.mark.parametrize("name", ["pingpong", "singlebuffer"])
def test_no_proof_where_a_check_finds_something_at_any_number_of_iterations(name: str):
    assert _no_contradiction(name, 1, range(10)) > 20


def test_flags_between_pipes_of_two_cores_are_no_order():
    """Set as often as waited for, and yet a check finds them to be wrong."""
    between = 'pto.set_flag["PIPE_M", "PIPE_V", "EVENT_ID0"]\n    pto.wait_flag["PIPE_M", "PIPE_V", "EVENT_ID0"]\n'
    path = SEEDS / "sync_example_3a_ping_pong_flags.pto"
    text, count = re.subn(r"(\n *)(return\b)", rf"\1{between}\1\2", path.read_text(), count=1)
    assert count == 1
    proof = ptosim.prove(ptosim.load(text).kernel())
    assert [(each.kind, each.severity) for each in proof.findings] == [("wrong-pipe", "error")] * 2


def test_a_counterexample_is_tried_on_the_arguments():
    text = (EXAMPLES / "pingpong.pto").read_text()
    line = '      pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %parity]\n'
    assert line in text
    kernel = ptosim.load(text.replace(line, "")).kernel()
    x = np.ones(16 * 1024, "f4")
    proof = ptosim.prove(kernel, x, np.zeros_like(x), 2, 1024)
    assert not proof.proven and proof.confirmed is True
    assert proof.counterexample is not None and proof.counterexample.kind == "race"
    assert "runs 1 time" in str(proof) and "confirmed by check" in str(proof)
    assert ptosim.prove(kernel).confirmed is None


@pytest.mark.parametrize("line", ['set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID1"]', 'wait_flag["PIPE_V", "PIPE_MTE2"'])
def test_a_flag_that_is_missing_or_left_over_is_confirmed(line: str):
    """The proof names the wait, or where the flag is first set; the check where the run stands, or the last set."""
    text = (EXAMPLES / "pingpong.pto").read_text()
    kernel = ptosim.load("\n".join(each for each in text.split("\n") if line not in each)).kernel()
    x = np.ones(16 * 1024, "f4")
    assert ptosim.prove(kernel, x, np.zeros_like(x), 4, 1024).confirmed is True


PARITY = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %z = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %k = arith.constant 1024 : i64
    %far = arith.constant 4096 : i64
    %elements = arith.constant 256 : index
    %p = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
    %q = pto.castptr %far : i64 -> !pto.ptr<f32, ub>
    pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]
    pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID1"]
    scf.for %i = %c0 to %n step %c1 {{
      %odd = arith.remui %i, %c2 : index
      %even = arith.cmpi eq, %odd, %c0 : index
      %at = arith.muli %i, %elements : index
      %from = pto.addptr %x, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      %to = pto.addptr %y, %at : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      scf.if %even {{
        {even}
      }} else {{
        {odd}
      }}
    }}
    pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID1"]
    return
  }}
}}
"""


def arm(buffer: str, back: int, forward: int) -> str:
    return f"""
        pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID{back}"]
        pto.mte_gm_ub %from, {buffer}, %z, %k nburst(%one, %k, %k)
          : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
        pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID{forward}"]
        pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID{forward}"]
        pto.mte_ub_gm {buffer}, %to, %k nburst(%one, %k, %k) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
        pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID{back}"]"""


def test_two_buffers_by_branches_on_the_parity_of_the_index():
    kernel = ptosim.load(PARITY.format(even=arm("%p", 0, 0), odd=arm("%q", 1, 1))).kernel()
    assert ptosim.prove(kernel).proven, ptosim.prove(kernel)


def test_the_same_buffer_in_both_arms_is_a_race():
    """Ids 0 and 1 hold back every second load each, but both load into the same bytes."""
    kernel = ptosim.load(PARITY.format(even=arm("%p", 0, 0), odd=arm("%p", 1, 1))).kernel()
    proof = ptosim.prove(kernel)
    x = np.ones(4096, "f4")
    assert not proof.proven and proof.counterexample is not None
    assert not ptosim.check(kernel, x, np.zeros_like(x), 4).ok


def test_the_command(tmp_path: Path):
    from click.testing import CliRunner

    from ptosim.cli.commands import main

    good = CliRunner().invoke(main, ["prove", str(EXAMPLES / "softmax.pto")])
    assert good.exit_code == 0 and "race-free and balanced" in good.output
    path = tmp_path / "bad.pto"
    path.write_text(PARITY.format(even=arm("%p", 0, 0), odd=arm("%p", 1, 1)))
    bad = CliRunner().invoke(main, ["prove", str(path), "ones:4096", "zeros:4096", "4"])
    assert bad.exit_code == 1 and "confirmed by check" in bad.output
    assert '"kind": "race"' in CliRunner().invoke(main, ["prove", str(path), "--json"]).output


@pytest.mark.parametrize(
    ("condition", "arm", "proven"),
    [
        ("slt, %n, %c2", 0, True),
        ("sgt, %c2, %n", 0, True),
        ("sge, %n, %c2", 1, True),
        ("eq, %n, %c1", 0, True),
        ("ne, %n, %c1", 1, True),
        ("sle, %n, %c2", 0, False),
        ("slt, %n, %c2", 1, False),
        ("slt, %m, %c2", 0, False),
    ],
)
def test_a_loop_runs_no_more_often_than_the_branch_around_it_allows(condition: str, arm: int, proven: bool):
    """What is out of order from one iteration to the next is so only where there is a next one."""
    text = Text().tiles("x", "y").add(f"%c = arith.cmpi {condition} : index").add("scf.if %c {")
    text = text.add("} else {") if arm else text
    text.loop("i", "%n").load("a", "%i", "x")
    for name in ("set_flag", "wait_flag"):
        text.add(f'pto.{name}["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]')
    kernel = text.sum("x", "x", "y").end().end().add("pto.barrier #pto.pipe<PIPE_ALL>").kernel()
    proof = ptosim.prove(kernel)
    assert proof.proven is proven, proof
    races = ["race" in {each.kind for each in ptosim.check(kernel, *arrays(), n, 1).findings} for n in range(4)]
    assert any(races) is not proven


def test_drains_behind_a_loop_say_all_whichever_turn_was_the_last():
    """Each of the two flags that go round is set by one of the last two iterations, and nobody knows by which."""
    two = f"!pto.multi_tile_buf<{TILE}, count=2>"
    text = Text().add(f"%two = pto.alloc_multi_tile : {two}")
    for slot in (0, 1):
        text.add(f"%t{slot} = pto.multi_tile_get %two[%c{slot}] : {two} -> {TILE}").load("a", "%c0", f"t{slot}")
    text.loop("i", "%n").add("%slot = arith.remui %i, %c2 : index")
    text.add(f"%t = pto.multi_tile_get %two[%slot] : {two} -> {TILE}").load("a", "%i", "t").sum("t", "t", "t").end()
    kernel = text.store("t0", "b", "%c0").store("t1", "b", "%c1").kernel()
    assert ptosim.prove(kernel).proven
    assert all(is_clean(kernel, n) for n in (0, 1, 2))


def test_ids_that_went_round_with_a_counter_are_free_behind_the_drains():
    """Either of the drains may be that of the last iteration; behind both it has ended, and one of its ids is set."""
    text = Text().tiles("x", "y", "z").loop("i", "%n").loop("j", "%i").sum("x", "x", "y")
    text.add("%turn = arith.remui %i, %c2 : index").add("%even = arith.cmpi eq, %turn, %c0 : index")
    text.add("scf.if %even {").store("y", "b", "%c0").sum("y", "y", "y").end().end().end()
    kernel = text.sum("z", "z", "z").store("z", "b", "%c0").kernel()
    proof = ptosim.prove(kernel)
    assert proof.proven, proof
    assert all(is_clean(kernel, n) for n in (0, 1, 2))


@pytest.mark.parametrize(("awaited", "proven"), [("z", True), ("y", True), ("x", False)])
def test_a_scoped_wait_covers_what_is_before_the_last_entry_that_touches_its_tile(awaited: str, proven: bool):
    """V writes z, then y; a wait for y covers both, one for x neither."""
    text = Text().tiles("x", "y", "z").load("a", "%c0", "x").load("a", "%c1", "y")
    text.add(f"pto.tsync ins(%x, %y : {TILE}, {TILE})").sum("x", "x", "x").sum("y", "y", "z").sum("y", "y", "y")
    kernel = text.add(f"pto.tsync ins(%{awaited} : {TILE})").store("z", "b", "%c0").kernel()
    proof = ptosim.prove(kernel)
    assert proof.proven is proven, proof
    kinds = {found.kind for found in ptosim.check(kernel, *arrays(), 1, 1).findings}
    assert ("race" in kinds) is not proven


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ("scf.if %c {{\n{}\n}}", "counterexample"),
        ("scf.if %c {{\n}} else {{\n{}\n}}", "proven"),
        ("scf.if %not {{\n{}\n}}", "undecided"),
        ("scf.if %other {{\n{}\n}}", "counterexample"),
        ("scf.for %i = %c2 to %c2 step %c1 {{\n{}\n}}", "proven"),
    ],
    ids=["same", "else", "opposite", "independent", "never"],
)
def test_a_race_between_branches_is_certain_only_if_both_can_be_taken(second: str, expected: str):
    """A tile is loaded again in one branch and used in another one, and nothing is between the two."""
    ahead = ('pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', 'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]')
    text = Text().tiles("x", "z").load("a", "%c0", "x").add("\n".join(ahead)).add("pto.barrier #pto.pipe<PIPE_MTE2>")
    for name, condition in (("c", "sgt, %n"), ("not", "sle, %n"), ("other", "sgt, %m")):
        text.add(f"%{name} = arith.cmpi {condition}, %c2 : index")
    text.add("scf.if %c {").load("a", "%c1", "x").end()
    text.add(second.format(f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%z : {TILE})"))
    kernel = text.add("pto.barrier #pto.pipe<PIPE_ALL>").store("z", "b", "%c0").kernel()
    proof = ptosim.prove(kernel)
    judged = "proven" if proof.proven else "counterexample" if proof.counterexample is not None else "undecided"
    assert judged == expected, proof
    checks = [ptosim.check(kernel, *arrays(), n, 3) for n in (1, 3)]
    races = ["race" in {found.kind for found in report.findings} for report in checks]
    assert any(races) is (expected == "counterexample")


# --- random programs --------------------------------------------------------------------------------------------------


PARTS = 4  # tests, so that they spread over the processors


def _is_proven(written: Written) -> bool:
    missing: list[int] = []

    def note(walker: Walker, state: State, meeting: EarlyStart, open_: int) -> None:
        missing.append(open_)
        state.open[meeting.later.pipe] &= ~open_

    walker = TurnWalker(written.program, Conflicts(written.program), note)
    walker.walk()
    return not (missing or walker.unmatched or walker.doubled or walker.unbalanced or walker.end.counts())


def _agreement(seeds: range, sound: range = range(0)) -> None:
    """Flags of random quality: what is proven stands every replay, and what stands them is mostly proven. Of some
    programs also that what was inserted stands them."""
    proven = clean = 0
    for seed in seeds:
        program = random_program(seed)
        found = insert(program.program)
        if seed in sound:
            assert_sound(seed, program, found)
        written = with_flags(program, found, seed)
        replays = (Replay(Inserted(), number).run(written) for number in range(25))
        problems = next((problems for problems in replays if problems), [])
        is_proven = _is_proven(written)
        assert not (is_proven and problems), f"program {seed}: {problems[0]}"
        proven, clean = proven + is_proven, clean + (not problems)
    assert 0.9 * clean <= proven < len(seeds)


def test_no_proven_program_has_a_race_a_hang_or_a_flag_left_over():
    _agreement(range(150))


@pytest.mark.full
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand_programs_with_flags_of_random_quality_or_inserted(part: int):
    _agreement(range(150 + part, 10_150, PARTS), sound=range(250, 10_150))


def chain(operation: str, length: int, start: str) -> str:
    """Each value is made of the one before, twice."""
    links = [f"      %a{i + 1} = arith.{operation} %a{i}, %a{i} : index\n" for i in range(length)]
    return f"      %a0 = arith.addi %n, {start} : index\n{''.join(links)}"


@pytest.mark.parametrize(
    ("operation", "length", "start"),
    [("muli", 100, "%c1"), ("muli", 100, "%n"), ("addi", 100, "%c1"), ("addi", 3000, "%i"), ("shli", 100, "%i")],
)
def test_values_that_outgrow_every_register_are_not_followed(operation: str, length: int, start: str):
    """Sums of sums have 2^100 terms and powers of powers 2^100 digits, were they written out."""
    text = f"""module {{
  func.func @k(%n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c0) -> (index) {{
      pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
      pto.barrier #pto.pipe<PIPE_ALL>
{chain(operation, length, start)}      %more = arith.addi %sum, %a{length} : index
      scf.yield %more : index
    }}
    return
  }}
}}
"""
    assert ptosim.prove(ptosim.load(text).kernel()).proven
    constant = text.replace("%n: index", "").replace("%c0 = ", "%n = arith.constant 3 : index\n    %c0 = ")
    assert ptosim.prove(ptosim.load(constant).kernel()).proven


@pytest.mark.parametrize("half", ["set_flag", "wait_flag"])
def test_a_flag_in_a_function_is_not_passed_over(half: str):
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func private @half() {{
    pto.{half}["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    return
  }}
  func.func @k() attributes {{pto.kernel}} {{
    func.call @half() : () -> ()
    return
  }}
}}
"""
    proof = ptosim.prove(ptosim.load(text).kernel())
    assert not proof.proven and len(proof.undecided) == 1


@pytest.mark.parametrize("path", sorted(Path("examples/ranks").glob("*.pto")), ids=lambda path: path.stem)
def test_what_ranks_tell_each_other_is_not_taken_for_order(path: Path):
    """The twin without its fence is in order on each core as well: a check of several ranks shows what is wrong."""
    module = ptosim.load(path)
    assert "tnotify" in path.read_text() or "twait" in path.read_text()
    for kernel in module.kernels.values():
        proof = ptosim.prove(kernel)
        assert not proof.proven and not proof.findings
        assert proof.undecided[0].message == "signals between ranks and blocks by words in GM are not followed"
