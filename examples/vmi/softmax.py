"""Row-wise softmax of f16 rows in f32, on logical vectors."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 40, grid: int = 2) -> Launch:
    x = (4 * np.random.default_rng(2).normal(size=(rows, 128))).astype(np.float16)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return Launch((x, np.zeros_like(x), rows), {1: e / e.sum(axis=1, keepdims=True)}, grid, rtol=1e-3, atol=1e-7)


if __name__ == "__main__":
    show(__file__, launch())
