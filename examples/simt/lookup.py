"""Numbers looked up by workitems, between vector code that scales and clamps them."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(count: int = 600, scale: float = 0.5) -> Launch:
    random = np.random.default_rng(9)
    table = random.normal(size=1024).astype(np.float32)
    ids = random.integers(0, 1024, count).astype(np.int32)
    expected = np.maximum(table * np.float32(scale), 0)[ids]
    return Launch((table, ids, np.zeros(count, np.float32), count, scale), {2: expected})


if __name__ == "__main__":
    show(__file__, launch())
