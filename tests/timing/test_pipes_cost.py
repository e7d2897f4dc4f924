"""What a profile costs: at most three times the run of the reference engine that it watches."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import ptosim

EXAMPLES = Path(__file__).parents[2] / "examples"
TILES = 200


def least(action: Callable[[], object]) -> float:
    """Processor time; the least of several, because other programs take caches away."""
    times: list[float] = []
    for _ in range(5):
        begin = time.process_time()
        action()
        times.append(time.process_time() - begin)
    return min(times)


def test_a_profile_costs_less_than_three_runs():
    kernel = ptosim.load(EXAMPLES / "pingpong.pto").kernel()
    x, y = np.ones(TILES * 1024, np.float32), np.zeros(TILES * 1024, np.float32)
    run = least(lambda: kernel(x, y, TILES, 1024, engine="reference"))
    profile = least(lambda: ptosim.profile(kernel, x, y, TILES, 1024))
    assert profile < 3 * run
