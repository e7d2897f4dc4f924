"""Every example kernel with one thing wrong in it: whatever can change its result is reported, at the right place.

A mutant that is not reported must leave the same bytes under every schedule that is tried, and a reason must be known
why it does. Hints of races are applied, one by one, and must make their finding go away.
"""

import importlib.util
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ptosim
from sanitize.mutation import SYNC, Mutant, mutants
from sanitize.repair import EDIT, repaired

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.pto") if path.with_suffix(".py").exists())

SIZES: dict[str, dict[str, int]] = {
    "buffers": {"tiles": 4},
    "pingpong": {"tiles": 4},
    "singlebuffer": {"tiles": 4},
    "softmax": {"rows": 72},
    "flash_attention": {"rows": 64, "keys": 384},
    "flash_attention_f32": {"rows": 64, "keys": 192},
}
"""Where the sizes that an example shows leave a loop with one round, or take long."""

SAMPLE = 6
"""So many mutants of each example are tried unless all are asked for."""

KINDS = {
    "delete": "race deadlock unmatched-wait undrained double-set semaphore-overflow buffer-misuse scope-alias lint",
    "duplicate": "race deadlock unmatched-wait undrained double-set semaphore-overflow buffer-misuse lint",
    "re-number": "race deadlock unmatched-wait undrained double-set semaphore-overflow buffer-misuse id-range lint",
    "swap": "race deadlock unmatched-wait undrained double-set buffer-misuse scope-alias lint",
    "shift address": "race scope-alias uninitialized out-of-bounds misaligned lint",
    "drop row": "uninitialized race lint",
    "enlarge loop": "race scope-alias uninitialized out-of-bounds deadlock unmatched-wait undrained invalid lint",
}
"""What a mutation may be reported as, one of these at least. A finding may have others in its train."""

IN_ORDER = {
    ("producer_consumer_a2a3", "shift address", "%ub_x"): "the row overlaps the maximum that is computed from it, and "
    "every access is in order: a correct program, for another layout",
}
"""Mutants that change the result and are not reported, and why no check could."""


def script(name: str) -> ModuleType:
    """The script beside a kernel, which knows its data."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"mutated_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def source(name: str) -> str:
    return (EXAMPLES / f"{name}.pto").read_text()


def chosen(name: str, full: bool) -> list[Mutant]:
    text = source(name)
    found = [mutant for mutant in mutants(text) if mutant.text != text]
    return found if full else random.Random(name).sample(found, SAMPLE)


class Case:
    """An example and its data."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.launch = script(name).launch(**SIZES.get(name, {}))
        self.expected = self.outcome(source(name), "program")

    def check(self, text: str) -> tuple[ptosim.Finding, ...]:
        try:
            kernel = ptosim.load(text).kernel()
        except ptosim.PTOError as problem:
            return problem.diagnostics
        return ptosim.check(kernel, *self.launch.arguments, grid=self.launch.grid, unwritten=True).findings

    def outcome(self, text: str, schedule: str) -> object:
        arguments = [value.copy() if hasattr(value, "copy") else value for value in self.launch.arguments]
        options: dict[str, Any] = {"engine": "reference", "schedule": schedule, "oob": "drop", "max_steps": 10**6}
        try:
            ptosim.load(text).kernel()(*arguments, grid=self.launch.grid, **options)
        except ptosim.PTOError as problem:
            return problem.diagnostics[0].kind
        return [value.tobytes() for value in arguments if hasattr(value, "tobytes")]

    def is_harmless(self, text: str, seeds: int) -> bool:
        schedules = ["program", *(f"delay:{pipe}" for pipe in ("S", "V", "MTE2", "MTE3", "MTE1", "FIX", "M"))]
        schedules += [f"random:{seed}" for seed in range(seeds)]
        return all(self.outcome(text, schedule) == self.expected for schedule in schedules)


