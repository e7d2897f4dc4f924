"""The cache of the scalar unit: a word that another core has written is read anew only after its line is invalidated.

Runs are coherent, so a stale line never shows in the result; what is kept here is what hardware would have to know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ptosim.diagnostics import Severity
from ptosim.language.micro.pointer import LoadScalar, StoreScalar
from ptosim.machine.clock import SLOTS, STORES
from ptosim.machine.core import Core
from ptosim.machine.entry import Clock, Entry, Site
from ptosim.machine.memory import decode
from ptosim.machine.tracking import diagnostic_at
from ptosim.sanitize.conflict import Findings
from ptosim.sanitize.notices import LINE

LOAD, STORE = LoadScalar.name, StoreScalar.name
"""The instructions that go through the cache; ld_dev and st_dev do not."""
KEPT = 1 << 16
"""Stores that are remembered."""


@dataclass(eq=False, slots=True)
class Stored:
    """Bytes that a scalar unit has stored, and which steps of it a reader must know of to find them in GM."""

    core: int
    start: int
    width: int
    site: Site
    n: int
    cleaned: int | None = None
    settled: int | None = None
    """Behind the cleaning: a dsb, or a barrier of all pipes."""

    def meets(self, start: int, width: int) -> bool:
        return self.start < start + width and start < self.start + self.width

    def hidden_from(self, clock: Clock) -> str | None:
        """The reason why a reader, who knows this, may find the bytes that were there before. Whether it is in order
        with the store itself is for others to say."""
        steps = clock.get(self.core * SLOTS, 0)
        is_told = clock.get(self.core * SLOTS + STORES, 0) > self.n
        if self.settled is not None and steps > self.settled:
            return None
        if self.cleaned is None or (is_told and steps <= self.cleaned):
            return "stale-cache"
        return "race" if is_told else None


class CacheLines:
    """The last stores of the cores at each address, by the memory and the line."""

    def __init__(self) -> None:
        self.all: dict[tuple[int, int], Stored] = {}
        self.of: dict[int, dict[int, list[Stored]]] = {}
        self.cores: set[int] = set()

    def add(self, stored: Stored) -> None:
        self._drop((stored.core, stored.start))
        if len(self.all) >= KEPT:
            self._drop(next(iter(self.all)))
        self.all[stored.core, stored.start] = stored
        self._line(stored).append(stored)
        self.cores.add(stored.core)

    def _drop(self, key: tuple[int, int]) -> None:
        if (old := self.all.pop(key, None)) is not None:
            self._line(old).remove(old)

    def _line(self, stored: Stored) -> list[Stored]:
        return self.of.setdefault(decode(stored.start)[0], {}).setdefault(stored.start // LINE, [])

    def by(self, core: Core, line: int) -> list[Stored]:
        """Stores of a core to a line."""
        stored = self.of.get(decode(line * LINE)[0], {}).get(line, ())
        return [one for one in stored if one.core == core.index]

    def at(self, reader: Core, start: int, width: int) -> Iterator[Stored]:
        """Stores of other cores to these bytes."""
        known = self.of.get(decode(start)[0], {})
        lines = range(start // LINE, (start + width - 1) // LINE + 1)
        for line in lines if len(lines) < len(known) else sorted(line for line in known if line in lines):
            yield from (one for one in known.get(line, ()) if one.core != reader.index and one.meets(start, width))


@dataclass
class _Cache:
    """The cache of one core."""

    waits: int = 0
    held: set[int] = field(default_factory=set[int])
    """Lines that it has read before the last wait and not invalidated."""
    seen: set[int] = field(default_factory=set[int])
    """Lines that it has read since then and not invalidated."""
    fresh: set[int] = field(default_factory=set[int])
    """Lines that were invalidated since the last wait; -1: all."""
    dirty: set[int] = field(default_factory=set[int])
    """Lines that it has stored to and not cleaned."""
    leaving: list[Stored] = field(default_factory=list[Stored])
    """Lines that it has cleaned since its last fence."""


class Caches:
    """The caches of all cores that run together."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._of: dict[int, _Cache] = {}
        self._stored = CacheLines()

    def _cache(self, core: Core) -> _Cache:
        return self._of.setdefault(core.index, _Cache())

    def waited(self, entry: Entry) -> None:
        """Later loads may read bytes that others have written; the words themselves are read anew."""
        assert entry.watched is not None
        cache = self._cache(entry.core)
        cache.waits += 1
        cache.fresh = {address // LINE for address in entry.watched.words.addresses}
        cache.held = (cache.held | cache.seen) - cache.fresh
        cache.seen.clear()

    def cleaned(self, core: Core, address: int | None) -> None:
        """One line, or all of them, is written back and invalidated."""
        cache = self._cache(core)
        lines = cache.held | cache.seen | cache.dirty if address is None else {address // LINE}
        cache.held -= lines
        cache.seen -= lines
        self._write_back(core, cache, lines)
        cache.fresh = {-1} if address is None else cache.fresh | lines

    def _write_back(self, core: Core, cache: _Cache, lines: set[int]) -> None:
        for line in cache.dirty & lines:
            for stored in self._stored.by(core, line):
                if stored.cleaned is None:
                    stored.cleaned = core.steps
                    cache.leaving.append(stored)
        cache.dirty = cache.dirty - lines

    def settled(self, entry: Entry) -> None:
        """A fence, a barrier of all pipes, or a notice, which has a dsb behind its word: a line that was cleaned before
        has arrived for every later reader."""
        cache = self._cache(entry.core)
        for stored in cache.leaving:
            stored.settled = entry.n + 1
        cache.leaving.clear()

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
        message = f"loads bytes that another core has written, and {reason}: nothing has invalidated it since the wait"
        hint = "before the load add  pto.cmo.cacheinvalid all #pto.address_space<gm>  (or load with pto.ld_dev)"
        self.findings.diagnostic(diagnostic_at(_at(entry, site), "stale-cache", message, (), severity, hint))

    def looked_in_vain(self, entry: Entry) -> None:
        """A loop has waited for a word by loads through the cache, and nothing in it invalidates the line."""
        message = "the loop looks at a word through the cache: nothing in it invalidates the line, and it may see the "
        message += "old word for ever"
        hint = "in the loop add  pto.cmo.cacheinvalid %pointer single_cache_line  (or load with pto.ld_dev)"
        self.findings.diagnostic(diagnostic_at(entry, "stale-cache", message, (), "error", hint))

    def store(self, entry: Entry, site: Site, start: int, width: int) -> None:
        if site.name == STORE:
            self._cache(entry.core).dirty.add(start // LINE)
            self._stored.add(Stored(entry.core.index, start, width, site, entry.n))

    def hides_any(self, reader: Core) -> bool:
        """Whether some other core has stored anything."""
        cores = self._stored.cores
        return len(cores) > (reader.index in cores)

    def read_by(self, entry: Entry, site: Site, start: int, width: int, over: Clock) -> None:
        """Bytes of GM are read, by any pipe: what another core keeps in its cache is not there. `over`: what had ended
        when this core began, for the end of a kernel writes everything back."""
        for stored in self._stored.at(entry.core, start, width):
            if stored.core * SLOTS + STORES not in over and (kind := stored.hidden_from(entry.clock or {})):
                self._unseen(entry, site, stored, kind)

    def _unseen(self, entry: Entry, site: Site, stored: Stored, kind: str) -> None:
        message = "reads bytes that another core has stored and keeps in its cache: nothing has cleaned the line"
        if kind == "race":
            message = "reads bytes that another core has stored and cleaned behind its fence: the word may overtake it"
        hint = "behind the store add  pto.cmo.cacheinvalid %pointer single_cache_line  and then a fence"
        related = ((Entry(stored.site, entry.pipe, entry.core, entry.kind), "stored here"),)
        self.findings.diagnostic(diagnostic_at(_at(entry, site), kind, message, related, "error", hint))


def _at(entry: Entry, site: Site) -> Entry:
    at = Entry(site, entry.pipe, entry.core, entry.kind)
    at.loops = entry.loops
    return at
