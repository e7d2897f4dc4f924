"""Stopping before a line: what is held there, on which core, and what is said of a line that is not reached."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main

EXAMPLES = Path(__file__).parents[1] / "examples"
SOFTMAX = EXAMPLES / "tiles" / "softmax.pto"
MIXED = EXAMPLES / "producer_consumer_a5.pto"


def line_of(path: Path, text: str) -> int:
    return next(number for number, line in enumerate(path.read_text().split("\n"), 1) if text in line)


def test_tiles_hold_what_the_lines_before_have_computed() -> None:
    kernel = ptosim.load(SOFTMAX).kernel()
    x = np.random.default_rng(1).normal(size=(70, 128)).astype(np.float32)
    y = np.zeros_like(x)
    state = kernel.until(x, y, 70, line=line_of(SOFTMAX, "pto.trowmax"), occurrence=2)
    assert (state.core, state.loops) == ("b0.aiv0", (32,))
    np.testing.assert_array_equal(state.tile("%a")[: 32 * 128], x[32:64].reshape(-1))
    np.testing.assert_array_equal(state.tile("%largest"), x[:32].max(axis=1))  # of the turn before
    assert not y.any()  # arguments are copied
    stored = state.memory["y"].view(np.float32).reshape(70, 128)
    assert stored[:32].all() and not stored[32:].any()


def test_registers_of_a_vector_scope_and_scalars_around_it() -> None:
    path = EXAMPLES / "abs.pto"
    x = np.linspace(-4, 4, 1024, dtype=np.float32)
    line = line_of(path, "pto.vabs")
    state = ptosim.load(path).kernel().until(x, np.zeros_like(x), line=line, occurrence=3)
    held = [value for value in state.registers.values() if isinstance(value, np.ndarray)]
    assert any(np.array_equal(value.view(np.float32)[:64], x[128:192]) for value in held)
    assert f"abs.pto:{line}:" in str(state) and "registers" in str(state)


def test_the_core_that_is_meant() -> None:
    kernel = ptosim.load(MIXED).kernel()
    arguments = kernel.example_arguments()
    line = line_of(MIXED, "pto.get_subblock_idx")
    (first, second) = (kernel.until(*arguments, line=line, core=core) for core in (None, "b0.aiv1"))
    assert first.core == "b0.aiv0" and second.core == "b0.aiv1"
    assert "ub" in second.memory and {"x", "y"} <= second.memory.keys()


def test_queues_show_what_waits() -> None:
    """The flag is set behind the wait on the scalar unit: V stands at its wait, and what follows queues up."""
    text = """func.func @k(%x: !pto.ptr<f32, gm>) attributes {pto.kernel} {
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %c1 = arith.constant 1 : i64
  %ub = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
  pto.wait_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]
  pto.mte_gm_ub %x, %ub, %c0, %c32 nburst(%c1, %c32, %c32)
    : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  %f = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
  pto.set_flag["PIPE_MTE3", "PIPE_MTE2", "EVENT_ID0"]
  return
}
"""
    state = ptosim.load(text).kernel().until(np.zeros(8, np.float32), line=9)
    assert [entry.partition(",")[0] for entry in state.queues["MTE2"]] == ["pto.wait_flag", "pto.mte_gm_ub"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--until", "33@9"], 1, "line 33 is not reached 9 times: b0.aiv0 3 times"),
        (["--until", "33", "--core", "b7.aiv0"], 1, "line 33 is not reached 1 times on b7.aiv0: it is never executed"),
        (["--until", "1"], 2, "line 1 has no instruction to stop before; the nearest that has is line"),
        (["--until", "many"], 2, "'many' is not of the form LINE or LINE@N"),
        (["--until", "33@0"], 2, "'33@0' is not of the form LINE or LINE@N"),
        (["--core", "b0.aiv0"], 2, "--core is for --until"),
    ],
)
def test_lines_that_are_not_reached(words: list[str], code: int, message: str) -> None:
    said = CliRunner().invoke(main, ["run", str(SOFTMAX), *words])
    assert said.exit_code == code and message in said.stderr


def test_the_command_shows_the_state() -> None:
    said = CliRunner().invoke(main, ["run", str(SOFTMAX), "--until", "33@2"])
    assert said.exit_code == 0 and "before pto.trowmax" in said.output and "%largest" in said.output
