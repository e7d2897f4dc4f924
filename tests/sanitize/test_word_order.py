"""Words in GM that blocks are told by: what a wait orders, and what it does not. What is clean leaves the same bytes
under all schedules."""

from __future__ import annotations

import pytest

import word_programs as words
from word_programs import ALL, COPIES, FENCE, FILL, add, hand_on, notify, poll, put, store, wait

LOOKS = [wait(), poll()]
BOTH = hand_on("%d0", "%y0") + words.flag("MTE3", "MTE2", 2) + hand_on("%d1", "%y1")


def part(number: int, tell: str) -> str:
    """A block fills its part of the data, ends that, and tells so."""
    return FILL + store(f"%d{number}") + COPIES + tell


@pytest.mark.parametrize("tell", [add(), put()], ids=["add", "put"])
@pytest.mark.parametrize("look", LOOKS, ids=["wait", "poll"])
def test_one_of_two_writers_tells_of_neither(tell: str, look: str) -> None:
    text = words.kernel(part(0, tell), part(1, tell), look + BOTH)
    assert words.errors(text, 3) == ["race", "race"]
    assert len(words.outcomes(text, 3, 40)) > 1


@pytest.mark.parametrize("look", [wait(2), poll(2)], ids=["wait", "poll"])
def test_who_waits_for_both_knows_of_both(look: str) -> None:
    text = words.kernel(part(0, add()), part(1, add()), look + BOTH)
    assert words.errors(text, 3) == []
    assert len(words.outcomes(text, 3)) == 1


def test_what_both_writers_know_is_known_from_either() -> None:
    """Block 0 fills the data and tells blocks 1 and 2; block 3 waits for one of these."""
    hear = wait(1, "ge", "%other") + FILL
    told = FILL + store("%d0") + FENCE + notify(1, "set", "%other")
    text = words.kernel(told, hear + add(), hear + add(), wait() + hand_on())
    assert words.errors(text, 4) == []
    assert len(words.outcomes(text, 4)) == 1


@pytest.mark.parametrize("look", LOOKS, ids=["wait", "poll"])
@pytest.mark.parametrize("tell", [add(), put()], ids=["add", "put"])
def test_a_copied_word_may_overtake_earlier_copies_of_its_pipe(look: str, tell: str) -> None:
    assert words.errors(words.kernel(FILL + store("%d0") + tell, look + hand_on()), 2) == ["race"]
    behind = words.kernel(FILL + store("%d0") + COPIES + tell, look + hand_on())
    assert words.errors(behind, 2) == []
    assert len(words.outcomes(behind, 2)) == 1


@pytest.mark.parametrize("look", LOOKS, ids=["wait", "poll"])
@pytest.mark.parametrize(("between", "expected"), [("", ["race"]), ('pto.dsb "DDR"\n', [])])
def test_a_stored_word_may_overtake_earlier_stores(look: str, between: str, expected: list[str]) -> None:
    told = f"pto.st_dev %n7, %d[%c0] : {words.GM}, i32\n{between}pto.st_dev %n1, %words[%c0] : {words.GM}, i32\n"
    assert words.errors(words.kernel(told, look + hand_on()), 2) == expected


@pytest.mark.parametrize("look", LOOKS, ids=["wait", "poll"])
def test_who_has_seen_a_copied_word_may_clear_it(look: str) -> None:
    """The word is the only thing that is known of the copy: the seven words behind it may still come."""
    single = store("%words", "%ones", "%l4")
    text = words.kernel(FILL + store("%d0") + COPIES + single, look + hand_on() + ALL + notify(0))
    assert words.checked(text, 2) == []
    assert len(words.outcomes(text, 2)) == 1
    over = look + hand_on() + words.load("%y3", "%ones", "%l32") + words.flag("MTE2", "MTE3") + put()
    assert words.errors(words.kernel(FILL + store("%d0") + COPIES + single, over), 2) == []
    assert "race" in words.errors(words.kernel(FILL + store("%d0") + COPIES + put(), over), 2)


def test_a_sum_that_others_may_reach_as_well_tells_of_none_of_its_terms() -> None:
    """Two from one block, or one from each of two others."""
    terms = [part(0, ALL + words.DSB + notify(2, "atomic_add"))]
    terms += [ALL + notify(1, "atomic_add"), ALL + notify(1, "atomic_add")]
    assert words.errors(words.kernel(*terms, wait(2) + hand_on()), 4) == ["race"]
    assert words.errors(words.kernel(*terms, wait(3) + hand_on()), 4) == []


def test_a_write_that_comes_later_counts_as_well() -> None:
    """In a run of the program block 2 is not there yet when the wait passes."""
    text = words.kernel(part(0, add()), wait() + hand_on(), part(1, add()))
    assert words.errors(text, 3) == ["race"]
