"""The steps of a timed run, so that it can be timed again with one of them changed (retiming.py)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, EntryKind, Site
from ptosim.target import Target
from ptosim.timing.pipe_timer import PIPE_NUMBERS, Done, PipeTimer
from ptosim.timing.work import Prices

MOST_STEPS = 40_000
UNKNOWN = frozenset({EntryKind.TRANSFER, EntryKind.WATCH, EntryKind.NOTIFY})
"""Waits for words in GM and self-running work, which are not timed again."""

Bytes = tuple[Any, Any, int, int, bool]
"""A memory, the core it belongs to, first byte and one past the last, and whether they are written."""


class TooManySteps(Exception):
    """The run is too long to be kept."""


@dataclass(eq=False)
class Step:
    """An entry of a pipe, or what the scalar unit does."""

    core: int
    pipe: int
    kind: EntryKind
    site: Site
    loops: tuple[int, ...]
    operations: int
    """The operations of the scalar unit since the step before."""
    key: Any = None
    cycles: int = 0
    bytes: int = 0
    timing_class: str = ""
    """Empty for a vector scope."""
    steady: float = 0
    """The steady cycles of a vector scope: how long its busiest unit is taken, its addition to one under way."""
    sources: tuple[Step, ...] = ()
    """Sets and releases that a wait has consumed; of a set, entries of other pipes that it speaks for."""
    counts: Any = None
    """The counts of a launch of workitems."""
    touched: list[Bytes] = field(default_factory=list[Bytes])
    of_ranges: bool = False
    """A barrier that waits for some bytes only."""


@dataclass
class StepLog:
    """All of them, in the order in which they were issued and started: False and True beside each."""

    events: list[tuple[Step, bool]] = field(default_factory=list[tuple[Step, bool]])
    blocks: list[int] = field(default_factory=list[int])
    """The block of each core."""
    rest: list[int] = field(default_factory=list[int])
    """Operations of each scalar unit behind its last step."""
    complete: bool = True


class StepLogger(PipeTimer):
    """Times a launch and keeps its steps."""

    def __init__(self, target: Target, prices: Prices) -> None:
        super().__init__(target, prices)
        self.follows_gm = True
        self.log = StepLog()
        self._steps: dict[int, tuple[Entry, Step]] = {}  # entries are kept so that their identities stay theirs
        self._counted: dict[int, int] = {}

    def begin(self, core: Core) -> None:
        super().begin(core)
        cores = self.recorder.recording.cores
        while len(self.log.blocks) < len(cores):
            self.log.blocks.append(cores[len(self.log.blocks)].block)
            self.log.rest.append(0)

    def issue(self, entry: Entry) -> None:
        super().issue(entry)
        index = self._state(entry.core).index
        operations = entry.operations + 1 - self._counted.get(index, 0)
        self._counted[index] = entry.operations
        step = Step(index, PIPE_NUMBERS[entry.pipe], entry.kind, entry.site, entry.loops, operations, entry.key)
        step.of_ranges = entry.ranges is not None
        self.log.complete &= entry.kind not in UNKNOWN and entry.core.rank is None and entry.unit is None
        self._steps[id(entry)] = entry, step
        self.log.events.append((step, False))
        if len(self.log.events) > MOST_STEPS:
            raise TooManySteps

    def start(self, entry: Entry) -> None:
        super().start(entry)
        step = self._steps[id(entry)][1]
        before = entry.consumed if entry.kind in (EntryKind.WAIT, EntryKind.GET) else entry.needs
        step.sources = tuple(self._steps[id(each)][1] for each in before if id(each) in self._steps)
        self.log.events.append((step, True))

    def ended(self, entry: Entry, done: Done | None) -> None:
        super().ended(entry, done)
        if done is None:
            return
        step = self._steps[id(entry)][1]
        step.cycles, step.bytes = done.cost.cycles, done.cost.bytes
        step.counts = entry.facts.get("counts") if entry.facts else None
        if (function := done.cost.function) is not None:
            step.steady = max(function.busy.values(), default=0)
        step.timing_class = self.prices.of(entry.site).timing_class
        for writes, hulls in enumerate((done.reads, done.writes)):
            step.touched += [
                (space, owner, low, high, bool(writes)) for (_, space, owner), (low, high) in hulls.items()
            ]

    def finish(self, core: Core) -> None:
        index = self._state(core).index
        self.log.rest[index] = core.operations - self._counted.get(index, 0)
        super().finish(core)
