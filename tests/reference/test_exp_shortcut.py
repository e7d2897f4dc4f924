"""The quick way to e^x gives the bits of the sequence that defines it, or is not taken."""

import numpy as np
import pytest

from ptosim.reference.numeric.elementary import exp, exp_in_steps


def same(values: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        return bool((exp(values).view(np.uint32) == exp_in_steps(values).view(np.uint32)).all())


@pytest.mark.parametrize("seed", range(4))
def test_random_arguments(seed: int) -> None:
    chance = np.random.default_rng(seed)
    for _ in range(500):
        assert same(chance.uniform(-104, 89, 64).astype(np.float32))
        assert same(chance.integers(0, 1 << 32, 64, np.uint32).view(np.float32))


def test_edges() -> None:
    edges = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 88.72283, 88.72284, -87.33654, -87.33655, -103.97, -104.0, 1e-45]
    for value in edges:
        assert same(np.full(64, value, np.float32))
        mixed = np.linspace(-3, 3, 64).astype(np.float32)
        mixed[17] = value
        assert same(mixed)


def test_arguments_next_to_zero() -> None:
    """There e^x is next to 1, a number of f32, and 1 + 2**-24 is half way to the next."""
    steps = np.arange(-32, 32, dtype=np.int32)
    around = np.array([2.0**-25, 2.0**-24, 3 * 2.0**-25, 2.0**-23], np.float32).view(np.int32)
    for center in around:
        assert same((center + steps).astype(np.int32).view(np.float32))
        assert same(-(center + steps).astype(np.int32).view(np.float32))
