"""The examples in Python give what NumPy gives, on both engines, and check clean."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_checks_clean(path: Path, capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(path), run_name="__main__")
    assert "checked on both engines, clean" in capsys.readouterr().out
