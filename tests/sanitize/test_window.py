"""Windows and granules against the plainest thing that does the same: a number per byte."""

from collections.abc import Iterable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptosim.sanitize.granules import Granules, cover
from ptosim.sanitize.window import Starts, inside

SIZE = 512

rows = st.tuples(
    st.integers(0, 200), st.integers(1, 90), st.integers(1, 5), st.integers(1, 100)
)  # start, width, count, stride
whole_rows = st.tuples(*(st.integers(low, 3).map((32).__mul__) for low in (0, 1)), st.integers(1, 5), st.just(96))
any_rows = rows | whole_rows


def starts_of(start: int, count: int, stride: int) -> np.ndarray:
    return start + np.arange(count, dtype=np.int64) * stride


def spellings(start: int, count: int, stride: int) -> list[Starts]:
    """The same pieces in every form in which an access may give them."""
    forms: list[Starts] = [starts_of(start, count, stride), range(start, start + count * stride, stride)]
    return forms if count > 1 else [*forms, start]


def bytes_of(starts: Iterable[int], width: int) -> list[int]:
    return [int(start) + byte for start in starts for byte in range(width)]


@given(rows)
def test_a_window_covers_the_bytes_of_its_pieces(row: tuple[int, int, int, int]) -> None:
    start, width, count, stride = row
    starts = starts_of(start, count, stride)
    places = bytes_of(starts, width)
    (part,) = inside(starts, width, SIZE * 4)
    covered = part.window()
    assert covered.addresses().tolist() == places
    assert covered.size == len(places)
    array = np.arange(SIZE * 4)
    assert covered.of(array).reshape(-1).tolist() == places
    covered.put(array, -1)
    assert set(np.flatnonzero(array < 0).tolist()) == set(places)
    assert set(covered.granules().addresses().tolist()) == {place // 32 for place in places}


@given(st.integers(-300, SIZE + 300), st.integers(1, 100), st.integers(1, 6), st.integers(-90, 200).filter(bool))
def test_bytes_outside_are_left_out(start: int, width: int, count: int, stride: int) -> None:
    starts = starts_of(start, count, stride)
    places = np.array(bytes_of(starts, width))
    for form in spellings(start, count, stride):
        parts = list(inside(form, width, SIZE))
        found = [address for part in parts for address in part.window().addresses().tolist()]
        assert sorted(found) == sorted(place for place in places if 0 <= place < SIZE)
        image = np.full(len(places), -1)
        for part in parts:
            assert part.of(places, width).tolist() == part.window().addresses().tolist()
            part.put(image, width, part.window().addresses())
        assert image.tolist() == [place if 0 <= place < SIZE else -1 for place in places]


@given(st.integers(-300, SIZE + 300), st.integers(1, 100), st.integers(1, 6), st.integers(-90, 200).filter(bool))
def test_many_pieces_come_in_portions(start: int, width: int, count: int, stride: int) -> None:
    for form in spellings(start, count, stride):
        whole = list(inside(form, width, SIZE))
        with patch("ptosim.sanitize.window.PORTION", 2 * (width + 64)):
            portions = list(inside(form, width, SIZE))
        places = np.array(bytes_of(starts_of(start, count, stride), width))
        images = [np.full(len(places), -1), np.full(len(places), -1)]
        for image, parts in zip(images, (whole, portions), strict=True):
            for part in parts:
                part.put(image, width, part.window().addresses())
        assert images[0].tolist() == images[1].tolist()
        assert all(part.of(places, width).tolist() == part.window().addresses().tolist() for part in portions)
        assert all(part.window().size <= 2 * width for part in portions)


@given(st.lists(st.tuples(any_rows, st.integers(1, 99), st.integers(0, 5)), max_size=12), any_rows)
def test_granules_are_a_stamp_per_byte(
    accesses: list[tuple[tuple[int, int, int, int], int, int]], probe: tuple[int, int, int, int]
) -> None:
    table = Granules(SIZE * 2)
    plain = np.zeros(SIZE * 4, np.int64)
    for (start, width, count, stride), stamp, form in accesses:
        forms = spellings(start, count, stride)
        assert table.put(forms[form % len(forms)], width, stamp, room=lambda: 1 << 20)
        plain[bytes_of(starts_of(start, count, stride), width)] = stamp
    start, width, count, stride = probe
    wanted = {
        place: int(plain[place]) for place in bytes_of(starts_of(start, count, stride), width) if plain[place] >= 50
    }
    for starts in spellings(start, count, stride):
        places, stamps = table.hits(cover(starts, width), lambda found: found >= 50)
        assert dict(zip(places.tolist(), stamps.tolist(), strict=True)) == wanted
    assert (table.marked()[: SIZE * 2] == (plain[: SIZE * 2] > 0)).all()


@given(st.lists(st.tuples(rows, st.integers(1, 99)), max_size=8), rows)
def test_stamps_of_earlier_blocks_are_kept_aside(
    accesses: list[tuple[tuple[int, int, int, int], int]], probe: tuple[int, int, int, int]
) -> None:
    table, aside = Granules(SIZE * 2), Granules(SIZE * 2)
    plain, kept = np.zeros(SIZE * 4, np.int64), np.zeros(SIZE * 4, np.int64)
    for (start, width, count, stride), stamp in accesses:
        starts = starts_of(start, count, stride)
        places = bytes_of(starts, width)
        aside.keep(table, cover(starts, width), below=50, room=lambda: 1 << 20)
        # A granule that is touched may be kept as a whole: what matters is that nothing touched is lost or made up.
        earlier = [place for place in places if 0 < plain[place] < 50 and kept[place] == 0]
        kept[earlier] = plain[earlier]
        table.put(starts, width, stamp, room=lambda: 1 << 20)
        plain[places] = stamp
    start, width, count, stride = probe
    starts = starts_of(start, count, stride)
    places, stamps = aside.hits(cover(starts, width), lambda found: found > 0)
    found = dict(zip(places.tolist(), stamps.tolist(), strict=True))
    for place in bytes_of(starts, width):
        if kept[place]:
            assert found[place] == kept[place]


PIECES = 2048
TABLE, SPLIT = PIECES * 8, PIECES * 32 * 8
"""Bytes of one stamp per granule, and of one per byte."""


@pytest.mark.parametrize("lacking, said", [(0, True), (1, False)], ids=["just enough", "one byte less"])
def test_no_room_to_split_is_said(lacking: int, said: bool) -> None:
    table = Granules(PIECES * 32)
    starts = np.arange(0, PIECES * 32, 32, dtype=np.int64)
    most = TABLE + SPLIT - lacking
    assert table.put(starts, 4, 1, room=lambda: most - table.nbytes) is said
    assert table.nbytes <= most
    assert table.put(starts, 32, 2, room=lambda: most - table.nbytes)  # whole granules need no splitting


def test_split_granules_grow_as_far_as_there_is_room() -> None:
    """One granule after the other: the table doubles while it can, and then takes what is left."""
    table = Granules(PIECES * 32)
    most = TABLE + 600 * 32 * 8
    recorded = [table.put(32 * place, 4, 1, room=lambda: most - table.nbytes) for place in range(PIECES)]
    assert recorded == [place < 600 for place in range(PIECES)]
    assert table.nbytes == most


def test_only_what_is_touched_takes_room() -> None:
    table = Granules(1 << 30)
    assert table.put(1 << 29, 4096, 1, room=lambda: 1 << 17)
    assert table.nbytes <= 1 << 16
    assert not table.put(0, 4096, 2, room=lambda: 1 << 17)
