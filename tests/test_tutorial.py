"""Tutorials work as they are written: their files, their commands in their order and what these print, their Python."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ptosim.cli.commands import main

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
BLOCK = re.compile(r"(?:[Ss]ave this as\s+`([\w.]+)`[^\n]*\n+)?^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    if page.stem.endswith("cpp") and shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("no C++ compiler")
    names: dict[str, Any] = {}
    done = 0
    for file, language, text in BLOCK.findall(page.read_text()):
        if file:
            Path(file).write_text(text)
        elif language == "python":
            exec(compile(text, page.name, "exec"), names)
            done += 1
        elif "$ " in text:
            for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                follow(command)
                done += 1
    assert done


def follow(command: str) -> None:
    """Run a command; what the page shows of it is printed, in this order, with other lines where it has three dots."""
    words, _, wanted = command.partition("\n")
    if words.startswith("ptosim "):
        rest = CliRunner().invoke(main, shlex.split(words)[1:]).output
    else:
        rest = subprocess.run(words, shell=True, check=True, capture_output=True, text=True).stdout
    for piece in re.split(r"^\.\.\.\n", wanted, flags=re.MULTILINE):
        assert piece in rest, f"{words} does not print:\n{piece}\nbut:\n{rest}"
        rest = rest[rest.index(piece) + len(piece) :]


def test_there_are_pages() -> None:
    assert len(PAGES) >= 5
