"""A matrix product in f16 whose tiles go through two buffers in turn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from showing_cpp import Example, Launch, show


def example(grid: int = 2) -> Example:
    generator = np.random.default_rng(3)
    a, b = (generator.normal(size=shape).astype(np.float16) for shape in ((64 * grid, 512), (512, 64)))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    arguments = (np.zeros((64 * grid, 64), np.float32), a, b)
    return Example("matmul<512, 64>", Launch(arguments, {0: expected}, grid, rtol=1e-5, atol=1e-4))


if __name__ == "__main__":
    show(__file__, example())
