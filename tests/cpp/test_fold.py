"""Folding is exact: unfolding gives the recording back, and columns give every value."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ptosim.cpp.columns import closed, value
from ptosim.cpp.fold import FoldedLoop, fold, length, unfolded


@st.composite
def programs(draw: st.DrawFn, depth: int = 3) -> list[int]:
    """What nested loops with conditions issue."""
    found: list[int] = []
    for _ in range(draw(st.integers(1, 4))):
        if depth and draw(st.booleans()):
            count, body, other = draw(st.integers(1, 6)), draw(programs(depth - 1)), draw(programs(0))
            period = draw(st.integers(1, 3))
            for turn in range(count):
                found += body if turn % period == 0 else other
        else:
            found.append(draw(st.integers(0, 5)))
    return found


@settings(max_examples=300, deadline=None)
@given(programs())
def test_unfolding_gives_the_recording_back(sequence: list[int]) -> None:
    nodes = fold(np.array(sequence, np.int64))
    assert list(unfolded(nodes)) == sequence
    assert sum(map(length, nodes)) == len(sequence)


def test_nested_loops_are_found() -> None:
    body = [0, *([1, 2] * 5), 3]
    (outer,) = fold(np.array(body * 7, np.int64))
    assert isinstance(outer, FoldedLoop) and outer.count == 7 and len(outer.body) == 3


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(0, 3), st.randoms(use_true_random=False))
def test_columns_give_every_value(shape: list[int], kind: int, random: object) -> None:
    generator = np.random.default_rng(random.randint(0, 2**32))  # type: ignore[attr-defined]
    turns = np.indices(shape)
    column = np.full(shape, int(generator.integers(-9, 9)))
    for axis in range(len(shape)):
        if kind == 1:
            column = column + turns[axis] * int(generator.integers(-9, 9))
        if kind == 2:
            column = column + (turns[axis] % 2) * 4096
    if kind == 3:
        column = generator.integers(0, 3, shape)
    found = closed(column.astype(np.int64))
    for turn in np.ndindex(*shape):
        assert value(found, turn) == column[turn]
