"""The cache of the scalar unit: a word that another core has written is read anew only after its line is invalidated.

Runs are coherent, so a stale line never shows in the result; what is kept here is what hardware would have to know.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptosim.diagnostics import Severity
from ptosim.language.pointer import LoadScalar, StoreScalar
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, Site
from ptosim.machine.tracking import diagnostic_at
from ptosim.sanitize.conflict import Findings
from ptosim.sanitize.notices import LINE

LOAD, STORE = LoadScalar.name, StoreScalar.name
"""The instructions that go through the cache; ld_dev and st_dev do not."""


@dataclass
class _Cache:
    """Of one core."""

    waits: int = 0
    held: set[int] = field(default_factory=set[int])
    """Lines that it has read before the last wait and not invalidated."""
    seen: set[int] = field(default_factory=set[int])
    """Lines that it has read since then and not invalidated."""
    fresh: set[int] = field(default_factory=set[int])
    """Lines that were invalidated since the last wait; -1: all."""
    dirty: set[int] = field(default_factory=set[int])
    """Lines that it has stored to and not cleaned."""


class Caches:
    """The caches of all cores that run together."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._of: dict[int, _Cache] = {}
        self._keeping: set[int] = set()  # cores that keep something which they have stored
        self._stored: dict[int, dict[int, Site]] = {}
        """Lines that are kept so, by whom, and where they were stored."""

    def _cache(self, core: Core) -> _Cache:
        return self._of.setdefault(core.index, _Cache())

    def waited(self, entry: Entry) -> None:
        """What comes now may read what others have written; the words themselves are read anew."""
        assert entry.watched is not None
        cache = self._cache(entry.core)
        cache.waits += 1
        cache.fresh = {address // LINE for address in entry.watched.words.addresses}
        cache.held = (cache.held | cache.seen) - cache.fresh
        cache.seen.clear()

    def cleaned(self, core: Core, address: int | None) -> None:
        """One line, or all of them, is written back and invalidated."""
        cache = self._cache(core)
        if address is None:
            cache.held.clear()
            cache.seen.clear()
            self._write_back(core, cache, list(cache.dirty))
            cache.fresh = {-1}
            return
        cache.held.discard(address // LINE)
        cache.seen.discard(address // LINE)
        self._write_back(core, cache, [address // LINE])
        cache.fresh.add(address // LINE)

    def _write_back(self, core: Core, cache: _Cache, lines: list[int]) -> None:
        for line in cache.dirty.intersection(lines):
            keepers = self._stored[line]
            del keepers[core.index]
            if not keepers:
                del self._stored[line]
        cache.dirty.difference_update(lines)
        if not cache.dirty:
            self._keeping.discard(core.index)

    def load(self, entry: Entry, site: Site, start: int, is_foreign: bool) -> None:
        """A scalar load; `is_foreign`: another core has written what it reads."""
        if site.name != LOAD:
            return
        cache, line = self._cache(entry.core), start // LINE
        if is_foreign and cache.waits:
            was_held = line in cache.held
            if was_held or not {line, -1} & cache.fresh:
                self._stale(entry, site, was_held)
        cache.seen.add(line)

    def _stale(self, entry: Entry, site: Site, was_held: bool) -> None:
        severity: Severity = "error" if was_held else "warning"
        reason = "this core has read the line before" if was_held else "the line may be in the cache"
        message = f"loads what another core has written, and {reason}: nothing has invalidated it since the wait"
        hint = "before the load add  pto.cmo.cacheinvalid all #pto.address_space<gm>  (or load with pto.ld_dev)"
        self.findings.diagnostic(diagnostic_at(_at(entry, site), "stale-cache", message, (), severity, hint))

    def looked_in_vain(self, entry: Entry) -> None:
        """A loop has waited for a word by loads through the cache, and nothing in it invalidates the line."""
        message = "the loop looks at a word through the cache: nothing in it invalidates the line, and it may see the "
        message += "old word for ever"
        hint = "in the loop add  pto.cmo.cacheinvalid %pointer single_cache_line  (or load with pto.ld_dev)"
        self.findings.diagnostic(diagnostic_at(entry, "stale-cache", message, (), "error", hint))

    def store(self, entry: Entry, site: Site, start: int) -> None:
        if site.name == STORE:
            self._cache(entry.core).dirty.add(start // LINE)
            self._stored.setdefault(start // LINE, {})[entry.core.index] = site
            self._keeping.add(entry.core.index)

    def any_dirty(self, reader: Core) -> bool:
        """Whether some other core keeps something that it has stored."""
        return len(self._keeping) > (reader.index in self._keeping)

    def read_by(self, entry: Entry, site: Site, start: int, width: int) -> None:
        """Bytes of GM are read, by any pipe: what another core keeps in its cache is not there."""
        lines = range(start // LINE, (start + width - 1) // LINE + 1)
        for line in lines if len(lines) < len(self._stored) else sorted(self._stored):
            for index, stored in self._stored.get(line, {}).items() if line in lines else ():
                if index != entry.core.index:
                    self._unclean(entry, site, stored)

    def _unclean(self, entry: Entry, site: Site, stored: Site) -> None:
        message = "reads what another core has stored and keeps in its cache: nothing has cleaned the line"
        hint = "behind the store add  pto.cmo.cacheinvalid %pointer single_cache_line  and then a fence"
        related = ((Entry(stored, entry.pipe, entry.core, entry.kind), "stored here"),)
        self.findings.diagnostic(diagnostic_at(_at(entry, site), "stale-cache", message, related, "error", hint))

    def finish(self, core: Core) -> None:
        """The end of a kernel writes everything back."""
        if (cache := self._of.pop(core.index, None)) is not None:
            self._write_back(core, cache, list(cache.dirty))


def _at(entry: Entry, site: Site) -> Entry:
    at = Entry(site, entry.pipe, entry.core, entry.kind)
    at.loops = entry.loops
    return at
