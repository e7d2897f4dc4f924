"""One warp hands a table to another by a fence and an atomic."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch, show


def launch() -> Launch:
    return Launch((np.zeros(32, np.int32),), {0: np.arange(31, -1, -1, dtype=np.int32) ** 2}, 1)


if __name__ == "__main__":
    show(__file__, launch())
