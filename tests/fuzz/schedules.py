"""Kernels of the micro level under many schedules: the theorem, held by an oracle that needs no second model.

Kinds of wrong answers:

* theorem: a check finds no error, and some schedule leaves other bytes than the run in program order;
* native: compiled code that is checked says something else than the reference engine;
* inserted: synchronisation that was inserted instead of the written one does not keep the bytes of program order, or
  does not check clean;
* broken: an answer that is a traceback.
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from collections.abc import Iterator

import ptosim
from fuzz.schedule_programs import ScheduleProgram, schedule_program
from ptosim.arguments import bind
from ptosim.checking import Kernel, Launch, observed
from sifting import assert_agrees

DELAYED = tuple(f"delay:{pipe}" for pipe in ("S", "V", "MTE2", "MTE3"))
Outcome = list[bytes] | str


def schedules(count: int) -> tuple[str, ...]:
    """Each pipe as late as possible, and so many random ones."""
    return *DELAYED, *(f"random:{seed}" for seed in range(count))


def outcome(program: ScheduleProgram, kernel: Kernel, schedule: str) -> Outcome:
    """The bytes that a run leaves, or the kind of error that ends it."""
    arguments = program.arguments()
    try:
        kernel(*arguments, engine="reference", schedule=schedule)
    except ptosim.PTOError as problem:
        return problem.diagnostics[0].kind
    return [array.tobytes() for array in arguments]


def differing(program: ScheduleProgram, kernel: Kernel, expected: Outcome, count: int) -> str | None:
    """The first schedule that leaves something else."""
    return next((each for each in schedules(count) if outcome(program, kernel, each) != expected), None)


class Trial:
    """All that is asked about a program."""

    def __init__(self, program: ScheduleProgram, count: int = 36) -> None:
        self.program = program
        self.kernel = ptosim.load(program.text).kernel()
        self.expected = outcome(program, self.kernel, "program")
        self.runs = not isinstance(self.expected, str)
        launch = Launch(bind(self.kernel.signature, tuple(program.arguments())), 1)
        self.reference = observed(self.kernel, launch, "relaxed", range(1))
        self.is_clean = all(finding.severity != "error" for finding in self.reference.findings)
        self.differs = differing(program, self.kernel, self.expected, count) if self.runs else None
        self._launch = launch

    def wrong(self) -> Iterator[tuple[str, str]]:
        if self.is_clean and self.differs is not None:
            yield "theorem", f"clean, and {self.differs} leaves other bytes"
        try:
            again = lambda blocks: observed(self.kernel, self._launch, "relaxed", blocks)  # noqa: E731
            assert_agrees(self.kernel, self._launch, range(1), self.reference, again)
        except AssertionError as problem:
            yield "native", str(problem)

    def wrong_if_inserted(self, count: int = 8) -> Iterator[tuple[str, str]]:
        """The same kernel without its own order, and with what is inserted."""
        bare = ScheduleProgram(self.program.seed, self.program.features, self.program.bare)
        expected = outcome(bare, ptosim.load(bare.text).kernel(), "program")
        inserted = ptosim.load(bare.text, sync="insert").kernel()
        if isinstance(expected, str):
            return
        if (other := differing(bare, inserted, expected, count)) is not None:
            yield "inserted", f"{other} leaves other bytes than program order"
        launch = Launch(bind(inserted.signature, tuple(bare.arguments())), 1)
        found = observed(inserted, launch, "relaxed", range(1)).findings
        for finding in found:
            if finding.kind == "race" and finding.severity == "error":
                yield "inserted", f"not clean: {finding}"
                break


def main(count: int, seed: int) -> bool:
    """As many programs from a seed on; whether all went well."""
    told = Counter[str]()
    for number in range(seed, seed + count):
        program = schedule_program(number)
        try:
            trial = Trial(program)
            wrong = [*trial.wrong(), *trial.wrong_if_inserted()]
            told["clean" if trial.is_clean else "found" if trial.runs else "fails"] += 1
            told["found and shown"] += not trial.is_clean and trial.differs is not None
        except Exception:
            wrong = [("broken", traceback.format_exc())]
        for kind, what in wrong:
            told[kind] += 1
            sys.stdout.write(f"{kind}: seed {number} ({', '.join(program.features)}): {what}\n")
        sys.stdout.flush()
    sys.stdout.write(", ".join(f"{kind} {times}" for kind, times in sorted(told.items())) + "\n")
    return not any(kind in told for kind in ("theorem", "native", "inserted", "broken"))
