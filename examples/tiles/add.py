"""z = x + y in tiles of 32 rows, without a word about order or addresses."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 70, grid: int = 2) -> Launch:
    generator = np.random.default_rng(1)
    x, y = (generator.normal(size=(rows, 256)).astype(np.float32) for _ in range(2))
    return Launch((x, y, np.zeros_like(x), rows), {2: x + y}, grid)


if __name__ == "__main__":
    show(__file__, launch())
