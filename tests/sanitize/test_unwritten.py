"""Bytes of outputs that no block writes: from records of compiled code, from the shadow, and from both."""

import numpy as np
import pytest

from ptosim.machine.memory import OFFSET_BITS, Region
from ptosim.native.observe.gm_conflicts import BLOCK, CLOCK, COUNT, DISTANCE, KIND, LENGTH, START, Sifted
from ptosim.sanitize.unwritten import unwritten

SIZE = 4096
REGIONS = {0: Region(0, "x", SIZE), 1: Region(1, "y", SIZE)}


def records(*rows: tuple[int, int, int, int, int, int, bool]) -> np.ndarray:
    """Buffer, offset, bytes of a row, rows, distance, block, and whether it writes."""
    found = np.zeros((len(rows), CLOCK + 8), np.int64)
    for record, (buffer, offset, length, count, distance, block, writes) in zip(found, rows, strict=True):
        record[START] = (buffer + 1 << OFFSET_BITS) + offset
        record[[LENGTH, COUNT, DISTANCE, BLOCK, KIND]] = length, count, distance, block, writes
    return found


def said(*rows: tuple[int, int, int, int, int, int, bool], judged: tuple[int, ...] = ()) -> list[str]:
    sides = [Sifted([], records(*rows)).written(judged)]
    return [note.message for note in unwritten(REGIONS, sides, "note")]


def test_a_buffer_that_is_only_read_is_no_output() -> None:
    assert said((0, 0, 64, 1, 0, 0, False)) == []


def test_columns_side_by_side_are_whole() -> None:
    """Each block writes the columns of its own of 16 rows."""
    columns = [(1, 64 * block, 64, 16, 256, block, True) for block in range(4)]
    assert said(*columns) == []
    assert said(*columns[:3]) == [
        "no block writes 1024 of the 4096 bytes of %y, first %y[192:256] (and 15 more stretches)"
    ]
    assert said(*columns, judged=(0,))[0].startswith("no block writes 1024 of the 4096 bytes of %y, first %y[0:64]")


def test_gaps_behind_the_first_are_more_stretches() -> None:
    assert said((0, 32, 4000, 1, 0, 0, True)) == [
        "no block writes 96 of the 4096 bytes of %x, first %x[0:32] (and 1 more stretch)"
    ]
    assert said((0, 32, 64, 1, 0, 0, True), (0, 128, 3936, 1, 0, 0, True)) == [
        "no block writes 96 of the 4096 bytes of %x, first %x[0:32] (and 2 more stretches)"
    ]


@pytest.mark.parametrize("seed", range(40))
def test_any_rows_are_as_if_painted(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows: list[tuple[int, int, int, int, int, int, bool]] = []
    painted = np.zeros(SIZE, np.bool_)
    for _ in range(chance.integers(1, 12)):
        length, count = int(chance.choice([1, 31, 32, 64, 100])), int(chance.integers(1, 9))
        distance = int(chance.choice([0, 32, 64, 128, -96, 100, 256]))
        span = abs(distance) * (count - 1) + length
        low = int(chance.integers(0, (SIZE - span) // 32 + 1)) * 32
        start = low if distance >= 0 else low + span - length
        writes = bool(chance.random() < 0.8)
        for row in range(count if writes else 0):
            painted[start + row * distance :][:length] = True
        rows.append((1, start, length, count, distance, 0, writes))
    expected = int((~painted).sum())
    if painted.any() and expected:
        first = int(painted.argmin())
        last = first + int(painted[first:].argmax()) if painted[first:].any() else SIZE
        (message,) = said(*rows)
        assert message.startswith(f"no block writes {expected} of the {SIZE} bytes of %y, first %y[{first}:{last}]")
    else:
        assert said(*rows) == []
