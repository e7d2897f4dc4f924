"""softmax(Q x K^T / 8) x V for one head of 64 columns, in f16."""

from typing import Any

import numpy as np
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


def launch(
    rows: int = 128, keys: int = 256, causal: bool = False, dtype: type[np.floating[Any]] = np.float16, seed: int = 0
) -> Launch:
    random = np.random.default_rng(seed)
    q, k, v = (random.normal(size=(count, WIDTH)).astype(dtype) for count in (rows, keys, keys))
    wanted = attention(q, k, v, causal)
    arguments = q, k, v, np.zeros((rows, WIDTH), dtype), keys, 1 / np.sqrt(WIDTH), int(causal)
    return Launch(arguments, {3: wanted}, grid=rows // 64, atol=1e-3)


if __name__ == "__main__":
    show(__file__, launch())
