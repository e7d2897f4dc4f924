"""Random programs, each loaded, checked and run by the reference engine once for all that must hold of it.

Both engines agree about every one: it runs or fails cleanly. Many are checked: one that is clean has one outcome, in
whatever order its pipes work. Some are tried without their vector scopes, which must give the same bits, and some are
timed by both engines, which must give the same profile.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import pytest

import ptosim
from bare import without_scopes
from observed import findings
from programs import Program, program
from ptosim.api import Kernel
from ptosim.diagnostics import PTOError
from timing.same import same_outcome

COUNT = 5_000
PARTS = 20  # tests, so that they spread over the processors
SAMPLED = 2
"""Parts of which a sample takes some programs."""
SAMPLE = 16
SCHEDULES = {False: 5, True: 20}
"""Random ones; besides, each pipe is delayed."""
SCHEDULED = {False: 1, True: 2}
"""One of so many programs is checked, and run under them if it is clean."""
BARE = {False: 2, True: 10}
"""One of so many is tried without its scopes; it is among those that are checked."""
TIMED = {False: 4, True: 100}
"""So many programs of each part are timed, the first ones."""
MOST_STEPS = 2_000

Outcome = list[tuple[str, int | None]] | list[bytes]


@dataclass(frozen=True)
class Trial:
    """A program, and what is known of it: found out once, for whoever asks."""

    subject: Program
    kernel: Kernel

    def outcome(self, **options: object) -> Outcome:
        """The contents of the arguments after a run, or kind and line of what ended it."""
        memory = self.subject.launch()
        guards = memory.guards
        try:
            self.kernel(*memory.arguments, grid=self.subject.grid, max_steps=MOST_STEPS, **options)  # pyright: ignore[reportArgumentType]
        except PTOError as failure:
            return [(diagnostic.kind, diagnostic.line) for diagnostic in failure.diagnostics]
        finally:
            assert memory.guards == guards, f"bytes beside the arguments changed: {self.subject}"
        return memory.contents

    @cached_property
    def expected(self) -> Outcome:
        return self.outcome(engine="reference")

    @cached_property
    def is_clean(self) -> bool:
        found = findings(self.kernel, *self.subject.launch().arguments, grid=self.subject.grid)
        return all(finding.severity != "error" for finding in found)

    @cached_property
    def bare(self) -> "Trial | None":
        """Without its scopes; None where a scalar access cuts a scope in two and a register would leave it."""
        try:
            return Trial(self.subject, ptosim.load(without_scopes(self.kernel.module)).kernel())
        except PTOError as failure:
            if all("cannot leave its vector scope" in found.message for found in failure.diagnostics):
                return None
            pytest.fail(f"without scopes: {failure}\n{self.subject}")

    @property
    def is_compared(self) -> bool:
        """Whether it must give the same bits without its scopes."""
        return self.bare is not None and self.is_clean and self.bare.is_clean


def loaded(subject: Program) -> Trial:
    try:
        return Trial(subject, ptosim.load(subject.text).kernel())
    except PTOError as failure:
        pytest.fail(f"{failure}\n{subject}")


def seeds(part: int, full: bool) -> list[int]:
    """A part of all seeds, or the same few of them every time."""
    all_of_them = range(part, COUNT, PARTS)
    return list(all_of_them) if full else random.Random(part).sample(all_of_them, SAMPLE)


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=() if part < SAMPLED else pytest.mark.full) for part in range(PARTS)]
)
def test_random_programs(part: int, full: bool) -> None:
    problems: list[str] = []
    chosen, clean, compared = seeds(part, full), 0, 0
    for number, seed in enumerate(chosen):
        trial = loaded(program(seed))
        found = [*told_apart(trial, 1)]
        if number % SCHEDULED[full] == 0:
            found += scheduled(trial, full)
            clean += trial.is_clean
        if number % BARE[full] == 0:
            found += bared(trial)
            compared += trial.is_compared and re.search("vecscope|aivector_scope", trial.subject.text) is not None
        if number < TIMED[full]:
            found += timed_apart(trial)
        problems += [f"{problem}: {trial.subject}" for problem in found]
    assert not problems, "\n".join(problems)
    assert clean >= len(chosen[:: SCHEDULED[full]]) // 5, "next to no program is clean"
    assert compared >= len(chosen[:: BARE[full]]) // 4, "next to none is compared without its scopes"


def told_apart(trial: Trial, threads: int) -> Iterator[str]:
    """What compiled code makes of it that the reference engine does not."""
    found = trial.outcome(engine="native", threads=threads)
    if found != trial.expected:
        yield f"native with {threads} threads: {shown(found)}, expected {shown(trial.expected)}"


def scheduled(trial: Trial, full: bool) -> Iterator[str]:
    """Where a clean program fails, or has another outcome under another schedule or with blocks that run at once."""
    if not trial.is_clean:
        return
    if trial.subject.grid > 1:
        yield from told_apart(trial, 2)
    if not all(isinstance(part, bytes) for part in trial.expected):
        yield f"clean, and yet {trial.expected}"
    for schedule in schedules(trial.subject, full):
        found = trial.outcome(engine="reference", schedule=schedule)
        if found != trial.expected:
            yield f"{schedule}: {shown(found)}, expected {shown(trial.expected)}"


def schedules(subject: Program, full: bool) -> Iterator[str]:
    chosen = random.Random(subject.seed)
    yield from (f"random:{chosen.randrange(10**6)}" for _ in range(SCHEDULES[full]))
    yield from (f"delay:{pipe}" for pipe in ("MTE2", "MTE3", "V", "S"))


def bared(trial: Trial) -> Iterator[str]:
    """What it gives without its scopes that it does not give with them."""
    if trial.bare is None or not trial.is_compared:
        return
    for engine, found in (
        ("reference", trial.bare.expected),
        ("native", trial.bare.outcome(engine="native", threads=1)),
    ):
        if found != trial.expected:
            yield f"without scopes, {engine}: {shown(found)}, expected {shown(trial.expected)}"


def timed_apart(trial: Trial) -> Iterator[str]:
    """Where the profiles of the two engines differ, or the errors that end them."""
    subject = trial.subject
    try:
        same_outcome(trial.kernel, *subject.launch().arguments, grid=subject.grid)
    except AssertionError as problem:
        yield f"timed: {problem}"


def shown(outcome: Outcome) -> list[object]:
    """Errors as they are, contents by their checksums."""
    return [crc32(part) if isinstance(part, bytes) else part for part in outcome]
