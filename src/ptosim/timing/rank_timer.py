"""Launches on several ranks, timed: copies between ranks share what the links carry.

How long a copy takes depends on those that overlap it, and when it begins on what came before. So the run is timed
again, from what was told of it, with what the copies took of the links according to the times found before, until
nothing changes. What is right up to some moment stays right, and each round goes beyond that moment.
"""

from __future__ import annotations

from collections.abc import Callable

from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, EntryKind
from ptosim.target import Target
from ptosim.timing.links import Caps, Crossing, taken
from ptosim.timing.pipe_timer import PipeTimer
from ptosim.timing.recording import Recording
from ptosim.timing.work import Prices

MOST_ROUNDS = 12
"""Times that a run is timed again; where that is not enough, the end of it is approximate."""


class WorldTimer(PipeTimer):
    """Times launches on several ranks."""

    def __init__(self, target: Target, prices: Prices) -> None:
        super().__init__(target, prices)
        self.target = target
        self._told: list[Callable[[PipeTimer], None]] = []

    def recording(self) -> Recording:
        found, delayed = super().recording(), list[int]()
        for _ in range(MOST_ROUNDS):
            crossings = _crossings(found)
            now = taken(crossings, Caps.of(self.target))
            before = delayed or [each.alone for each in crossings]
            if now == before:
                break
            delayed = now
            found = self._again(delayed)
        return found

    def _again(self, delayed: list[int]) -> Recording:
        """The same run, with other times for its copies between ranks."""
        timer = PipeTimer(self.target, self.prices)
        timer.delayed = delayed
        timer.words.first = self.words.first
        for event in self._told:
            event(timer)
        return timer.recording()

    # --- what is told of a run ----------------------------------------------------------------------------------------

    def begin(self, core: Core) -> None:
        super().begin(core)
        self._told.append(lambda timer: timer.begin(core))

    def issue(self, entry: Entry) -> None:
        super().issue(entry)
        self._told.append(lambda timer: timer.issue(entry))

    def start(self, entry: Entry) -> None:
        super().start(entry)
        self._told.append(lambda timer: timer.start(entry))

    def end(self, entry: Entry) -> None:
        done = self.done(entry) if entry.kind is EntryKind.WORK else None
        self.ended(entry, done)
        self._told.append(lambda timer: timer.ended(entry, done))

    def finish(self, core: Core) -> None:
        super().finish(core)
        self._told.append(lambda timer: timer.finish(core))


def _crossings(recording: Recording) -> list[Crossing]:
    rows = recording.rows
    return [
        Crossing((rows.core[row], lane), source, dest, rows.start[row], alone, rows.bytes[row])
        for row, source, dest, alone, lane in recording.crossings
    ]
