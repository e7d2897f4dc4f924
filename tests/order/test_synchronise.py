"""Order written out: on examples whose hand-written order was taken away, as good as what was there."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
SAMPLE = ("add", "pingpong")
REST = (
    *("abs", "buffers", "cast", "gather", "layer_norm", "matmul", "matmul_int8", "singlebuffer", "softmax", "topk"),
    "unaligned_copy",
)


def launch(name: str) -> Any:
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return import_module(name).launch()


def _is_as_good(name: str) -> None:
    kernel, given = ptosim.load(EXAMPLES / f"{name}.pto").kernel(), launch(name)
    found = ptosim.synchronise(kernel, *given.arguments, grid=given.grid, strip=True)
    assert found.as_written is not None and found.cycles <= 1.02 * found.as_written, found
    again = ptosim.load(found.text, sync="written").kernel()
    assert ptosim.check(again, *given.arguments, grid=given.grid).ok
    assert ptosim.prove(again).proven
    assert found.assumptions and "assuming that" in str(found)


@pytest.mark.parametrize("name", SAMPLE)
def test_what_was_stripped_comes_back_as_good(name: str):
    _is_as_good(name)


@pytest.mark.full
@pytest.mark.parametrize("name", REST)
def test_what_was_stripped_comes_back_as_good_everywhere(name: str):
    _is_as_good(name)


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
