"""The intended order of two accesses of different cores.

Between cores there is no order of the program, and which of them comes first in a run is an accident. Loops that both
run alike tell: an access of an earlier iteration was meant to come before one of a later iteration, and inside one
what is written before what is read.
"""

from __future__ import annotations

from ptosim.diagnostics import Location
from ptosim.machine.clock import entry_index
from ptosim.machine.entry import Entry
from ptosim.sanitize.conflict import Conflict
from ptosim.sanitize.program import WrittenProgram
from ptosim.sanitize.same_loops import loops_alike

KEPT = 256
"""Entries per pipe whose loop indices are remembered; memory must not grow with the number of steps."""

Loops = tuple[int, ...]


class Iterations:
    """The loop indices of the latest entries, where a cluster has several cores."""

    def __init__(self, program: WrittenProgram) -> None:
        self.program = program
        self._rings: dict[int, list[tuple[int, Loops]]] = {}
        self._alike: dict[tuple[Location | None, Location | None], int] = {}

    def begin(self) -> None:
        """Another block starts, with other cores."""
        self._rings.clear()

    def note(self, entry: Entry) -> None:
        if len(entry.core.cluster.cores) == 1:
            return
        ring = self._rings.get(entry_index(entry))
        if ring is None:
            ring = self._rings[entry_index(entry)] = [(-1, ())] * KEPT
        ring[entry.n % KEPT] = entry.n, entry.loops

    def of(self, index: int, number: int) -> Loops | None:
        """The entry with this number on the pipe with this index in clocks; None if it was too long ago."""
        ring = self._rings.get(index)
        if ring is None or ring[number % KEPT][0] != number:
            return None
        return ring[number % KEPT][1]

    def meant(self, conflict: Conflict, undefined: bool = False) -> Conflict:
        """The conflict with the access first that was to come first. `undefined`: nothing had written the bytes, so who
        has read them was to come second."""
        first, second = conflict.first, conflict.second
        if first is None or conflict.relation != "between cores":
            return conflict
        places = first.site.location, second.site.location
        if places not in self._alike:
            self._alike[places] = loops_alike(self.program, *places)
        depth = self._alike[places]
        reads_before = first.verb == "reads" and second.verb != "reads"
        if first.loops is None or second.loops is None or first.loops[:depth] == second.loops[:depth]:
            return conflict.turned() if reads_before and (undefined or depth) else conflict
        return conflict.turned() if first.loops[:depth] > second.loops[:depth] else conflict
