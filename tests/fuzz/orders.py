"""Micro programs of flags, buffers and barriers: what prove, check, repair and insertion say, held against the judge.

The judge is `order.micro_machine`. `Kinds` of wrong answers:

* proven: a launch shows a fault;
* refuted: the counterexample does not show with the arguments that it names;
* check: it finds something in a clean launch, or nothing in one with a fault;
* repair: an accepted repair is worse at some launch;
* insertion: what was inserted shows a fault, or is not proven;
* completion: what was inserted beside written order leaves a race or adds a fault.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np

import ptosim
from order.micro_machine import Outcome, outcome, scope_lines
from order.micro_programs import ORDERING, STYLES, MicroProgram, micro_program
from order.micro_script import TRIPS

TOLD = {"race", "double-set", "undrained", "deadlock", "unmatched-wait", "buffer-misuse", "id-range"}
KINDS = {"unmatched-wait": "hang", "deadlock": "hang", "id-range": "buffer-misuse"}
"""What the judge calls a kind of finding, where that is not the same."""


@dataclass
class Trial:
    """All that is asked about a program."""

    program: MicroProgram
    kernel: ptosim.Kernel
    launches: list[tuple[int, ...]]
    bad: tuple[int, ...] | None = None
    """The first launch that shows a fault."""
    verdict: str = ""
    wrong: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Kinds of wrong answers, and what is wrong."""


def tried(seed: int, number: int, *more: Callable[[Trial], None]) -> Trial | None:
    """A program, proven and judged; None where it does not load."""
    program = micro_program(seed, number)
    try:
        kernel = ptosim.load(program.text).kernel()
    except ptosim.PTOError:
        return None
    trial = Trial(program, kernel, program.launches())
    trial.bad = next((each for each in trial.launches if outcome(program.text, each).kinds), None)
    proof = ptosim.prove(kernel)
    trial.verdict = "proven" if proof.proven else "refuted" if proof.findings else "undecided"
    if proof.proven and trial.bad is not None:
        trial.wrong.append(("proven", f"{trial.bad}: {outcome(program.text, trial.bad)}"))
    for found in proof.findings:
        if not shows(program, found):
            trial.wrong.append(("refuted", str(found)))
            break
    for ask in more:
        ask(trial)
    return trial


# --- counterexamples --------------------------------------------------------------------------------------------------


def shows(program: MicroProgram, found: ptosim.Finding) -> bool:
    """Whether a launch with the named arguments shows a finding."""
    named = {name: int(number) for note in found.notes for name, number in re.findall(r"%(\w+) = (-?\d+)", note)}
    scopes = scope_lines(program.text)
    lines = [place.line for place in (found.location, *(other.location for other in found.related)) if place]
    places = [scopes.get(line, line) for line in lines]
    choices = [(named[name],) if name in named else (0, 1, 2, 3) for name in program.parameters]
    return any(_has(program, outcome(program.text, launch), found.kind, places) for launch in product(*choices))


def _has(program: MicroProgram, seen: Outcome, kind: str, places: list[int]) -> bool:
    match kind:
        case "race":
            return (min(places), max(places)) in seen.races
        case "double-set":
            return places[0] in seen.doubled
        case "undrained":
            pipes = _pipes(program, places[0]) if places else None
            return pipes in seen.left if pipes is not None else bool(seen.left or seen.stuck)
        case "unmatched-wait" | "deadlock":
            return places[0] in seen.stuck or _pipes(program, places[0]) in seen.stuck.values()
        case _:
            return places[0] in seen.misused


def _pipes(program: MicroProgram, line: int) -> tuple[str, str] | None:
    found = re.search(r"_flag\w*\[\"PIPE_(\w+)\", \"PIPE_(\w+)\"", program.text.split("\n")[line - 1])
    return (found[1], found[2]) if found else None


# --- what else is asked -----------------------------------------------------------------------------------------------


def _arguments(program: MicroProgram, launch: tuple[int, ...]) -> list[object]:
    """Arrays that are large enough, with other numbers everywhere, and the launch."""
    counts = launch[: len([name for name in program.parameters if name in TRIPS])]
    size = 64 * 100 * (max((4, *counts)) + 1)
    return [np.arange(size, dtype=np.float32) + at * size for at in range(3)] + list(launch)


