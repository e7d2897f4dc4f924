"""How commands behave towards a user: negative numbers, slips of the pen, help, colour, narrow terminals."""

import gc
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ptosim.cli.commands import main

ROOT = Path(__file__).parents[1]
ABS = str(ROOT / "examples" / "abs.pto")
SOFTMAX = str(ROOT / "examples" / "softmax.pto")

FILL = """
module attributes {pto.target_arch = "a5"} {
  func.func @fill(%out: !pto.ptr<f32, gm>, %x: f32, %n: i32) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %first = arith.index_cast %n : i32 to index
    %place = arith.maxsi %first, %c0 : index
    pto.store_scalar %x, %out[%place] : !pto.ptr<f32, gm>, f32
    return
  }
}
"""


def ptosim(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["-1.5", "-.5", "-2", "-1e3", "-inf"])
def test_a_scalar_may_be_negative(tmp_path: Path, number: str) -> None:
    kernel, out = tmp_path / "fill.pto", tmp_path / "out.npy"
    kernel.write_text(FILL)
    result = ptosim("run", str(kernel), "zeros:4", number, "-7", "--save", f"0={out}")
    assert result.exit_code == 0, result.output
    assert np.load(out).tolist() == [float(number), 0, 0, 0]


@pytest.mark.parametrize("words", [["--gird", "3", ABS], [ABS, "--gird", "3"], [ABS, "--gird=3"]])
def test_an_option_that_is_none_is_no_argument(words: list[str]) -> None:
    result = ptosim("run", *words)
    assert result.exit_code == 2
    assert "No such option" in result.stderr and "'--grid'" in result.stderr


def test_an_unknown_machine_is_a_matter_of_usage() -> None:
    result = ptosim("run", ABS, "rand:32x32", "zeros:32x32", "--target", "a7")
    assert result.exit_code == 2
    assert "unknown target 'a7'; known: a5, a2, a3" in result.stderr


def test_which_arguments_are_arrays() -> None:
    result = ptosim("run", SOFTMAX, "rand:24x128", "zeros:24x128", "24", "--save", "2=out.npy")
    assert result.exit_code == 2
    assert "argument 2 is no array; arrays of this kernel are 0, 1" in result.stderr


def test_a_fault_names_its_block_and_the_turn_of_the_loop() -> None:
    """Ten rows of x: block 1 reads rows 8 to 15."""
    result = ptosim("run", SOFTMAX, "rand:10x128", "zeros:24x128", "24", "--grid", "3")
    assert result.exit_code == 1
    assert "note: on b1.aiv0 at loop index 0" in result.stderr


def test_a_character_that_begins_no_name(tmp_path: Path) -> None:
    (tmp_path / "page.pto").write_text("# A heading\n")
    result = ptosim("verify", str(tmp_path / "page.pto"))
    assert "1:1: error: syntax: Expected suffix identifier after '#'" in result.stderr


# --- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["prove", "sync"])
def test_the_help_of_commands_without_ranks_does_not_speak_of_them(command: str) -> None:
    said = ptosim(command, "--help").output
    assert "ARGUMENT for each parameter" in said and "ranks" not in said


def test_the_help_lists_every_command_in_full() -> None:
    text = ptosim("--help").stdout
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    commands = "run check prove sync profile verify print lower plan fit sweep tune cpp"
    commands += " isa explain new watch lsp cache completion"
    assert [line.split()[0] for line in listed] == commands.split()
    assert {line.split()[0] for line in listed} == set(main.commands)
    assert not any(line.endswith("...") for line in listed)
    assert "Exit codes: 0 ok, 1 not ok, 2 usage, 3 undecided (prove)." in text


@pytest.mark.parametrize("command", ["run", "check", "profile"])
def test_the_help_says_how_arguments_are_written(command: str) -> None:
    text = ptosim(command, "--help").stdout
    assert "\n  rand:24x128:7        random, seed 7" in text.replace("\n    ", "\n  ")


def test_version() -> None:
    assert ptosim("--version").stdout == "ptosim 0.1.0\n"


# --- terminals --------------------------------------------------------------------------------------------------------


def on_a_terminal(*words: str, **environment: str) -> str:
    terminal, side = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment = plain | {"TERM": "xterm"} | environment
    process = subprocess.Popen([sys.executable, "-m", "ptosim", *words], stderr=side, stdout=side, env=environment)
    os.close(side)
    seen = b""
    with suppress(OSError):  # the other side is closed
        while part := os.read(terminal, 1 << 16):
            seen += part
    process.wait(60)
    os.close(terminal)
    return seen.decode()


def test_diagnostics_have_colour_unless_the_user_wants_none() -> None:
    words = ("run", ABS, "rand:31x32", "zeros:32x32")
    assert "\x1b[1;31merror:" in on_a_terminal(*words)
    assert "\x1b[1;31m" not in on_a_terminal(*words, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(*words, TERM="dumb")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_narrow_encoding_costs_no_more_than_some_signs(encoding: str) -> None:
    words = [sys.executable, "-m", "ptosim", "profile", ABS, "rand:32x32", "zeros:32x32"]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run(words, check=True, capture_output=True, env=environment, timeout=60)
    assert done.stderr == b""
    assert b"cycles for 1 block" in done.stdout


def test_an_interrupt_does_not_wait_for_a_module_to_be_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ptosim.api.load", interrupted)
    try:
        assert ptosim("verify", ABS).exit_code == 130
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
