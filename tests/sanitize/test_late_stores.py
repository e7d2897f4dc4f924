"""Schedules of scalar units: their stores end late, in any order, and others go first between their accesses."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
import word_programs as words
from word_programs import ALL, DSB, GM, UB, kernel, poll

SEVEN = f"pto.store_scalar %n7, %ub[%c0] : {UB}, i32\n"
OUT = words.store("%y0", "%ub", "%l4")
TO_GM = f"pto.store_scalar %n7, %d[%c0] : {GM}, i32\n"
IN_AND_OUT = words.load("%d0", "%ub", "%l4") + words.flag("MTE2", "MTE3") + OUT
FENCES = {
    **{
        f'pto.dsb "{word}"\n': reached
        for word, reached in (("ALL", "ub gm"), ("DDR", "gm"), ("UB", "ub"), ("SEQ", "ub gm"))
    },
    **{
        f"pto.fence.barrier_all #pto.fence_scope<{scope}>\n": reached
        for scope, reached in (("all", "ub gm"), ("gm", "gm"), ("local_memory", "ub"))
    },
}
"""Of each the memories whose scalar stores it waits for."""


def firsts(text: str, grid: int, seeds: int = 40, name: str = "y") -> set[int]:
    """What the first element of an array may be."""
    found: set[int] = set()
    for schedule in words.schedules(seeds):
        given = words.arguments()
        ptosim.load(text).kernel()(*given, grid=grid, engine="reference", schedule=schedule)
        found.add(int(given["x words d y".split().index(name)][0]))
    return found


def test_a_copy_may_come_before_a_store_that_nothing_orders() -> None:
    assert firsts(kernel(SEVEN + OUT), 1) == {0, 7}
    assert words.errors(kernel(SEVEN + OUT), 1) == ["race"]


@pytest.mark.parametrize("between", [words.flag("S", "MTE3"), ALL], ids=["flag", "barrier"])
def test_what_orders_a_store_makes_it_end(between: str) -> None:
    assert firsts(kernel(SEVEN + between + OUT), 1) == {7}
    assert words.errors(kernel(SEVEN + between + OUT), 1) == []


@pytest.mark.parametrize("memory", ["ub", "gm"])
@pytest.mark.parametrize("fence", FENCES)
def test_a_fence_waits_for_stores_to_the_memory_that_its_word_names(fence: str, memory: str) -> None:
    text = kernel(SEVEN + fence + OUT if memory == "ub" else TO_GM + fence + IN_AND_OUT)
    waits = memory in FENCES[fence].split()
    assert words.errors(text, 1) == [] if waits else ["race"]
    assert firsts(text, 1, 12) == ({7} if waits else {0, 7} if memory == "ub" else {1, 7})
    assert ptosim.prove(ptosim.load(text).kernel()).proven is waits


@pytest.mark.parametrize("fence", FENCES)
def test_a_fence_of_one_memory_hides_no_store_to_the_other_from_the_next(fence: str) -> None:
    """Behind a fence that reaches one of two stores, one of the other memory orders the second."""
    other = 'pto.dsb "DDR"\n' if FENCES[fence] == "ub" else 'pto.dsb "UB"\n'
    read = words.store("%y1", "%ub", "%l4") + words.load("%d0", "%ones", "%l4")
    assert words.errors(kernel(SEVEN + TO_GM + fence + other + read), 1) == []
    assert words.errors(kernel(SEVEN + TO_GM + other + read), 1) == ["race"]


def test_a_scalar_unit_sees_its_own_stores() -> None:
    again = f"%mine = pto.load_scalar %ub[%c0] : {UB} -> i32\npto.store_scalar %mine, %y[%c0] : {GM}, i32\n"
    twice = f"pto.store_scalar %n5, %ub[%c0] : {UB}, i32\n"
    assert firsts(kernel(SEVEN + again), 1) == {7}
    assert firsts(kernel(SEVEN + twice + again), 1) == {5}
    assert firsts(kernel(SEVEN + twice + ALL + OUT), 1) == {5}  # stores to the same bytes keep their order


@pytest.mark.parametrize(("between", "expected"), [("", {0, 7}), (DSB, {7})], ids=["nothing", "dsb"])
def test_a_stored_word_may_be_seen_before_what_was_stored_earlier(between: str, expected: set[int]) -> None:
    told = f"pto.st_dev %n7, %d[%c0] : {GM}, i32\n{between}pto.st_dev %n1, %words[%c0] : {GM}, i32\n"
    read = f"%x7 = pto.ld_dev %d[%c0] : {GM} -> i32\npto.st_dev %x7, %y[%c0] : {GM}, i32\n"
    assert firsts(kernel(told, poll() + read), 2, 60) == expected


def test_scalar_units_of_blocks_that_run_together_interleave() -> None:
    """Both add to one word by a load and a store: one addition may be lost."""
    more = f"%old = pto.ld_dev %d[%c0] : {GM} -> i32\n%new = arith.addi %old, %n1 : i32\n"
    more += f"pto.st_dev %new, %d[%c0] : {GM}, i32\n"
    meet = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>\n"
    text = kernel(meet + more, meet + more)
    assert firsts(text, 2, 30, "d") == {1, 2}


def test_blocks_that_do_not_wait_for_each_other_run_in_any_order() -> None:
    told, read = (f"pto.st_dev %n1, %d[%c0] : {GM}, i32\n", f"%s = pto.ld_dev %d[%c0] : {GM} -> i32\n")
    text = kernel(told, read + f"pto.st_dev %s, %y[%c0] : {GM}, i32\n")
    assert firsts(text, 2, 10) == {0, 1}


def test_a_store_outside_of_gm_is_refused_where_it_stands() -> None:
    kern = ptosim.load(kernel(f"pto.store_scalar %n7, %x[%at1] : {GM}, i32\n")).kernel()
    problems = []
    for schedule in ("program", "random:1", "delay:S"):
        with pytest.raises(ptosim.PTOError) as caught:
            kern(*words.arguments(), engine="reference", schedule=schedule)
        problems.append(caught.value.diagnostics)
    assert problems[0] == problems[1] == problems[2]
    given = words.arguments()
    kern(*given, engine="reference", schedule="random:1", oob="drop")
    assert np.all(given[0] == 1)
