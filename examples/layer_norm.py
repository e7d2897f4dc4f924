"""Layer normalisation of rows that do not fill their last register."""

import numpy as np
from showing import Launch, show


def launch(rows: int = 7, columns: int = 300, grid: int = 3) -> Launch:
    random = np.random.default_rng(4)
    x = random.normal(3, 2, size=(rows, columns)).astype(np.float32)
    gamma, beta = (random.normal(size=columns).astype(np.float32) for _ in range(2))
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    arguments = (x, gamma, beta, np.zeros_like(x), rows, columns)
    return Launch(arguments, {3: normal * gamma + beta}, grid, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    show(__file__, launch())
