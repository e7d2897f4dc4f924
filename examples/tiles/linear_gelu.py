"""A linear layer and its activation: gelu(x w + bias) in f16, cube and vector cores joined by a FIFO."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def gelu(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def launch(rows: int = 128, depth: int = 128, columns: int = 256, grid: int = 2) -> Launch:
    generator = np.random.default_rng(12)
    rows, columns = max(rows // 64, 1) * 64, columns // 128 * 128
    x, w = (generator.normal(size=shape).astype(np.float16) for shape in ((rows, depth), (depth, columns)))
    w /= np.float16(np.sqrt(depth))
    bias = generator.normal(size=columns).astype(np.float16)
    expected = gelu(x.astype(np.float64) @ w.astype(np.float64) + bias.astype(np.float64))
    arguments = (x, w, bias, np.zeros((rows, columns), np.float16), rows, depth, columns)
    return Launch(arguments, {3: expected}, grid, rtol=1e-3, atol=1e-5)


if __name__ == "__main__":
    show(__file__, launch())
