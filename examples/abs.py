"""|x| over one 32 x 32 tile."""

import numpy as np
from showing import Launch, show


def launch() -> Launch:
    x = np.random.default_rng(0).normal(size=(32, 32)).astype(np.float32)
    return Launch((x, np.zeros_like(x)), {1: np.abs(x)})


if __name__ == "__main__":
    show(__file__, launch())
