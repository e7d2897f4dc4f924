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


@pytest.mark.full
def test_the_notebook_finds_a_race_and_gets_faster():
    shown = run_notebook(EXAMPLES[0].parents[2] / "docs" / "tutorial" / "kernels-in-python.ipynb")
    pages = [each for each in shown if each is not None]
    assert [type(each).__name__ for each in pages] == [
        "CheckReport", "CheckReport", "Proof", "Profile", "Profile", "KernelHandle"
    ]  # fmt: skip
    assert all("<pre" in each._repr_html_() for each in pages[:3]) and "svg" in pages[3]._repr_html_()
    assert [each.location.file for each in pages[0].findings] == ["cell"] * len(pages[0].findings)


DATA = np.random.default_rng(8)
ROWS = DATA.random((48, 256), np.float32)
PRODUCT = *(DATA.random(size).astype("f2") for size in ((64, 192), (192, 64))), np.zeros((64, 64), "f4")
HEAD = *(DATA.normal(size=(rows, 64)).astype("f2") for rows in (64, 256, 256)), np.zeros((64, 64), "f2"), 256, 0.125, 0
LAUNCHES = {
    "add": ("add", (ROWS, ROWS, np.zeros_like(ROWS), 48), 2),
    "softmax": ("softmax", (ROWS[:, :128].copy(), np.zeros((48, 128), "f4"), 48), 1),
    "rms_norm": ("in_tiles", (ROWS, np.zeros_like(ROWS), 48), 1),
    "matmul": ("matmul", PRODUCT, 1),
    "flash_attention": ("flash_attention", HEAD, 1),
    "flash_attention, causal": ("flash_attention", (*HEAD[:-1], 1), 1),
}
HAND_WRITTEN = {"add", "flash_attention"}
"""Kernels with a twin in examples/tiles that computes the same in the same order."""


@pytest.mark.parametrize("name", LAUNCHES)
def test_an_example_gives_the_bits_and_the_cycles_of_its_text(name: str, tmp_path: Path):
    attribute, arguments, grid = LAUNCHES[name]
    name = name.partition(",")[0]
    kernel = runpy.run_path(str(EXAMPLES[0].parent / f"{name}.py"))[attribute]
    twins = [ptosim.load(kernel.emit(tmp_path / "emitted.pto")).kernel()]
    if name in HAND_WRITTEN:
        twins.append(ptosim.load(EXAMPLES[0].parents[1] / "tiles" / f"{name}.pto").kernel(attribute))
    results: list[list[bytes]] = []
    for each in (kernel, *twins):
        given = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        each(*given, grid=grid)
        results.append([value.tobytes() for value in given if isinstance(value, np.ndarray)])
    assert all(each == results[0] for each in results)
    own, emitted = (ptosim.profile(each, *arguments, grid=grid) for each in (kernel, twins[0]))
    assert own.cycles == emitted.cycles > 0
