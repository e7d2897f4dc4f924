"""a x + y, each workitem some elements that lie as far apart as there are workitems in the launch."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(count: int = 1000, grid: int = 3) -> Launch:
    random = np.random.default_rng(1)
    x, y = (random.normal(size=count).astype(np.float32) for _ in range(2))
    return Launch((x, y, 1.5, count), {1: np.float32(1.5) * x + y}, grid)


if __name__ == "__main__":
    show(__file__, launch())
