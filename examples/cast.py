"""f32 to bf16 and back."""

import ml_dtypes
import numpy as np
from showing import Launch, show


def launch(count: int = 5000, grid: int = 2) -> Launch:
    x = np.random.default_rng(7).normal(size=count).astype(np.float32)
    x[:4] = np.inf, -np.inf, -0.0, 3.4e38  # the last is beyond the largest bf16
    with np.errstate(over="ignore"):
        narrow = x.astype(ml_dtypes.bfloat16)
    arguments = (x, np.zeros_like(narrow), np.zeros_like(x), count)
    return Launch(arguments, {1: narrow, 2: narrow.astype(np.float32)}, grid)


if __name__ == "__main__":
    show(__file__, launch())
