"""Inside a vector function: the quick way through the shadow, and accesses that alias without a fence.

Most vector loads and stores touch granules about which there is nothing to say: no other pipe is at them out of order,
they are defined, and nothing in the same scope has touched them before. A byte of flags per granule, made when the
function starts, tells these from the rest, which the checker then looks at byte by byte.

Hardware does not compare the addresses of accesses in flight, so an earlier and a later access of one scope that
overlap, one of them a store, need a mem_bar between them whose classes cover both.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptosim.language.micro.pointer import LoadScalar, StoreScalar
from ptosim.machine.entry import Entry, Site
from ptosim.machine.observer import distinct
from ptosim.sanitize.hidden_accesses import HiddenAccesses, ScopeAccess
from ptosim.sanitize.shadow import MemoryShadow, OnChipTrack
from ptosim.sanitize.stamp import FENCE_ONE, MOST_FENCES, Sites, fences_of
from ptosim.sanitize.window import GRANULE, GRANULE_BITS, ShadowWindow

DIRTY = 1
"""Some byte of the granule is undefined or tainted."""
RACY = 2
"""Another pipe touched the granule out of order with this function."""
STORED = 4
LOADED = 8
"""This scope stored to the granule, or loaded it at an instruction that one of its stores could overtake."""
SHARED = 16
"""Some of these accesses took the closer look, so that no single run of one instruction stands for all of them."""

_STORED, _LOADED = bytes((STORED,)), bytes((LOADED,))
_DIRTY_AT_MOST = bytes((0, DIRTY))

Pair = tuple[str, str]

_CLASSES = {"V": ("vld", "vst"), "S": ("ld", "st")}
_ALL: dict[str, tuple[Pair, ...]] = {
    f"{before}{after}_ALL": tuple(product(_CLASSES[before], _CLASSES[after]))
    for before, after in product(_CLASSES, repeat=2)
}
COVERED = _ALL | {f"{one}_{other}".upper(): ((one, other),) for pairs in _ALL.values() for one, other in pairs}
"""Which pairs of an earlier and a later class each kind of mem_bar orders. Of those of two loads the instruction set
names none; they need no order."""


SCALAR_ACCESSES = frozenset((LoadScalar.name, StoreScalar.name))


def is_scalar(site: Site) -> bool:
    """Whether an instruction of a vector scope accesses memory as scalar code."""
    return site.name in SCALAR_ACCESSES


def class_of(site: Site, writes: bool) -> str:
    """The class of an access in the words of mem_bar."""
    return ("st" if writes else "ld") if is_scalar(site) else ("vst" if writes else "vld")


class TouchedRun:
    """Bytes in a row that one instruction has touched, round after round, and that its track does not yet know of."""

    __slots__ = ("number", "overtaken", "start", "stop")

    def __init__(self, number: int, overtaken: bool = False) -> None:
        self.number = number
        self.overtaken = overtaken  # a load that some store of the scope could overtake
        self.start = self.stop = 0


class VectorSide:
    """Bytes that an entry of the vector pipe has read so far, or written."""

    __slots__ = ("hull", "runs", "stamp", "start", "track")

    def __init__(self, track: OnChipTrack, entry: Entry) -> None:
        self.track = track
        self.start = self.stamp = track.newest = track.stamp(entry)
        self.hull = track.hulls.of(self.start)
        self.runs: dict[Site, TouchedRun] = {}

    def note(self, run: TouchedRun, start: int, stop: int) -> None:
        """The instruction of a run goes on elsewhere."""
        self._settle(run)
        run.start, run.stop = start, stop

    def settle(self) -> None:
        """Let the track know of all runs."""
        for run in self.runs.values():
            self._settle(run)

    def _settle(self, run: TouchedRun) -> None:
        if run.start < run.stop:
            self.track.table.put_stretch(run.start, run.stop, self.stamp + run.number)
            self.hull.widen(run.start, run.stop)
            self.track.widen(run.number, run.start, run.stop)
            run.start = run.stop


@cache
def _adding(flag: int) -> bytes:
    """A table that adds a flag to whatever a byte holds."""
    return bytes(present | flag for present in range(256))


def _goes_on(run: TouchedRun | None, start: int, alone: bool) -> bool:
    """Whether an access goes on inside the granule where its run stands, if that has touched the granule alone."""
    return alone and run is not None and start == run.stop and start % GRANULE != 0


class KnownLoad(NamedTuple):
    """A load of a scope that the checker has looked at before."""

    number: int
    overtaken: bool
    """Some store of the scope could overtake it."""


class ScopeShadow:
    """One entry of the vector pipe while it runs."""

    __slots__ = ("entry", "fences", "flags", "hidden", "known", "last_fence", "memory", "reading", "sites", "writing")

    def __init__(self, entry: Entry, memory: MemoryShadow, sites: Sites, known: dict[Site, KnownLoad]) -> None:
        self.entry = entry
        self.memory = memory
        self.sites = sites
        self.known = known
        self.reading = VectorSide(memory.track(entry, "read"), entry)
        self.writing = VectorSide(memory.track(entry, "write"), entry)
        self.fences = 0
        self.last_fence: dict[Pair, int] = {}
        self.hidden: HiddenAccesses | None = None
        self.flags = bytearray(memory.dirty)

    @property
    def flag_bytes(self) -> NDArray[np.uint8]:
        """The flags as an array, to look at many of them."""
        return np.frombuffer(self.flags, np.uint8)

    def find_races(self) -> None:
        """Flag the granules that other pipes may have touched out of order with this function."""
        own = self.reading.track, self.writing.track
        for track in self.memory.tracks.values():
            if track in own or track.newest < (threshold := track.threshold(self.entry)):
                continue
            if track.hulls.before.stamp >= threshold:
                flags = self.flag_bytes
                flags |= track.table.suspects(threshold).view(np.uint8) * np.uint8(RACY)
                continue
            for hull in track.hulls.latest:
                if hull.stamp >= threshold:
                    self.suspect(hull.low, hull.high)

    def suspect(self, low: int, high: int) -> None:
        """Flag the granules of these bytes."""
        self.flag_bytes[low >> GRANULE_BITS : (high + GRANULE - 1) >> GRANULE_BITS] |= RACY

    # --- the quick way ------------------------------------------------------------------------------------------------

    def load(self, site: Site, start: int, width: int) -> bool:
        """Note a load; false when it needs a closer look, and has not been noted."""
        stop = start + width
        first, last = start >> GRANULE_BITS, (stop + GRANULE - 1) >> GRANULE_BITS
        run = self.reading.runs.get(site) or self._known_load(site)
        if run is None:
            return False
        if self.flags.count(0, first, last) != last - first:
            touched = first + _goes_on(run, start, self.flags[first] == LOADED)
            if self.flags.count(0, touched, last) != last - touched:
                return False
        if run.overtaken:
            self.flags[first:last] = _LOADED * (last - first)
        if start == run.stop:
            run.stop = stop
        else:
            self.reading.note(run, start, stop)
        return True

    def _known_load(self, site: Site) -> TouchedRun | None:
        """A load that an earlier look has put among the known ones."""
        known = self.known.get(site)
        if known is None:
            return None
        run = self.reading.runs[site] = TouchedRun(*known)
        return run

    def store(self, site: Site, start: int, width: int) -> bool:
        """Note a store of clean bytes; false when it needs a closer look, and has not been noted."""
        stop = start + width
        first, last = start >> GRANULE_BITS, (stop + GRANULE - 1) >> GRANULE_BITS
        run = self.writing.runs.get(site)
        if self.flags.count(0, first, last) == last - first:
            self.flags[first:last] = _STORED * (last - first)
        else:
            touched = first + _goes_on(run, start, self.flags[first] & ~DIRTY == STORED)
            if self.flags[touched:last].translate(None, _DIRTY_AT_MOST):
                return False
            self.memory.define(start, stop)
            self.flags[first:last] = self.memory.dirty[first:last].translate(_adding(STORED))
        if run is None:
            run = self.writing.runs[site] = TouchedRun(self.sites.number(site))
        if start == run.stop:
            run.stop = stop
        else:
            self.writing.note(run, start, stop)
        return True

    def settle(self) -> None:
        """The quick way has put off what the tracks have to know, before anybody looks at them."""
        self.reading.settle()
        self.writing.settle()

    # --- the closer look ----------------------------------------------------------------------------------------------

    def about(self, window: ShadowWindow) -> int:
        """Everything that the flags say about the granules of an access."""
        granules = window.granules()
        if granules.is_stretch:
            found = 0
            for flags in set(self.flags[granules.start : granules.start + granules.width]):
                found |= flags
            return found
        return int(np.bitwise_or.reduce(granules.of(self.flag_bytes), axis=None))

    def note(self, site: Site, number: int, window: ShadowWindow, writes: bool) -> None:
        """Record an access, whatever was found about it."""
        granules = window.granules()
        side = self.writing if writes else self.reading
        low, high = window.reach()
        side.hull.widen(low, high)
        side.track.widen(number, low, high)
        overtaken = not writes and self._is_overtaken(site)
        if self.about(window) & (STORED if writes else LOADED):
            self._hide(site, side, window)
        side.track.put(window, side.stamp + number)
        if writes or overtaken:
            self._mark(granules, (STORED if writes else LOADED) | SHARED)

    def refresh(self, window: ShadowWindow) -> None:
        """The taint of these bytes has changed."""
        granules, flags = window.granules(), self.flag_bytes
        granules.put(flags, granules.of(flags) & ~np.uint8(DIRTY) | granules.of(self.memory.granules_dirty))

    def _mark(self, granules: ShadowWindow, flag: int) -> None:
        if granules.is_stretch:
            part = slice(granules.start, granules.start + granules.width)
            self.flags[part] = self.flags[part].translate(_adding(flag))
            return
        flags = self.flag_bytes
        granules.put(flags, granules.of(flags) | np.uint8(flag))

    def _is_overtaken(self, load: Site) -> bool:
        return load in self.known and self.known[load].overtaken

    def _hide(self, site: Site, side: VectorSide, window: ShadowWindow) -> None:
        """Other instructions were here before, of which the track is about to forget."""
        stamps, wrote = side.track.table.of(window), side is self.writing
        for stamp in distinct(stamps[stamps >= side.start]):
            access = ScopeAccess(self.sites.of(stamp), wrote, fences_of(stamp))
            if access.site is site or self._is_over(access) or not (wrote or self._is_overtaken(access.site)):
                continue
            if self.hidden is None:
                self.hidden = HiddenAccesses(self.memory.size, self._is_over)
            self.hidden.hide(window, stamps == stamp, access, site)

    def _is_over(self, access: ScopeAccess) -> bool:
        """Whether fences keep everything behind an access that could alias it."""
        later = (*_CLASSES["V"], *(() if is_scalar(access.site) else _CLASSES["S"]))
        return all(self._is_fenced(access, each) for each in later if access.wrote or each in ("st", "vst"))

    def _is_fenced(self, access: ScopeAccess, later: str) -> bool:
        return access.fences < self.last_fence.get((class_of(access.site, access.wrote), later), 0)

    # --- aliases ------------------------------------------------------------------------------------------------------

    def fence(self, kind: str, complete: bool) -> None:
        """A mem_bar; a complete one orders all that came before it with all that follows."""
        self.settle()
        self.fences += 1
        if self.fences <= MOST_FENCES:  # a scope with more of them is taken to be fenced throughout
            self.reading.stamp += FENCE_ONE
            self.writing.stamp += FENCE_ONE
        for pair in COVERED[kind]:
            self.last_fence[pair] = self.fences
        if complete:
            self.flag_bytes[:] &= DIRTY | RACY
            self.hidden = None

    def aliases(
        self, site: Site, window: ShadowWindow, writes: bool
    ) -> Iterator[tuple[Site, bool, NDArray[np.bool_], bool]]:
        """Earlier accesses of this scope that overlap the bytes, one of the two a store: where they are, whether they
        wrote, on which bytes, and whether a fence lies between."""
        later = class_of(site, writes)
        for access, where in (*self._latest(window), *(self.hidden.met(window) if self.hidden is not None else ())):
            if (access.wrote or writes) and not (is_scalar(access.site) and is_scalar(site)):  # these are in order
                yield access.site, access.wrote, where, self._is_fenced(access, later)

    def _latest(self, window: ShadowWindow) -> Iterator[tuple[ScopeAccess, NDArray[np.bool_]]]:
        """The last store of this scope to each of these bytes, and the last load."""
        for side, wrote in ((self.writing, True), (self.reading, False)):
            stamps = side.track.table.of(window)
            for stamp in distinct(stamps[stamps >= side.start]):
                yield ScopeAccess(self.sites.of(stamp), wrote, fences_of(stamp)), stamps == stamp
