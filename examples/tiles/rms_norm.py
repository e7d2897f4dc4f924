"""RMS norm with learned weights."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 70, grid: int = 2, epsilon: float = 1e-5) -> Launch:
    generator = np.random.default_rng(3)
    x, weight = generator.normal(size=(rows, 256)).astype(np.float32), generator.normal(size=256).astype(np.float32)
    exact = x.astype(np.float64)
    expected = exact / np.sqrt((exact**2).mean(axis=1, keepdims=True) + epsilon) * weight
    return Launch((x, weight, np.zeros_like(x), rows, epsilon), {2: expected}, grid, rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    show(__file__, launch())
