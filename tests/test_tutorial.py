"""The tutorial works as it is written: its kernel, its commands in their order, what they print."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptosim.cli.commands import main

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial" / "first-kernel.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_commands_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (kernel,) = [text for language, text in BLOCKS if language == "mlir"]
    Path("scale.pto").write_text(kernel)
    shown = "".join(text for language, text in BLOCKS if not language)
    commands = re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]
    assert [command.split()[1] for command in commands] == ["run", "check", "check", "check", "prove", "profile"]
    for command in commands:
        words, _, wanted = command.partition("\n")
        rest = CliRunner().invoke(main, shlex.split(words)[1:]).output
        for piece in re.split(r"^\.\.\.\n", wanted, flags=re.MULTILINE):
            assert piece in rest, f"{words} does not print:\n{piece}"
            rest = rest[rest.index(piece) + len(piece) :]
