"""Weighted embedding lookup: rows of a table by id, weights by kind of token."""

import numpy as np
from showing import Launch, show


def launch(tokens: int = 150, vocabulary: int = 500, classes: int = 5, grid: int = 2) -> Launch:
    random = np.random.default_rng(5)
    table = random.normal(size=(vocabulary, 64)).astype(np.float32)
    weights = random.normal(size=classes).astype(np.float32)
    ids = random.integers(0, vocabulary, tokens).astype(np.int32)
    kinds = random.integers(0, classes, tokens).astype(np.int32)
    y = np.zeros((tokens, 64), np.float32)
    expected = weights[kinds][:, np.newaxis] * table[ids]
    return Launch((table, ids, weights, kinds, y, tokens, classes), {4: expected}, grid)


if __name__ == "__main__":
    show(__file__, launch())
