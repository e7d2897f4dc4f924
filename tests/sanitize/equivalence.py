"""Whether two kernels do the same in every schedule, found without the sanitizer: the order of a run as a plain graph,
built from the rules of the instruction set, and what each entry touches.

An entry has a start and an end. The edges: entries of a pipe start in the order in which they were issued, and a serial
pipe ends one before it starts the next; a set fires when all before it in its pipe have ended; a wait, a get and a
barrier hold back what follows in their pipe; steps of the scalar unit that stop it hold back what is issued later. One
entry is *before* another when a path leads from its end to the other's start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any
from unittest.mock import patch

import numpy as np

import ptosim
from ptosim.api import Launch
from ptosim.arguments import bind
from ptosim.effects.names import GM, SERIAL_PIPES, Pipe, Space
from ptosim.machine.entry import Entry, EntryKind, Site
from ptosim.machine.observer import Footprint, Observer
from ptosim.reference.memory.port import AccessPlace
from ptosim.reference.observed.access_witness import AccessWitness


@dataclass(frozen=True, eq=False)
class Access:
    """The bytes that an instruction reads or writes; `data` are the written ones."""

    memory: str
    writes: bool
    by_use: bool
    places: np.ndarray
    data: bytes

    def alike(self, other: Access) -> bool:
        """The same but for where it is."""
        mine, its = ((one.memory, one.writes, one.by_use, one.data, len(one.places)) for one in (self, other))
        return mine == its

    def same(self, other: Access) -> bool:
        return self.alike(other) and np.array_equal(self.places, other.places)


@dataclass
class Work:
    """An entry that touches memory."""

    name: str
    core: str
    pipe: Pipe
    number: int
    """Of the entry on its pipe."""
    accesses: list[Access] = field(default_factory=list[Access])
    fences: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Each mem_bar with the number of accesses before it; a second one in the same place adds nothing."""
    before: int = 0
    """A bit for each work of the trace that has ended when this one starts, whatever the schedule."""

    def alike(self, other: Work) -> bool:
        """The same but for where in memory, and in which order with others."""
        mine, its = ((one.name, one.core, one.pipe, one.fences, len(one.accesses)) for one in (self, other))
        return mine == its and all(map(Access.alike, self.accesses, other.accesses))

    def same(self, other: Work) -> bool:
        """The same but for the order with others."""
        return self.alike(other) and all(map(Access.same, self.accesses, other.accesses))


Trace = list[Work]
"""The works of each pipe of each core, in order: a kernel that issues the same work has a trace of the same length."""


class Recorder(Observer):
    """Keeps every entry of a run, in the order of issue of its core."""

    def __init__(self) -> None:
        self.programs: dict[str, list[Entry]] = defaultdict(list)

    def issue(self, entry: Entry) -> None:
        self.programs[entry.core.name].append(entry)
        if entry.kind in (EntryKind.WORK, EntryKind.LOAD, EntryKind.STORE):
            entry.data = Work(entry.site.name, entry.core.name, entry.pipe, entry.n)

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> None:
        entry.data.accesses.append(Access(memory_of(footprint), False, by_use, places_of(footprint), b""))

    def store(self, entry: Entry, site: Site, footprint: Footprint, change: Any = None) -> None:
        written = change.data.tobytes()
        entry.data.accesses.append(Access(memory_of(footprint), True, False, places_of(footprint), written))

    def fence(self, entry: Entry, site: Site, kind: str) -> None:
        fence = (len(entry.data.accesses), kind)
        if fence not in entry.data.fences:
            entry.data.fences.append(fence)


def memory_of(footprint: Footprint) -> str:
    if footprint.space is GM:
        return "gm"
    assert footprint.owner is not None
    return f"{footprint.owner.block if footprint.space is Space.L1 else footprint.owner.name} {footprint.space}"


def places_of(footprint: Footprint) -> np.ndarray:
    starts = np.atleast_1d(np.asarray(footprint.starts, np.int64))
    return (starts[:, np.newaxis] + np.arange(footprint.width)).reshape(-1)


