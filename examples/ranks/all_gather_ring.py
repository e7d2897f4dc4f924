"""Everybody gets the lines of all ranks (they go round a ring)."""

import numpy as np
from worlds import Launched, show

import ptosim


def launched(kernel: ptosim.Kernel, ranks: int = 4) -> Launched:
    world = ptosim.World(ranks)
    window, words = world.symmetric((ranks, 256), "i4"), world.symmetric(16, "i4")
    x = [np.arange(256, dtype="i4") + 1000 * rank for rank in range(ranks)]
    y = [np.zeros((ranks, 256), "i4") for _ in range(ranks)]
    given = ptosim.each(*x), window, words, ptosim.each(*y), world.context(window)
    world.launch(kernel, *given, ptosim.RANK, ptosim.RANKS)
    return Launched(world, y, [np.stack(x)] * ranks)


if __name__ == "__main__":
    show(__file__, launched)
