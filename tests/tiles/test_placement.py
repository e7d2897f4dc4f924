"""Addresses of rooms: one behind the other while they fit, shared only when they must."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptosim.tiles.passes.placement import RoomRequest, busiest, place


def room(size: int, start: int, end: int, **more: object) -> RoomRequest:
    return RoomRequest("%t", size, start, end, **more)  # type: ignore[arg-type]


def test_rooms_that_fit_lie_one_behind_the_other():
    found = place([room(512, 0, 1), room(100, 2, 3), room(512, 4, 5)], 256, 4096)
    assert found.addresses == (0, 512, 768)
    assert found.peak == 1280


def test_rooms_that_never_meet_share_when_they_must():
    found = place([room(600, 0, 1), room(600, 2, 3)], 256, 1000)
    assert found.addresses == (0, 0)


def test_rooms_that_touch_do_not_share():
    assert place([room(600, 0, 2), room(600, 2, 3)], 256, 1000).peak > 1000


def test_opposite_arms_share():
    one, other = room(600, 0, 9, arms=frozenset({(3, 0)})), room(600, 0, 9, arms=frozenset({(3, 1)}))
    assert place([one, other], 256, 1000).peak == 600


def test_a_pinned_room_stays():
    found = place([room(256, 0, 9, pinned=512), room(512, 0, 9), room(256, 0, 9)], 256, 4096)
    assert found.addresses == (512, 0, 768)


def test_the_busiest_moment_is_named():
    moment, live = busiest([room(100, 0, 5), room(300, 2, 3), room(50, 3, 9)])
    assert moment == 3
    assert [one.size for one in live] == [300, 100, 50]


ROOMS = st.lists(
    st.builds(
        lambda size, start, length: room(size, start, start + length),
        st.integers(1, 2000),
        st.integers(0, 30),
        st.integers(0, 10),
    ),
    max_size=12,
)


@given(ROOMS, st.sampled_from([32, 256]), st.integers(0, 8000))
def test_rooms_that_meet_do_not_overlap(rooms: list[RoomRequest], alignment: int, capacity: int):
    found = place(rooms, alignment, capacity)
    spans = list(zip(rooms, found.addresses, strict=True))
    for number, (one, at) in enumerate(spans):
        assert at % alignment == 0
        assert at + one.size <= found.peak
        for other, there in spans[:number]:
            if one.meets(other):
                assert at + one.size <= there or there + other.size <= at


@pytest.mark.parametrize("count", [3, 24])
def test_memory_can_be_filled_to_the_last_byte(count: int):
    found = place([room(8192, 0, 9) for _ in range(count)], 256, count * 8192)
    assert found.peak == count * 8192
