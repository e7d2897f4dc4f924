"""Every example kernel with one thing wrong in it: whatever can change its result is reported, at the right place.

A mutant that is not reported must leave the same bytes under every schedule that is tried, and why it does is shown
without the sanitizer (equivalence.py): its accesses and their order are those of the original, or come to the same.
What that does not show is listed one by one. The hints of a report are applied, and must make it clean; what a wrong
line of synchronisation brings is repaired as well (repair/test_wrong_lines.py). Compiled code suspects what the
reference engine finds. All this is seen of a text at once, so that it is loaded, run and repaired once.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import pytest

import ptosim
from ptosim import checking
from ptosim.api import Launch
from ptosim.arguments import bind
from repair.test_wrong_lines import Score, tried
from repair.wrong_lines import Wrong, wrong_lines
from sanitize.case import NAMES, Case, both_sizes, schedules, source
from sanitize.equivalence import unordered
from sanitize.mutation import SYNC, Mutant, mutants
from sanitize.once import Once, kernel_of
from sanitize.repair import EDIT, repaired
from sifting import assert_agrees

SAMPLE = 3
LONG = {"flash_attention": 1, "flash_attention_f32": 1}
"""So many texts of each part are tried unless all are asked for, and of examples that take seconds each."""

KINDS = {
    "delete": "race deadlock unmatched-wait undrained double-set semaphore-overflow buffer-misuse scope-alias lint",
    "duplicate": "race deadlock unmatched-wait undrained double-set semaphore-overflow buffer-misuse lint",
    "re-number": "race deadlock unmatched-wait undrained double-set semaphore-overflow buffer-misuse id-range lint",
    "swap": "race deadlock unmatched-wait undrained double-set buffer-misuse scope-alias lint",
    "shift address": "race scope-alias uninitialized out-of-bounds misaligned overlap lint",
    "drop row": "uninitialized race lint",
    "enlarge loop": "race scope-alias uninitialized out-of-bounds deadlock unmatched-wait undrained invalid lint",
}
"""What a mutation may be reported as, one of these at least. A finding may have others in its train."""

FLASH = [
    {"more order": 1, "renamed": 1, "same order": 5},
    {"same order": 4},
    {"same order": 2},
    {"renamed": 1, "same order": 6},
    {"in order": 1, "renamed": 1, "same order": 7},
    {"renamed": 1, "same order": 12},
]
SILENT: dict[str, list[dict[str, int]]] = {
    "abs": [{"renamed": 1, "same order": 3}],
    "add": [{"renamed": 1, "same order": 6}],
    "buffers": [{"renamed": 1, "same order": 3}],
    "cast": [{"renamed": 1, "same order": 6}],
    "flash_attention": FLASH,
    "flash_attention_f32": FLASH,
    "gather": [{"in order": 1, "more order": 1, "renamed": 3, "same order": 10}],
    "layer_norm": [{"in order": 3, "renamed": 4, "same order": 6}],
    "matmul": [{"same order": 11}],
    "matmul_int8": [{"same order": 1}],
    "pingpong": [{"not used": 1, "renamed": 1, "same order": 10}],
    "producer_consumer_a2a3": [{"listed": 1, "renamed": 3, "same order": 6}],
    "producer_consumer_a5": [{"same order": 12}, {"renamed": 1, "same order": 11}],
    "singlebuffer": [{"renamed": 1, "same order": 6}],
    "softmax": [{"in order": 4, "not used": 1, "renamed": 1, "same order": 14}],
    "tiles": [{}],
    "topk": [{"in order": 1, "renamed": 3, "same order": 5}],
    "unaligned_copy": [{"in order": 1, "renamed": 2, "same order": 3}],
}
"""How many mutants of each part of an example are not reported, by the reason why they need not be; one that takes long
has several parts, each a test of its own. All mutants that delete or re-number a synchronisation or drop a row are
reported, and all that duplicate one, but for barriers."""

LISTED = {
    ("producer_consumer_a2a3", "shift address", "%ub_x"): "a correct program that computes something else: see "
    "test_a_mutant_that_is_a_correct_program",
}
"""Mutants that are not reported and change the result, by the first word of the mutated line."""


@dataclass(frozen=True)
class Text:
    """As a mutant, and as one with a wrong line: most are both."""

    text: str
    mutant: Mutant | None
    wrong: Wrong | None


def texts(name: str) -> list[Text]:
    text = source(name)
    mutated = {} if name == "tiles" else {mutant.text: mutant for mutant in mutants(text)}
    wronged = {wrong.text: wrong for wrong in wrong_lines(text)}
    return [Text(each, mutated.get(each), wronged.get(each)) for each in {**mutated, **wronged} if each != text]


def chosen(name: str, part: int, full: bool) -> list[Text]:
    found = texts(name)[part :: len(SILENT[name])]
    return found if full else random.Random(f"{name} {part}").sample(found, LONG.get(name, SAMPLE))


@pytest.mark.parametrize("name, part", [(name, part) for name in SILENT for part in range(len(SILENT[name]))])
def test_texts_with_one_mistake(name: str, part: int, full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are reported, by both engines, and repaired; or it is known why they are harmless."""
    Once(monkeypatch)
    cases = both_sizes(name)
    problems: list[str] = []
    reasons, score = Counter[str](), Score()
    for each in chosen(name, part, full):
        if (mutant := each.mutant) is not None:
            found = (*judged(mutant, cases, reasons, 8 if full else 5), *told_apart(mutant, cases[0]))
            problems += [f"{mutant}: {problem}" for problem in found]
        if each.wrong is not None:
            problems += tried(cases, each.wrong, score)
    assert problems == []
    assert score.mended >= 0.95 * score.wrong
    assert score.by_one_edit >= 0.8 * score.wrong
    if full:
        assert reasons == SILENT[name][part]


