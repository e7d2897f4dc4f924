"""A softmax of each row, over several blocks."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from showing_cpp import Example, Launch, show


def example(grid: int = 3) -> Example:
    x = np.random.default_rng(2).normal(size=(16 * grid, 128)).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    expected = e / e.sum(axis=1, keepdims=True)
    return Example("softmax<16, 128>", Launch((np.zeros_like(x), x), {0: expected}, grid, rtol=1e-5, atol=1e-7))


if __name__ == "__main__":
    show(__file__, example())
