"""Commands take `kernel.cpp:EXPRESSION` as they take `.pto` files."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from cpp.kernels import ADD, NEEDS_COMPILER, without
from ptosim.cli.commands import main

pytestmark = NEEDS_COMPILER

WORDS = ["zeros:64x64", "rand:64x64", "rand:64x64"]
WAIT = "wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "add.cpp").write_text(ADD)
    monkeypatch.chdir(tmp_path)
    return "add.cpp:run<float, 64, 64>"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["verify"], "add.cpp:run<float, 64, 64>: ok for a5; kernels: run"),
        (["print"], 'pto.rules = "library"'),
        (["lower"], "pto.vadd"),
        (["plan"], "@run"),
        (["sync"], "pto.tadd"),
        (["check"], "run: no findings"),
        (["check", "--target", "a3"], "run: no findings"),
        (["profile"], "cycles for 1 block"),
        (["run"], "check: clean"),
        (["run", "--show", "17"], "add.cpp:17:5: pto.tadd"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_commands_make_arguments_up(file: str, command: list[str], said: str) -> None:
    found = CliRunner().invoke(main, [command[0], file, *command[1:]])
    assert (found.exit_code, found.exception is None or isinstance(found.exception, SystemExit)) == (0, True)
    assert said in found.output


@pytest.mark.parametrize("command", ["print", "lower", "plan", "check"])
def test_commands_take_arguments(file: str, command: str) -> None:
    found = CliRunner().invoke(main, [command, file, *WORDS, "--grid", "1"])
    assert found.exit_code == 0


def test_a_proof_of_a_recording_is_undecided(file: str) -> None:
    found = CliRunner().invoke(main, ["prove", file])
    assert found.exit_code == 3
    assert "in order for the recorded launch (grid 1)" in found.output


def test_what_is_made_up_can_be_repeated(file: str) -> None:
    found = CliRunner().invoke(main, ["check", file, "-D", "UNUSED=1", "--core", "vector"])
    line = next(line for line in found.output.splitlines() if line.startswith("repeat: "))
    words = "zeros:4096:f32 rand:4096:f32 rand:4096:f32 -D UNUSED=1 --core vector"
    assert line == f"repeat: ptosim check 'add.cpp:run<float, 64, 64>' {words}"


def test_a_repair_is_a_diff_of_the_file_and_is_written(file: str) -> None:
    path = Path("add.cpp")
    path.write_text(without(ADD, WAIT))
    found = CliRunner().invoke(main, ["check", file, *WORDS, "--fix"])
    assert f"+    {WAIT}" in found.output and "--- add.cpp" in found.output
    CliRunner().invoke(main, ["check", file, *WORDS, "--fix", "--write"])
    again = CliRunner().invoke(main, ["check", file, *WORDS])
    assert again.exit_code == 0 and WAIT in path.read_text()
