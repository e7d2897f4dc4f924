"""Loops that poll words in GM: all schedules serve them fairly, and one that never ends is a deadlock."""

from __future__ import annotations

import pytest

import ptosim
import word_programs as words

ENGINES = ("reference", "native")
TOLD = words.FILL + words.store("%d0") + words.FENCE + words.notify()
STORED = words.FILL + words.store("%d0") + words.FENCE + f"pto.st_dev %n1, %words[%c0] : {words.GM}, i32\n"

SLOW = {"native": [pytest.mark.full]}
"""Compiled code looks as often, and another run judges what it has found."""
BOTH = pytest.mark.parametrize("engine", [pytest.param(each, marks=SLOW.get(each, [])) for each in ENGINES])


@pytest.mark.parametrize("schedule", words.schedules(20))
@pytest.mark.parametrize("told", [TOLD, STORED])
def test_no_schedule_fails_a_kernel_that_polls(schedule: str, told: str) -> None:
    text = words.kernel(told, words.poll() + words.hand_on())
    assert words.bytes_of(text, 2, schedule) == words.bytes_of(text, 2, "program", "native")


@BOTH
def test_a_loop_that_nobody_ends_is_a_deadlock_after_so_many_looks(engine: str) -> None:
    text = words.kernel(words.FILL, words.poll())
    kernel = ptosim.load(text).kernel()
    (found,) = ptosim.check(kernel, *words.arguments(), grid=2, engine=engine).findings
    assert (found.kind, found.severity) == ("deadlock", "error")
    assert found.message == "S waits until %words[0] >= 1; it is 0, and nothing is left that would notify it"
    with pytest.raises(ptosim.PTOError) as caught:
        kernel(*words.arguments(), grid=2, engine=engine)
    assert [(each.kind, each.message) for each in caught.value.diagnostics] == [("deadlock", found.message)]


@BOTH
def test_blocks_that_poll_for_each_other_are_named_both(engine: str) -> None:
    tell = f"pto.st_dev %n1, %words[%c0] : {words.GM}, i32\n"
    other = words.poll().replace("%words[%c0]", "%words[%c16]")
    text = words.kernel(words.poll() + tell.replace("%c0", "%c16"), other + tell)
    (found,) = ptosim.check(ptosim.load(text).kernel(), *words.arguments(), grid=2, engine=engine).findings
    assert (found.kind, found.message) == ("deadlock", "b0.aiv0 S, b1.aiv0 S wait for each other")
    assert any("%words[0] >= 1" in note for note in found.notes)
    assert any("%words[16] >= 1" in note for note in found.notes)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_hundred_thousand_looks_that_are_answered_are_none_in_vain(engine: str) -> None:
    """Two blocks answer each other by words that they store: each look of one of them follows a store."""
    rounds = 40_000

    def side(mine: str, theirs: str, first: bool) -> str:
        tell = f"pto.st_dev %turn, %words[{theirs}] : {words.GM}, i32"
        hear = words.poll().replace("%words[%c0]", f"%words[{mine}]").replace("%n1 : i32\n%", "%turn : i32\n%", 1)
        body = f"{tell}\n{hear}" if first else f"{hear}{tell}\n"
        head = f"%many = arith.constant {rounds} : i32\nscf.for %turn0 = %n0 to %many step %n1 : i32 {{\n"
        return f"{head}%turn = arith.addi %turn0, %n1 : i32\n{body}}}\n"

    kernel = ptosim.load(words.kernel(side("%c0", "%c16", True), side("%c16", "%c0", False))).kernel()
    given = words.arguments()
    kernel(*given, grid=2, engine=engine)
    assert given[1][0] == given[1][16] == rounds


def test_a_list_that_is_walked_in_gm_is_no_wait() -> None:
    """The address is another one each time: nobody else has to do anything."""
    walk = words.poll().replace("%words[%c0]", "%words[%at]").replace("(%n = %n0) : (i32)", "(%n = %n0) : (i32)")
    walk = walk.replace("%seen =", "%at = arith.index_cast %n : i32 to index\n%seen =", 1)
    assert not ptosim.load(words.kernel(walk)).kernel().program.cross_block
    assert ptosim.load(words.kernel(words.poll())).kernel().program.cross_block


def test_a_check_of_ranks_comes_back_from_a_loop_that_nobody_ends() -> None:
    world = ptosim.World(2)
    x, y, d = (ptosim.each(*(words.arguments()[number] for _ in range(2))) for number in (0, 2, 3))
    world.launch(ptosim.load(words.kernel(words.poll())).kernel(), x, world.symmetric(32, "i4"), d, y)
    found = world.check().findings
    assert {each.kind for each in found} == {"deadlock"}
    for engine in ENGINES:
        with pytest.raises(ptosim.PTOError) as caught:
            world.run(engine=engine)
        assert {each.kind for each in caught.value.diagnostics} == {"deadlock"}
        world.launch(ptosim.load(words.kernel(words.poll())).kernel(), x, world.symmetric(32, "i4"), d, y)
