"""Places of pieces: a range says the same as the list of all starts."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptosim.reference.memory.access_places import (
    first_misaligned,
    joined_steps,
    lasting,
    lowest_and_highest,
    pieces,
    spaced,
    view_to_write,
)


@pytest.mark.parametrize("seed", range(50))
def test_joined_steps_place_the_same_rows(seed: int) -> None:
    chosen = random.Random(seed)
    loops = [(chosen.choice((0, 1, 2, 3)), chosen.choice((0, 32, 64, 96, 128))) for _ in range(3)]  # innermost first
    expected = [
        1000 + sum(index * stride for index, (_, stride) in zip((k, j, i), loops, strict=True))
        for i in range(loops[2][0])
        for j in range(loops[1][0])
        for k in range(loops[0][0])
    ]
    assert list(spaced(1000, joined_steps(loops))) == expected


def test_rows_one_behind_the_other_are_one_range() -> None:
    assert spaced(0, joined_steps([(4, 32), (3, 128), (1, 7)])) == range(0, 384, 32)
    assert spaced(5, joined_steps([(1, 32)])) == range(5, 6)


@pytest.mark.parametrize("starts", [range(3, 43, 10), range(33, -7, -10), range(7, 8), range(0)])
def test_a_range_means_its_numbers(starts: range) -> None:
    memory = np.arange(64, dtype=np.uint8)
    listed = np.array(starts, np.int64)
    expected = [[start + byte for byte in range(4)] for start in starts]
    assert pieces(memory, starts, 4).tolist() == pieces(memory, listed, 4).tolist() == expected
    for alignment in (1, 2, 3):
        odd = next((start for start in starts if start % alignment), None)
        assert first_misaligned(starts, alignment) == first_misaligned(listed, alignment) == odd
    if starts:
        assert lowest_and_highest(starts) == lowest_and_highest(listed) == (min(starts), max(starts))


def test_rows_that_overlap_are_not_written_at_once() -> None:
    memory = np.zeros(64, np.uint8)
    assert view_to_write(memory, range(0, 12, 4), 5) is None
    assert view_to_write(memory, np.array([0, 4, 9]), 4) is None
    view = view_to_write(memory, range(0, 12, 4), 4)
    assert view is not None
    view[...] = 1
    assert memory.tolist() == [1] * 12 + [0] * 52


@given(st.lists(st.integers(0, 12), min_size=1, max_size=30), st.integers(1, 4))
def test_pieces_that_start_at_one_place_again_need_not_be_written(starts: list[int], width: int):
    offsets = np.array(starts, np.int64)
    all_of_them, lasting_ones = np.zeros(16, np.int64), np.zeros(16, np.int64)
    for number, start in enumerate(starts):
        all_of_them[start : start + width] = number + 1
    for number in lasting(offsets):
        lasting_ones[starts[number] : starts[number] + width] = number + 1
    assert (all_of_them == lasting_ones).all()
    assert len(lasting(offsets)) == len(set(starts))
