"""Comparing with a profile that was saved: what changed, the exit code, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptosim.cli.commands import main
from tables import table

EXAMPLES = Path(__file__).parents[2] / "examples"
WORDS = ["rand:8x1024", "zeros:8x1024", "8", "1024"]


def profiled(*words: str) -> tuple[int, str, str]:
    said = CliRunner().invoke(main, ["profile", *words])
    return said.exit_code, said.stdout, said.stderr


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "pingpong.json"
    path.write_text(profiled(str(EXAMPLES / "pingpong.pto"), *WORDS, "--json")[1])
    return path


def test_the_same_kernel_has_no_difference(saved: Path) -> None:
    code, out, _ = profiled(str(EXAMPLES / "pingpong.pto"), *WORDS, "--compare", str(saved), "--at-most", "0")
    assert code == 0 and "no difference in cycles" in out


def test_a_slower_kernel_ends_with_one(saved: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    slow = [str(EXAMPLES / "singlebuffer.pto"), *WORDS, "--compare", str(saved)]
    code, out, _ = profiled(*slow, "--html", str(page))
    assert code == 0 and "pto.mte_gm_ub" in out and '"comparison":{"file"' in page.read_text()
    cycles = json.loads(saved.read_text())["result"]["cycles"]
    assert f"{cycles:,}" in out
    assert profiled(*slow, "--at-most", "5")[0] == 1 and profiled(*slow, "--at-most", "200")[0] == 0
    found = json.loads(profiled(*slow, "--at-most", "5", "--json")[1])
    assert not found["ok"] and found["result"]["comparisons"][0]["cycles"][1] == cycles


@table(
    "text, message",
    ("{", "is no JSON"),
    ("[]", "is not what ptosim profile --json prints"),
    ('{"command": "check", "schema": 1}', "is not what ptosim profile --json prints"),
    ('{"command": "profile", "schema": 99}', "has schema 99, and this is schema 1: save it again"),
    ('{"command": "profile", "schema": 1, "result": null}', "has no complete profile"),
)
def test_files_that_are_no_profile(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    code, _, err = profiled(str(EXAMPLES / "abs.pto"), "--compare", str(path))
    assert code == 2 and err.count("error:") == 1 and message in err


def test_a_limit_needs_something_to_compare_with() -> None:
    assert profiled(str(EXAMPLES / "abs.pto"), "--at-most", "5")[0] == 2
