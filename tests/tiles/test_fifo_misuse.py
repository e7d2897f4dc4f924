"""FIFOs that are used wrongly: a push, a pop or a free too few, too few slots, two ends that disagree."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptosim
from fifo_programs import inputs, kinds
from ptosim.diagnostics import PTOError
from tiles.test_fifo import Fifo, there_and_back, to_vector

COUNT = 3
ENTRIES = r"^.*pto\.(?:tpush_to|tpop_from|tfree_from)_a.*$"


def arguments() -> list[object]:
    a, b, product = inputs(COUNT)
    return [a, b, np.zeros_like(product), COUNT]


STRAIGHT = to_vector(Fifo(2, unrolled=True), COUNT)


def test_the_kernel_itself_is_right() -> None:
    assert _is_accepted(STRAIGHT)


@pytest.mark.parametrize("number", range(len(re.findall(ENTRIES, STRAIGHT, re.MULTILINE))))
def test_every_entry_operation_is_missed(number: int) -> None:
    """Of three pushes, pops and frees; a pop goes with what uses its tile."""
    line = re.findall(ENTRIES, STRAIGHT, re.MULTILINE)[number]
    lines = STRAIGHT.splitlines()
    lines.remove(line) if "tfree" not in line else lines.pop(_nth(lines, "tfree", number))
    if (popped := re.match(r"(%t_\d)", line)) is not None:
        lines = [each for each in lines if popped[1] not in each]
    assert not _is_accepted("\n".join(lines))


def _is_accepted(text: str) -> bool:
    try:
        kernel = ptosim.load(text).kernel()
    except PTOError:
        return False
    return ptosim.check(kernel, *arguments()).ok


def _nth(lines: list[str], word: str, number: int) -> int:
    """The line of the entry operation of that number, which is one with the word."""
    entries = [index for index, line in enumerate(lines) if re.match(ENTRIES, line)]
    assert word in lines[entries[number]]
    return entries[number]


def test_a_push_without_a_pop_is_left_over() -> None:
    text = STRAIGHT.replace("%t_2 = pto.tpop_from_aic", "%gone = pto.tpop_from_aic")
    cut = re.sub(r"%gone.*?pto\.tfree_from_aic \{split = 0\}", "", text, flags=re.DOTALL)
    assert "undrained" in kinds(cut, *arguments())


def test_a_pop_without_a_push_waits_for_ever() -> None:
    last = STRAIGHT.rindex("pto.tpush_to_aiv")
    text = STRAIGHT[:last] + STRAIGHT[STRAIGHT.index("\n", last) :]
    assert kinds(text, *arguments()) & {"unmatched-wait", "deadlock"}


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize(("slots", "expected"), [(1, {"deadlock"}), (2, set[str]())])
def test_too_few_slots_for_what_is_pushed_before_the_first_pop(target: str, slots: int, expected: set[str]) -> None:
    """One slot each way holds three entries: one in each FIFO, and one that the vector core has taken."""
    fifo = Fifo(slots, 1, target, through_gm=True, mask=3)
    a, b, product = inputs(4)
    c = np.zeros((64, 64), np.float16)
    text = there_and_back(fifo, 4, at_once=True)
    assert kinds(text, a, b, np.zeros_like(product), 4, c, *fifo.arguments()) == expected
