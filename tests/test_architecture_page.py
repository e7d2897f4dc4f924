"""The walk-through of docs/architecture.md shows the code in the tree, and its commands name what exists."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptosim.cli.commands import main

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SHOWN = [tuple(text.removeprefix("# ").split("\n", 1)) for language, text in BLOCKS if language in ("python", "toml")]


def test_every_part_of_an_instruction_is_shown() -> None:
    floors = {file.split("/")[2] for file, _ in SHOWN if file.startswith("src/")}
    assert floors == {"language", "effects", "reference", "native"}
    assert {file.split("/")[1] for file, _ in SHOWN if file.startswith("tests/")} == {"language", "reference"}


@pytest.mark.parametrize(("file", "code"), SHOWN, ids=[file for file, _ in SHOWN])
def test_the_code_is_that_of_the_tree(file: str, code: str) -> None:
    """In order, with something left out at each `...`."""
    rest = (ROOT / file).read_text()
    for piece in re.split(r"^\.\.\.\n", code, flags=re.MULTILINE):
        before, found, rest = rest.partition(piece)
        assert found, f"docs/architecture.md shows this in {file}, which has it no more:\n{piece}"
        assert before == "" or before.endswith("\n")


def test_the_page_of_the_instruction() -> None:
    (shown,) = [text for _, text in BLOCKS if text.startswith("$ ptosim isa")]
    command, _, page = shown.partition("\n")
    result = CliRunner().invoke(main, command.split()[2:])
    assert result.output.startswith(page) and len(page) > 100


def test_files_and_folders_that_it_names_exist() -> None:
    named = re.findall(r"\b(?:tests|docs|src)/[\w/]+(?:\.\w+)?", PAGE)
    floors = "|".join(path.name for path in (ROOT / "src" / "ptosim").iterdir() if path.is_dir())
    named += [f"src/ptosim/{name}" for name in re.findall(rf'(?<![\w/"])(?:{floors})/[\w/]+\.\w+', PAGE)]
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []
