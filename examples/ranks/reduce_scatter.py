"""Every rank gets the sum of one share of what all have."""

import numpy as np
from worlds import Launched, show

import ptosim


def launched(kernel: ptosim.Kernel, ranks: int = 4, run: int = 1) -> Launched:
    world = ptosim.World(ranks)
    window, words = world.symmetric(4096, "i4"), world.symmetric(16, "i4")
    x = [np.arange(4096 * ranks, dtype="i4") * (rank + 1) for rank in range(ranks)]
    y = [np.zeros(4096, "i4") for _ in range(ranks)]
    given = ptosim.each(*x), window, words, ptosim.each(*y), world.context(window)
    world.launch(kernel, *given, ptosim.RANK, ptosim.RANKS, run)
    return Launched(world, y, list(np.sum(x, axis=0).reshape(ranks, 4096)))


if __name__ == "__main__":
    show(__file__, launched)
