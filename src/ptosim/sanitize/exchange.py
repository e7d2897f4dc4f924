"""What cores that run together tell each other: notices, and what the caches of their scalar units keep from others."""

from __future__ import annotations

from typing import Any

from ptosim.effects.names import Pipe
from ptosim.effects.sim_signal import WORD
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, Site
from ptosim.machine.sync import PIPES
from ptosim.sanitize.caches import Caches
from ptosim.sanitize.conflict import Findings
from ptosim.sanitize.global_shadow import GlobalShadow
from ptosim.sanitize.lints import Lints
from ptosim.sanitize.notices import Notices
from ptosim.sanitize.program import Program
from ptosim.sanitize.window import as_places


class Exchange:
    """Joins the rules with the shadow of global memory."""

    def __init__(self, findings: Findings, program: Program, gm: GlobalShadow, lints: Lints) -> None:
        self.gm = gm
        self.lints = lints
        self.notices = Notices(findings, program, self._stored)
        self.caches = Caches(findings)

    def _stored(self, core: Core, pipe: Pipe) -> tuple[int, Site] | None:
        last = self.lints.last_store(core, pipe)
        return None if last is None else (last.n, last.site)

    def signalled(self, entry: Entry) -> None:
        """A word has been notified, or a wait for one has been satisfied."""
        if entry.notice is not None:
            self.notices.notify(entry)
        else:
            self.notices.wait(entry, self._was_written)
            self.caches.waited(entry)

    def _was_written(self, address: int) -> bool:
        return next(self.gm.stored(address, WORD), None) is not None

    def accessed(self, entry: Entry, site: Site, reads: bool, starts: Any, width: int) -> None:
        """An access to GM, before it is recorded or afterwards."""
        if not reads:
            if entry.pipe is Pipe.S:
                self.caches.store(entry, site, int(starts))
            return
        if entry.pipe is Pipe.S:
            others = (index // PIPES for index, _ in self.gm.stored(int(starts), width))
            self.caches.load(entry, site, int(starts), any(core != entry.core.index for core in others))
        for start in as_places(starts).tolist() if self.caches.any_dirty(entry.core) else ():
            self.caches.read_by(entry, site, start, width)
