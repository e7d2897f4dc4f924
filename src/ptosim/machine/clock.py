"""Completed prefixes: what is known to have ended when an entry starts.

A clock maps an index, one per (core, pipe), to a number: at least so many entries of that pipe, from its first, have
ended. Sets, releases and barriers always drain a prefix, so one number per pipe says it all. The scalar unit has three
indices: its steps (loads, waits), which every issue carries, and its stores to GM and to UB, which end at some later
time and are known to others only through a dsb of their memory, barrier ALL or a set_flag of S. Clocks of other blocks
lack the index, which reads as 0.

Clocks are never changed once an entry holds them, so entries and pipes share them. They are computed when entries
execute, not when they are issued, because entries queued behind a set are not covered by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from operator import le
from typing import TYPE_CHECKING

from ptosim.effects.names import SERIAL_PIPES, Pipe
from ptosim.effects.sync import ALL_WRITES, FenceReach
from ptosim.machine.entry import BARRIER, FENCE, RELEASE, SET, STORE, TRANSFER, Clock, Entry
from ptosim.machine.sync import PIPES, SLOT

if TYPE_CHECKING:
    from ptosim.machine.core import Core
    from ptosim.machine.launch import Progress

SLOTS = 2 * PIPES  # of each core; that of S, which also stands for all pipes, is 0
STORES, LOCAL_STORES = 7, 8
TRANSFERS = 9
QUEUES = 3  # of copies that the scalar unit has begun


def clock_index(core: Core, pipe: Pipe) -> int:
    return core.index * SLOTS + SLOT[pipe]


def stores_index(core: Core) -> int:
    """The queue of stores of its scalar unit to GM."""
    return core.index * SLOTS + STORES


def entry_index(entry: Entry) -> int:
    """The index under which the end of this entry is counted."""
    if entry.kind is STORE:
        return entry.core.index * SLOTS + (LOCAL_STORES if entry.reach is FenceReach.LOCAL else STORES)
    if entry.kind is TRANSFER:
        assert entry.event is not None
        return transfer_index(entry.core, entry.event[0])
    return entry.core.index * SLOTS + SLOT.get(entry.pipe, 0)


def transfer_index(core: Core, queue: int) -> int:
    return core.index * SLOTS + TRANSFERS + queue


def ordered(first: Entry, second: Entry) -> bool:
    """Whether the end of `first` is known before the start of `second`. Of two accesses, one a write, neither of which
    is ordered before the other, the bytes are in a race."""
    return second.clock is not None and ended_by(first, second.clock)


def ended_by(entry: Entry, clock: Clock) -> bool:
    """Whether a clock knows that the entry has ended."""
    if entry.joint:
        assert entry.clock is not None
        return all(clock.get(index, 0) >= number for index, number in entry.clock.items())
    return clock.get(entry_index(entry), 0) > entry.n


def join(clock: Clock, other: Clock) -> None:
    known = clock.get
    for index, number in other.items():
        if number > known(index, 0):
            clock[index] = number


def joined(clock: Clock, other: Clock) -> Clock:
    """The union of two clocks; one of them unchanged if it covers the other, so that clocks are shared."""
    if len(other) <= len(clock) and _covers(clock, other):
        return clock
    if len(clock) <= len(other) and _covers(other, clock):
        return other
    both = dict(clock)
    join(both, other)
    return both


def _covers(clock: Clock, other: Clock) -> bool:
    return clock is other or all(map(le, other.values(), map(clock.get, other, repeat(0))))


class Clocks:
    """The clocks of the pipes of one core."""

    __slots__ = ("barred", "base", "core", "fenced", "inherited", "known")

    def __init__(self, core: Core) -> None:
        self.core = core
        self.base = core.index * SLOTS
        self.known: list[Clock] = [{} for _ in range(PIPES)]
        self.inherited: list[Clock | None] = [None] * PIPES
        """The clock that the last entry of each pipe inherited: the same clock has nothing new for the next one."""
        self.fenced: Clock = {}
        """The clock of the scalar unit at its last dsb: these stores are in memory."""
        self.barred: dict[Pipe, int] = {}
        """For each pipe the entries before its last own barrier in the text. The scalar unit does not wait for that."""

    def reached(self, entry: Entry) -> Clock:
        """The clock of a pipe, or of the scalar unit, when it comes to an entry, before any wait."""
        if entry.pipe not in self.core.queues:
            return {**self.known[0], self.base: self.core.steps, **self._stored(ALL_WRITES)}
        assert entry.captured is not None
        inherited, steps = entry.captured
        slot = SLOT[entry.pipe]
        clock = self.known[slot].copy()
        if inherited is not self.inherited[slot]:
            join(clock, inherited)
        if steps > clock.get(self.base, 0):
            clock[self.base] = steps
        return clock

    def start(self, entry: Entry, heard: Clock | None = None) -> None:
        """An entry of a pipe begins; a set or release is reached and begins to gather what it will tell. `heard`: what
        it has learnt besides."""
        slot = SLOT[entry.pipe]
        clock = self.reached(entry)
        join(clock, heard or {})
        for token in entry.consumed:
            if token.clock is not None:
                join(clock, token.clock)
        kind = entry.kind
        serial = entry.pipe in SERIAL_PIPES
        if serial or kind is BARRIER:
            clock[self.base + slot] = entry.n
        if kind is BARRIER and not entry.site.served:
            self.barred[entry.pipe] = entry.n
        self.known[slot] = clock
        self.inherited[slot] = entry.captured[0] if entry.captured else None
        if not serial and (kind is SET or kind is RELEASE):
            clock = {**clock, self.base + slot: entry.n}
        entry.clock = clock

    def fire(self, entry: Entry) -> None:
        """A set or release that speaks for other pipes too has seen them end."""
        clock = dict(entry.clock or {})
        for needed in entry.needs:
            join(clock, needed.clock or {})
            join(clock, {entry_index(needed): needed.n + 1})
        entry.clock = clock

    def step(self, entry: Entry) -> None:
        """The scalar unit executes: it knows its own steps and stores, and learns what it has waited for."""
        known = self.known[0]
        for learnt in (*(token.clock for token in entry.consumed), *entry.told):
            if learnt is not None:
                known = joined(known, learnt)
        if entry.ranges is not None:
            known = self._touching_ended(known, entry)
        elif entry.kind is BARRIER and entry.pipe is Pipe.ALL:
            known = self._all_ended(known, entry.reach)
        elif entry.kind is FENCE:
            if entry.event is not None:
                queue, count = entry.event
                known = joined(known, {transfer_index(self.core, queue): count})
            else:
                known = {**known, **self._stored(entry.reach)}
                self.fenced = known if FenceReach.PIPES in entry.reach else self.fenced
        self.known[0] = known
        entry.clock = self.reached(entry)
        if entry.kind is SET and entry.key is not None and entry.key.mechanism == "syncall":
            entry.clock = {**known, self.base: self.core.steps}  # its stores may still be in its cache

    def learn(self, told: Iterable[Clock]) -> Clock:
        """The scalar unit learns something between two steps. Gives its earlier knowledge of the same queues."""
        before = self.known[0]
        for clock in told:
            self.known[0] = joined(self.known[0], clock)
        return {index: before.get(index, 0) for index, n in self.known[0].items() if n > before.get(index, 0)}

    def forget(self, told: Iterable[Clock], before: Clock) -> None:
        """Forgets such knowledge, unless more has been learnt since."""
        learnt: Clock = {}
        for clock in told:
            join(learnt, clock)
        self.known = [
            {index: before[index] if index in before and n == learnt[index] else n for index, n in known.items()}
            for known in self.known
        ]

    def _stored(self, reach: FenceReach) -> Clock:
        """All stores of the scalar unit up to here that a fence reaches."""
        found: Clock = {}
        if self.core.stores and FenceReach.GM in reach:
            found[self.base + STORES] = self.core.stores
        if self.core.local_stores and FenceReach.LOCAL in reach:
            found[self.base + LOCAL_STORES] = self.core.local_stores
        return found

    def settle(self) -> None:
        """Behind the word of a notice stands a dsb: what its scalar unit knew to have ended is in memory."""
        self.fenced = {**self.known[0], **self._stored(ALL_WRITES)}

    def published(self) -> Clock:
        """The clock that the scalar unit passes on by a word in GM: all that it knows to have ended, its own steps
        included. Its stores have ended only if a dsb or a barrier of all pipes came after them. A barrier of one pipe
        counts as if it drained the pipe; `weakly_ended` reports where it does not."""
        told = {**self.known[0], self.base: self.core.steps}
        for pipe in self.weakly_ended():
            told[self.base + SLOT[pipe]] = self.barred[pipe]
        return told

    def weakly_ended(self) -> list[Pipe]:
        """Pipes with a barrier of their own behind the last entry that the scalar unit knows to have ended."""
        return [pipe for pipe, n in self.barred.items() if n > self.known[0].get(self.base + SLOT[pipe], 0)]

    def inherit(self, progress: Progress) -> None:
        """The core begins after other launches."""
        known: Clock = {}
        for earlier in progress.before:
            join(known, earlier.ended)
        self.known[0] = known

    def leave(self, progress: Progress) -> None:
        """The core has ended, with all its pipes."""
        ended = {self.base: self.core.steps}
        ended |= {transfer_index(self.core, queue): count for queue, count in enumerate(self.core.transfers) if count}
        join(progress.ended, self._all_ended({**self.known[0], **ended}, ALL_WRITES))

    def _touching_ended(self, known: Clock, entry: Entry) -> Clock:
        """For each pipe the entries up to the last that touched bytes of a range. The knowledge of an entry at its
        begin is remembered only for the latest one of a pipe.
        """
        known = dict(known)
        observer = self.core.observer
        for footprint in entry.ranges or ():
            join(known, observer.touched(self.core, footprint) if observer else {})
        for pipe, queue in self.core.queues.items():
            if queue.issued and known.get(self.base + SLOT[pipe], 0) >= queue.issued:
                join(known, self.known[SLOT[pipe]])
        return known

    def _all_ended(self, known: Clock, reach: FenceReach) -> Clock:
        known = dict(known)
        for pipe, queue in self.core.queues.items():
            if queue.issued:  # what is not there reads as 0
                join(known, self.known[SLOT[pipe]])
                known[self.base + SLOT[pipe]] = queue.issued
        return {**known, **self._stored(reach)}
