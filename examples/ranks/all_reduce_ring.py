"""Everybody gets the sum of what all have, by a ring."""

import numpy as np
from worlds import Launched, show

import ptosim


def launched(kernel: ptosim.Kernel, ranks: int = 4) -> Launched:
    world, count = ptosim.World(ranks), ranks * 4096
    window, words = world.symmetric(4096, "f4"), world.symmetric((2, 16), "i4")
    x = [(np.arange(count) % 1000 + rank).astype("f4") for rank in range(ranks)]  # whose sums are exact in any order
    y = [np.zeros(count, "f4") for _ in range(ranks)]
    given = ptosim.each(*x), window, words, ptosim.each(*y), world.context(window)
    world.launch(kernel, *given, ptosim.RANK, ptosim.RANKS)
    return Launched(world, y, [np.sum(x, axis=0)] * ranks)


if __name__ == "__main__":
    show(__file__, launched)
