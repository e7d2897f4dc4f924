"""Tokens go to the experts that were chosen for them, on whatever rank these are, and their results come back."""

import numpy as np
from worlds import Launched, show

import ptosim

TOKENS, CHOICES, EXPERTS, WIDTH = 8, 2, 8, 256


def launched(kernel: ptosim.Kernel, ranks: int = 2) -> Launched:
    world, random = ptosim.World(ranks), np.random.default_rng(7)
    rows, done = (world.symmetric((EXPERTS, ranks, TOKENS, WIDTH), "f4") for _ in range(2))
    counts, words = world.symmetric((ranks, EXPERTS), "i4"), world.symmetric((2 * ranks, 16), "i4")
    x = [random.integers(-9, 9, (TOKENS, WIDTH)).astype("f4") for _ in range(ranks)]  # whose sums are exact
    route = [np.stack([random.permutation(ranks * EXPERTS)[:CHOICES] for _ in x[0]]).astype("i4") for _ in x]
    weight = [random.integers(1, 4, (TOKENS, CHOICES)).astype("f4") for _ in x]
    sent, places = [np.zeros(ranks * EXPERTS, "i4") for _ in x], [np.zeros(TOKENS * CHOICES, "i4") for _ in x]
    y = [np.zeros((TOKENS, WIDTH), "f4") for _ in x]
    private = (ptosim.each(*values) for values in (x, route, weight, sent, places))
    given = *private, rows, counts, done, words, ptosim.each(*y), world.context(rows)
    world.launch(kernel, *given, ptosim.RANK, ptosim.RANKS)
    factors = [((chosen + 1) * share).sum(axis=1, keepdims=True) for chosen, share in zip(route, weight, strict=True)]
    return Launched(world, y, [tokens * factor for tokens, factor in zip(x, factors, strict=True)])


if __name__ == "__main__":
    show(__file__, launched)
