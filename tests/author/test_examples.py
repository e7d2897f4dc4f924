"""The examples in Python give what NumPy gives, on both engines, and check clean."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import ptosim
from author.notebooks import run_notebook

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_checks_clean(path: Path, capsys: pytest.CaptureFixture[str]):
    runpy.run_path(str(path), run_name="__main__")
    assert "checked on both engines, clean" in capsys.readouterr().out


def test_attention_gives_the_bytes_of_the_kernel_in_text():
    script = runpy.run_path(str(EXAMPLES[0].parent / "flash_attention.py"))
    text = ptosim.load(EXAMPLES[0].parents[1] / "tiles" / "flash_attention.pto").kernel("flash_attention")
    data = np.random.default_rng(3)
    q, k, v = (data.normal(size=(count, 64)).astype(np.float16) for count in (64, 256, 256))
    for causal in (0, 1):
        results = [np.zeros((64, 64), np.float16) for _ in range(2)]
        for kernel, out in zip((script["flash_attention"], text), results, strict=True):
            kernel(q, k, v, out, 256, 0.125, causal, grid=1)
        assert results[0].tobytes() == results[1].tobytes()
        assert ptosim.profile(script["flash_attention"], q, k, v, results[0], 256, 0.125, causal).cycles > 0


@pytest.mark.full
def test_the_notebook_finds_a_race_and_gets_faster():
    shown = run_notebook(EXAMPLES[0].parents[2] / "docs" / "tutorial" / "kernels-in-python.ipynb")
    pages = [each for each in shown if each is not None]
    assert [type(each).__name__ for each in pages] == [
        "CheckReport", "CheckReport", "Proof", "Profile", "Profile", "KernelHandle"
    ]  # fmt: skip
    assert all("<pre" in each._repr_html_() for each in pages[:3]) and "svg" in pages[3]._repr_html_()
    assert [each.location.file for each in pages[0].findings] == ["cell"] * len(pages[0].findings)
