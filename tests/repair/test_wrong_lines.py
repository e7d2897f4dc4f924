"""Texts with one line of synchronisation wrong: the repair removes what that brings, by one edit, and a hint helps at
two sizes.

The other findings of a text are those of the original. A text without a finding that the original has not is as good as
that; one that does not load has been told so. Every example is tried in sanitize/test_mutation.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import ptosim
from ptosim.report.check_report import CheckReport
from repair.wrong_lines import Wrong, wrong_lines
from sanitize.case import Case, both_sizes
from sanitize.once import kernel_of
from sanitize.repair import EDIT, repaired


@dataclass
class Score:
    wrong: int = 0
    mended: int = 0
    by_one_edit: int = 0


def tried(cases: Sequence[Case], wrong: Wrong, score: Score) -> list[str]:
    """Count how it goes, and say what must not be."""
    try:
        kernel_of(wrong.text)
    except ptosim.PTOError:
        return []
    report = cases[0].report(wrong.text)
    if signature(report) <= signature(cases[0].report(cases[0].text)):
        return []
    score.wrong += 1
    fix = report.fix()
    problems: list[str] = []
    if fix.verified:
        score.mended += 1
        problems += [f"{wrong}: worse with\n{fix.diff}" for case in cases if not is_clean(case, fix.text)]
    elif fix.text != wrong.text:
        problems.append(f"{wrong}: edited, and not verified:\n{fix.diff}")
    hints = [finding.hint for finding in report.findings if finding.hint and EDIT.search(finding.hint)]
    score.by_one_edit += [len(EDIT.findall(hint)) for hint in hints] == [1]
    if hints:
        text = repaired(wrong.text, "\n".join(hints))
        problems += [f"{wrong}: {hints}" for case in cases if not is_clean(case, text)]
    return problems


def signature(report: CheckReport) -> set[tuple[str, str]]:
    return {(finding.kind, finding.message) for finding in report.findings}


def is_clean(case: Case, text: str) -> bool:
    """Whether a text shows nothing that the original does not show at this size."""
    return signature(case.report(text)) <= signature(case.report(case.text))


@pytest.mark.parametrize("wrong", ['"PIPE_V", "PIPE_MTE2", "EVENT_ID2"', '"PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"'])
@pytest.mark.full
def test_a_pair_of_which_both_halves_are_wrong_is_repaired(wrong: str) -> None:
    cases, right = both_sizes("pingpong"), '_dyn["PIPE_MTE2", "PIPE_V", %parity'
    assert assert_repaired(cases, cases[0].text.replace(right, f"[{wrong}")).count(right) == 2


@pytest.mark.full
def test_buffers_that_share_an_id_are_repaired() -> None:
    cases, right = both_sizes("pingpong"), '_dyn["PIPE_MTE2", "PIPE_V", %parity'
    assert_repaired(cases, cases[0].text.replace(right, '["PIPE_MTE2", "PIPE_V", "EVENT_ID0"'))


@pytest.mark.full
def test_a_pair_that_is_missing_takes_the_ids_of_its_buffers() -> None:
    cases = both_sizes("pingpong")
    lines = [line for line in cases[0].text.split("\n") if '"PIPE_MTE2", "PIPE_V"' not in line]
    hint = assert_repaired(cases, "\n".join(lines))
    assert hint.count('"PIPE_MTE2", "PIPE_V", %parity]') == 2


@pytest.mark.full
def test_an_id_that_no_partner_computes_is_repaired() -> None:
    """Every id is set as often as it is waited for, but by the other buffer."""
    cases = both_sizes("pingpong")
    wait = '      pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %parity]'
    other = "      %other = arith.subi %c1, %parity : index\n"
    assert wait in cases[0].text
    hint = assert_repaired(cases, cases[0].text.replace(wait, other + wait.replace("%parity", "%other")))
    assert hint.endswith('by pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %parity]')


def assert_repaired(cases: Sequence[Case], text: str) -> str:
    """At two sizes, by the repair and by the hint alone, which it gives."""
    report = cases[0].report(text)
    fix = report.fix()
    assert fix.verified, fix.notes
    (hint,) = [finding.hint for finding in report.findings if finding.hint]
    for mended in (fix.text, repaired(text, hint)):
        assert all(is_clean(case, mended) for case in cases), mended
    return hint


def test_a_repair_that_brings_a_remark_gives_way_to_one_that_does_not() -> None:
    """The other side of a signal with a wrong number could be renumbered too, and would be remarked on."""
    cases = both_sizes("producer_consumer_a5")
    wrong = next(
        each
        for each in wrong_lines(cases[0].text)
        if each.how == "renumber" and "wait_intra_block <PIPE_V>, %half" in each.what
    )
    assert tried(cases, wrong, Score()) == []
