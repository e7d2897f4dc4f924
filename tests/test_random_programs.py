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
PARTS = 20  # tests, so that they spread over the processors
SAMPLED = 2
"""Parts of which a sample takes some programs."""
SAMPLE = 25
SCHEDULES = 20
MOST_STEPS = 2_000

Outcome = list[tuple[str, int | None]] | list[bytes]

parts = pytest.mark.parametrize(
    "part", [pytest.param(part, marks=() if part < SAMPLED else pytest.mark.full) for part in range(PARTS)]
)


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


def seeds(part: int, full: bool) -> list[int]:
    """A part of all seeds, or the same few of them every time."""
    all_of_them = range(part, COUNT, PARTS)
    return list(all_of_them) if full else random.Random(part).sample(all_of_them, SAMPLE)


def schedules(subject: Program, full: bool) -> Iterator[str]:
    chosen = random.Random(subject.seed)
    yield from (f"random:{chosen.randrange(10**6)}" for _ in range(SCHEDULES if full else 5))
    yield from (f"delay:{pipe}" for pipe in ("MTE2", "MTE3", "V", "S"))


@parts
def test_both_engines_agree_and_a_clean_program_has_one_outcome(part: int, full: bool) -> None:
    subjects, clean = list(map(program, seeds(part, full))), 0
    for subject in subjects:
        kernel = loaded(subject)
        expected = outcome(kernel, subject, engine="reference")
        assert outcome(kernel, subject, engine="native", threads=1) == expected, str(subject)
        if not is_clean(kernel, subject):
            continue
        clean += 1
        assert all(isinstance(part, bytes) for part in expected), f"clean, and yet {expected}: {subject}"
        if subject.grid > 1:
            assert outcome(kernel, subject, engine="native", threads=2) == expected, f"two threads: {subject}"
        for schedule in schedules(subject, full):
            found = outcome(kernel, subject, engine="reference", schedule=schedule)
            assert found == expected, f"{schedule}: {subject}"
    assert clean >= len(subjects) // 5, "next to no program is clean"
