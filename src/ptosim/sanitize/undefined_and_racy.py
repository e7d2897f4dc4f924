"""Following doubtful bytes: those that nothing has written, and those that something else may not have written yet.

Doubt travels as taint, through the shadow of each memory and with the values of the engine, and counts once a value is
used. Which bytes are doubtful in the first place is said by those who derive from this: the checker of a run
(checker.py), and the one that repeats it (candidates.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import GM, UB, Pipe, Space
from ptosim.language.micro.scope import StrictVecScope, VecScope
from ptosim.language.structure.control import For
from ptosim.machine.core import Core
from ptosim.machine.deadlock import Deadlock
from ptosim.machine.entry import WORK, Entry, Site
from ptosim.machine.memory import Region
from ptosim.machine.observer import ORIGIN, Change, Footprint, Observer, distinct
from ptosim.machine.observer import Use as MachineUse
from ptosim.machine.signal import Foreseen, SignalWords
from ptosim.sanitize.conflict import Conflict, Findings, Use, Verb, loops_around, party, place_of
from ptosim.sanitize.dependence import Dependence
from ptosim.sanitize.program import WrittenProgram
from ptosim.sanitize.scope_aliases import DIRTY, RACY, KnownLoad, ScopeShadow, is_scalar
from ptosim.sanitize.shadow import CLEAN, UNDEFINED, MemoryShadow
from ptosim.sanitize.stamp import Sites
from ptosim.sanitize.taint import Origins, judged
from ptosim.sanitize.window import ShadowWindow, WindowPart, byte_count, inside, joined

Image = NDArray[np.uint8]
Hit = NDArray[np.bool_]
Unchanged = Callable[[], Hit]
"""The bytes about to be stored that are in memory already."""
MemBar = Literal["relaxed", "strict", "off"]
SCOPES = frozenset((VecScope.name, StrictVecScope.name, For.name))


@dataclass(frozen=True)
class Subject:
    """The subject of a check: the kernel, its buffers in GM, and how strictly."""

    program: WrittenProgram
    regions: Mapping[int, Region]
    """The names of pointers to GM, by number."""
    together: bool = False
    """All blocks run at once, because they wait for each other."""
    mem_bar: MemBar = "relaxed"
    enough: frozenset[str] = frozenset()
    """Kinds of conflicts of which one ends the check, by `Enough`."""
    overwrites: bool = False
    """Bytes are looked for that are overwritten through another pointer."""
    shares_ub: bool = False
    """The data cache of workitems takes a part of UB (language/analysis/data_cache.py)."""


def _unchanged(part: WindowPart, equal: Callable[[], Hit], width: int) -> Hit:
    """The bytes of some pieces of a store that are in memory already."""
    return part.of(equal(), width)


class DoubtObserver(Observer, ABC):
    """Observes one run."""

    wants_clocks = True
    fresh: ClassVar[int]
    """The taint of on-chip memory at the start of a block."""

    def __init__(self, subject: Subject, origins: Origins, foreseen: Foreseen | None) -> None:
        self.subject = subject
        self.findings = Findings(subject.enough)
        self.origins = origins
        self.sites = Sites()
        self.dependence = Dependence(subject.program)
        self.foreseen = foreseen or Foreseen()
        self.signals = SignalWords()
        self._memories: dict[tuple[object, Space], MemoryShadow] = {}
        self._block: int | None = None
        self._scope: ScopeShadow | None = None
        self._loads: dict[Site, dict[Site, KnownLoad]] = {}
        self._by_use: set[Site] = set()

    # --- what makes bytes doubtful ------------------------------------------------------------------------------------

    @abstractmethod
    def suspect(self, scope: ScopeShadow) -> None:
        """A vector scope begins: flag the granules that need a closer look."""

    @abstractmethod
    def suspected(
        self, scope: ScopeShadow, site: Site, covered: ShadowWindow, by_use: bool, image: Image | None
    ) -> Any:
        """The taint of a load of flagged granules, beyond what memory has."""

    def accessed(
        self, entry: Entry, site: Site, covered: ShadowWindow, memory: MemoryShadow, unchanged: Unchanged | None = None
    ) -> None:
        """An access to an on-chip memory outside of scopes; `unchanged` is that of a store."""

    def left_behind(self, entry: Entry, site: Site, footprint: Footprint, memory: MemoryShadow) -> None:
        """A store outside of scopes is done: what else it does to the memory."""

    def stored(self, scope: ScopeShadow, site: Site, covered: ShadowWindow, unchanged: Unchanged) -> None:
        """A vector scope stores to flagged granules."""

    def aliased(self, scope: ScopeShadow, site: Site, covered: ShadowWindow, about: int, writes: bool) -> None:
        """An access of a vector scope to granules that it may have touched before."""

    def global_access(
        self, entry: Entry, site: Site, kind: str, starts: Any, width: int, data: Any = None, before: Any = None
    ) -> None:
        """An access to GM: "read", "write", or the operation and type of an atomic update."""

    # --- from the scheduler -------------------------------------------------------------------------------------------

    def begin(self, core: Core) -> None:
        core.signals.foreseen, self.signals = self.foreseen, core.signals
        if self.subject.together or core.block == self._block:
            return
        self._block = core.block
        self.new_block()

    def new_block(self) -> None:
        for memory in self._memories.values():
            memory.begin(self.fresh)

    def start(self, entry: Entry) -> None:
        if entry.pipe is Pipe.V and entry.kind is WORK and entry.site.name in SCOPES:
            known = self._loads.setdefault(entry.site, {})
            self._scope = ScopeShadow(entry, self.memory(UB, entry.core), self.sites, known)
            self.suspect(self._scope)

    def end(self, entry: Entry) -> None:
        if (scope := self._scope_of(entry)) is not None:
            scope.settle()
            self._scope = None

    def fence(self, entry: Entry, site: Site, kind: str) -> None:
        if (scope := self._scope_of(entry)) is not None:
            scope.fence(kind, kind == "VV_ALL" and not self.dependence.has_scalar_accesses(entry.site))

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None: ...

    def deadlock(self, deadlock: Deadlock) -> None: ...

    def ended_early(self, reasons: Sequence[Diagnostic]) -> None:
        """A block came to an end before its program did."""

    # --- memories -----------------------------------------------------------------------------------------------------

    def inside(self, entry: Entry) -> ScopeShadow | None:
        return self._scope

    def _scope_of(self, entry: Entry) -> ScopeShadow | None:
        """The vector scope that an entry is, while it runs."""
        return self._scope if self._scope is not None and self._scope.entry is entry else None

    def memory(self, space: Space, owner: Core | None) -> MemoryShadow:
        assert owner is not None
        shared = space is Space.L1  # of the cluster
        if self.subject.together:
            who: object = id(owner.cluster) if shared else owner.index
        else:
            who = "" if shared else owner.role
        memory = self._memories.get((who, space))
        if memory is None:
            memory = self._memories[who, space] = MemoryShadow(str(space), owner.target.memory[space])
            memory.begin(self.fresh)
        return memory

    def memories(self) -> Iterable[MemoryShadow]:
        """The touched bytes."""
        return self._memories.values()

    # --- loads --------------------------------------------------------------------------------------------------------

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> Any:
        space, owner, starts, width = footprint
        starts, width = joined(starts, width)
        if space is GM:
            self.global_access(entry, site, "read", starts, width)
            return None
        scope = self._scope_of(entry)
        memory = scope.memory if scope else self.memory(space, owner)
        whole: Image | None = None
        for part in inside(starts, width, memory.size):
            at = part.window()
            image = self._vector_load(scope, site, at, by_use) if scope else self._load(entry, site, at, memory)
            if part.numbers is None:
                return image
            if image is not None:
                whole = np.zeros(byte_count(starts, width), np.uint8) if whole is None else whole
                part.put(whole, width, image)
        return whole

    def _load(self, entry: Entry, site: Site, covered: ShadowWindow, memory: MemoryShadow) -> Image | None:
        """A load of anything but the vector pipe: it counts by touch, and carries taint on."""
        self.accessed(entry, site, covered, memory)
        image = None if memory.is_clean(covered) else self._taint(entry, site, memory, covered)
        if image is not None and entry.pipe is Pipe.S:
            self.tainted(entry, site, "scalar", image)
        return image

    def _vector_load(self, scope: ScopeShadow, site: Site, covered: ShadowWindow, by_use: bool) -> Image | None:
        entry, memory = scope.entry, scope.memory
        scope.settle()
        number = self._number(scope, site, by_use)
        about = scope.about(covered)
        image = self._taint(entry, site, memory, covered) if about & DIRTY else None
        if about & RACY:
            image = self.suspected(scope, site, covered, by_use, image)
        self.aliased(scope, site, covered, about, writes=False)
        scope.note(site, number, covered, writes=False)
        if image is None or not np.count_nonzero(image):
            return None
        if is_scalar(site):
            self.tainted(entry, site, "scalar", image)
        return image

    def _number(self, scope: ScopeShadow, site: Site, by_use: bool) -> int:
        """The number of a load, which the quick way will look up from now on."""
        number = self.sites.number(site)
        if site not in scope.known:
            scope.known[site] = KnownLoad(number, self.dependence.may_be_overtaken(site, scope.entry.site))
            if by_use:
                self._by_use.add(site)
        return number

    def _taint(self, entry: Entry, site: Site, memory: MemoryShadow, covered: ShadowWindow) -> Image | None:
        """The taint of bytes that are loaded; what is undefined has this load for its origin."""
        image = covered.of(memory.taint).reshape(-1).copy()
        undefined = image == UNDEFINED
        if np.count_nonzero(undefined):
            image[undefined] = self.undefined(entry, site, "reads", memory, covered, undefined)
        return image if np.count_nonzero(image) else None

    def undefined(
        self, entry: Entry, site: Site, verb: Verb, memory: MemoryShadow, covered: ShadowWindow, where: Hit
    ) -> int:
        """The origin of bytes that nothing has written, found by an access."""

        def conflict() -> Conflict:
            place, loops = place_of(memory, covered, where), loops_around(entry)
            found = Conflict("uninitialized", "warning", party(entry, site, verb), place, entry.core, loops)
            return self.lacking(entry, found)

        return self.origins.number(("uninitialized", site), conflict)

    def lacking(self, entry: Entry, conflict: Conflict) -> Conflict:
        """Bytes that nothing has written, which an access has found."""
        return conflict

    # --- stores -------------------------------------------------------------------------------------------------------

    def store(self, entry: Entry, site: Site, footprint: Footprint, change: Change | None = None) -> None:
        assert change is not None
        data, before, taint, atomic = change
        space, owner, starts, width = footprint
        starts, width = joined(starts, width)
        if space is GM:
            self.global_access(entry, site, atomic or "write", starts, width, data, before)
            if taint is not None:
                self.tainted(entry, site, "global", taint)
            return
        scope = self._scope_of(entry)
        memory = scope.memory if scope else self.memory(space, owner)
        is_plain = taint is None and type(starts) is int and 0 <= starts <= memory.size - width
        if scope is not None and is_plain and scope.store(site, starts, width):
            return
        equal = cache(lambda: data == before())  # compared when it matters, for all parts at once
        for part in inside(starts, width, memory.size):
            covered, kept = part.window(), None if taint is None else part.of(taint, width)
            unchanged = partial(_unchanged, part, equal, width)
            if scope:
                self._vector_store(scope, site, covered, unchanged, kept)
            else:
                self.accessed(entry, site, covered, memory, unchanged)
                memory.set_taint(covered, kept)
        if scope is None:
            self.left_behind(entry, site, footprint, memory)

    def _vector_store(
        self, scope: ScopeShadow, site: Site, covered: ShadowWindow, unchanged: Unchanged, taint: Image | None
    ) -> None:
        scope.settle()
        about = scope.about(covered)
        if about & RACY:
            self.stored(scope, site, covered, unchanged)
        self.aliased(scope, site, covered, about, writes=True)
        scope.note(site, self.sites.number(site), covered, writes=True)
        if taint is not None or about & DIRTY:
            scope.memory.set_taint(covered, taint)
            scope.refresh(covered)

    # --- use of doubtful values ---------------------------------------------------------------------------------------

    def tainted(self, entry: Entry, site: Site, use: Use | MachineUse, taint: Any) -> None:
        """A doubtful value decides something or leaves the core: what made it doubtful is a finding."""
        for mixed in distinct(taint):
            if mixed != CLEAN:
                origin = self.origins[mixed & ORIGIN]
                self.findings.conflict(origin.used(*judged(origin.kind, use, entry.pipe, mixed), site))
