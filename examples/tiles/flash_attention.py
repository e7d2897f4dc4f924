"""softmax(Q x K^T / 8) x V for one head of 64 columns, in f16: cube and vector cores joined by FIFOs."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show

WIDTH = 64


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """In double, on the numbers that the arrays hold."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.T / np.sqrt(WIDTH)
    if causal:
        scores[np.triu_indices_from(scores, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ v / weights.sum(axis=1, keepdims=True)


def launch(rows: int = 128, keys: int = 256, causal: bool = False, seed: int = 0) -> Launch:
    random = np.random.default_rng(seed)
    rows = max(rows // 64, 1) * 64
    q, k, v = (random.normal(size=(count, WIDTH)).astype(np.float16) for count in (rows, keys, keys))
    arguments = q, k, v, np.zeros((rows, WIDTH), np.float16), keys, 1 / np.sqrt(WIDTH), int(causal)
    return Launch(arguments, {3: attention(q, k, v, causal)}, grid=rows // 64, atol=1e-3)


if __name__ == "__main__":
    show(__file__, launch())
