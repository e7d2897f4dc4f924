"""A copy inside UB from any element to any element."""

import numpy as np
from showing import Launch, show


def launch(start: int = 5, to: int = 3, count: int = 777) -> Launch:
    x, y = np.random.default_rng(8).normal(size=(2, 1024)).astype(np.float32)
    expected = y.copy()
    expected[to : to + count] = x[start : start + count]
    return Launch((x, y, start, to, count), {1: expected})


if __name__ == "__main__":
    show(__file__, launch())