def trace(kernel: ptosim.Kernel, arguments: Iterable[Any], grid: int) -> Trace:
    """What a launch does, in program order, and which order all other schedules keep."""
    recorder = Recorder()
    kernel.reference(Launch(bind(kernel.signature, tuple(arguments)).copied(), grid), recorder)()
    graph = Graph()
    entries: list[Entry] = []
    for program in recorder.programs.values():
        graph.add(program)
        entries += [entry for entry in program if entry.data is not None]
    entries.sort(key=lambda entry: (entry.core.name, entry.kind is EntryKind.STORE, entry.pipe, entry.n))
    for entry, before in zip(entries, graph.before(entries), strict=True):
        entry.data.before = before
    return [entry.data for entry in entries]


# --- the order --------------------------------------------------------------------------------------------------------

STOPPING = {EntryKind.LOAD, EntryKind.WAIT, EntryKind.BARRIER, EntryKind.FENCE}
"""Steps of the scalar unit that have ended before it goes on."""


class Graph:
    """Nodes are numbers: the start of an entry, one more for its end, two more for the moment when it and all before it
    in its pipe have ended."""

    def __init__(self) -> None:
        self.entries: dict[Entry, int] = {}
        self.edges: dict[int, list[int]] = defaultdict(list)  # from the later node to the earlier ones

    def start(self, entry: Entry) -> int:
        return 3 * self.entries.setdefault(entry, len(self.entries))

    def end(self, entry: Entry) -> int:
        return self.start(entry) + 1

    def add(self, program: list[Entry]) -> None:
        """The entries of one core, as they were issued."""
        pipes: dict[Pipe, list[Entry]] = defaultdict(list)
        stores: list[Entry] = []
        stopped: Entry | None = None
        for entry in program:
            before_start, before_end = self.edges[self.start(entry)], self.edges[self.end(entry)]
            before_start += [self.end(stopped)] if stopped else []
            before_end += [self.start(entry), *(self.end(token) for token in entry.consumed)]
            if entry.pipe not in (Pipe.S, Pipe.ALL):
                self._queue(entry, pipes[entry.pipe])
                pipes[entry.pipe].append(entry)
                continue
            if entry.kind in (EntryKind.SET, EntryKind.FENCE, EntryKind.BARRIER):
                before_end += map(self.end, stores)
            if entry.kind is EntryKind.BARRIER or entry.joint:
                before_end += [self._all_ended(queue) for queue in pipes.values()]
            if entry.kind is EntryKind.STORE:
                stores.append(entry)
            if entry.kind in STOPPING:
                stopped = entry

    def _all_ended(self, queue: list[Entry]) -> int:
        return self.start(queue[-1]) + 2

    def _queue(self, entry: Entry, earlier: list[Entry]) -> None:
        """An entry behind others of its pipe."""
        start, end = self.start(entry), self.end(entry)
        self.edges[end + 1].append(end)
        if not earlier:
            return
        self.edges[end + 1].append(self._all_ended(earlier))
        holds = earlier[-1].kind in (EntryKind.WAIT, EntryKind.GET, EntryKind.BARRIER)
        self.edges[start].append(self.end(earlier[-1]) if holds else self.start(earlier[-1]))
        if entry.pipe in SERIAL_PIPES:
            self.edges[start] += [self.end(one) for one in earlier[-1:] if one.kind is EntryKind.WORK]
        if entry.kind in (EntryKind.SET, EntryKind.RELEASE, EntryKind.BARRIER):
            assert entry.mode == 0
            self.edges[end].append(self._all_ended(earlier))

    def before(self, works: list[Entry]) -> list[int]:
        """Per work, a bit for each of the works that have ended when it starts."""
        bits = {self.end(work): 1 << number for number, work in enumerate(works)}
        ended: dict[int, int] = {}
        for node in TopologicalSorter(self.edges).static_order():
            known = bits.get(node, 0)
            for earlier in self.edges.get(node, ()):
                known |= ended[earlier]
            ended[node] = known
        return [ended[self.start(work)] for work in works]


# --- why two traces come to the same ----------------------------------------------------------------------------------


