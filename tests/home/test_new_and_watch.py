"""A new kernel does what its page says, and a watched one tells what each save has changed."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from cpp.kernels import NEEDS_COMPILER
from ptosim.cli.commands import main
from ptosim.home.new import KINDS, KernelTemplate
from ptosim.home.watch import Look, story, watch

MADE = [pytest.param(kind, id=kind.name, marks=NEEDS_COMPILER if kind.name == "cpp" else ()) for kind in KINDS]
UNDECIDED = {("cpp", "prove")}
"""A kernel in C++ is recorded for one launch, and proven for that."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ptosim(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize("kind", MADE)
def test_a_new_kernel_does_what_its_page_says(folder: Path, kind: KernelTemplate, monkeypatch: pytest.MonkeyPatch):
    assert f"next: ptosim check {Path('twice') / 'twice'}" in ptosim("new", "twice", f"--{kind.name}")
    monkeypatch.chdir("twice")
    commands = re.findall(r"^ptosim (.*?)(?:#.*)?$", Path("README.md").read_text(), re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["check", "run", "profile", "prove", "watch"]
    for command in commands[:-1]:
        ptosim(*command.split(), code=3 if (kind.name, command.split()[0]) in UNDECIDED else 0)
    assert Path("report.html").stat().st_size > 0
    ptosim("check", f"twice{kind.suffix}", "--strict")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout or "6 passed" in done.stdout


def test_the_test_of_a_new_kernel_finds_what_breaks_it(folder: Path, monkeypatch: pytest.MonkeyPatch):
    ptosim("new", "twice", "--micro")
    kernel = folder / "twice" / "twice.pto"
    kernel.write_text(kernel.read_text().replace("constant 2.0", "constant 3.0"))
    monkeypatch.chdir("twice")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "argument 1 (y)" in done.stdout


@pytest.mark.parametrize("name", ["2nd", "a b", "a/b", "é", "", "for"])
def test_names_that_cannot_be(folder: Path, name: str):
    assert "is no name of a kernel" in ptosim("new", name, code=2)
    assert not list(folder.iterdir())


def test_nothing_that_is_there_is_touched(folder: Path):
    (folder / "twice").mkdir()
    assert "is there already" in ptosim("new", "twice", code=2)
    assert not list((folder / "twice").iterdir())


# --- watch ------------------------------------------------------------------------------------------------------------


def watched(edits: list[Callable[[], object]], file: str, words: list[str], seconds: float = 60) -> list[list[str]]:
    """What is said of a file at first, and after each edit."""
    said: list[list[str]] = []

    def say(line: str) -> None:
        if not line.startswith("  "):
            said.append([])
        said[-1].append(line)

    async def looking() -> None:
        task = asyncio.create_task(watch(file, words, say, seconds))
        for number, edit in enumerate([*edits, None], 1):
            until = time.monotonic() + 120
            while len(said) < number or (number > len(said) - 1 and not said[-1][1:]):
                assert time.monotonic() < until and not task.done(), said
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.3)
            if edit is not None:
                edit()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(looking())
    return said


def test_each_save_is_looked_at_and_changes_are_told(folder: Path):
    ptosim("new", "twice", "--micro")
    file = folder / "twice" / "twice.pto"
    text = file.read_text()
    waits = text.replace('      pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %buffer]\n', "")
    assert waits != text
    edits = [lambda: file.write_text(waits), lambda: file.write_text(text), lambda: file.write_text(text + "pto.what")]
    first, broken, mended, wrong = watched(edits, str(file), [])
    assert first[1] == "  check    no findings" and " cycles, bound by " in first[-1]
    assert broken[1].startswith("  check    1 error") and any("+" in line and "race" in line for line in broken)
    assert any(line.startswith("        hint: before line") for line in broken)
    assert mended[1] == "  check    no findings" and any("- " in line and "race" in line for line in mended)
    assert any("unknown operation 'pto.what'" in line for line in wrong)


def test_a_kernel_that_does_not_end_is_stopped(folder: Path):
    file = folder / "endless.pto"
    file.write_text(ENDLESS)
    (said,) = watched([], str(file), [], seconds=4)
    assert "not ended within 4 s, and stopped" in said[1]


ENDLESS = """module attributes {pto.target_arch = "a5"} {
  func.func @endless(%x: !pto.ptr<i32, gm>, %n: i64) attributes {pto.kernel} {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %most = arith.constant 900000000 : i64
    %sum = scf.for %i = %zero to %most step %one iter_args(%s = %zero) -> (i64) : i64 {
      %t = arith.addi %s, %i : i64
      %q = arith.remsi %t, %most : i64
      scf.yield %q : i64
    }
    %v = arith.trunci %sum : i64 to i32
    %c0 = arith.constant 0 : index
    pto.store_scalar %v, %x[%c0] : !pto.ptr<i32, gm>, i32
    return
  }
}
"""


def test_cycles_are_compared():
    def look(cycles: int) -> Look:
        result = {"cycles": cycles, "bound": "memory"}
        return Look(None, {"findings": [], "result": {}}, {"findings": [], "result": result})

    assert list(story(look(100), look(90), 1))[-1] == "profile  90 cycles (-10.0 %), bound by memory"
    assert list(story(look(90), look(90), 1))[-1] == "profile  90 cycles, as before, bound by memory"


@pytest.mark.parametrize(("command", "extra"), [("watch", "watchfiles")])
def test_a_missing_extra_is_one_sentence(command: str, extra: str):
    hide = f"import sys; sys.modules['{extra}'] = None; sys.argv = ['ptosim', '{command}', 'a.pto']; "
    hide += "from ptosim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"error: argument: {extra} is not installed: pip install 'ptosim[{command}]'\n"
