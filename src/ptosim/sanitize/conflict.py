"""Conflicts: two accesses (or one, and the lack of another), before they are put into words.

Each pair of source lines is kept once, with the first occurrence and a count. A conflict of a by-use load is a mere
suspicion until the loaded value is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Diagnostic, Severity, Workitem
from ptosim.effects.names import Pipe
from ptosim.language.text.parser import VectorLanes
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, Site
from ptosim.sanitize.shadow import MemoryShadow
from ptosim.sanitize.window import ShadowWindow

_NUMBER = re.compile(r"\d+")
Verb = Literal["reads", "writes", "updates", "prefetches"]
Relation = Literal["inside a core", "between cores", "between blocks", "between ranks"]
Use = Literal["global", "crossed", "scalar", "mask", "address", "condition", "product", "fixpipe"]


@dataclass(frozen=True, eq=False)
class Party:
    """One side of a conflict."""

    site: Site
    pipe: Pipe
    verb: Verb
    role: str
    """The core inside its cluster: aic, aiv0, aiv1."""
    block: int
    loops: tuple[int, ...] | None = None
    """The indices of the loops around it, if known; those inside a vector scope may be missing."""
    rank: int | None = None


def party(entry: Entry, site: Site, verb: Verb) -> Party:
    return Party(site, entry.pipe, verb, entry.core.role, entry.core.block, entry.loops, entry.core.rank)


@dataclass(frozen=True, eq=False)
class Clobber:
    """The pointers that a conflict of this kind is about, and the write that is lost."""

    own: str
    other: str
    own_address: int
    other_address: int
    lost: Party


@dataclass(frozen=True)
class MemoryPlace:
    """Bytes of a memory, as they are called in messages."""

    memory: str
    low: int
    high: int
    tile: str = ""
    """The tile and its rows, where the access is one of a tile operation."""
    lanes: VectorLanes | None = None
    """The lanes that these bytes hold, where the access is one of a logical vector."""
    start: int | None = None
    """The first byte of the whole access, where its bytes lie in a row."""

    def __len__(self) -> int:
        return self.high - self.low

    def __str__(self) -> str:
        bytes = f"{self.memory}[{self.low}:{self.high}]" if self.low != self.high else self.memory
        if self.lanes is not None:
            return f"{bytes} ({self.lanes})"
        return f"tile {self.tile} ({bytes})" if self.tile else bytes


def place_of(memory: MemoryShadow, window: ShadowWindow, where: NDArray[np.bool_]) -> MemoryPlace:
    """From the lowest to the highest of some bytes of an access."""
    if window.is_stretch:
        hits = np.flatnonzero(where)
        start = window.start
        return MemoryPlace(memory.name, start + int(hits[0]), start + int(hits[-1]) + 1, start=start)
    addresses = window.addresses()[where]
    return MemoryPlace(memory.name, int(addresses.min()), int(addresses.max()) + 1)


def loops_around(entry: Entry) -> tuple[int, ...]:
    """The loop indices around an access: inside a vector function they are still running."""
    return tuple(entry.core.loops) if entry.pipe in (Pipe.V, Pipe.S) else entry.loops


@dataclass(eq=False)
class Conflict:
    """A race, an alias inside a scope, an undefined or a clobbered value; `second` is where it shows."""

    kind: str
    severity: Severity
    second: Party
    place: MemoryPlace
    core: Core
    loops: tuple[int, ...]
    first: Party | None = None
    equal: bool = False
    """The writes in no order store equal bytes."""
    use: tuple[Use, Site] | None = None
    """The operation that made the loaded value count."""
    is_told: bool = False
    """Whether the second of two ranks or blocks has waited for a notice of the first, which did not cover the
    access.
    """
    count: int = 0
    clobber: Clobber | None = None
    workitem: Workitem | None = None
    """The workitem of an instruction of workitems: the lowest that takes part,"""
    launch: Site | None = None
    """and what has launched it."""
    also: list[Conflict] = field(default_factory=list["Conflict"])
    """The same two lines in conflict elsewhere: inside a core, between cores or between blocks."""

    def used(self, use: Use, severity: Severity, site: Site) -> Conflict:
        """The suspicion, confirmed by a use of the value."""
        return replace(self, use=(use, site), severity=severity, also=[])

    def turned(self) -> Conflict:
        """The same accesses the other way round."""
        assert self.first is not None
        core = self.core.cluster.member(self.first.role)
        assert core is not None
        return replace(self, first=self.second, second=self.first, core=core, loops=self.first.loops or ())

    @property
    def key(self) -> tuple[object, ...]:
        """The two source lines, the earlier access first, and where the missing edge is."""
        return (self.kind, self.first and self.first.site.location, self.second.site.location, self.relation)

    @property
    def relation(self) -> Relation:
        first, second = self.first, self.second
        if first is not None and first.rank != second.rank:
            return "between ranks"
        if first is None or (first.role, first.block) == (second.role, second.block):
            return "inside a core"
        return "between cores" if first.block == second.block else "between blocks"

    @property
    def is_within_a_pipe(self) -> bool:
        return self.first is not None and self.relation == "inside a core" and self.first.pipe is self.second.pipe

    @property
    def reads_too_early(self) -> bool:
        return self.second.verb == "reads"


class Enough(Exception):
    """A conflict of a kind that ends the run, because its caller needs no more."""


@dataclass
class Findings:
    """Everything found so far, in the order of first occurrence."""

    enough: frozenset[str] = frozenset()
    """Kinds of conflicts of which one is enough."""
    found: dict[tuple[object, ...], Conflict | Diagnostic] = field(
        default_factory=dict[tuple[object, ...], "Conflict | Diagnostic"]
    )
    notes: dict[tuple[object, ...], Diagnostic] = field(default_factory=dict[tuple[object, ...], Diagnostic])
    """Remarks that are no findings."""

    def conflict(self, conflict: Conflict) -> None:
        """One more occurrence; a graver one replaces a lighter one."""
        if conflict.kind in self.enough:
            raise Enough
        conflict.count = conflict.count or 1
        known = self.found.get(conflict.key)
        if not isinstance(known, Conflict):
            self.found[conflict.key] = conflict
        elif conflict.severity == "error" and known.severity != "error":
            conflict.count += known.count
            self.found[conflict.key] = conflict
        else:
            known.count += conflict.count

    def add(self, conflicts: Iterable[Conflict]) -> None:
        """The conflicts of another run."""
        for conflict in conflicts:
            self.conflict(conflict)

    def diagnostic(self, diagnostic: Diagnostic) -> None:
        """One more occurrence of something that is already in words; another round differs in its numbers alone."""
        others = tuple(other.location for other in diagnostic.related)
        message = _NUMBER.sub("", diagnostic.message) if diagnostic.location else diagnostic.message
        key = (diagnostic.kind, diagnostic.location, others, message)
        kept = self.notes if diagnostic.severity == "note" else self.found
        known = kept.get(key)
        if isinstance(known, Diagnostic):
            diagnostic = replace(known, count=known.count + diagnostic.count)
        if diagnostic.severity == "note":
            self.notes[key] = diagnostic
        else:
            self.found[key] = diagnostic

    def knows(self, conflict: Conflict) -> bool:
        return conflict.key in self.found

    def each_once(self) -> list[Conflict | Diagnostic]:
        """Findings to report, the gravest first: two lines in conflict in several ways are one finding."""
        groups: dict[object, list[Conflict | Diagnostic]] = {}
        for key, found in self.found.items():
            groups.setdefault(_group(key, found), []).append(found)
        kept = {id(found) for group in groups.values() for found in _together(group)}
        return sorted((found for found in self.found.values() if id(found) in kept), key=_rank)

    @property
    def number(self) -> int:
        """The least number of findings that there will be."""
        return len({_group(key, found) for key, found in self.found.items()})


def _group(key: tuple[object, ...], found: Conflict | Diagnostic) -> object:
    """The key of findings that speak of the same lines in the same way."""
    return found.kind, frozenset(key[1:3]) if isinstance(found, Conflict) and found.first else key


def _rank(found: Conflict | Diagnostic) -> tuple[bool, bool]:
    """Errors lead. What one pipe has with itself often follows from an edge to another one that is missing."""
    return found.severity != "error", isinstance(found, Conflict) and found.is_within_a_pipe


def _together(group: list[Conflict | Diagnostic]) -> list[Conflict | Diagnostic]:
    """Cores and blocks have no order among them, so one finding speaks for both directions of a pair; inside a core
    each direction lacks an edge of its own. The gravest leads, then what the author of one core can repair."""
    conflicts = [found for found in group if isinstance(found, Conflict)]
    if all(conflict.relation == "inside a core" for conflict in conflicts):
        return group

    def rank(conflict: Conflict) -> tuple[bool, bool, bool]:
        return conflict.severity != "error", conflict.relation != "inside a core", not conflict.reads_too_early

    leading, *others = sorted(conflicts, key=rank)
    apart: list[Conflict | Diagnostic] = []
    for other in others:
        if other.relation == leading.relation == "inside a core":
            apart.append(other)
            continue
        leading.count += other.count
        if other.relation not in {known.relation for known in (leading, *leading.also)}:
            leading.also.append(other)
    return [leading, *apart]
