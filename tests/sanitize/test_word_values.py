"""Values of words in GM: a race where a value is used that is notified in no order, answers and numbers of looks that
depend on the schedule, loops that give up, and waits that another schedule would never leave."""

from __future__ import annotations

import pytest

import ptosim
import word_programs as words
from tables import table
from word_programs import FENCE, FILL, GM, VIEW, hand_on, kernel, notify, poll, store, wait

LOOK = f"%seen = pto.ld_dev %words[%c0] : {GM} -> i32\n"
TEST = f"%ok = pto.comm.ttest(%word, %n1 : {VIEW}, i32) {{cmp = #pto<wait_cmp ge>}} -> i1\n"
KEEP = f"pto.store_scalar %seen, %y[%c0] : {GM}, i32\n"
TOLD = FILL + store("%d0") + FENCE + notify()


def when(condition: str, body: str) -> str:
    return f"scf.if {condition} {{\n{body}}}\n"


BRANCH = "%is = arith.cmpi eq, %seen, %n1 : i32\n" + when("%is", hand_on("%x"))
PLACE = "%i = arith.index_cast %seen : i32 to index\n" + f"pto.store_scalar %n7, %y[%i] : {GM}, i32\n"
USES = {"stored": KEEP, "a branch": BRANCH, "an address": PLACE}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("turned", [False, True])
def test_a_value_that_is_notified_in_no_order_is_a_race_where_it_is_used(use: str, turned: bool) -> None:
    bodies = [notify(), LOOK + use]
    text = kernel(*(bodies[::-1] if turned else bodies))
    assert words.errors(text, 2) == ["race"]
    (found, *_) = ptosim.check(ptosim.load(text).kernel(), *words.arguments(), grid=2).findings
    assert found.line == text.split("\n").index(LOOK.strip()) + 1 or found.related[0].location.line
    assert words.errors(kernel(notify(), wait() + LOOK + use), 2) == []
    assert words.errors(kernel(notify(), LOOK), 2) == []  # nobody uses it


def test_of_a_value_that_may_still_grow_only_that_it_is_enough_is_known() -> None:
    twice = notify(1, "atomic_add") * 2
    assert words.errors(kernel(twice, wait(1) + LOOK + KEEP), 2) == ["race"]
    assert words.errors(kernel(twice, wait(2) + LOOK + KEEP), 2) == []


def test_the_last_look_of_a_loop_is_known_as_far_as_the_loop_waits_for_it() -> None:
    kept = f"pto.store_scalar %last, %y[%c0] : {GM}, i32\n"
    twice = notify(1, "atomic_add") * 2
    assert words.errors(kernel(twice, poll(1) + kept), 2) == ["race"]
    assert words.errors(kernel(twice, poll(2) + kept), 2) == []
    assert words.errors(kernel(notify(3), poll(1) + kept), 2) == []


def test_how_often_a_loop_looks_depends_on_the_schedule() -> None:
    kept = f"pto.store_scalar %rounds, %y[%c0] : {GM}, i32\n"
    text = kernel(notify(), poll() + kept)
    assert words.errors(text, 2) == ["race"]
    assert len(words.outcomes(text, 2, 30)) > 1
    assert words.errors(kernel(notify(), wait() + poll() + kept), 2) == []  # it does not look twice


# --- tests ------------------------------------------------------------------------------------------------------------


def found(text: str, grid: int = 2) -> list[tuple[str, str]]:
    ways = [[each for each in words.checked(text, grid, engine) if each[0] == "race"] for engine in words.ENGINES]
    assert ways[0] == ways[1]
    return ways[0]


@pytest.mark.parametrize("turned", [False, True])
def test_an_answer_that_decides_a_branch_is_a_warning(turned: bool) -> None:
    bodies = [notify(), TEST + when("%ok", hand_on("%x"))]
    assert found(kernel(*(bodies[::-1] if turned else bodies))) == [("race", "warning")]
    assert found(kernel(notify(), wait() + TEST + when("%ok", hand_on("%x")))) == []
    assert found(kernel(hand_on("%x"), TEST + when("%ok", hand_on("%x", "%y1")))) == []  # nobody writes it


def test_an_answer_that_is_stored_is_an_error() -> None:
    use = "%seen = arith.extui %ok : i1 to i32\n" + KEEP
    assert found(kernel(notify(), TEST + use)) == [("race", "error")]
    assert found(kernel(notify(), wait() + TEST + use)) == []


