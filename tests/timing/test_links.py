"""What copies between ranks get of the links, in closed form."""

from __future__ import annotations

import pytest

from ptosim.target.profile import load_target
from ptosim.timing.links import Caps, Crossing, taken

WIDE = 1e9


def crossing(lane: int, start: int, alone: int, source: int = 0, dest: int = 1, rate: int = 10) -> Crossing:
    return Crossing((lane, 0), source, dest, start, alone, rate * alone)


def test_caps_are_those_of_the_target() -> None:
    caps = Caps.of(load_target("a5"))
    assert (caps.peer, caps.rank) == (pytest.approx(30 / 1.85), pytest.approx(196 / 1.85))


def test_nothing_is_nothing() -> None:
    assert taken([], Caps(1, 1)) == []
    assert taken([crossing(0, 5, 0)], Caps(1, 1)) == [0]


def test_below_the_cap_nobody_waits() -> None:
    assert taken([crossing(lane, 7 * lane, 100 + lane) for lane in range(3)], Caps(30, WIDE)) == [100, 101, 102]


@pytest.mark.parametrize("count", [2, 3, 8])
def test_equal_copies_share_a_link(count: int) -> None:
    assert taken([crossing(lane, 0, 100) for lane in range(count)], Caps(10, WIDE)) == [100 * count] * count


def test_a_copy_that_comes_later_shares_from_then_on() -> None:
    """Alone until 50, then both at half pace: the first needs 100 more, the second is then half done."""
    assert taken([crossing(0, 0, 100), crossing(1, 50, 100)], Caps(10, WIDE)) == [150, 150]


def test_sharing_is_in_proportion() -> None:
    """A copy that could take twice as much gets twice as much, so that both are as much slower."""
    pair = [crossing(0, 0, 100, rate=10), crossing(1, 0, 100, rate=20)]
    assert taken(pair, Caps(15, WIDE)) == [200, 200]


def test_ways_to_different_ranks_and_back_are_apart() -> None:
    three = [crossing(0, 0, 100), crossing(1, 0, 100, dest=2), crossing(2, 0, 100, source=1, dest=0)]
    assert taken(three, Caps(10, WIDE)) == [100] * 3


@pytest.mark.parametrize("into", [False, True])
def test_a_rank_has_a_cap_each_way(into: bool) -> None:
    """Four copies of 10 bytes per cycle out of one rank, or into it, through 20."""
    ways = [(other, 0) if into else (0, other) for other in range(1, 5)]
    four = [crossing(lane, 0, 100, *way) for lane, way in enumerate(ways)]
    assert taken(four, Caps(WIDE, 20)) == [200] * 4


def test_both_caps_hold() -> None:
    """Two ways of two copies: 10 pass on each way, 15 out of the rank: each of the four gets 3.75 of its 10."""
    four = [crossing(lane, 0, 75, 0, 1 + lane % 2) for lane in range(4)]
    assert taken(four, Caps(10, 15)) == [200] * 4


def test_copies_of_a_lane_follow_each_other() -> None:
    """The second of lane 0 was to begin at 100, when the first would have ended alone; both take twice as long."""
    three = [crossing(0, 0, 100), crossing(0, 100, 100), crossing(1, 0, 200)]
    assert taken(three, Caps(10, WIDE)) == [200, 200, 400]
