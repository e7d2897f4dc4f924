"""A figure means the same wherever it is changed: in a file that inherits the rest, or by a question of the form "what
if". A latency moves the forwarding distances of its class in both."""

import re
from pathlib import Path
from typing import Any

import pytest

from ptosim.diagnostics import PTOError
from ptosim.target import Target, load_target
from ptosim.target.figures import BUILT_IN
from ptosim.target.tables import IssueUnit


def changed(value: Any) -> Any:
    """Another value of the same kind; words and flags have few."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, tuple):
        return [part + 3 for part in value]
    return value + 3 if isinstance(value, int | float) else value


def written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def content(target: Target) -> tuple[Any, ...]:
    """A target without its name and where its figures come from."""
    return target[1:-1]


@pytest.mark.parametrize("name", ["a5", "a2a3"])
def test_a_figure_means_the_same_in_a_file_and_in_a_question(name: str, tmp_path: Path):
    target = load_target(name)
    file = tmp_path / "mine.toml"
    for path, figure in target.figures.items():
        value = changed(figure.value)
        if value == figure.value:
            continue
        *tables, key = path.split(".")
        if len(tables) == 1:
            text = f"[{tables[0]}]\n{key} = {written(value)}\n"
        else:
            text = f"[{tables[0]}]\n{tables[1]} = {{ {key} = {written(value)} }}\n"
        file.write_text(f'inherits = "{name}"\n{text}')
        asked = target.with_overrides({path: value})
        assert content(load_target(file)) == content(asked), path
        assert content(asked) != content(target), path


def test_a_latency_means_the_same_in_the_file_that_states_everything(tmp_path: Path):
    """Whoever edits a5.toml itself gets the cycles that the question promises, forwarding included."""
    text, target = (BUILT_IN / "a5.toml").read_text(), load_target("a5")
    file = tmp_path / "edited.toml"
    for path, figure in target.figures.items():
        if not (path.startswith("class.") and path.endswith(".latency")):
            continue
        name, value = path.split(".")[1], changed(figure.value)
        row = re.compile(rf"^{name} = {{ latency = (\d+|\[\d+, \d+\])", re.MULTILINE)
        edited, count = row.subn(f"{name} = {{ latency = {value}", text)
        assert count == 1, path
        file.write_text(edited)
        assert content(load_target(file)) == content(target.with_overrides({path: value})), path


def test_what_is_early_counts_from_the_end(tmp_path: Path):
    """4 cycles before the result is complete: after 6 of 10; what would come before the start, at once."""
    file = tmp_path / "mine.toml"
    file.write_text('inherits = "a5"\n[class]\nexp = { latency = 10 }\n[early]\nexp = { alu = 4, store = [12, -1] }')
    unit = load_target(file).vector
    assert isinstance(unit, IssueUnit)
    forward = unit.forward["exp"]
    assert forward["alu"] == (6, 6) and forward["store"] == (1, 11)


@pytest.mark.parametrize("row", ["exp = { nothing = 1 }", "exp = { alu = 0.5 }", "store = { alu = 1 }"])
def test_what_cannot_be_early(row: str, tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(f'inherits = "a5"\n[early]\n{row}')
    with pytest.raises(PTOError, match=r"early\.(exp|store)"):
        load_target(file)