def judged(mutant: Mutant, cases: tuple[Case, Case], reasons: Counter[str], seeds: int) -> Iterator[str]:
    """Count why it is harmless, or say what is wrong with its report or with there being none."""
    case = cases[0]
    if findings := case.check(mutant.text):
        yield from misreported(mutant, findings)
        yield from unrepaired(mutant, findings, cases)
        return
    if key(case.name, mutant) in LISTED:
        reasons["listed"] += 1
        return
    if not case.is_harmless(mutant.text, seeds):
        yield "not reported, and it changes the result"
    elif (reason := case.reason(mutant.text)) is None:
        yield "not reported, and nobody knows why it is harmless"
    else:
        reasons[reason] += 1


def told_apart(mutant: Mutant, case: Case) -> Iterator[str]:
    """What compiled code makes of it that the reference engine does not."""
    try:
        kernel = kernel_of(mutant.text)
        _ = kernel.program
    except ptosim.PTOError:
        return
    launch = Launch(bind(kernel.signature, case.launch.arguments), case.launch.grid)
    blocks, judge = range(launch.grid), partial(checking.observed, kernel, launch, "relaxed")
    try:
        assert_agrees(kernel, launch, blocks, judge(blocks), judge)
    except AssertionError as problem:
        yield f"by compiled code: {problem}"


def mutants_of(name: str) -> list[Mutant]:
    return [each.mutant for each in texts(name) if each.mutant is not None]


def key(name: str, mutant: Mutant) -> tuple[str, str, str]:
    return name, mutant.mutation, mutant.what.split()[0]


SAME_PROGRAM = {"same order", "more order", "renamed"}


def test_nearly_every_mutant_that_is_another_program_is_reported() -> None:
    """98 % of those that are not shown to be the same program, by their accesses and the order of these."""
    assert SILENT.keys() == {*NAMES, "tiles"}
    silent = Counter[str]()
    for reasons in chain.from_iterable(SILENT.values()):
        silent.update(reasons)
    same = sum(silent.pop(reason) for reason in SAME_PROGRAM)
    others = sum(len(mutants_of(name)) for name in NAMES) - same
    assert silent.total() <= 0.02 * others
    assert silent["listed"] == len(LISTED)


def the_mutant(*wanted: str) -> Mutant:
    (found,) = [mutant for mutant in mutants_of(wanted[0]) if key(wanted[0], mutant) == wanted]
    return found


def test_garbage_shows_what_is_used() -> None:
    """Without its wait V works on what MTE2 may not have brought; a round too many loads it under an empty mask."""
    case = Case("pingpong")
    wait = '      pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %parity]\n'
    assert wait in source("pingpong")
    too_early, too_much = source("pingpong").replace(wait, ""), the_mutant("pingpong", "enlarge loop", "%_:1").text
    assert case.left_by_garbage(too_early, case.trace(too_early)) != case.expected
    assert unordered(case.trace(too_much)) != []
    assert case.left_by_garbage(too_much, case.trace(too_much)) == case.expected


def test_a_mutant_that_no_schedule_tells() -> None:
    """The row lies over the maximum that is computed from it. Every access is in order and every byte is defined, so
    every schedule divides a row whose last 8 elements are that maximum; the check says what was overwritten."""
    case = Case("producer_consumer_a2a3")
    mutant = the_mutant("producer_consumer_a2a3", "shift address", "%ub_x")
    (found,) = case.check(mutant.text)
    assert (found.kind, found.bytes) == ("clobbered", (256, 288))
    assert unordered(case.trace(mutant.text)) == []
    x, _, _, rows = case.launch.arguments
    halves = x.reshape(case.launch.grid, rows, 2, 64)
    largest = np.abs(halves).max(axis=3, keepdims=True)
    overlaid = np.concatenate((halves[..., :56], np.repeat(largest, 8, axis=3)), axis=3)
    expected = (overlaid / largest.max(axis=2, keepdims=True)).reshape(x.shape)
    for schedule in schedules(20):
        outcome = case.outcome(mutant.text, schedule)
        assert isinstance(outcome, list)
        assert outcome[2] == expected.tobytes()


