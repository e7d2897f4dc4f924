"""A gather of rows with packed elements and a tail."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(tokens: int = 43, vocabulary: int = 90) -> Launch:
    random = np.random.default_rng(4)
    table = random.normal(size=(vocabulary, 64)).astype(np.float32)
    ids = random.integers(0, vocabulary, tokens).astype(np.int32)
    return Launch((table, ids, np.zeros((tokens, 64), np.float32), tokens), {2: table[ids]}, -(-tokens // 8))


if __name__ == "__main__":
    show(__file__, launch())