def explanation(original: Trace, mutant: Trace) -> str | None:
    """Why every schedule of the mutant leaves the same in GM as the original does, if program order does; None where
    nothing shows it."""
    pairs = list(zip(original, mutant, strict=False))
    if len(original) == len(mutant) and all(one.alike(other) for one, other in pairs):
        if all(one.same(other) for one, other in pairs):
            if all(one.before == other.before for one, other in pairs):
                return "same order"
            if all(one.before & ~other.before == 0 for one, other in pairs):
                return "more order"
        elif all(one.before == other.before for one, other in pairs) and _renamed(pairs):
            return "renamed"
    return "in order" if not unordered(mutant) else None


def _renamed(pairs: list[tuple[Work, Work]]) -> bool:
    """Whether the bytes on the chip have got other names and nothing else: no two became one, none became two."""
    names: dict[tuple[str, int], int] = {}
    back: dict[tuple[str, int], int] = {}
    for one, other in pairs:
        for a, b in zip(one.accesses, other.accesses, strict=True):
            if a.memory == "gm" and not a.same(b):
                return False
            for old, new in zip(a.places.tolist(), b.places.tolist(), strict=True):
                if names.setdefault((a.memory, old), new) != new or back.setdefault((a.memory, new), old) != old:
                    return False
    return True


def unordered(works: Trace, by_use: bool = True) -> list[tuple[Work, Work]]:
    """Works that touch the same byte, one of them to write it, and are in no order; with or without the bytes that
    count by use."""
    touched = [Touched(work, by_use) for work in works]
    return [
        (works[one], works[other])
        for other in range(len(works))
        for one in range(other)
        if not _in_order(works, one, other) and touched[one].meets(touched[other])
    ]


def _in_order(works: Trace, one: int, other: int) -> bool:
    first, second = works[one], works[other]
    scalar = first.core == second.core and first.pipe is second.pipe is Pipe.S  # in order with itself
    return scalar or bool(second.before >> one & 1 or first.before >> other & 1)


def left_by_garbage(kernel: ptosim.Kernel, arguments: Iterable[Any], grid: int, works: Trace) -> list[bytes]:
    """What a launch leaves in its arguments when lanes that count by use are garbage wherever something that is in no
    order with their load writes. The trace is that of the launch."""
    touched = [Touched(work, by_use=False) for work in works]
    doubtful = {
        (work.core, work.pipe, work.number): np.concatenate([_NOWHERE, *written])
        for number, work in enumerate(works)
        if (
            written := [
                touched[other].written.get(f"{work.core} ub", _NOWHERE)
                for other in range(len(works))
                if other != number and not _in_order(works, number, other)
            ]
        )
    }
    read = AccessWitness.read

    def garbled(witness: AccessWitness, place: AccessPlace, by_use: bool = False) -> Any:
        data = read(witness, place, by_use)
        places = doubtful.get((witness.machine.name, witness.entry.pipe, witness.entry.n))
        if places is None or not by_use:
            return data
        loaded = np.arange(place.starts, place.starts + place.width)
        return np.where(np.isin(loaded, places), ~data, data)

    bound = bind(kernel.signature, tuple(arguments)).copied()
    with patch.object(AccessWitness, "read", garbled):
        kernel.reference(Launch(bound, grid), Recorder())()
    return [bytes(buffer) for buffer in bound.buffers]


_NOWHERE = np.zeros(0, np.int64)


class Touched:
    """The bytes that a work touches, by memory."""

    def __init__(self, work: Work, by_use: bool) -> None:
        self.all = self._bytes([access for access in work.accesses if by_use or not access.by_use])
        self.written = self._bytes([access for access in work.accesses if access.writes])

    def _bytes(self, accesses: list[Access]) -> dict[str, np.ndarray]:
        found: dict[str, list[np.ndarray]] = defaultdict(list)
        for access in accesses:
            found[access.memory].append(access.places)
        return {memory: np.unique(np.concatenate(places)) for memory, places in found.items()}

    def meets(self, other: Touched) -> bool:
        return any(
            len(np.intersect1d(one[memory], two[memory], assume_unique=True))
            for one, two in ((self.written, other.all), (self.all, other.written))
            for memory in one.keys() & two.keys()
        )
