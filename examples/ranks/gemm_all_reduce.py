"""Everybody gets the sum of all ranks' products: cube and vector cores work at the same time, on two streams."""

import numpy as np
from worlds import Launched, show

import ptosim


def launched(kernel: ptosim.Kernel, ranks: int = 2) -> Launched:
    gemm, all_reduce = (kernel.module.kernel(name) for name in ("gemm", "all_reduce"))
    world, random = ptosim.World(ranks), np.random.default_rng(7)
    parts, words = world.symmetric((4, 64, 64), "f4"), world.symmetric((ranks + 1, 16), "i4")
    a, b = ([random.integers(-4, 5, (128, 128)).astype("f2") for _ in range(ranks)] for _ in range(2))
    y = [np.zeros((128, 128), "f4") for _ in range(ranks)]
    world.launch(gemm, ptosim.each(*a), ptosim.each(*b), parts, words, stream=0)
    given = parts, words, ptosim.each(*y), world.context(parts), ptosim.RANK, ptosim.RANKS
    world.launch(all_reduce, *given, stream=1)
    products = [
        left.astype("f4") @ right.astype("f4") for left, right in zip(a, b, strict=True)
    ]  # exact: small integers
    return Launched(world, y, [np.sum(products, axis=0)] * ranks)


if __name__ == "__main__":
    show(__file__, launched)
