"""Random programs: they run or fail cleanly, both engines agree, and what checks clean has one outcome."""

import random
from collections.abc import Iterator

import pytest

import ptosim
from observed import findings
from programs import Program, program
from ptosim.api import Kernel
from ptosim.diagnostics import PTOError

COUNT = 5_000
SAMPLE = 50
PARTS = 20  # tests, so that they spread over the processors
SCHEDULES = 20
MOST_STEPS = 2_000

Outcome = list[tuple[str, int | None]] | list[bytes]


def outcome(kernel: Kernel, subject: Program, **options: object) -> Outcome:
    """The contents of the arguments after a run, or kind and line of what ended it."""
    memory = subject.launch()
    guards = memory.guards
    try:
        kernel(*memory.arguments, grid=subject.grid, max_steps=MOST_STEPS, **options)  # pyright: ignore[reportArgumentType]
    except PTOError as failure:
        return [(diagnostic.kind, diagnostic.line) for diagnostic in failure.diagnostics]
    finally:
        assert memory.guards == guards, f"bytes beside the arguments changed: {subject}"
    return memory.contents


def loaded(subject: Program) -> Kernel:
    try:
        return ptosim.load(subject.text).kernel()
    except PTOError as failure:
        pytest.fail(f"{failure}\n{subject}")


def is_clean(kernel: Kernel, subject: Program) -> bool:
    found = findings(kernel, *subject.launch().arguments, grid=subject.grid)
    return all(finding.severity != "error" for finding in found)


def seeds(part: int, full: bool) -> Iterator[int]:
    """A part of all seeds, or of the same few of them every time."""
    yield from (range(COUNT) if full else sorted(random.Random(2026).sample(range(COUNT), SAMPLE)))[part::PARTS]


def schedules(subject: Program, full: bool) -> list[str]:
    chosen = random.Random(subject.seed)
    several = [f"random:{chosen.randrange(10**6)}" for _ in range(SCHEDULES if full else 5)]
    return several + [f"delay:{pipe}" for pipe in ("MTE2", "MTE3", "V", "S")]


@pytest.mark.parametrize("part", range(PARTS))
def test_a_clean_program_has_one_outcome(part: int, full: bool) -> None:
    for subject in map(program, seeds(part, full)):
        kernel = loaded(subject)
        expected = outcome(kernel, subject, engine="reference")
        if not is_clean(kernel, subject):
            continue
        assert all(isinstance(part, bytes) for part in expected), f"clean, and yet {expected}: {subject}"
        for schedule in schedules(subject, full):
            found = outcome(kernel, subject, engine="reference", schedule=schedule)
            assert found == expected, f"{schedule}: {subject}"


def test_enough_programs_are_clean() -> None:
    subjects = [program(seed) for part in range(PARTS) for seed in seeds(part, full=False)]
    assert sum(is_clean(loaded(subject), subject) for subject in subjects) >= 15


@pytest.mark.parametrize("part", range(PARTS))
def test_both_engines_agree(part: int, full: bool) -> None:
    for subject in map(program, seeds(part, full)):
        kernel = loaded(subject)
        expected = outcome(kernel, subject, engine="reference")
        assert outcome(kernel, subject, engine="native", threads=1) == expected, str(subject)
        if subject.grid > 1 and is_clean(kernel, subject):
            assert outcome(kernel, subject, engine="native", threads=2) == expected, f"two threads: {subject}"
