"""Order written out: on examples whose hand-written order was taken away, as good as what was there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from example_scripts import script
from order.test_exploration import BODY, DRAINS, HEAD, INNER, OUTER, PRIMES, TURN
from order.test_kernels import Text, arrays, is_clean
from ptosim.cli.commands import main

EXAMPLES = Path(__file__).parents[2] / "examples"
SAMPLE = ("add", "matmul_int8", "pingpong", "producer_consumer_a2a3")
REST = (
    *("abs", "buffers", "cast", "flash_attention", "flash_attention_f32", "gather", "layer_norm", "matmul"),
    *("producer_consumer_a5", "singlebuffer", "softmax", "topk", "unaligned_copy"),
)
ROW = "pto.barrier #pto.pipe<PIPE_MTE3>"
SIGNALS = re.compile(r"pto\.(sync|set_intra|wait_intra|set_cross|wait_flag_dev|tpush|tpop)")


def launch(name: str) -> Any:
    return script(name).launch()


def pairs_by_hand(text: str) -> int:
    """Sets that are written, but for those in front of a loop, which prime it."""
    words = [line.split("[")[0].split()[0] for line in text.splitlines() if line.split("//")[0].strip()]
    count = 0
    for number, word in enumerate(words):
        if word.startswith("pto.set_flag"):
            following = next(other for other in words[number:] if not other.startswith(("pto.set_", "pto.wait_")))
            count += following != "scf.for"
    return count


def _is_as_good(name: str) -> None:
    path, given = EXAMPLES / f"{name}.pto", launch(name)
    kernel = ptosim.load(path).kernel()
    found = ptosim.synchronise(kernel, *given.arguments, grid=given.grid, strip=True)
    assert found.as_written is not None and found.cycles <= 1.02 * found.as_written, found.report()
    if "get_buf" not in path.read_text():
        assert found.pairs <= pairs_by_hand(path.read_text()), found.report()
    again = ptosim.load(found.text, sync="written").kernel()
    assert ptosim.check(again, *given.arguments, grid=given.grid).ok
    if not SIGNALS.search(path.read_text()):
        assert ptosim.prove(again).proven
    assert found.assumptions and "assuming that" in str(found)


@pytest.mark.parametrize("name", SAMPLE)
def test_what_was_stripped_comes_back_as_good(name: str):
    _is_as_good(name)


@pytest.mark.full
@pytest.mark.parametrize("name", REST)
def test_what_was_stripped_comes_back_as_good_everywhere(name: str):
    _is_as_good(name)


def test_these_are_all_that_were_ordered_by_hand():
    assert {*SAMPLE, *REST} == {path.stem for path in EXAMPLES.glob("*.pto")}


def test_signals_between_cores_stay_as_they_are():
    text, given = (EXAMPLES / "producer_consumer_a2a3.pto").read_text(), launch("producer_consumer_a2a3")
    found = ptosim.synchronise(ptosim.load(text).kernel(), *given.arguments, grid=given.grid, strip=True)
    assert len(SIGNALS.findall(found.text)) == len(SIGNALS.findall(re.sub("//.*", "", text))) > 0
    assert any("signals" in assumption for assumption in found.assumptions)


# --- tiles ------------------------------------------------------------------------------------------------------------

TILES = sorted(f"tiles/{path.stem}" for path in (EXAMPLES / "tiles").glob("*.pto"))


def _is_tile_text(name: str) -> None:
    """Tiles stay tiles, each with its address; the order is written between them, and checks as what was inserted."""
    module, given = ptosim.load(EXAMPLES / f"{name}.pto"), launch(name)
    found = ptosim.synchronise(module.kernel(), *given.arguments, grid=given.grid)
    allocations = re.findall(r"pto\.alloc_(?:multi_)?tile(.*)", found.text)
    assert allocations and all(line.startswith(" addr = ") for line in allocations)
    tiles = re.compile(r"pto\.t(?!ensor)\w+")
    assert len(tiles.findall(found.text)) >= len(tiles.findall(re.sub("//.*", "", module.source)))
    assert "pto.set_flag" in found.text and "vlds" not in found.text and "mte_" not in found.text
    again = ptosim.load(found.text, sync="written").kernel()
    if not SIGNALS.search(module.source):
        assert ptosim.prove(again).proven
    kinds = [
        {finding.kind for finding in ptosim.check(kernel, *given.arguments, grid=given.grid).findings}
        for kernel in (module.kernel(), again)
    ]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("name", ["tiles/add", "tiles/matmul"])
def test_the_order_of_tiles_is_written_between_them(name: str):
    _is_tile_text(name)


@pytest.mark.full
@pytest.mark.parametrize("name", TILES)
def test_the_order_of_tiles_is_written_between_them_everywhere(name: str):
    _is_tile_text(name)


def test_what_a_run_touches_twice_is_not_assumed_apart():
    """The loop stores row 1 of b, and so does the operation behind it: with three rows the loop itself sees to the
    order, with two it does not."""
    text = Text().tiles("x", "y").load("a", "%c0", "x").loop("i", "%n").load("a", "%i", "y").sum("x", "y", "y")
    kernel = text.store("y", "b", "%i").end().store("x", "b", "%c1").kernel()
    found = ptosim.synchronise(kernel, *arrays(), 3, 1)
    assert not any("bytes of GM" in assumption for assumption in found.assumptions)
    assert is_clean(found.kernel, 2)
    apart = ptosim.synchronise(kernel, *arrays(), 1, 1)
    assert any("bytes of GM" in assumption for assumption in apart.assumptions)


def test_entries_that_are_all_in_a_loop_with_a_condition_are_ordered():
    text = Text().tiles("x").add("%r = scf.while (%i = %c0) : (index) -> (index) {")
    text.add("%more = arith.cmpi slt, %i, %n : index").add("scf.condition(%more) %i : index").add("} do {")
    text.add("^bb0(%i: index):").load("a", "%i", "x").store("x", "b", "%i")
    kernel = text.add("%next = arith.addi %i, %c1 : index").add("scf.yield %next : index").end().kernel()
    found = ptosim.synchronise(kernel, *arrays(), 3, 1)
    assert all(is_clean(found.kernel, n) for n in (0, 1, 3))


def test_what_was_computed_for_flags_goes_with_them():
    """Pairs that take their ids in turn count their iterations; what is written instead of them does so once."""
    text = Text().add("%xs = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x64xf32, count=2>").loop("i", "%n")
    get = "pto.multi_tile_get %xs[%{}] : !pto.multi_tile_buf<vec, 16x64xf32, count=2> -> !pto.tile_buf<vec, 16x64xf32>"
    text.add("%j = arith.addi %i, %c1 : index").add("%s = arith.remui %i, %c2 : index")
    text.add("%t = arith.remui %j, %c2 : index").add(f"%x = {get.format('s')}").add(f"%y = {get.format('t')}")
    kernel = text.load("a", "%j", "y").store("x", "b", "%i").end().kernel()
    once = ptosim.synchronise(kernel, *arrays(), 5, 1)
    again = ptosim.synchronise(once.kernel, *arrays(), 5, 1, strip=True)
    assert "local_array" in once.text
    assert (again.text.count("\n"), again.cycles) == (once.text.count("\n"), once.cycles)


def test_a_prime_covers_what_its_pipe_has_done_before_the_loop():
    """The load before the loop is in order with the store in it by the tokens that are there before the first
    iteration; what is called redundant is."""
    text = Text().add("%xs = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x64xf32, count=2>")
    get = "pto.multi_tile_get %xs[%{}] : !pto.multi_tile_buf<vec, 16x64xf32, count=2> -> !pto.tile_buf<vec, 16x64xf32>"
    text.add(f"%w = {get.format('c0')}").load("a", "%c0", "w").loop("i", "%n")
    text.add("%j = arith.addi %i, %c1 : index").add("%s = arith.remui %i, %c2 : index")
    text.add("%t = arith.remui %j, %c2 : index").add(f"%x = {get.format('s')}").add(f"%y = {get.format('t')}")
    kernel = text.load("a", "%j", "y").store("x", "b", "%i").end().kernel()
    assert all(is_clean(kernel, n) for n in range(5))
    found = ptosim.synchronise(kernel, *arrays(), 5, 1)
    assert "PIPE_MTE2>" not in found.text  # no barrier between the loads
    for one in ptosim.synchronise(found.kernel, *arrays(), 5, 1).redundant:
        rest = [line for number, line in enumerate(found.text.split("\n"), 1) if number not in one.lines]
        shorter = ptosim.load("\n".join(rest), sync="written").kernel()
        assert one.cycles <= 1 and ptosim.prove(shorter).proven and all(is_clean(shorter, n) for n in range(5))


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_the_ping_pong_pattern_has_as_many_keys_as_by_hand():
    kernel, given = ptosim.load(EXAMPLES / "pingpong.pto").kernel(), launch("pingpong")
    found = ptosim.synchronise(kernel, *given.arguments, grid=given.grid, strip=True)
    assert (found.pairs, found.barriers) == (4, 1)
    primes = [line for line in found.text.splitlines() if line.strip().startswith("pto.set_flag[")]
    drains = [line for line in found.text.splitlines() if line.strip().startswith("pto.wait_flag[")]
    assert len(primes) == len(drains) == 4


def test_what_is_in_order_stays_as_it_is():
    kernel, given = ptosim.load(EXAMPLES / "pingpong.pto").kernel(), launch("pingpong")
    found = ptosim.synchronise(kernel, *given.arguments, grid=given.grid)
    assert (found.pairs, found.barriers, found.cycles) == (0, 0, found.as_written)


def test_a_report_names_what_is_redundant(tmp_path: Path):
    text = (EXAMPLES / "singlebuffer.pto").read_text()
    line = next(line for line in text.splitlines() if "pto.mte_ub_gm" in line)
    path = tmp_path / "slow.pto"
    path.write_text(text.replace(line, f"      pto.barrier #pto.pipe<PIPE_ALL>\n{line}"))
    words = ["ones:16384", "zeros:16384", "8", "1024"]
    said = CliRunner().invoke(main, ["sync", str(path), *words, "--report"])
    assert said.exit_code == 0, said.output
    assert re.search(r"redundant: pto.barrier PIPE_ALL at line \d+ costs", said.output)


def test_a_report_says_what_a_second_buffer_would_save():
    """With one buffer each, load, sum and store wait for each other; two let them overlap, as in pingpong."""
    words = ["ones:16384", "zeros:16384", "8", "1024"]
    one = CliRunner().invoke(main, ["sync", str(EXAMPLES / "singlebuffer.pto"), *words, "--report"])
    saved = re.search(r"one more buffer for the bytes that lines [\d, and]+ share saves (\d+) cycles", one.output)
    before = re.search(r"(\d+) cycles as it was written", one.output)
    x = np.ones(16384, "f4")
    two = ptosim.profile(ptosim.load(EXAMPLES / "pingpong.pto").kernel(), x, np.zeros_like(x), 8, 1024).cycles
    assert saved is not None and before is not None
    assert int(before[1]) - int(saved[1]) == pytest.approx(two, rel=0.02)
    other = CliRunner().invoke(main, ["sync", str(EXAMPLES / "pingpong.pto"), *words, "--report"])
    assert "one more buffer" not in other.output


ELSEWHERE = """
module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%x: !pto.ptr<f32, gm>, %from: index, %to: index) attributes {pto.kernel} {
    %z = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %k = arith.constant 1024 : i64
    %far = arith.constant 4096 : i64
    %p = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
    %q = pto.castptr %far : i64 -> !pto.ptr<f32, ub>
    %source = pto.addptr %x, %from : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %dest = pto.addptr %x, %to : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    pto.mte_ub_gm %q, %dest, %k nburst(%one, %k, %k) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    pto.mte_gm_ub %source, %p, %z, %k nburst(%one, %k, %k)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    return
  }
}
"""


@pytest.mark.parametrize("to", [256, 0], ids=["apart", "the same"])
def test_accesses_that_only_may_meet_are_taken_apart_and_named_unless_they_do_meet(to: int):
    """The store and the load take their places from arguments; a check decides, on these arguments."""
    kernel = ptosim.load(ELSEWHERE).kernel()
    found = ptosim.synchronise(kernel, np.zeros(1024, "f4"), 0, to)
    named = [
        assumption for assumption in found.assumptions if assumption.startswith("lines 12 and 13 touch different bytes")
    ]
    assert bool(named) == (to == 256) and found.pairs == (to != 256)


def test_the_command_writes_a_file_that_loads(tmp_path: Path):
    out = tmp_path / "out.pto"
    words = ["ones:16384", "zeros:16384", "3", "100"]
    said = CliRunner().invoke(main, ["sync", str(EXAMPLES / "singlebuffer.pto"), *words, "--strip", "-o", str(out)])
    assert said.exit_code == 0, said.output
    assert CliRunner().invoke(main, ["check", str(out), *words]).exit_code == 0


def test_what_the_check_finds_is_an_error(tmp_path: Path):
    """An access outside of UB is nothing that order could mend."""
    said = CliRunner().invoke(main, ["sync", str(EXAMPLES / "singlebuffer.pto"), "ones:64", "zeros:64", "3", "1024"])
    assert said.exit_code == 1 and "out-of-bounds" in said.stderr


def test_a_constant_of_an_id_and_of_a_computation_that_nothing_uses_stays():
    """What nothing uses is not order: it is left as it was written, with what it is computed from."""
    text = Text().tiles("x").add("%none = arith.constant 0 : i64").loop("i", "%n")
    text.add("%t = arith.remui %i, %c3 : index")
    text.add('pto.get_buf "PIPE_MTE2", %t, %none : index, i64').add("%unused = arith.addi %i, %c3 : index")
    text.load("a", "%c0", "x").add('pto.rls_buf "PIPE_MTE2", %t, %none : index, i64').end()
    found = ptosim.synchronise(text.kernel(), *arrays(), 3, 1, strip=True)
    assert "rls_buf" not in found.text and "remui" not in found.text and "addi %i, %c3" in found.text


def test_own_output_may_be_longer_than_a_file(monkeypatch: pytest.MonkeyPatch):
    """Two operations on tiles, as micro-instructions and with their order, are longer than the longest file here."""
    text = Text().tiles("x", "y").load("a", "%c0", "x").sum("x", "x", "y").store("y", "b", "%c0")
    source = text.kernel().module.outline.source.text
    monkeypatch.setattr("ptosim.language.text.parser.LONGEST_FILE", len(source))
    module = ptosim.load(source)
    lowered = module.lowered()
    assert len(lowered.outline.source.text) > len(source) and lowered.kernel().signature
    ordered = ptosim.synchronise(module.kernel(), *arrays(), 1, 1)
    assert len(ordered.text) > len(source) and "redundant" not in ordered.report()
    with pytest.raises(ptosim.PTOError, match="has more than"):
        ptosim.load(source + "\n")


@pytest.mark.parametrize("name", ["softmax", "tiles/softmax"])
def test_what_stays_keeps_its_words_its_comments_and_its_layout(name: str):
    """Only lines of the order itself come and go, and of tiles the lines that get an address."""
    text, given = (EXAMPLES / f"{name}.pto").read_text(), launch(name)
    kernel = ptosim.load(text).kernel()
    found = ptosim.synchronise(kernel, *given.arguments, grid=given.grid, strip=True).text.splitlines()
    own = re.compile(r"pto\.(set_flag|wait_flag|barrier|alloc_tile)|module|%c\d+\w* =|%remui|%addi")
    kept = [line for line in text.splitlines() if not own.search(line)]
    assert [line for line in found if not own.search(line)] == kept and any("//" in line for line in kept)


def test_a_kernel_in_order_stays_as_it_is():
    text, given = (EXAMPLES / "softmax.pto").read_text(), launch("softmax")
    assert ptosim.synchronise(ptosim.load(text).kernel(), *given.arguments, grid=given.grid).text == text


def test_what_only_its_states_prove_stays_as_it_is():
    """Slots by an inner loop, primed outside of both: the walk cannot follow it, and nothing is added beside it."""
    head, body = HEAD, (*PRIMES, OUTER, INNER, TURN, *BODY[:5], ROW, BODY[5], BODY[6], "}", "}", *DRAINS)
    text = "\n".join([head, *body, "pto.barrier #pto.pipe<PIPE_ALL>", "return", "}", "}", ""])
    kernel = ptosim.load(text).kernel()
    assert ptosim.prove(kernel).proven
    given = (np.zeros(4096, np.float32), np.zeros(40000, np.float32), 3, 2, 0)
    assert ptosim.synchronise(kernel, *given).text == text
