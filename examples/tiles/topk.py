"""The 16 largest of each row with their places."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch(rows: int = 37, grid: int = 2) -> Launch:
    x = np.random.default_rng(7).normal(size=(rows, 512)).astype(np.float32)
    places = np.argsort(-x, axis=1, kind="stable")[:, :16].astype(np.uint32)
    values = np.take_along_axis(x, places.astype(np.int64), axis=1)
    return Launch((x, np.zeros_like(values), np.zeros_like(places), rows), {1: values, 2: places}, grid)


if __name__ == "__main__":
    show(__file__, launch())
