"""A barrier of all blocks of all ranks: behind it, every block sees what its peer has written before it."""

import numpy as np
from worlds import Launched, show

import ptosim


def launched(kernel: ptosim.Kernel, ranks: int = 4, run: int = 1, grid: int = 3) -> Launched:
    world = ptosim.World(ranks)
    x, words = world.symmetric(16 * grid, "i4"), world.symmetric(32 + 16 * ranks, "i4")
    y = [np.zeros(grid, "i4") for _ in range(ranks)]
    given = x, words, ptosim.each(*y), world.context(words), ptosim.RANK, ptosim.RANKS
    world.launch(kernel, *given, run, grid=grid)
    return Launched(world, y, [np.full(grid, run + (rank + 1) % ranks) for rank in range(ranks)])


if __name__ == "__main__":
    show(__file__, launched)
