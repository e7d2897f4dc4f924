"""Everybody gets the sum of what all have, in two shots."""

import numpy as np
from worlds import Launched, show

import ptosim


def launched(kernel: ptosim.Kernel, ranks: int = 4, run: int = 1, grid: int = 1) -> Launched:
    world, count = ptosim.World(ranks), ranks * grid * 4096
    data, sums = world.symmetric(count, "f4"), world.symmetric(count, "f4")
    words = world.symmetric((grid, ranks, 16), "i4")
    for rank in range(ranks):
        data[rank][:] = np.arange(count) % 1000 + rank  # small integers, whose sums are exact in any order
    y = [np.zeros(count, "f4") for _ in range(ranks)]
    given = data, sums, words, ptosim.each(*y), world.context(data), ptosim.RANK, ptosim.RANKS
    world.launch(kernel, *given, run, grid=grid)
    return Launched(world, y, [np.sum([data[rank] for rank in range(ranks)], axis=0)] * ranks)


if __name__ == "__main__":
    show(__file__, launched)
