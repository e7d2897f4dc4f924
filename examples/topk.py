"""The largest scores of each row and their positions."""

import numpy as np
from showing import Launch, show


def launch(rows: int = 5, columns: int = 500, k: int = 20, grid: int = 2) -> Launch:
    x = np.random.default_rng(6).normal(size=(rows, columns)).round(1).astype(np.float32)  # rounded: many are equal
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]
    values, places = np.zeros((rows, k), np.float32), np.zeros((rows, k), np.int32)
    expected = {1: np.take_along_axis(x, order, axis=1), 2: order.astype(np.int32)}
    return Launch((x, values, places, rows, columns, k), expected, grid)


if __name__ == "__main__":
    show(__file__, launch())
