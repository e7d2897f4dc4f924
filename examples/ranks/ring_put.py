"""Every rank sends its line to the next one."""

import numpy as np
from worlds import Launched, show

import ptosim


def launched(kernel: ptosim.Kernel, ranks: int = 4, run: int = 1) -> Launched:
    world = ptosim.World(ranks)
    window, words = world.symmetric(256, "f4"), world.symmetric(16, "i4")
    x = [np.arange(256, dtype="f4") + 1000 * rank for rank in range(ranks)]
    y = [np.zeros(256, "f4") for _ in range(ranks)]
    given = ptosim.each(*x), window, words, ptosim.each(*y), world.context(window)
    world.launch(kernel, *given, ptosim.RANK, ptosim.RANKS, run)
    return Launched(world, y, [x[rank - 1] for rank in range(ranks)])


if __name__ == "__main__":
    show(__file__, launched)