@pytest.mark.parametrize("name", NAMES)
def test_mutants(name: str, full: bool) -> None:
    case = Case(name)
    wrong: list[str] = []
    for mutant in chosen(name, full):
        findings = case.check(mutant.text)
        if findings:
            wrong += [f"{mutant}: {problem}" for problem in misreported(mutant, findings)]
        elif (key := (name, mutant.mutation, mutant.what.split()[0])) in IN_ORDER:
            assert not case.is_harmless(mutant.text, 1), f"{key} may go from the list"
        elif not case.is_harmless(mutant.text, 50 if full else 5):
            wrong.append(f"{mutant}: not reported, and it changes the result")
        elif reason(mutant) is None:
            wrong.append(f"{mutant}: not reported, and nobody knows why it is harmless")
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_hints_repair_mutants(name: str, full: bool) -> None:
    case = Case(name)
    wrong: list[str] = []
    tried = 0
    for mutant in chosen(name, full):
        findings = case.check(mutant.text)
        for race in findings:
            if race.kind != "race" or race.hint is None or not EDIT.search(race.hint):
                continue
            if tried >= SAMPLE and not full:
                break
            tried += 1
            wrong += [f"{mutant}: {problem}" for problem in badly_repaired(case, mutant.text, race, findings)]
    assert wrong == []


STUCK = {"deadlock", "unmatched-wait", "syntax", "invalid"}


def badly_repaired(case: Case, text: str, race: ptosim.Finding, before: tuple[ptosim.Finding, ...]) -> Iterator[str]:
    """Following the hint must remove the race, and let the kernel load and come to its end if it did before."""
    assert race.hint is not None
    edited = repaired(text, race.hint)
    after = case.check(edited)
    if identity(race, text) in {identity(finding, edited) for finding in after}:
        yield f"{race.message}: still there after\n{race.hint}"
    if stuck := {finding.kind for finding in after} & STUCK - {finding.kind for finding in before}:
        yield f"{race.message}: {stuck} after\n{race.hint}"


def identity(finding: ptosim.Finding, text: str) -> tuple[str, ...]:
    """A finding apart from line numbers."""
    lines = text.split("\n")
    places = [finding.line, *(other.location.line for other in finding.related[:1])]
    return finding.kind, finding.severity, *(lines[place - 1].strip() for place in places if place)


# --- where a report must point ----------------------------------------------------------------------------------------


def misreported(mutant: Mutant, findings: tuple[ptosim.Finding, ...]) -> Iterator[str]:
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


# --- why a silent mutant is harmless ----------------------------------------------------------------------------------


def reason(mutant: Mutant) -> str | None:
    """Why a mutant that is not reported cannot matter."""
    if mutant.mutation == "duplicate" and re.search(r"barrier|mem_bar", mutant.what):
        return "a second barrier finds nothing to wait for"
    if mutant.mutation == "swap":
        lines = mutant.text.split("\n")
        return swapped(lines[mutant.line - 1], lines[mutant.line])
    if mutant.mutation == "shift address":
        return "the buffer moves into space that nothing else uses, or its end is never used"
    if mutant.mutation == "enlarge loop":
        return "the surplus round works under an empty mask, or on rows that are not copied out"
    return None


def swapped(first: str, second: str) -> str | None:
    """Two neighbours that may stand in either order."""
    queues = queue_of(first), queue_of(second)
    if "ALL" in queues:
        return "nothing but the end of the kernel follows"
    if queues[0] != queues[1]:
        return "they enter the queues of different pipes"
    sets = [bool(re.search(r"pto\.(set|rls|sync\.set)", line)) for line in (first, second)]
    if sets[0] == sets[1]:
        return "two sets, or two waits, of one pipe with nothing between them"
    if sets[1]:
        return "the set comes later and tells more; if something hung because of it, that would be reported"
    return None


def queue_of(line: str) -> str:
    """The pipe whose queue a synchronisation instruction enters."""
    pipes = re.findall(r"PIPE_(\w+)", line)
    return pipes[1] if "wait_flag[" in line or "wait_flag_dyn" in line else pipes[0]
