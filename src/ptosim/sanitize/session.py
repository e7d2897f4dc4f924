"""One check: a run under observation, repeated where suspected loads have to be decided, and its findings in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ptosim.diagnostics import Diagnostic, PTOError
from ptosim.machine.observer import Observer
from ptosim.sanitize.checker import Checker, Subject
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.hints import Repairs
from ptosim.sanitize.wording import diagnostic

Execute = Callable[[Observer], Callable[[Sequence[int] | None], None]]
"""Prepares a run of the kernel on fresh copies of its arguments; the result runs the blocks it is given (None: all)."""


def check(subject: Subject, execute: Execute, blocks: Sequence[int], unwritten: bool = False) -> list[Diagnostic]:
    """Run these blocks of a kernel and say what is wrong with it. Nothing that a kernel does raises."""
    checker = Checker(subject)
    _run(checker, execute, blocks)
    if checker.candidates:
        again = Checker(subject, checker.candidates)
        _run(again, execute, blocks)
        checker.findings.add(again.findings)
    checker.conclude(unwritten)

    @cache
    def repairs() -> Repairs:  # looks through the program, for which there is no reason while nothing is wrong
        flags = {(key.source, key.destination, key.id) for key in checker.used_flags.values()}
        return Repairs(subject.program, flags, checker.used_semaphores)

    found = checker.findings.each_once()
    return [
        diagnostic(finding, repairs(), checker.unconsumed) if isinstance(finding, Conflict) else finding
        for finding in found
    ]


def _run(checker: Checker, execute: Execute, blocks: Sequence[int]) -> None:
    """Blocks that wait for each other run together, others one by one; what ends one early is a finding."""
    portions: list[Sequence[int] | None] = [None] if checker.subject.together else [[block] for block in blocks]
    try:
        start = execute(checker)
    except PTOError as problem:  # an instruction that cannot be run
        checker.ended_early(problem.diagnostics)
        return
    for portion in portions:
        try:
            start(portion)
        except PTOError as problem:
            checker.ended_early(problem.diagnostics)
