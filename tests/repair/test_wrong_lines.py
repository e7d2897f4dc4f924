"""Every example with one line of synchronisation wrong, and a kernel of tiles with events: the repair removes what that
brings, by one edit, and a hint helps at two sizes.

The other findings of a text are those of the original. A mutant without a finding that the original has not is as good
as that; one that does not load has been told so.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import pytest

import ptosim
from ptosim.report.check_report import CheckReport
from repair.tile_kernel import KERNEL, arguments
from repair.wrong_lines import Wrong, wrong_lines
from sanitize.repair import EDIT, repaired
from sanitize.test_mutation import NAMES, kernel_of, launch_of, source

SAMPLE = 1
"""So many texts of each example are tried unless all are asked for."""

Check = Callable[[str], CheckReport]


@dataclass(frozen=True)
class Subject:
    """A kernel, and how texts like it are checked at its size and at a larger one."""

    text: str
    check: Check
    larger: Check


def checking(given: tuple[Any, ...], grid: int = 1) -> Check:
    @lru_cache(maxsize=4)  # a report keeps all that a repair needs
    def check(text: str) -> CheckReport:
        return ptosim.check(kernel_of(text), *given, grid=grid)

    return check


@cache
def subject(name: str) -> Subject:
    if name == "tiles":
        return Subject(KERNEL, checking(arguments(64)), checking(arguments(208)))
    small, large = (launch_of(name, larger) for larger in (False, True))
    return Subject(source(name), checking(small.arguments, small.grid), checking(large.arguments, large.grid))


def signature(report: CheckReport) -> set[tuple[str, str]]:
    return {(finding.kind, finding.message) for finding in report.findings}


def chosen(name: str, full: bool) -> list[Wrong]:
    text = subject(name).text
    found = [wrong for wrong in wrong_lines(text) if wrong.text != text]
    return found if full else random.Random(name).sample(found, SAMPLE)


@dataclass
class Score:
    wrong: int = 0
    mended: int = 0
    by_one_edit: int = 0


@pytest.mark.parametrize("name", [*NAMES, "tiles"])
def test_what_one_wrong_line_brings_is_repaired(name: str, full: bool) -> None:
    score, problems = Score(), list[str]()
    for wrong in chosen(name, full):
        try:
            kernel_of(wrong.text)
        except ptosim.PTOError:
            continue
        problems += tried(subject(name), wrong, score)
    assert problems == []
    assert score.mended >= 0.95 * score.wrong
    assert score.by_one_edit >= 0.8 * score.wrong


def tried(about: Subject, wrong: Wrong, score: Score) -> list[str]:
    """Count how it goes, and say what must not be."""
    report = about.check(wrong.text)
    usual = signature(about.check(about.text))
    if signature(report) <= usual:
        return []
    score.wrong += 1
    fix = report.fix()
    problems: list[str] = []
    if fix.verified:
        score.mended += 1
        sizes = (about.check, about.larger)
        problems += [f"{wrong}: worse with\n{fix.diff}" for check in sizes if not is_clean(check, fix.text, about)]
    elif fix.text != wrong.text:
        problems.append(f"{wrong}: edited, and not verified:\n{fix.diff}")
    hints = [finding.hint for finding in report.findings if finding.hint and EDIT.search(finding.hint)]
    score.by_one_edit += [len(EDIT.findall(hint)) for hint in hints] == [1]
    if hints:
        text = repaired(wrong.text, "\n".join(hints))
        problems += [f"{wrong}: {hints}" for check in (about.check, about.larger) if not is_clean(check, text, about)]
    return problems


def is_clean(check: Check, text: str, about: Subject) -> bool:
    """Whether a text shows nothing that the original does not show at this size."""
    return signature(check(text)) <= signature(check(about.text))


@pytest.mark.parametrize("wrong", ['"PIPE_V", "PIPE_MTE2", "EVENT_ID2"', '"PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"'])
@pytest.mark.full
def test_a_pair_of_which_both_halves_are_wrong_is_repaired(wrong: str) -> None:
    about, right = subject("pingpong"), '_dyn["PIPE_MTE2", "PIPE_V", %parity'
    assert assert_repaired(about, about.text.replace(right, f"[{wrong}")).count(right) == 2


@pytest.mark.full
def test_buffers_that_share_an_id_are_repaired() -> None:
    about, right = subject("pingpong"), '_dyn["PIPE_MTE2", "PIPE_V", %parity'
    assert_repaired(about, about.text.replace(right, '["PIPE_MTE2", "PIPE_V", "EVENT_ID0"'))


@pytest.mark.full
def test_a_pair_that_is_missing_takes_the_ids_of_its_buffers() -> None:
    about = subject("pingpong")
    lines = [line for line in about.text.split("\n") if '"PIPE_MTE2", "PIPE_V"' not in line]
    hint = assert_repaired(about, "\n".join(lines))
    assert hint.count('"PIPE_MTE2", "PIPE_V", %parity]') == 2


@pytest.mark.full
def test_an_id_that_no_partner_computes_is_repaired() -> None:
    """Every id is set as often as it is waited for, but by the other buffer."""
    about = subject("pingpong")
    wait = '      pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %parity]'
    other = "      %other = arith.subi %c1, %parity : index\n"
    assert wait in about.text
    hint = assert_repaired(about, about.text.replace(wait, other + wait.replace("%parity", "%other")))
    assert hint.endswith('by pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %parity]')


def assert_repaired(about: Subject, text: str) -> str:
    """At two sizes, by the repair and by the hint alone, which it gives."""
    report = about.check(text)
    fix = report.fix()
    assert fix.verified, fix.notes
    (hint,) = [finding.hint for finding in report.findings if finding.hint]
    for mended in (fix.text, repaired(text, hint)):
        assert all(is_clean(check, mended, about) for check in (about.check, about.larger)), mended
    return hint


def test_a_repair_that_brings_a_remark_gives_way_to_one_that_does_not() -> None:
    """The other side of a signal with a wrong number could be renumbered too, and would be remarked on."""
    about = subject("producer_consumer_a5")
    wrong = next(
        each
        for each in wrong_lines(about.text)
        if each.how == "renumber" and "wait_intra_block <PIPE_V>, %half" in each.what
    )
    assert tried(about, wrong, Score()) == []
