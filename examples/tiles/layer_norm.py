"""Layer norm of rows of 1000 elements: a tail in every row."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 37, grid: int = 2, epsilon: float = 1e-5) -> Launch:
    generator = np.random.default_rng(4)
    x = generator.normal(size=(rows, 1000)).astype(np.float32)
    gamma, beta = (generator.normal(size=1000).astype(np.float32) for _ in range(2))
    exact = x.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon) * gamma + beta
    return Launch((x, gamma, beta, np.zeros_like(x), rows, epsilon), {3: expected}, grid, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    show(__file__, launch())
