"""Four kernels go all the way: abs, ping/pong, a wait before its set, a mixed kernel. Every schedule agrees."""

from pathlib import Path

import numpy as np
import pytest

import ptosim

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
SCHEDULES = ["program", "delay:MTE2", "delay:V", "delay:MTE3", *(f"random:{seed}" for seed in range(50))]
TILE = 1024
TAIL = 100


def numbers(count: int) -> np.ndarray:
    return np.random.default_rng(count).normal(size=count).astype(np.float32)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_abs(schedule: str) -> None:
    kernel = ptosim.load(EXAMPLES / "abs.pto").kernel()
    x = numbers(1024).reshape(32, 32)
    y = np.zeros_like(x)
    kernel(x, y, engine="reference", schedule=schedule)
    np.testing.assert_array_equal(y, np.abs(x))


@pytest.mark.parametrize("tiles", range(10))
def test_pingpong_in_program_order(tiles: int) -> None:
    x, y = pingpong(tiles, "program")
    np.testing.assert_array_equal(y, np.abs(x))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_pingpong_under_every_schedule(schedule: str) -> None:
    x, y = pingpong(4, schedule)
    np.testing.assert_array_equal(y, np.abs(x))


def pingpong(tiles: int, schedule: str, grid: int = 3) -> tuple[np.ndarray, np.ndarray]:
    kernel = ptosim.load(EXAMPLES / "pingpong.pto").kernel()
    x = numbers(grid * ((tiles - 1) * TILE + TAIL)) if tiles else np.zeros(1, np.float32)
    y = np.zeros_like(x)
    kernel(x, y, tiles, TAIL, grid=grid, engine="reference", schedule=schedule)
    return x, y


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_wait_issued_before_its_set(schedule: str) -> None:
    kernel = ptosim.load(HERE / "late_set.pto").kernel()
    x = numbers(64)
    y = np.zeros_like(x)
    kernel(x, y, engine="reference", schedule=schedule)
    np.testing.assert_array_equal(y, np.abs(x))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_cube_core_that_only_waits_and_signals(schedule: str) -> None:
    kernel = ptosim.load(HERE / "mixed_signal.pto").kernel()
    x = numbers(128)
    half, y = np.zeros_like(x), np.zeros_like(x)
    kernel(x, half, y, engine="reference", schedule=schedule)
    np.testing.assert_array_equal(half, np.abs(x))
    np.testing.assert_array_equal(y, np.abs(np.roll(x, 64)))
