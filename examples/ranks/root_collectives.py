"""Rank 1 gathers and reduces the windows of four ranks, and sends the sums to all."""

import numpy as np
from worlds import Launched, show

import ptosim


def launched(kernel: ptosim.Kernel, ranks: int = 4, run: int = 1) -> Launched:
    world, count = ptosim.World(ranks), 128 * 32
    window, sent = world.symmetric(count, "i4"), world.symmetric(count, "i4")
    words = world.symmetric(16, "i4")
    for rank in range(ranks):
        window[rank][:] = np.arange(count) + 100 * rank
    every, total, y = ([np.zeros(size, "i4") for _ in range(ranks)] for size in (4 * count, count, count))
    given = window, sent, words, *(ptosim.each(*arrays) for arrays in (every, total, y)), world.context(window)
    world.launch(kernel, *given, ptosim.RANK, ptosim.RANKS, run)
    sums = np.sum([window[rank] for rank in range(ranks)], axis=0)
    gathered = np.concatenate([window[rank] for rank in range(ranks)])
    return Launched(world, [*y, every[1]], [sums] * ranks + [gathered])


if __name__ == "__main__":
    show(__file__, launched)
