"""Every example kernel gives what NumPy gives, at sizes with and without tails, on both engines and under every
schedule; it checks clean and has a profile."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from example_scripts import script

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.pto"))

EDGES: dict[str, list[dict[str, int]]] = {
    "add": [{"rows": 1, "columns": 1}, {"rows": 32, "columns": 64}, {"rows": 33, "columns": 65}],
    "buffers": [{"tiles": 0}, {"tiles": 1}, {"tiles": 7}],
    "cast": [{"count": 4}, {"count": 2048}, {"count": 2049}],
    "flash_attention": [
        {"rows": 64, "keys": 128},
        {"rows": 128, "keys": 128, "causal": True},
        {"rows": 256, "keys": 256, "causal": True},
    ],
    "flash_attention_f32": [
        {"rows": 64, "keys": 64},
        {"rows": 64, "keys": 64, "causal": True},
        {"rows": 192, "keys": 192, "causal": True},
    ],
    "gather": [{"tokens": 1}, {"tokens": 64}, {"tokens": 65, "grid": 1}, {"classes": 1}],
    "layer_norm": [
        {"rows": 1, "columns": 1},
        {"rows": 3, "columns": 64},
        {"rows": 2, "columns": 65},
        {"rows": 1, "columns": 2048},
    ],
    "matmul": [{"rows": 1, "depth": 1}, {"rows": 64, "depth": 64}, {"rows": 65, "depth": 129}],
    "matmul_int8": [{"rows": 1}, {"rows": 64}, {"rows": 129}],
    "pingpong": [{"tiles": 0}, {"tiles": 1}, {"tiles": 2, "tail": 1024}],
    "producer_consumer_a2a3": [{"rows": 0}, {"rows": 1}, {"rows": 2}],
    "producer_consumer_a5": [{"tiles": 0}, {"tiles": 1}, {"tiles": 2}],
    "softmax": [{"rows": 1}, {"rows": 32, "grid": 1}, {"rows": 65, "grid": 2}],
    "topk": [{"columns": 1, "k": 1}, {"columns": 64, "k": 64}, {"columns": 512, "k": 3}],
    "unaligned_copy": [
        {"start": 0, "to": 0, "count": 64},
        {"start": 0, "to": 7, "count": 1},
        {"start": 9, "to": 8, "count": 64},
        {"start": 3, "to": 5, "count": 0},
        {"start": 1, "to": 31, "count": 900},
    ],
}
"""Sizes beside the default ones: a single element, exactly one register or tile, one more."""


@cache
def kernel_of(name: str) -> ptosim.Kernel:
    """What an example is read and compiled to serves all its tests."""
    return ptosim.load(EXAMPLES / f"{name}.pto").kernel()


def run(name: str, sizes: dict[str, Any], engine: str = "reference", **options: Any) -> None:
    launch = script(name).launch(**sizes)
    kernel = kernel_of(name)
    kernel(*launch.arguments, grid=launch.grid, engine=engine, **options)
    launch.compare()


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", NAMES)
def test_the_example_equals_numpy(name: str, engine: str) -> None:
    run(name, {}, engine)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("name", "sizes"), [(name, sizes) for name, cases in EDGES.items() for sizes in cases], ids=str
)
def test_other_sizes_equal_numpy(name: str, sizes: dict[str, int], engine: str) -> None:
    run(name, sizes, engine)


@pytest.mark.parametrize("name", NAMES)
def test_the_example_checks_clean(name: str) -> None:
    launch = script(name).launch()
    kernel = kernel_of(name)
    assert not kernel.module.warnings
    report = ptosim.check(kernel, *launch.arguments, grid=launch.grid)
    assert not report.findings, report


@pytest.mark.parametrize("name", NAMES)
def test_the_example_has_a_profile(name: str) -> None:
    launch = script(name).launch()
    profile = ptosim.profile(kernel_of(name), *launch.arguments, grid=launch.grid)
    assert profile.cycles > 0
    assert profile.bound


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_softmax_of_minus_infinities(engine: str) -> None:
    """As NumPy has it, also where a row begins with 64 of them or has nothing else."""
    x = np.random.default_rng(4).normal(size=(4, 128)).astype(np.float32)
    x[0, ::3] = x[1, :64] = x[2, 64:] = x[3] = -np.inf
    y = np.zeros_like(x)
    kernel_of("softmax")(x, y, 4, engine=engine)
    with np.errstate(invalid="ignore"):
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-7)
    assert np.isnan(y[3]).all() and (y[1, :64] == 0).all()


def test_double_buffering_pays_in_the_launches_that_the_scripts_show() -> None:
    cycles: list[int] = []
    for name in ("singlebuffer", "pingpong"):
        launch = script(name).launch()
        kernel = kernel_of(name)
        cycles.append(ptosim.profile(kernel, *launch.arguments, grid=launch.grid).cycles)
    single, double = cycles
    assert single >= 1.6 * double


@pytest.mark.parametrize("schedule", ["random:1", "random:2", "delay:MTE2", "delay:V", "delay:MTE3"])
@pytest.mark.parametrize("name", NAMES)
def test_every_schedule_gives_the_same(name: str, schedule: str) -> None:
    run(name, {}, schedule=schedule)


def test_a_script_shows_itself(capsys: pytest.CaptureFixture[str]) -> None:
    module = script("softmax")
    module.show(str(EXAMPLES / "softmax.py"), module.launch())
    shown = capsys.readouterr().out
    assert shown.startswith("softmax: result equals NumPy's\n")
    assert "cycles, bound by" in shown


def test_a_wrong_result_is_noticed() -> None:
    launch = script("abs").launch()
    with pytest.raises(AssertionError):
        launch.compare()
