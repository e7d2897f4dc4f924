"""Tiles travel from one vector core over L1 and the cube core to the other."""

import numpy as np
from showing import Launch, show


def launch(tiles: int = 5, grid: int = 2) -> Launch:
    x = np.random.default_rng(9).normal(size=grid * tiles * 256).astype(np.float32)
    return Launch((x, np.zeros_like(x), tiles), {1: np.sqrt(np.abs(x))}, grid)


if __name__ == "__main__":
    show(__file__, launch())
