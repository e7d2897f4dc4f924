"""A figure means the same wherever it is changed: in a file that inherits the rest, or by a question of the form "what
if". A latency moves the forwarding distances of its class in both."""

from pathlib import Path
from typing import Any

import pytest

from ptosim.target import Target, load_target


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
