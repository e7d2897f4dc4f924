"""z = x + y over matrices of any size, in tiles with tails in both directions."""

import numpy as np
from showing import Launch, show


def launch(rows: int = 70, columns: int = 200, grid: int = 2) -> Launch:
    generator = np.random.default_rng(4)
    x, y = (generator.normal(size=(rows, columns)).astype(np.float32) for _ in range(2))
    return Launch((x, y, np.zeros_like(x), rows, columns), {2: x + y}, grid)


if __name__ == "__main__":
    show(__file__, launch())
