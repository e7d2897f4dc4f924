"""What the README says works: its commands, its broken kernel, its Python, its links."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptosim.cli.commands import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [line[2:] for _, text in BLOCKS for line in text.splitlines() if line.startswith("$ ")]
INLINE = re.findall(r"`ptosim ([^`]+)`", README)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in a directory of their own that looks like the project's."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ptosim(*words: str) -> str:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_first_ten_minutes(command: str, elsewhere: Path) -> None:
    program, *words = shlex.split(command, comments=True)
    assert program == "ptosim"
    ptosim(*words)
    for file in re.findall(r"\w+\.(?:npy|html|json)\b", command):
        assert (elsewhere / file).stat().st_size > 0


def test_there_are_commands() -> None:
    assert [command.split()[1] for command in COMMANDS] == [
        "check",
        "run",
        "check",
        "profile",
        "check",
        "run",
        "check",
        "plan",
        "lower",
        "prove",
    ]


@pytest.mark.parametrize("command", [command for command in INLINE if len(command.split()) > 1])
def test_a_command_in_the_text(command: str) -> None:
    assert ptosim(*command.split())


def test_every_named_command_exists() -> None:
    assert {command.split()[0] for command in INLINE} <= set(main.commands)


def test_the_broken_softmax(elsewhere: Path) -> None:
    """Without the line that the README names, a check says what the README shows."""
    (line,) = re.findall(r"delete the line `([^`]+)`", README)
    kernel = (ROOT / "examples" / "softmax.pto").read_text()
    assert kernel.count(line) == 1
    (elsewhere / "softmax.pto").write_text("".join(row for row in kernel.splitlines(keepends=True) if line not in row))
    _, words = COMMANDS[2].split("softmax.pto ")
    result = CliRunner().invoke(main, ["check", "softmax.pto", *words.split()])
    assert result.exit_code == 1
    (shown,) = [text for _, text in BLOCKS if "error: race" in text]
    assert shown.rstrip() in result.output


def test_the_python_runs(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = [text for language, text in BLOCKS if language == "python"]
    exec(compile(snippet, "README.md", "exec"), {})
    cycles, bound = capsys.readouterr().out.split(maxsplit=1)
    assert int(cycles) > 0 and bound.strip()
    assert (elsewhere / "report.html").stat().st_size > 0


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", README))
def test_a_link_leads_somewhere(link: str) -> None:
    assert link.startswith("http") or (ROOT / link).exists()
