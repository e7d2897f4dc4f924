"""|x| over many tiles, double buffered with get_buf and rls_buf."""

import numpy as np
from showing import Launch, show


def launch(tiles: int = 32, grid: int = 2) -> Launch:
    x = np.random.default_rng(3).normal(size=grid * tiles * 1024).astype(np.float32)
    return Launch((x, np.zeros_like(x), tiles), {1: np.abs(x)}, grid)


if __name__ == "__main__":
    show(__file__, launch())
