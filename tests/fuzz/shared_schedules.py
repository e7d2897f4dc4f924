"""Kernels of blocks and ranks that share global memory, and of clusters with FIFOs, under many schedules.

Kinds of wrong answers:

* theorem: a check finds no error, nor that a branch goes by an answer that depends on the schedule, and some schedule
  leaves other bytes than the run in program order, or ends in an error;
* engines: checks of the two engines say something else;
* broken: an answer that is a traceback.
"""

from __future__ import annotations

import random
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

import ptosim
from fifo_programs import inputs
from fuzz.shared_programs import shared_program
from sanitize import random_clusters
from tiles.test_fifo import Fifo, to_cube, to_vector

DELAYED = tuple(f"delay:{pipe}" for pipe in ("S", "V", "MTE2", "MTE3"))


class Subject(Protocol):
    """What is tried."""

    def run(self, schedule: str) -> list[bytes]: ...
    def check(self, engine: str) -> ptosim.CheckReport: ...


@dataclass(frozen=True)
class ClusterProgram:
    """A kernel of one cluster."""

    text: str
    given: tuple[np.ndarray | int, ...]

    def run(self, schedule: str) -> list[bytes]:
        given = [each.copy() if isinstance(each, np.ndarray) else each for each in self.given]
        ptosim.load(self.text).kernel()(*given, engine="reference", schedule=schedule)
        return [each.tobytes() for each in given if isinstance(each, np.ndarray)]

    def check(self, engine: str) -> ptosim.CheckReport:
        return ptosim.check(ptosim.load(self.text).kernel(), *self.given, engine=engine)


def program(seed: int) -> Subject:
    """Every fourth one is a cluster, by turns with steps of its own and with a FIFO; the others share words."""
    if seed % 4:
        return shared_program(seed)
    return cluster(seed) if seed % 8 else fifo(seed)


def cluster(seed: int) -> ClusterProgram:
    source = random.Random(seed)
    text = random_clusters.cluster(seed, source.randrange(4, 10), care=source.choice([0.85, 1.0]))
    return ClusterProgram(text, tuple(random_clusters.arguments(seed)))


SYNC = re.compile(r"^\s*pto\.(set_flag|wait_flag|set_intra_block|wait_intra_block|barrier)\b.*$", re.MULTILINE)


def fifo(seed: int) -> ClusterProgram:
    """Entries that pass a FIFO, as micro-instructions; perhaps without one of their signals."""
    source = random.Random(seed)
    way, mask = source.choice([(to_vector, 1), (to_cube, 2)])
    made = Fifo(source.choice([1, 2, 4]), source.choice([0, 1]), through_gm=source.random() < 0.4, mask=mask)
    text = ptosim.load(way(made, 1)).lowered().source
    if source.random() < 0.6:
        line = source.choice(list(SYNC.finditer(text)))
        text = text[: line.start()] + text[line.end() :]
    a, b, product = inputs(entries := source.randrange(1, 6))
    return ClusterProgram(text, (a, b, np.zeros_like(product), entries, *made.arguments()))


def outcome(subject: Subject, schedule: str) -> list[bytes] | str:
    """The bytes that a run leaves, or the kind of error that ends it."""
    try:
        return subject.run(schedule)
    except ptosim.PTOError as problem:
        return problem.diagnostics[0].kind


class SharedTrial:
    """All that is asked about a program."""

    def __init__(self, subject: Subject, seeds: int) -> None:
        self.subject = subject
        found = subject.check("reference").findings
        self.is_clean = not any(
            each.severity == "error" or each.kind == "signal-overrun" or "depends on the schedule" in each.message
            for each in found
        )
        self.found = [(each.kind, each.severity, each.line, each.message) for each in found]
        self.expected = outcome(subject, "program")
        drawn = (f"random:{seed}" for seed in range(seeds))
        ways = (each for each in (*DELAYED, *drawn) if outcome(subject, each) != self.expected)
        self.differs = next(ways, None)

    def wrong(self) -> Iterator[tuple[str, str]]:
        if self.is_clean and (self.differs is not None or isinstance(self.expected, str)):
            yield "theorem", f"clean, and {self.differs or 'program order'} leaves other bytes: {self.found}"
        again = [(each.kind, each.severity, each.line, each.message) for each in self.subject.check("native").findings]
        if again != self.found:
            yield "engines", f"{again} instead of {self.found}"


def main(count: int, seed: int) -> bool:
    """As many programs from a seed on; whether all went well."""
    told = Counter[str]()
    for number in range(seed, seed + count):
        try:
            trial = SharedTrial(program(number), 36)
            wrong = list(trial.wrong())
            told["clean" if trial.is_clean else "found"] += 1
            told["found and shown"] += not trial.is_clean and trial.differs is not None
        except Exception:
            wrong = [("broken", traceback.format_exc())]
        for kind, what in wrong:
            told[kind] += 1
            sys.stdout.write(f"{kind}: shared seed {number}: {what}\n")
        sys.stdout.flush()
    sys.stdout.write(", ".join(f"{kind} {times}" for kind, times in sorted(told.items())) + "\n")
    return not any(kind in told for kind in ("theorem", "engines", "broken"))