@table("condition, reads", ("%ok", True), ("%not", False), ("%and", True), ("%or", False))
def test_a_test_orders_what_stands_where_it_has_answered_yes(condition: str, reads: bool) -> None:
    """The data is read in the branch of a condition that is made of the answer."""
    made = {
        "%not": "%true = arith.constant true\n%not = arith.xori %ok, %true : i1\n",
        "%and": "%is1b = arith.cmpi eq, %block, %l1 : i64\n%and = arith.andi %is1b, %ok : i1\n",
        "%or": "%is1b = arith.cmpi eq, %block, %l1 : i64\n%or = arith.ori %is1b, %ok : i1\n",
    }
    text = kernel(TOLD, TEST + made.get(condition, "") + when(condition, hand_on()))
    severities = [severity for _, severity in found(text)]
    if condition == "%not":  # the run goes the other way
        assert severities == ["warning"]
    else:
        assert severities == (["warning"] if reads else ["error", "warning"])


def test_behind_a_test_nothing_is_known() -> None:
    assert ("race", "error") in found(kernel(TOLD, TEST + hand_on()))


# --- loops that give up -----------------------------------------------------------------------------------------------

AGAIN = "%is = arith.cmpi sge, %last, %n1 : i32\n"


@pytest.mark.parametrize("looks", [1, 3, 1000])
def test_a_loop_that_gives_up_orders_nothing_where_it_has_given_up(looks: int) -> None:
    text = kernel(TOLD, poll(looks=looks) + hand_on())
    assert words.errors(text, 2) == ["race"]
    known = kernel(TOLD, poll(looks=looks) + AGAIN + when("%is", hand_on()))
    assert found(known) == [("race", "warning")]
    wrong = kernel(TOLD, poll(looks=looks) + AGAIN.replace("sge", "slt") + when("%is", "") + hand_on())
    assert ("race", "error") in found(wrong)


def test_a_loop_gives_up_and_reads_all_the_same() -> None:
    text = kernel(TOLD, poll(looks=1) + hand_on())
    assert len(words.outcomes(text, 2, 20)) == 2


@pytest.mark.parametrize(("looks", "expected"), [(65_535, ["race"]), (65_536, []), (1_000_000, [])])
def test_a_bound_beyond_what_any_run_waits_for_is_none(looks: int, expected: list[str]) -> None:
    assert words.errors(kernel(TOLD, poll(looks=looks) + hand_on()), 2) == expected


def test_a_loop_of_tests_that_gives_up() -> None:
    def loop(cond: str) -> str:
        return (
            "%asked = scf.while (%n = %n0) : (i32) -> i32 {\n"
            + TEST
            + "%true = arith.constant true\n%no = arith.xori %ok, %true : i1\n"
            + "%few = arith.cmpi slt, %n, %n3 : i32\n%go = arith.andi %no, %few : i1\n"
            + f"scf.condition({cond}) %n : i32\n}} do {{\n^bb0(%m: i32):\n"
            + "%next = arith.addi %m, %n1 : i32\nscf.yield %next : i32\n}\n"
        )

    assert words.errors(kernel(TOLD, loop("%no") + hand_on()), 2) == []
    assert words.errors(kernel(TOLD, loop("%go") + hand_on()), 2) == ["race"]


# --- waits that may stand for ever ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "cmp"), [(1, "lt"), (0, "eq"), (1, "ne"), (0, "le")])
@pytest.mark.parametrize("look", ["wait", "poll"])
def test_a_wait_that_may_no_longer_hold(value: int, cmp: str, look: str) -> None:
    """Block 0 waits for what holds at first, and block 1 ends that, in no order."""
    goes_on = {"lt": "sge", "eq": "ne", "ne": "eq", "le": "sgt"}[cmp]
    looks = wait(value, cmp) if look == "wait" else poll(value, goes_on)
    assert words.errors(kernel(looks, notify()), 2) == ["unmatched-wait"]
    behind = kernel(looks + notify(1, "set", "%other"), wait(1, "ge", "%other") + notify())
    assert words.errors(behind, 2) == []
    assert len(words.outcomes(behind, 2)) == 1


def test_a_flag_that_is_cleared_before_all_have_seen_it() -> None:
    clear = wait() + notify(0)
    assert words.errors(kernel(notify(), wait(), clear), 3) == ["unmatched-wait"]
    answered = wait(1, "ge", "%other") + notify(0)
    assert words.errors(kernel(notify(), wait() + notify(1, "set", "%other"), answered), 3) == []
