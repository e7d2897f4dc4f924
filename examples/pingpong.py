"""|x| over many tiles, double buffered with flags: 1.6 times fewer cycles than singlebuffer.py takes."""

import numpy as np
from showing import Launch, show

TILE = 1024


def launch(tiles: int = 32, tail: int = 100, grid: int = 3) -> Launch:
    count = grid * ((tiles - 1) * TILE + tail) if tiles else 1
    x = np.random.default_rng(1).normal(size=count).astype(np.float32)
    return Launch((x, np.zeros_like(x), tiles, tail), {1: np.abs(x) if tiles else np.zeros_like(x)}, grid)


if __name__ == "__main__":
    show(__file__, launch())
