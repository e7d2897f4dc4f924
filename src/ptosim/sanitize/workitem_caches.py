"""The data caches through which workitems load GM: a line that was loaded stays as it was, whatever others write to it
later, however ordered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ptosim.diagnostics import Diagnostic, Related
from ptosim.language.analysis.data_cache import USER_ROOM
from ptosim.machine.entry import Entry, Site
from ptosim.machine.observer import WorkitemAccess
from ptosim.sanitize.conflict import Findings

LINE = 128
"""Bytes of a line."""


class _Written(NamedTuple):
    """Writers of a line since it was loaded."""

    site: Site
    core: str


class WorkitemCaches:
    """One for each core, empty when the kernel begins."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._loaded: dict[str, set[int]] = {}
        self._stale: dict[str, dict[int, _Written]] = {}
        self.has_room_left = True
        """Until something touches the part of UB that the cache takes."""

    def wrote(self, entry: Entry, site: Site, starts: Any, width: int, by_workitems: bool) -> None:
        """Bytes of GM have been written; the workitems of a core write through their own cache."""
        if not self._loaded:
            return
        lines = _lines(starts, width)
        for core, loaded in self._loaded.items():
            if not (by_workitems and core == entry.core.name):
                hit = loaded & lines
                self._stale.setdefault(core, {}).update(dict.fromkeys(hit, _Written(site, entry.core.name)))

    def load(self, entry: Entry, access: WorkitemAccess) -> None:
        """A load of workitems that goes through the cache."""
        lines, core = _lines(access.starts, access.width), entry.core.name
        stale = self._stale.get(core, {})
        if hit := lines & stale.keys():
            self._tell(entry, access.site, stale[min(hit)])
        self._loaded.setdefault(core, set()).update(lines)

    def _tell(self, entry: Entry, site: Site, written: _Written) -> None:
        message = (
            "workitems of this core have loaded this line of GM before, and it was written since: the data cache may "
            "still hold what it was"
        )
        place = written.site.location
        self.findings.diagnostic(
            Diagnostic(
                "stale-cache",
                "warning",
                message,
                site.location,
                related=() if place is None else (Related(place, f"{written.core} writes here"),),
                hint="load it by pto.ldg … l1cache(uncache)",
                core=entry.core.name,
                pipe=str(entry.pipe),
                block=entry.core.block,
                loops=entry.loops,
            )
        )

    def touches_ub(self, entry: Entry, site: Site, starts: Any, width: int) -> None:
        """Something touches UB in a kernel whose workitems access GM."""
        high = (int(np.max(starts)) if not isinstance(starts, int) else starts) + width if np.size(starts) else 0
        if high <= USER_ROOM or not self.has_room_left:
            return
        self.has_room_left = False
        message = (
            f"touches ub up to byte {high - 1}: where workitems access GM the bytes from {USER_ROOM} on belong to a "
            "reserve and the data cache"
        )
        self.findings.diagnostic(
            Diagnostic("lint", "warning", message, site.location, core=entry.core.name, pipe=str(entry.pipe))
        )


def _lines(starts: Any, width: int) -> set[int]:
    if isinstance(starts, int):
        return set(range(starts // LINE, (starts + width - 1) // LINE + 1))
    firsts = np.asarray(starts) // LINE
    if width <= LINE:
        return set(np.unique(np.concatenate([firsts, (np.asarray(starts) + width - 1) // LINE])).tolist())
    return {line for start in np.asarray(starts).tolist() for line in _lines(int(start), width)}
