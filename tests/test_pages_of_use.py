"""What pages show works: their commands, their Python, their specs."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
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


# --- explanations and C++ ---------------------------------------------------------------------------------------------

HOWTO = ("kernels-in-cpp.md", "your-own-board.md")
RUN = [
    (path, command, output)
    for path in (*sorted(DOCS.glob("explanation/*.md")), *(DOCS / "howto" / name for name in HOWTO))
    for _, text in blocks(str(path.relative_to(DOCS)))
    for command, output in re.findall(r"^(?:\$ )?ptosim (.*)\n((?:(?!(?:\$ )?ptosim ).*\n)*)", text, re.MULTILINE)
]
FILES = {"softmax.pto": "softmax.pto", "pingpong.pto": "pingpong.pto", "softmax.cpp": "cpp/softmax.cpp"}
ARGUMENTS = "rand:24x128 zeros:24x128 24 --grid 3"


@pytest.fixture
def files(elsewhere: Path) -> Path:
    """The files that these pages name."""
    for name, source in FILES.items():
        shutil.copy(ROOT / "examples" / source, elsewhere / name)
    pages = ("explanation/timing.md", "howto/your-own-board.md")
    shown = [text for page in pages for _, text in blocks(page)]
    (figures,) = [text for text in shown if text.startswith("inherits")]
    (measured,) = [text for text in shown if text.startswith("kernel,arguments")]
    (operation,) = [text for text in shown if text.startswith("func.func @tlrelu")]
    (elsewhere / "my.toml").write_text(figures)
    (elsewhere / "measured.csv").write_text(measured)
    (elsewhere / "ops.pto").write_text(f'module attributes {{pto.target_arch = "a5"}} {{\n{operation}}}\n')
    return elsewhere


@pytest.mark.parametrize(
    ("page", "command", "output"), RUN, ids=[f"{page.stem}: {command}" for page, command, _ in RUN]
)
def test_a_command_of_an_explanation(files: Path, page: Path, command: str, output: str) -> None:
    if ".cpp" in command and shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("no C++ compiler")
    said = CliRunner().invoke(main, shlex.split(command.replace("...", ARGUMENTS), comments=True))
    assert said.exit_code == 0 and output in said.output, said.output


@pytest.mark.parametrize("page", ["order", "ranks", "sanitizer"])
def test_the_python_of_an_explanation(files: Path, page: str) -> None:
    kernel = ptosim.load("softmax.pto").kernel()
    x, out = np.ones((24, 128), np.float32), np.zeros((24, 128), np.float32)
    names = {"ptosim": ptosim, "kernel": kernel, "x": x, "out": out, "args": (x, out, 24)}
    programs = [text for language, text in blocks(f"explanation/{page}.md") if language == "python"]
    assert programs
    for program in programs:
        exec(compile(program, page, "exec"), names)
    for name, test in list(names.items()):
        if name.startswith("test_"):
            test()  # pyright: ignore[reportCallIssue]


def test_the_python_of_the_surface(files: Path) -> None:
    """A kernel is read from its file, as a user's is."""
    (program,) = [text for language, text in blocks("reference/python.md") if language == "python"]
    arrays = "x, y = np.ones((70, 64), 'f4'), np.zeros((70, 64), 'f4')\n"
    (files / "shown.py").write_text(program.replace("double[2]", f"{arrays}double[2]") + "assert (y == 2).all()\n")
    runpy.run_path("shown.py")


# --- arguments, tests, sweeps -----------------------------------------------------------------------------------------


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
