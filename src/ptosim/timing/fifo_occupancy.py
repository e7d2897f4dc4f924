"""Occupancy of FIFOs between cores: slots that are filled and not yet given back, from the signals of a recording.

A signal between cores that was made for another operation of the text is one of a FIFO: a push signals a full slot; the
next semaphore signals free ones, the other way.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptosim.machine.entry import Site
from ptosim.timing.recording import Recording


@dataclass(slots=True)
class Fifo:
    """One way from a core to another: when slots were filled, taken, and given back."""

    source: int
    dest: int
    end: int
    """The end of the core that takes entries."""
    push: Site | None = None
    """The first operation that fills slots."""
    filled: list[int] = field(default_factory=list[int])
    taken: list[int] = field(default_factory=list[int])
    returned: list[int] = field(default_factory=list[int])

    def levels(self) -> Iterator[tuple[int, int]]:
        """The number of slots in use from each moment on. What is given back are all that were taken before; those
        that are left are so when the consumer ends."""
        taken, before = sorted(self.taken), 0
        changes = [(moment, 1) for moment in self.filled]
        for moment in (*sorted(self.returned), self.end):
            count = len(taken) if moment == self.end else bisect_left(taken, moment)
            changes.append((moment, before - count))
            before = count
        level = 0
        for moment, change in sorted(changes):
            level += change
            if change:
                yield moment, level


def fifos(recording: Recording) -> list[Fifo]:
    """The FIFOs of a run, one for each direction and pair of cores."""
    found: dict[tuple[int, int, int], Fifo] = {}

    def fifo(source: int, dest: int, number: int) -> Fifo:
        return found.setdefault((source, dest, number), Fifo(source, dest, recording.cores[dest].end))

    for core, _, site, sent, to_core, _, _, taken, number in recording.signals:
        at = recording.sites[site]
        if core == to_core or not at.served:
            continue
        if "push" in at.served.split()[0]:
            here = fifo(core, to_core, number)
            here.push = here.push or at
            here.filled.append(sent)
            here.taken.append(taken)
        else:
            fifo(to_core, core, number - 1).returned.append(sent)
    return [each for each in found.values() if each.push is not None]
