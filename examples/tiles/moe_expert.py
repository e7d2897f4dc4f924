"""One expert of a mixture of experts: gate, up and down projection of the tokens that were sent to it."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show

WIDTH, TOKENS = 128, 100


def expert(x: np.ndarray, weight: np.ndarray, wg: np.ndarray, wu: np.ndarray, wd: np.ndarray) -> np.ndarray:
    """In double, but for the hidden layer, which the kernel holds in f16."""
    x, wg, wu, wd = (each.astype(np.float64) for each in (x, wg, wu, wd))
    gate = x @ wg
    hidden = gate / (1 + np.exp(-gate)) * (x @ wu) * weight[:, None]
    return hidden.astype(np.float16).astype(np.float64) @ wd


def launch(rows: int = 40, hidden: int = 256, grid: int = 2) -> Launch:
    generator = np.random.default_rng(13)
    x, wg, wu, wd = (
        (generator.normal(size=shape) / np.sqrt(scale)).astype(np.float16)
        for shape, scale in (
            ((TOKENS, WIDTH), 1),
            ((WIDTH, hidden), WIDTH),
            ((WIDTH, hidden), WIDTH),
            ((hidden, WIDTH), hidden),
        )
    )
    tokens = np.sort(generator.choice(TOKENS, rows, replace=False)).astype(np.int32)
    weight = generator.uniform(0.1, 1.0, rows).astype(np.float32)
    expected = expert(x[tokens], weight, wg, wu, wd)
    out = np.zeros((rows, WIDTH), np.float32)
    return Launch((x, tokens, weight, wg, wu, wd, out, TOKENS, rows, hidden), {6: expected}, grid, atol=1e-3)


if __name__ == "__main__":
    show(__file__, launch())
