"""Whole kernels on both engines, with one and with two threads: the skeleton, the examples, their tails and grids."""

import sys
from pathlib import Path

import numpy as np
import pytest

from native.agreement import agree, fails
from ptosim import api

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.pto") if path.with_suffix(".py").exists())
SKELETON = sorted((ROOT / "tests" / "skeleton").glob("*.pto"))
THREADS = (1, 2)


def example(name: str) -> api.Kernel:
    return api.load(ROOT / "examples" / f"{name}.pto").kernel()


def floats(count: int, seed: int = 1) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(count).astype(np.float32)
    values[:6] = [-0.0, np.inf, -np.inf, np.nan, -1e-45, -3.4e38][: len(values)]
    return values


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    launch = __import__(name).launch()
    sys.modules.pop(name)
    expected = agree(example(name), *launch.arguments, grid=launch.grid, threads=THREADS)
    assert isinstance(expected, list)


@pytest.mark.parametrize("path", SKELETON, ids=lambda path: path.stem)
@pytest.mark.parametrize("grid", [1, 3])
def test_skeleton(path: Path, grid: int) -> None:
    kernel = api.load(path).kernel()
    arrays = [floats(128, number) for number in range(len(kernel.signature))]
    assert isinstance(agree(kernel, *arrays, grid=grid, threads=THREADS), list)


@pytest.mark.parametrize("tiles", range(10))
@pytest.mark.parametrize("tail", [1, 63, 64, 65, 1000, 1024])
def test_ping_pong_of_any_length(tiles: int, tail: int) -> None:
    own = (tiles - 1) * 1024 + tail if tiles else 0
    x = floats(3 * own + 7)
    y = floats(len(x), 2)
    expected = agree(example("pingpong"), x, y, tiles, tail, grid=3, threads=THREADS)
    assert isinstance(expected, list)
    result = np.frombuffer(expected[1], np.float32)
    assert (result[: 3 * own].view("u4") == x[: 3 * own].view("u4") & 0x7FFFFFFF).all()
    assert result[3 * own :].tobytes() == y[3 * own :].tobytes()


def test_many_blocks() -> None:
    x = floats(200 * 1024)
    assert isinstance(agree(example("pingpong"), x, np.zeros_like(x), 1, 1024, grid=200, threads=THREADS), list)


@pytest.mark.parametrize("short", [0, 1])
@pytest.mark.parametrize("grid", [1, 3])
def test_an_array_that_is_too_short(short: int, grid: int) -> None:
    """The lowest block that fails is the one that is named, whatever the number of threads."""
    sizes = [4 * 1024 * grid] * 2
    sizes[short] -= 1
    x, y = (floats(size) for size in sizes)
    found = fails(example("pingpong"), x, y, 4, 1024, grid=grid, threads=THREADS)
    assert found.kind == "out-of-bounds"
    assert found.block == grid - 1
    assert found.loops == (3,)
    assert found.pipe == ("MTE2" if short == 0 else "MTE3")
    assert f"argument {short} (%{'xy'[short]})" in found.message


@pytest.mark.parametrize("short", [0, 1])
def test_bytes_outside_are_dropped(short: int) -> None:
    sizes = [4 * 1024] * 2
    sizes[short] -= 100
    x, y = (floats(size) for size in sizes)
    expected = agree(example("pingpong"), x, y, 4, 1024, oob="drop", threads=THREADS)
    assert isinstance(expected, list)
    wanted = np.concatenate([np.abs(x), np.zeros(100 * (short == 0), np.float32)])[: sizes[1]]
    assert np.frombuffer(expected[1], np.uint32).tobytes() == wanted.tobytes()


def test_more_iterations_than_allowed() -> None:
    x = floats(4 * 1024)
    kernel = example("pingpong")
    assert isinstance(agree(kernel, x, x.copy(), 4, 1024, max_steps=4 + 4 * 16), list)
    found = fails(kernel, x, x.copy(), 4, 1024, max_steps=4 + 4 * 16 - 1)
    assert (found.kind, found.loops) == ("limit", (3,))
    assert found.message.startswith("more than 67 loop iterations")
