"""Exchange between cores that run together: notices, and lines that caches of scalar units keep from others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptosim.effects.names import Pipe
from ptosim.effects.sim_signal import WORD
from ptosim.effects.sync import FenceReach
from ptosim.language.analysis.polling_loops import refreshes
from ptosim.machine.clock import SLOTS, join
from ptosim.machine.core import Core
from ptosim.machine.entry import FENCE, LOAD, STORE, Clock, Entry, Site
from ptosim.machine.memory import decode
from ptosim.sanitize.caches import Caches
from ptosim.sanitize.conflict import Findings
from ptosim.sanitize.global_shadow import WRITE, GlobalShadow
from ptosim.sanitize.notices import Notices
from ptosim.sanitize.program import WrittenProgram
from ptosim.sanitize.window import as_places
from ptosim.sanitize.word_values import WordValues

ADDS = "add si32"
"""The atomic update that is an addition to a word."""


class Exchange:
    """Joins the rules with the shadow of global memory."""

    def __init__(self, findings: Findings, program: WrittenProgram, gm: GlobalShadow) -> None:
        self.gm = gm
        self.program = program
        self._latest: dict[tuple[int, Pipe, bool], tuple[int, Site]] = {}
        self.notices = Notices(findings, program, self._latest)
        self.values = WordValues(findings, program)
        self.caches = Caches(findings)
        self._at_start: dict[int, Clock] = {}

    def signalled(self, entry: Entry) -> None:
        """A word has been notified, or a wait for one has been satisfied."""
        if entry.notice is not None:
            self.notices.notify(entry)
            self.caches.settled(entry)
        else:
            self.notices.wait(entry, self._was_written)
            self.caches.waited(entry)
            op = self.program.executed(entry.site)
            if op is not None and not refreshes(op):
                self.caches.looked_in_vain(entry)

    def fenced(self, entry: Entry) -> None:
        """The scalar unit has waited for memory, for a transfer, or for pipes."""
        of_memory = entry.kind is FENCE and entry.event is None
        if FenceReach.GM in entry.reach and (of_memory or (entry.pipe is Pipe.ALL and entry.ranges is None)):
            self.caches.settled(entry)

    def _was_written(self, address: int) -> bool:
        return next(self.gm.stored(address, WORD), None) is not None

    def accessed(self, entry: Entry, site: Site, reads: bool, starts: Any, width: int) -> None:
        """An access to GM, before it is recorded or afterwards."""
        if not reads:
            self._latest[entry.core.index, entry.pipe, self._is_window(starts)] = entry.n, site
            if entry.pipe is Pipe.S and entry.kind is STORE:
                self.caches.store(entry, site, int(starts), width)
            return
        if entry.pipe is Pipe.S and entry.kind is LOAD:
            self.caches.load(entry, site, int(starts), self._is_foreign(entry.core, int(starts), width))
        self._read_by(entry, site, starts, width)

    def _is_window(self, starts: Any) -> bool:
        """Whether other ranks reach what is stored."""
        first = as_places(starts)[:1]
        buffer = self.gm.buffers.get(decode(int(first[0]))[0]) if len(first) else None
        return buffer is not None and buffer.region.is_window

    def _is_foreign(self, core: Core, start: int, width: int) -> bool:
        """Whether another core has written bytes since this one began, with nothing in its cache."""
        known = self._known_at_start(core)
        stored = self.gm.stored(start, width)
        return any(index // SLOTS != core.index and number > known.get(index, 0) for index, number in stored)

    def _known_at_start(self, core: Core) -> Clock:
        if core.index not in self._at_start:
            known: Clock = {}
            for earlier in core.progress.before:
                join(known, earlier.ended)
            self._at_start[core.index] = known
        return self._at_start[core.index]

    def writes(self, entry: Entry, kind: str, starts: Any, width: int, data: Any, before: Any) -> None:
        """A store of words that somebody waits for; `kind`: whether it replaces them, or what it does."""
        core, places = entry.core, as_places(starts)
        for address in sorted(core.signals.foreseen.followed):
            distance = address - places
            rows = np.flatnonzero((distance > -WORD) & (distance < width))
            if not len(rows):
                continue
            first = int(rows[-1]) * width + int(distance[rows[-1]])
            whole = len(rows) == 1 and 0 <= int(distance[rows[-1]]) <= width - WORD
            value = _word(data, first) if whole and kind in (WRITE, ADDS) else None
            adds, known = kind == ADDS and whole, _word(before(), first) if whole else 0
            core.signals.write(entry, address, value, adds, known, self._told(entry))

    def _told(self, entry: Entry) -> Clock:
        """The clock that the reader of a stored word gets: that of the begin of the store. Others of its pipe may still
        be under way."""
        if entry.pipe is not Pipe.S:
            return entry.clock or {}
        tracker = entry.core.tracker
        return tracker.clocks.published() if tracker is not None and tracker.clocks is not None else {}

    def _read_by(self, entry: Entry, site: Site, starts: Any, width: int) -> None:
        if self.caches.hides_any(entry.core):
            known = self._known_at_start(entry.core)
            for start in as_places(starts).tolist():
                self.caches.read_by(entry, site, start, width, known)


def _word(data: Any, first: int) -> int:
    """The i32 at a byte of some data."""
    return int.from_bytes(bytes(np.asarray(data).reshape(-1)[first : first + WORD]), "little", signed=True)
