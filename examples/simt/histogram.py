"""A histogram by atomics in UB, joined by atomics in GM."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(count: int = 3000, grid: int = 2) -> Launch:
    x = np.random.default_rng(3).integers(0, 256, count).astype(np.int32)
    counts = np.bincount(x, minlength=256).astype(np.int32)
    return Launch((x, np.zeros(256, np.int32), count), {1: counts}, grid)


if __name__ == "__main__":
    show(__file__, launch())
