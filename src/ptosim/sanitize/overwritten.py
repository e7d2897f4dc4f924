"""Bytes of UB that are overwritten through another pointer while they are still to be read (`clobbered`).

A pointer is known by its root, the address that it was cast from. Bytes are clobbered that are written through one
root, then through another one, and are read through the first. Roots that share bytes on purpose are left alone: the
second reads what the first has written before it writes itself; or it alone reads what it writes, and nothing that the
first has written was read yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.language.analysis.pointer_roots import CastRoot, PointerRoots
from ptosim.machine.entry import Entry, Site
from ptosim.machine.observer import distinct
from ptosim.machine.signal import Foreseen
from ptosim.sanitize.access_hull import Hull
from ptosim.sanitize.conflict import Clobber, Conflict, Party, loops_around, party, place_of
from ptosim.sanitize.program import WrittenProgram
from ptosim.sanitize.scope_aliases import ScopeShadow
from ptosim.sanitize.shadow import CLEAN, MemoryShadow
from ptosim.sanitize.stamp import Sites
from ptosim.sanitize.taint import Origins
from ptosim.sanitize.undefined_and_racy import DoubtObserver, Hit, Image, Subject, Unchanged
from ptosim.sanitize.window import ShadowWindow

KIND = "clobbered"


class _Owners:
    """By byte of a memory: the root of the last write, that of the write before through another root, and who has read
    them."""

    def __init__(self, size: int) -> None:
        self.last = np.zeros(size, np.uint8)
        self.before = np.zeros(size, np.uint8)
        self.reader = np.zeros(size, np.uint8)
        """Another root that has read the last write."""
        self.is_read = np.zeros(size, np.bool_)
        """Its own root has read the last write."""
        self.was_read = np.zeros(size, np.bool_)
        """The same of the write before."""
        self.is_shared = np.zeros(size, np.bool_)
        self.writer = np.zeros(size, np.int32)
        self.lost = np.zeros(size, np.int32)
        """The instructions of the last write and of the one before."""

    def begin(self) -> None:
        for each in (self.last, self.before, self.reader, self.is_read, self.was_read, self.is_shared):
            each.fill(0)

    def write(self, places: Any, root: int, writer: int) -> None:
        changed = places[self.last[places] != root]
        self.before[changed] = self.last[changed]
        self.lost[changed] = self.writer[changed]
        self.was_read[changed] = self.is_read[changed]
        self.is_shared[changed] = self.reader[changed] == root
        self.last[places] = root
        self.writer[places] = writer
        self.is_read[places] = False
        self.reader[places] = 0

    def read(self, places: Any, root: int) -> Hit:
        """The bytes that are clobbered."""
        last = self.last[places]
        is_own = last == root
        self.is_read[places[is_own]] = True
        self.reader[places[~is_own]] = root
        meant = self.is_shared[places] | (self.is_read[places] & ~self.was_read[places])
        return (last != 0) & ~is_own & (self.before[places] == root) & ~meant


def may_overwrite(memory: MemoryShadow, sites: Sites, program: WrittenProgram) -> bool:
    """Whether, by the lowest and the highest byte that each instruction has touched, some root was written through and
    read where another one was written through."""
    roots, hulls = program.pointer_roots, dict[tuple[int, str], Hull]()
    for track in memory.tracks.values():
        for number, (low, high) in track.reach.items():
            op = program.executed(sites.of(number))
            root = None if op is None else roots.of(op, track.direction)
            if root is not None:
                hulls.setdefault((root.number, track.direction), Hull(0, memory.size, 0)).widen(low, high)
    written = {number: hull for (number, direction), hull in hulls.items() if direction == "write"}
    return any(
        max(own.low, other.low, read.low) < min(own.high, other.high, read.high)
        for first, own in written.items()
        for second, other in written.items()
        if first != second and (read := hulls.get((first, "read"))) is not None
    )


class OverwritingRun(DoubtObserver):
    """Observes a run that repeats one, to see which bytes are clobbered: nothing else is doubtful."""

    fresh = CLEAN

    def __init__(self, subject: Subject, roots: PointerRoots, foreseen: Foreseen) -> None:
        super().__init__(subject, Origins(), foreseen)
        self.roots = roots
        self._owners: dict[int, _Owners] = {}
        self._parties: dict[int, Party] = {}

    def new_block(self) -> None:
        super().new_block()
        for owners in self._owners.values():
            owners.begin()

    # --- accesses -----------------------------------------------------------------------------------------------------

    def suspect(self, scope: ScopeShadow) -> None:
        scope.suspect(0, scope.memory.size)

    def suspected(
        self, scope: ScopeShadow, site: Site, covered: ShadowWindow, by_use: bool, image: Image | None
    ) -> Image | None:
        found = self._read(scope.entry, site, covered, scope.memory)
        if found is None:
            return image
        hit, conflict = found
        if not by_use:
            self.findings.conflict(conflict)
            return image
        image = np.zeros(len(hit), np.uint8) if image is None else image
        assert conflict.first is not None
        image[hit] = self.origins.number((KIND, conflict.first.site, site), lambda: conflict)
        return image

    def stored(self, scope: ScopeShadow, site: Site, covered: ShadowWindow, unchanged: Unchanged) -> None:
        self._write(scope.entry, site, covered, scope.memory)

    def accessed(
        self, entry: Entry, site: Site, covered: ShadowWindow, memory: MemoryShadow, unchanged: Unchanged | None = None
    ) -> None:
        if memory.name != "ub":
            return
        if unchanged is not None:
            self._write(entry, site, covered, memory)
        elif (found := self._read(entry, site, covered, memory)) is not None:
            self.findings.conflict(found[1])

    def _of(self, memory: MemoryShadow) -> _Owners:
        return self._owners.setdefault(id(memory), _Owners(memory.size))

    def _write(self, entry: Entry, site: Site, covered: ShadowWindow, memory: MemoryShadow) -> None:
        root, number = self._root(site, "write"), self.sites.number(site)
        self._parties[number] = party(entry, site, "writes")
        self._of(memory).write(covered.addresses(), root.number if root else 0, number)

    def _read(
        self, entry: Entry, site: Site, covered: ShadowWindow, memory: MemoryShadow
    ) -> tuple[Hit, Conflict] | None:
        root = self._root(site, "read")
        if root is None:
            return None
        owners, places = self._of(memory), covered.addresses()
        hit = owners.read(places, root.number)
        if not hit.any():
            return None
        return hit, self._conflict(entry, site, covered, memory, root, hit)

    def _root(self, site: Site, direction: str) -> CastRoot | None:
        op = self.subject.program.executed(site)
        return None if op is None else self.roots.of(op, direction)

    def _conflict(
        self, entry: Entry, site: Site, covered: ShadowWindow, memory: MemoryShadow, own: CastRoot, hit: Hit
    ) -> Conflict:
        owners, places = self._of(memory), covered.addresses()
        number = distinct(owners.writer[places][hit])[0]
        where = hit & (owners.writer[places] == number)
        first, lost = self._parties[number], self._parties[int(owners.lost[places][where][0])]
        other = self._root(first.site, "write")
        assert other is not None
        name = self.subject.program.name_of
        clobber = Clobber(name(own.cast), name(other.cast), own.address, other.address, lost)
        place, loops = place_of(memory, covered, where), loops_around(entry)
        second = party(entry, site, "reads")
        return Conflict(KIND, "warning", second, place, entry.core, loops, first, clobber=clobber)
