"""An all-reduce over 256 workitems: butterfly shuffles, then partial sums in UB behind a barrier."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(seed: int = 2) -> Launch:
    x = np.random.default_rng(seed).random(256).astype(np.float32) + 1
    return Launch((x, np.zeros(256, np.float32)), {1: x / x.sum()}, 1)


if __name__ == "__main__":
    show(__file__, launch())
