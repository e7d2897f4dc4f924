"""One check: a run under observation, repeated where suspected loads have to be decided, and its findings in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    faults = _run(checker, execute, blocks)
    for fault in faults:
        checker.findings.diagnostic(fault)
    if checker.candidates:
        again = Checker(subject, checker.candidates)
        _run(again, execute, blocks)
        for finding in again.findings:
            if isinstance(finding, Conflict):
                checker.findings.conflict(finding)
    checker.conclude(unwritten)
    repairs = Repairs(subject.program, checker.used_flags, checker.used_semaphores)
    return [diagnostic(finding, repairs) if isinstance(finding, Conflict) else finding for finding in checker.findings]


def _run(checker: Checker, execute: Execute, blocks: Sequence[int]) -> list[Diagnostic]:
    """What ended blocks early. Blocks that wait for each other run together, others one by one."""
    faults: list[Diagnostic] = []
    try:
        start = execute(checker)
    except PTOError as problem:  # an instruction that cannot be run
        return list(problem.diagnostics)
    for portion in [None] if checker.subject.together else [[block] for block in blocks]:
        try:
            start(portion)
        except PTOError as problem:
            faults += problem.diagnostics
    return faults
