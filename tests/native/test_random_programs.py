"""Random programs, most of them racy, do the same on both engines; those that check clean do so with any threads."""

import numpy as np
import pytest

from native.agreement import agree
from native.random_programs import GM_BYTES, Program
from ptosim import api

SAMPLE, ALL = 40, 5000
BATCH = 20  # so that a failure names its seed soon, and the cases stay few


def arguments(seed: int) -> tuple[object, ...]:
    random = np.random.default_rng(seed)
    arrays = (random.integers(0, 256, GM_BYTES, np.uint8) for _ in range(2))
    return *arrays, int(random.integers(0, 200)), float(random.normal())


def compare(seed: int) -> None:
    kernel = api.load(Program(seed).text).kernel()
    given = arguments(seed)
    found = agree(kernel, *given, grid=1 + seed % 3)
    if isinstance(found, list) and seed % 10 == 0 and api.check(kernel, *given, grid=1).ok:
        agree(kernel, *given, threads=(2,))


@pytest.mark.parametrize("first", range(0, SAMPLE, BATCH))
def test_a_sample(first: int) -> None:
    for seed in range(first, first + BATCH):
        compare(seed)


@pytest.mark.full
@pytest.mark.parametrize("first", range(SAMPLE, ALL, BATCH))
def test_the_rest(first: int) -> None:
    for seed in range(first, first + BATCH):
        compare(seed)
