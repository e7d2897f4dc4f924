"""A sum of two matrices whose last tile is short."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from showing_cpp import Example, Launch, show


def example(rows: int = 300, grid: int = 4) -> Example:
    generator = np.random.default_rng(1)
    x, y = (generator.normal(size=(rows, 256)).astype(np.float32) for _ in range(2))
    return Example("add", Launch((np.zeros_like(x), x, y, rows), {0: x + y}, grid))


if __name__ == "__main__":
    show(__file__, example())