def unrepaired(mutant: Mutant, findings: tuple[ptosim.Finding, ...], cases: tuple[Case, Case]) -> Iterator[str]:
    """With all hints of a report the mutant checks clean, at its size and at a larger one; where a wait was deleted the
    hint is that one wait, and there is one finding. A loop that was enlarged may read, at a size that shows it, what
    does not exist: no synchronisation gives that a value."""
    hints = [finding.hint for finding in findings if finding.hint and EDIT.search(finding.hint)]
    if is_lost_wait(mutant) and [len(EDIT.findall(hint)) for hint in hints] != [1]:
        yield f"one wait is missing, hinted is {hints}"
    if is_lost_wait(mutant) and len(serious(findings)) != 1:
        yield str([finding.kind for finding in findings])
    for case in cases if hints else ():
        for finding in serious(case.check(repaired(mutant.text, "\n".join(hints)))):
            may_stay = finding.kind == "uninitialized" and mutant.mutation == "enlarge loop"
            if not may_stay or finding.kind not in {each.kind for each in case.check(mutant.text)}:
                yield f"{finding.kind} after\n{hints}"


def is_lost_wait(mutant: Mutant) -> bool:
    return mutant.mutation == "delete" and "pto.wait_" in mutant.what


def serious(findings: tuple[ptosim.Finding, ...]) -> list[ptosim.Finding]:
    """What a repair must not leave: warnings that are not about order it may."""
    harmless = ("lint", "uninitialized", "overlap")
    return [finding for finding in findings if finding.severity == "error" or finding.kind not in harmless]


# --- where a report must point ----------------------------------------------------------------------------------------


def misreported(mutant: Mutant, reported: tuple[ptosim.Finding, ...]) -> Iterator[str]:
    findings = [each for finding in reported for each in (finding, *finding.consequences)]
    kinds = {finding.kind for finding in findings}
    if not kinds & set(KINDS[mutant.mutation].split()):
        yield f"reported as {sorted(kinds)}"
    if not any(lines_of(finding) & partners(mutant) or names(finding, mutant) for finding in findings):
        yield f"reported elsewhere: {[(finding.kind, sorted(lines_of(finding))) for finding in findings]}"


def lines_of(finding: ptosim.Finding) -> set[int]:
    """All lines that a finding speaks of."""
    spoken = " ".join((*finding.notes, finding.hint or "", finding.message))
    placed = {finding.line, *(other.location.line for other in finding.related)}
    return {line for line in placed if line} | {int(number) for number in re.findall(r"lines? (\d+)", spoken)}


def names(finding: ptosim.Finding, mutant: Mutant) -> bool:
    """Whether a finding without a place names what the mutated line is about: an output that is not written."""
    return finding.line is None and "no block writes" in finding.message


def partners(mutant: Mutant) -> set[int]:
    """The mutated line, and what it works together with."""
    lines = dict(enumerate(mutant.text.split("\n"), 1))
    if mutant.mutation == "enlarge loop":
        return body_of(lines, mutant.line)
    if mutant.mutation in ("shift address", "drop row"):
        return users_of(lines, mutant)
    if "PIPE_ALL" in mutant.what:  # the copies that it waited for
        return {number for number, line in lines.items() if "pto.mte_" in line or "pto.copy_" in line}
    same = {number for number, line in lines.items() if SYNC.match(line) and works_with(mutant.what, line)}
    return {number + offset for number in same | {mutant.line} for offset in range(-6, 7)}


SEMAPHORE = re.compile(r"pto\.(sync\.|set_intra|wait_intra|set_cross|wait_flag_dev)")


def works_with(line: str, other: str) -> bool:
    """Two instructions on the same flag, or two semaphore instructions."""
    if SEMAPHORE.search(line):
        return bool(SEMAPHORE.search(other))
    return re.findall(r"PIPE_\w+", line) == re.findall(r"PIPE_\w+", other)


def body_of(lines: dict[int, str], start: int) -> set[int]:
    """The lines of a loop; what it fails to wait for may stand behind it."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    return {number for number, line in lines.items() if number >= start or len(line) - len(line.lstrip()) < indent}


def users_of(lines: dict[int, str], mutant: Mutant) -> set[int]:
    """The lines that name a pointer of the mutated line, or one that is derived from it or from the same buffer."""
    known = set(re.findall(r"%\w+", mutant.what.partition("nburst")[0]))
    if mutant.mutation == "shift address":
        known = {mutant.what.split()[0]}
    for line in lines.values():
        result, _, rest = line.partition(" = pto.addptr ")
        if result.strip() in known:
            known.add(rest.partition(",")[0])
    for _ in range(2):
        for line in lines.values():
            result, equals, rest = line.partition(" = ")
            if equals and "addptr" in rest and known & set(re.findall(r"%\w+", rest)):
                known.add(result.strip())
            if "iter_args" in line and known & set(re.findall(r"%\w+", line)):
                known |= set(re.findall(r"%\w+", line.partition("iter_args")[2]))
    found = {number for number, line in lines.items() if known & set(re.findall(r"%\w+", line))} | {mutant.line}
    return found | {start_of(lines, number) for number in found}


def start_of(lines: dict[int, str], number: int) -> int:
    """The first line of the instruction that a line belongs to."""
    while number > 1 and "pto." not in lines[number].partition("!pto.")[0]:
        number -= 1
    return number
