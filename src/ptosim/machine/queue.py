"""A pipe: entries begin in the order in which they were issued, and what a set needs to fire is a completed prefix.

A set or release is a marker: once the pipe reaches it, later entries may begin, and it fires when everything before it
in its pipe has ended (and, for the forms that speak for several pipes, when those have got far enough). When entries
begin is for the schedules to decide; this module knows only whether they may.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptosim.effects.names import Pipe
from ptosim.machine.entry import BARRIER, DRAIN, GET, RELEASE, SET, WAIT, WATCH, WORK, Entry
from ptosim.machine.sync import CLUSTER_SLOW, DONE, QUEUE_LIMIT, SLOW, Rendezvous, SyncCounter, buffer_word, unit_word

if TYPE_CHECKING:
    from ptosim.machine.core import Core


@dataclass(eq=False, slots=True)
class PipeQueue:
    """One pipe of one core. `issued`, `reached` and `prefix` are numbers of entries, counted from the start of the
    block."""

    core: Core
    pipe: Pipe
    entries: deque[Entry] = field(default_factory=deque[Entry])  # not yet begun
    issued: int = 0
    reached: int = 0
    unended: dict[int, Entry] = field(default_factory=dict[int, Entry])
    """Begun or, for markers, reached; in order of their numbers."""
    watchers: list[tuple[int, Entry]] = field(default_factory=list[tuple[int, Entry]])
    """Markers that need the prefix to exceed a number."""
    last: Entry | None = None  # issued most recently
    stalled: bool = False  # "program" schedule: the head is an unsatisfied wait
    draining: bool = False

    @property
    def prefix(self) -> int:
        """The number of entries, from the first, that have ended."""
        return next(iter(self.unended)) if self.unended else self.reached

    @property
    def idle(self) -> bool:
        return not self.entries and not self.unended

    @property
    def full(self) -> bool:
        return len(self.entries) >= QUEUE_LIMIT

    @property
    def ready(self) -> bool:
        """The first entry may begin."""
        return bool(self.entries) and may_begin(self.entries[0])

    def stall(self) -> None:
        self.stalled = True
        self.core.words[SLOW] += 1
        self.core.cluster_words[CLUSTER_SLOW] += 1

    def resume(self) -> None:
        self.stalled = False
        self.core.words[SLOW] -= 1
        self.core.cluster_words[CLUSTER_SLOW] -= 1

    def begin(self, entry: Entry, woken: list[PipeQueue], overlap: bool = False) -> None:
        """Carry out an entry that may begin. With `overlap`, work with a second half stays open until `end`."""
        self.reached = entry.n + 1
        tracker = self.core.tracker
        kind = entry.kind
        if kind is SET or kind is RELEASE:
            if tracker:
                tracker.start(entry)
            if not (self.unended or self.watchers or self.stalled or entry.missing):
                fire(entry, woken)
                return
            self.unended[entry.n] = entry
            self.settle(woken)
            return
        if kind is WAIT:
            take(entry)
        if tracker:
            tracker.start(entry)
        if kind is WORK:
            _first_half(entry)
            if overlap and entry.finish is not None:
                self.unended[entry.n] = entry
                return
            _second_half(entry)
            _leave_tile(entry, woken)
        if tracker:
            tracker.end(entry)
        if self.unended or self.watchers or self.stalled:
            self.settle(woken)

    def end(self, entry: Entry, woken: list[PipeQueue]) -> None:
        """The second half of work that was begun with `overlap`."""
        _second_half(entry)
        _leave_tile(entry, woken)
        del self.unended[entry.n]
        if self.core.tracker:
            self.core.tracker.end(entry)
        self.settle(woken)

    def settle(self, woken: list[PipeQueue]) -> None:
        """Fire the markers whose prefix is complete; `woken` collects the stalled pipes that this sets free."""
        if self.watchers:
            self._notify(woken)
        while self.unended:
            first = next(iter(self.unended.values()))
            if first.missing or not (first.kind is SET or first.kind is RELEASE):
                break
            del self.unended[first.n]
            fire(first, woken)
            if self.watchers:
                self._notify(woken)
        if self.stalled and self.ready:  # at a barrier of its own
            woken.append(self)

    def _notify(self, woken: list[PipeQueue]) -> None:
        prefix = self.prefix
        due = [marker for number, marker in self.watchers if number < prefix]
        self.watchers = [watcher for watcher in self.watchers if watcher[0] >= prefix]
        for marker in due:
            marker.missing -= 1
            if marker.missing == 0:
                marker.core.release_marker(marker, woken)


def may_begin(entry: Entry) -> bool:
    """Whether the pipe, or the scalar unit, that stands at this entry may go on."""
    kind = entry.kind
    if kind is WORK:
        return entry.unit is None or entry.core.words[unit_word(entry.unit.address)] == entry.unit.wanted
    if kind is WAIT:
        return not [counter for counter in entry.counters if counter.words[counter.index] <= 0]
    if kind is GET:
        words = entry.core.words
        return not [word for word, needed in entry.snapshot if words[word] < needed]
    if kind is BARRIER or kind is DRAIN:
        queue = entry.core.queues.get(entry.pipe)
        if queue is not None:
            return queue.prefix == entry.n
        return entry.pipe is Pipe.S or all(queue.idle for queue in entry.core.queues.values())
    if kind is WATCH:
        assert entry.watched is not None
        return entry.watched.holds()
    return True


def take(entry: Entry) -> None:
    """A wait that may begin consumes one set of each of its counters, the oldest first."""
    tracker = entry.core.tracker
    if tracker:
        tracker.take(entry)
    for counter in entry.counters:
        counter.words[counter.index] -= 1


def fire(entry: Entry, woken: list[PipeQueue]) -> None:
    """A set or release takes effect."""
    core = entry.core
    tracker = core.tracker
    if tracker:
        tracker.fire(entry)
    if entry.needs:
        entry.needs = ()  # releases would otherwise chain back to the first of the block
    if entry.kind is RELEASE:
        assert entry.key is not None
        core.words[buffer_word(DONE, entry.pipe, entry.key.id)] += 1
        woken += [queue for queue in core.queues.values() if queue.stalled and queue.ready]
        return
    for counter in entry.counters:
        raise_counter(counter, entry, (entry,), woken)
    if entry.rendezvous:
        arrive(entry.rendezvous, entry, woken)


def arrive(rendezvous: Rendezvous, entry: Entry, woken: list[PipeQueue]) -> None:
    """A member has come once more; if it was the last one missing, all may go on."""
    rendezvous.present += rendezvous.arrived[entry.core].value == 1
    if not rendezvous.complete:
        return
    sets: list[Entry] = []
    for counter in rendezvous.arrived.values():
        counter.words[counter.index] -= 1
        rendezvous.present -= counter.value == 0
        if entry.core.tracker:
            sets += counter.pending.popleft()
    tracker = entry.core.tracker
    tokens = (tracker.meeting(entry, sets),) if tracker and tracker.wants_clocks else tuple(sets)
    for counter in rendezvous.ready.values():
        raise_counter(counter, entry, tokens, woken)


def raise_counter(counter: SyncCounter, entry: Entry, sets: tuple[Entry, ...], woken: list[PipeQueue]) -> None:
    tracker = entry.core.tracker
    if counter.limit and counter.value >= counter.limit and not (tracker and tracker.wants_clocks):
        entry.core.overflow(entry, counter)
    if tracker:
        tracker.set(counter, entry, sets)
    counter.words[counter.index] += 1
    if counter.core and counter.core.cluster_words[CLUSTER_SLOW]:
        woken += [queue for queue in counter.core.queues.values() if queue.stalled and queue.ready]


def _first_half(entry: Entry) -> None:
    assert entry.start is not None
    core = entry.core
    core.current = entry
    entry.payload = entry.start()
    core.current = None


def _leave_tile(entry: Entry, woken: list[PipeQueue]) -> None:
    """Work has ended that sets or clears the flag of a tile."""
    if entry.unit is None or entry.unit.left is None:
        return
    core = entry.core
    core.words[unit_word(entry.unit.address)] = entry.unit.left
    woken += [queue for queue in core.queues.values() if queue.stalled and queue.ready]


def _second_half(entry: Entry) -> None:
    if entry.finish is None:
        return
    core = entry.core
    core.current = entry
    entry.finish(entry.payload)
    core.current = None