def _checked(kernel: ptosim.Kernel, program: MicroProgram, launch: tuple[int, ...]) -> set[str]:
    found = ptosim.check(kernel, *_arguments(program, launch)).findings
    kinds = {each.kind for top in found for each in (top, *top.consequences)} & TOLD
    return {KINDS.get(kind, kind) for kind in kinds}


def checking(trial: Trial) -> None:
    """A check of the first launch that shows a fault, and of one that shows none."""
    program = trial.program
    clean = next(
        (
            each
            for each in sorted(trial.launches, key=lambda each: abs(sum(each) - 5))
            if not outcome(program.text, each).kinds
        ),
        None,
    )
    if clean is not None and (kinds := _checked(trial.kernel, program, clean)):
        trial.wrong.append(("check", f"{clean} is clean, and check finds {kinds}"))
    if trial.bad is not None and not _checked(trial.kernel, program, trial.bad):
        trial.wrong.append(("check", f"{trial.bad} is not: {outcome(program.text, trial.bad)}"))


def repairing(trial: Trial) -> None:
    """A repair of the first launch that shows a fault: no launch may show a fault that it did not show before."""
    program = trial.program
    if trial.bad is None:
        return
    fix = ptosim.check(trial.kernel, *_arguments(program, trial.bad)).fix()
    if not fix.verified:
        return
    for launch in trial.launches:
        before, after = outcome(program.text, launch), outcome(fix.text, launch)
        if (not before.stuck and after.kinds - before.kinds) or (after.stuck and not before.stuck):
            edit = "\n".join(line for line in fix.diff.split("\n") if line[:1] in "+-")
            trial.wrong.append(("repair", f"{launch}: {before.kinds} became {after.kinds}\n{edit}"))
            return


def inserting(trial: Trial) -> None:
    """The program without its order, in order again: clean at every launch, and proven."""
    bare = "\n".join(line for line in trial.program.text.split("\n") if not ORDERING.match(line))
    module = ptosim.load(bare, sync="insert")
    text = module.lowered().outline.source.text
    for launch in trial.launches:
        if (seen := outcome(text, launch)).kinds:
            trial.wrong.append(("insertion", f"{launch}: {seen}\n{text}"))
            return
    if not (proof := ptosim.prove(module.kernel())).proven:
        trial.wrong.append(("insertion", f"not proven\n{proof}"))


def completing(trial: Trial) -> None:
    """What is missing is inserted beside what is written, or the module is refused: no race is left."""
    try:
        text = ptosim.load(trial.program.text, sync="insert").lowered().outline.source.text
    except ptosim.PTOError as refused:
        if trial.bad is None:
            trial.wrong.append(("completion", f"refused\n{refused}"))
        return
    for launch in trial.launches:
        seen, before = outcome(text, launch), outcome(trial.program.text, launch)
        if seen.races or seen.kinds - before.kinds:
            trial.wrong.append(("completion", f"{launch}: {seen}\n{text}"))
            return


# --- the command ------------------------------------------------------------------------------------------------------


def main(count: int, seed: int) -> bool:
    """Try as many programs, tell the wrong answers and how many were decided; whether all is right."""
    told = Counter[tuple[str, str]]()
    wrong = Counter[str]()
    for number in range(count):
        trial = tried(seed, number, checking, repairing, inserting, completing)
        if trial is None:
            continue
        state = "with a fault" if trial.bad is not None else "clean"
        told[trial.program.style, f"{trial.verdict} {state}"] += 1
        for kind, what in trial.wrong:
            wrong[kind] += 1
            sys.stdout.write(f"{trial.program.style} {number}: {kind}: {what}\n")
    for line in table(told):
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"wrong: {dict(wrong) or 'nothing'}\n")
    return not wrong


def table(told: Counter[tuple[str, str]]) -> Iterator[str]:
    """By style how many programs are proven, refuted and undecided, with a fault or without."""
    columns = [
        f"{verdict} {state}" for verdict in ("proven", "refuted", "undecided") for state in ("clean", "with a fault")
    ]
    yield "  ".join(["style".ljust(10), *columns])
    for style in STYLES:
        yield "  ".join([style.ljust(10), *(str(told[style, column]).rjust(len(column)) for column in columns)])
