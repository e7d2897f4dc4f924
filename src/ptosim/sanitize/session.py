"""One check: a run under observation, repeated where suspected loads have to be decided, and its findings in words.

What to do about them is said in repair/.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from ptosim.diagnostics import Diagnostic, Location, PTOError
from ptosim.machine.entry import Site
from ptosim.machine.observer import Observer
from ptosim.sanitize.candidates import RepeatedRun
from ptosim.sanitize.checker import Checker
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.near_misses import NearMisses
from ptosim.sanitize.observation import Observation, Step
from ptosim.sanitize.overwritten import OverwritingRun
from ptosim.sanitize.program import WrittenProgram
from ptosim.sanitize.undefined_and_racy import DoubtObserver, Subject
from ptosim.sanitize.wording import diagnostic

Execute = Callable[[Observer], Callable[[Sequence[int] | None], None]]
"""Prepares a run of the kernel on fresh copies of its arguments; the result runs the blocks it is given (None: all)."""
Heard = Callable[[str, str, Location | None], None]
"""Told of a finding before it is put into words: its severity, kind and place."""
MOST_RUNS = 8
"""The most runs that repeat one with its knowledge of words in GM; each learns less than the one before."""
Said = Collection[tuple[str, str, int | None]]
"""Kind, message and line of findings that the verifier has reported already."""


def observe(
    subject: Subject,
    execute: Execute,
    blocks: Sequence[int],
    said: Said = (),
    most: int | None = None,
    heard: Heard | None = None,
) -> Observation:
    """Run these blocks of a kernel and say what is wrong with it. Nothing that a kernel does raises. Once there are so
    many findings no further block is run; each is heard of as soon as its block has ended."""
    checker = Checker(subject)
    blocks = _run(checker, execute, blocks, most, heard)
    last = blocks[-1] if most is not None and checker.findings.number >= most else None
    for _ in range(MOST_RUNS):
        foreseen = checker.foresight()
        if foreseen is None:
            break
        checker = Checker(subject, foreseen)
        _run(checker, execute, blocks)
    if checker.candidates:
        again = RepeatedRun(subject, checker.candidates, checker.foreseen)
        _run(again, execute, blocks)
        checker.findings.add(list(again.confirmed(checker.findings)))
    if subject.overwrites and subject.program.pointer_roots.are_many and checker.may_overwrite():
        overwriting = OverwritingRun(subject, subject.program.pointer_roots, checker.foreseen)
        _run(overwriting, execute, blocks)
        checker.findings.add(each for each in overwriting.findings.found.values() if isinstance(each, Conflict))
    checker.conclude()
    for found in checker.findings.found.values():
        if isinstance(found, Conflict):  # speak of tiles and their rows where the bytes are those of one
            found.place = subject.program.named(found.place, found.second.site)
    near = NearMisses(subject.program, checker.imbalances.values())
    worded = [
        (found, near.told(found, _words(found, checker, subject.program))) for found in checker.findings.each_once()
    ]
    worded = [(found, _fitting(words, checker.steps)) for found, words in worded]
    worded = _led_by_missing_waits(worded)
    new = [(found, words) for found, words in worded if (words.kind, words.message, words.line) not in said]
    return Observation(
        subject.program,
        [found for found, _ in new],
        [words for _, words in new],
        tuple(checker.imbalances.values()),
        checker.lints.endings,
        checker.steps,
        frozenset(checker.standing),
        checker.gm,
        checker.steps.total() / len(blocks),
        last,
        not checker.is_cut,
        tuple(checker.findings.notes.values()),
    )


def _run(
    checker: DoubtObserver, execute: Execute, blocks: Sequence[int], most: int | None = None, heard: Heard | None = None
) -> Sequence[int]:
    """Blocks that wait for each other run together, others one by one; what ends one early is a finding. Gives those
    that have run."""
    together = checker.subject.together
    try:
        start = execute(checker)
    except PTOError as problem:  # an instruction that cannot be run
        checker.ended_early(problem.raised)
        return blocks
    told: set[object] = set()
    for number, portion in enumerate([None] if together else [[block] for block in blocks], 1):
        try:
            start(portion)
        except PTOError as problem:
            checker.ended_early(problem.raised)
        if heard is not None:
            _tell(checker, told, heard)
        if most is not None and checker.findings.number >= most and not together:
            return blocks[:number]
    return blocks


Worded = list[tuple[Conflict | Diagnostic, Diagnostic]]


def _led_by_missing_waits(worded: Worded) -> Worded:
    """Between ranks, data that are read before they have arrived lead: that they are also written before they were
    read follows, since the same wait would order both."""
    leaders: dict[tuple[Site, frozenset[int | None]], Conflict] = {}
    for found, _ in worded:
        race = _between_ranks(found)
        if race is not None and race.reads_too_early and race.first is not None:
            leaders.setdefault((race.first.site, _ranks(race)), race)
    kept: Worded = []
    following: dict[int, list[Diagnostic]] = {}
    for found, words in worded:
        race = _between_ranks(found)
        overwrites = race is not None and race.first is not None and race.first.verb == "reads"
        if race is not None and overwrites and (leader := leaders.get((race.second.site, _ranks(race)))) is not None:
            following.setdefault(id(leader), []).append(words)
        else:
            kept.append((found, words))
    return [
        (found, replace(words, consequences=(*words.consequences, *following.get(id(found), ()))))
        for found, words in kept
    ]


def _between_ranks(found: Conflict | Diagnostic) -> Conflict | None:
    if isinstance(found, Conflict) and found.kind == "race" and found.relation == "between ranks":
        return found
    return None


def _ranks(race: Conflict) -> frozenset[int | None]:
    return frozenset(side.rank for side in (race.first, race.second) if side is not None)


def _words(found: Conflict | Diagnostic, checker: Checker, program: WrittenProgram) -> Diagnostic:
    return diagnostic(found, checker.unconsumed) if isinstance(found, Conflict) else program.touching(found)


def _fitting(found: Diagnostic, steps: Counter[Step]) -> Diagnostic:
    """An access that is outside in few iterations of a loop only, which the last ones are."""
    if found.kind != "out-of-bounds" or not found.loops or found.location is None:
        return found
    there = (number for (site, _, key), number in steps.items() if key is None and site.location == found.location)
    if max(there, default=0) < 2 * found.count:
        return found
    said = "fits in all other iterations: is the size of the last one what is left of it, such as min(16, rows - row)?"
    return replace(found, notes=(*found.notes, said))


def _tell(checker: DoubtObserver, told: set[object], heard: Heard) -> None:
    """New findings."""
    for key, found in checker.findings.found.items():
        if key not in told:
            told.add(key)
            place = found.second.site.location if isinstance(found, Conflict) else found.location
            heard(found.severity, found.kind, place)
