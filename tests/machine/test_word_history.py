"""What a wait learns of the writes of its word: what every set of them implies that satisfies it. Clocks are by hand:
write k knows k + 1 entries of pipe k, and what it was given."""

from __future__ import annotations

from machine.stage import S, at
from ptosim.machine.entry import STORE, Clock, Entry
from ptosim.machine.word_history import WordHistory, WordWrite
from tables import table

FAR = 1 << 20


class _Core:
    """So much of a core as an entry needs: no clock knows of its steps."""

    index = FAR


def history(*writes: tuple[str, int, Clock], before: int = 0) -> WordHistory:
    """Each write sets or adds a number, and knows so much besides itself."""
    found, now = WordHistory(before), before
    for number, (op, value, clock) in enumerate(writes):
        now = now + value if op == "add" else value
        entry = Entry(at(number), S, _Core(), STORE)  # pyright: ignore[reportArgumentType]
        found.add(WordWrite(entry, value, op == "add", {**clock, -1 - number: 1}, now, (-1 - number, 1)))
    return found


def data(learnt: Clock) -> Clock:
    """Without what says that a write has been made."""
    return {index: number for index, number in learnt.items() if index >= 0}


ONE, TWO, THREE = ("add", 1, {0: 1}), ("add", 1, {1: 1}), ("add", 1, {2: 1})


@table(
    "writes, comparison, value, expected",
    ([ONE], "ge", 1, {0: 1}),
    ([ONE, TWO], "ge", 1, {}),
    ([ONE, TWO], "ge", 2, {0: 1, 1: 1}),
    ([ONE, TWO], "gt", 1, {0: 1, 1: 1}),
    ([ONE, TWO, THREE], "ge", 2, {}),
    ([ONE, TWO, THREE], "ge", 3, {0: 1, 1: 1, 2: 1}),
    ([("add", 2, {0: 1}), TWO, THREE], "ge", 2, {}),  # one and one are two as well
    ([("add", 2, {0: 1}), TWO, THREE], "ge", 3, {0: 1}),  # without the two it is two
    ([("add", 1, {0: 1, 7: 4}), ("add", 1, {1: 1, 7: 3})], "ge", 1, {7: 3}),  # what both know
    ([("add", 1, {7: 4}), ("add", 1, {7: 3}), ("add", 1, {7: 2})], "ge", 2, {7: 3}),  # the two that know least
    ([("set", 1, {0: 1})], "ge", 1, {0: 1}),
    ([("set", 1, {0: 1}), ("set", 1, {1: 1})], "ge", 1, {}),
    ([("set", 1, {0: 1}), ("set", 2, {0: 1, 1: 1, -1: 1})], "ge", 2, {0: 1, 1: 1}),
    ([("set", 1, {0: 1}), ("set", 2, {0: 1, 1: 1, -1: 1})], "ge", 1, {0: 1}),
    ([("set", 1, {0: 1}), ("add", 1, {1: 1, -1: 1})], "eq", 2, {0: 1, 1: 1}),
    ([ONE], "lt", 1, {}),  # it held before
    ([ONE], "ne", 0, {0: 1}),
    ([ONE, TWO], "ne", 0, {}),
    ([("add", -1, {0: 1}), ("add", -1, {1: 1})], "le", -2, {0: 1, 1: 1}),
    ([("add", 3, {0: 1}), ("add", 5, {1: 1}), ("add", 7, {2: 1})], "eq", 10, {0: 1, 2: 1}),
    ([("add", 3, {0: 1}), ("add", 5, {1: 1}), ("add", 8, {2: 1})], "eq", 8, {}),  # 3 + 5, or 8
)
def test_what_all_sets_of_writes_have_in_common(writes, comparison: str, value: int, expected: Clock) -> None:
    assert data(history(*writes).seen_from({}).learnt(comparison, value)) == expected


def test_writes_that_are_known_are_there_in_any_case() -> None:
    told = history(ONE, TWO, THREE)
    assert data(told.seen_from({-1: 1}).learnt("ge", 2)) == {}  # and one of the two others
    assert data(told.seen_from({-1: 1, -2: 1}).learnt("ge", 3)) == {2: 1}
    assert data(told.seen_from({-1: 1, -2: 1}).learnt("ge", 2)) == {}  # nothing new


def test_what_came_before_a_set_that_is_known_is_over() -> None:
    told = history(ONE, ("set", 0, {-1: 1, 5: 1}), TWO)
    assert data(told.seen_from({-2: 1}).learnt("ge", 1)) == {1: 1}
    assert data(told.seen_from({}).learnt("ge", 1)) == {}  # it may have looked before it was cleared


def test_many_writes_are_told_apart_as_well() -> None:
    adders = [("add", 1, {number: 1}) for number in range(700)]
    assert len(data(history(*adders).seen_from({}).learnt("ge", 700))) == 700
    assert data(history(*adders).seen_from({}).learnt("ge", 699)) == {}


@table(
    "writes, comparison, value, expected",
    ([ONE], "ge", 1, False),
    ([ONE], "lt", 1, True),
    ([("set", 1, {}), ("set", 0, {-1: 1})], "eq", 1, True),
    ([("set", 0, {}), ("set", 1, {-1: 1})], "eq", 1, False),
    ([("set", 0, {}), ("set", 1, {})], "eq", 1, True),  # in either order
    ([ONE, TWO], "eq", 1, True),
)
def test_a_condition_that_may_no_longer_hold(writes, comparison: str, value: int, expected: bool) -> None:
    assert history(*writes).seen_from({}).may_end_as(OPPOSITE[comparison], value) == expected


OPPOSITE = {"ge": "lt", "lt": "ge", "eq": "ne"}
