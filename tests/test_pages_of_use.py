"""What the pages about arguments, tests and sweeps show: their commands, their Python, their specs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptosim.cli.commands import main
from ptosim.fleet.spec import spec_of

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def blocks(page: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w*)\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that looks like the project's."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


SHOWN = [
    (command, output)
    for _, text in blocks("reference/arguments.md")
    for command, output in re.findall(r"^\$ ptosim (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_command_prints_what_the_page_shows(command: str, output: str) -> None:
    said = CliRunner().invoke(main, shlex.split(command))
    assert said.output == output


def test_words_of_the_table_stand_for_something() -> None:
    """Each word that needs no file, in the place of the array it is shown for."""
    text = (DOCS / "reference/arguments.md").read_text()
    words = [word for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for word in re.findall(r"`([^`]+)`", row)]
    arrays = [word for word in words if ":" in word]
    assert len(arrays) >= 9
    for word in arrays:
        kernel = "examples/abs.pto"
        said = CliRunner().invoke(main, ["check", kernel, word, "auto"])
        assert "did you mean" not in said.output and "is written as" not in said.output, word


def test_the_python_of_the_page_about_tests() -> None:
    (first, second, *_) = [text for language, text in blocks("howto/keep-kernels-by-tests.md") if language == "python"]
    names: dict[str, object] = {}
    exec(compile(first, "page", "exec"), names)
    names["test_abs"]()  # pyright: ignore[reportCallIssue]
    compile(second, "page", "exec")


def test_the_specs_of_the_page_about_sweeps() -> None:
    import tomllib

    for language, text in blocks("howto/run-many-kernels.md"):
        if language == "toml":
            assert spec_of(tomllib.loads(text)).vary


def test_the_workflow_checks_what_a_user_can_check() -> None:
    (workflow,) = [text for language, text in blocks("howto/continuous-integration.md") if language == "yaml"]
    (command,) = re.findall(r"run: ptosim (.*)", workflow)
    words = shlex.split(command.replace("kernels/", "examples/"))
    assert CliRunner().invoke(main, words).exit_code == 0
    assert Path("softmax.sarif").exists() and Path("softmax.xml").exists()
