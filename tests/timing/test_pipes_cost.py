"""What a profile costs: at most three times the run of the reference engine that it watches."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import ptosim

EXAMPLES = Path(__file__).parents[2] / "examples"
TILES = 200


def in_turns(*actions: Callable[[], object]) -> list[float]:
    """Processor time of the quickest of several runs of each. They take turns: whatever else goes on slows all alike."""
    least = [float("inf")] * len(actions)
    for _ in range(9):
        for index, action in enumerate(actions):
            begin = time.process_time()
            action()
            least[index] = min(least[index], time.process_time() - begin)
    return least


def test_a_profile_costs_less_than_three_runs():
    kernel = ptosim.load(EXAMPLES / "pingpong.pto").kernel()
    x, y = np.ones(TILES * 1024, np.float32), np.zeros(TILES * 1024, np.float32)
    run, profile = in_turns(
        lambda: kernel(x, y, TILES, 1024, engine="reference"),
        lambda: ptosim.profile(kernel, x, y, TILES, 1024),
    )
    assert profile < 3 * run
