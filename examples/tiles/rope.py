"""Rotary position embedding on the halves of each row."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 37, grid: int = 2) -> Launch:
    generator = np.random.default_rng(5)
    x = generator.normal(size=(rows, 128)).astype(np.float32)
    angle = np.arange(rows)[:, np.newaxis] / 10000 ** (np.arange(64) / 64)
    cosines, sines = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    real, imaginary = x[:, :64], x[:, 64:]
    expected = np.concatenate([real * cosines - imaginary * sines, real * sines + imaginary * cosines], axis=1)
    return Launch((x, cosines, sines, np.zeros_like(x), rows), {3: expected}, grid)


if __name__ == "__main__":
    show(__file__, launch())
