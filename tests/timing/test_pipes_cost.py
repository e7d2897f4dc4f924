"""What a profile costs: at most three times the run of the reference engine that it watches."""

from pathlib import Path

import numpy as np

import ptosim
from cost import costs_at_most

EXAMPLES = Path(__file__).parents[2] / "examples"
TILES = 200


def test_a_profile_costs_less_than_three_runs():
    kernel = ptosim.load(EXAMPLES / "pingpong.pto").kernel()
    x, y = np.ones(TILES * 1024, np.float32), np.zeros(TILES * 1024, np.float32)
    assert costs_at_most(
        3,
        lambda: kernel(x, y, TILES, 1024, engine="reference"),
        lambda: ptosim.profile(kernel, x, y, TILES, 1024),
    )
