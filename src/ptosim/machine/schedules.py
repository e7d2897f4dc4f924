"""Schedules: entries happen in program order, at random, or with one pipe as late as possible.

`ProgramSchedule` is the meaning that both engines share. A core executes each entry when its SU issues it. At an
unsatisfied wait the turn passes to the next core, in cyclic order, that can go on. If none can, the first in that order
whose wait holds only a pipe marks the pipe stalled and goes on, queueing the entries of that pipe. A set that satisfies
the head of a stalled pipe drains its queue at once, depth first, before anything else goes on.

`QueuedSchedule` puts every entry in its queue; scalar units and pipes are actors, one of which is picked for each step.
Copies of MTE2 and MTE3 read when they begin and write when they end, and those in flight end in any order; other work
is one step. Before each access to memory a scalar unit may have to wait for its turn, and its stores end later.

A core that polls a word in GM can always go on. So that no schedule starves the others, it lets every other core go
first after some looks in vain.

Both are driven by whichever scalar unit holds the turn. They change hands through `Turns`; threads belong to
`scheduler`.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

from ptosim.diagnostics import error
from ptosim.effects.names import SERIAL_PIPES, Pipe
from ptosim.effects.simt import SIMT_LAUNCH
from ptosim.machine.entry import PASS, WORK, Entry, Site
from ptosim.machine.late_stores import LateStore
from ptosim.machine.queue import PipeQueue, may_begin

if TYPE_CHECKING:
    from ptosim.machine.core import Core

IN_FLIGHT = 16  # copies of one pipe that may be open at a time
PATIENCE = 64  # looks at words in vain, in a row, after which a core that does not poll goes on
LONGEST_SEED = 40  # digits; Python refuses to read numbers that are very much longer


class TurnTaker(Protocol):
    """The interface of a schedule to the runner of the scalar units."""

    cores: list[Core]

    @property
    def holder(self) -> Core | None:
        """The core on whose thread everything happens now."""
        ...

    def give(self, holder: Core, receiver: Core) -> None:
        """Hand the turn over; returns when it comes back (at once if both are the same)."""
        ...

    def stuck(self) -> Exception:
        """Nothing can go on: what to raise."""
        ...


class Schedule(Protocol):
    """The order in which things happen. `Scheduler` hands one to every core."""

    turns: TurnTaker
    interleaves: bool
    """Whether others may go first before each access of a scalar unit, and its stores end later."""

    def next_warp(self, ready: Sequence[Any]) -> Any:
        """The next warp of a launch to go on, of those that can."""
        ...

    def issue(self, queue: PipeQueue, entry: Entry) -> None:
        """The SU appends an entry to a pipe."""
        ...

    def block(self, core: Core, entry: Entry) -> None:
        """The SU stops at this entry; returns once it may go on."""
        ...

    def give_way(self, core: Core, entry: Entry) -> None:
        """The SU could go on, but lets others go first; returns when the turn comes back."""
        ...

    def give_turn(self, core: Core, site: Site) -> None:
        """All warps of a launch go round and round: other cores, for one of which they may wait, go first."""
        ...

    def drain(self, woken: list[PipeQueue]) -> None:
        """Something that the SU did by itself has set these stalled pipes free."""
        ...


def can_go_on(core: Core) -> bool:
    """Whether the SU of a core could use the turn."""
    if core.ended or core.waiting is None:
        return not core.ended and (core.started or core.progress.may_start)
    return not core.full.full if core.full else may_begin(core.waiting)


def looks_in_vain(core: Core) -> bool:
    """Whether a scalar unit that polls has done so for long, and all others that move do the same."""
    entry = core.waiting
    return entry is not None and entry.kind is PASS and core.signals.fruitless > PATIENCE


class ProgramSchedule:
    interleaves = False

    def next_warp(self, ready: Sequence[Any]) -> Any:
        return ready[0]

    def __init__(self, turns: TurnTaker) -> None:
        self.turns = turns

    def issue(self, queue: PipeQueue, entry: Entry) -> None:
        while queue.stalled and queue.full:
            self._suspend(queue.core, entry, queue)
        if not queue.stalled:
            may = may_begin(entry)
            if not may:
                self._suspend(queue.core, entry, None)
                may = may_begin(entry)
            if may:
                woken: list[PipeQueue] = []
                queue.begin(entry, woken)
                if woken:
                    self.drain(woken)
                return
            queue.stall()
        queue.entries.append(entry)

    def block(self, core: Core, entry: Entry) -> None:
        if not may_begin(entry):
            self._suspend(core, entry, None)

    def give_way(self, core: Core, entry: Entry) -> None:
        self._suspend(core, entry, None)

    def give_turn(self, core: Core, site: Site) -> None:
        assert self.turns.holder is not None
        self._suspend(self.turns.holder, Entry(site, Pipe.S, core, PASS), None)

    def drain(self, woken: list[PipeQueue]) -> None:
        """Empty the queues that were set free, and first those that this sets free in turn."""
        pending = woken[::-1]
        while pending:
            queue = pending[-1]
            queue.draining = True
            if queue.stalled and queue.ready:
                freed: list[PipeQueue] = []
                queue.begin(queue.entries.popleft(), freed)
                if not queue.entries:
                    queue.resume()
                pending += [other for other in reversed(freed) if not other.draining]
            else:
                queue.draining = False
                pending.pop()

    def after(self, core: Core) -> Core | None:
        """The core that goes on when this one has ended; None when all have."""
        return self._next(core) if any(not other.ended for other in self.turns.cores) else None

    def _suspend(self, core: Core, entry: Entry, full: PipeQueue | None) -> None:
        core.waiting, core.full = entry, full
        self.turns.give(core, self._next(core))
        core.waiting = core.full = None

    def _next(self, core: Core) -> Core:
        cores = self.turns.cores
        first = cores.index(core) + 1
        order = cores[first:] + cores[:first]
        polling: Core | None = None
        for other in order:
            if can_go_on(other):
                if not looks_in_vain(other):
                    return other
                polling = polling or other
        for other in order:
            if not other.ended and other.waiting and not other.full and other.waiting.pipe in other.queues:
                return other
        if polling is not None:
            return polling
        raise self.turns.stuck()


@dataclass(eq=False, slots=True)
class Actor:
    """Something that can take the next step: a scalar unit, a store of one that ends, or a pipe that begins or ends an
    entry."""

    core: Core
    queue: PipeQueue | None = None  # None: the scalar unit
    ends: bool = False
    """An entry of the pipe, or a store of the scalar unit."""
    speed: int = 0  # until a schedule draws one

    @property
    def pipe(self) -> Pipe:
        return Pipe.S if self.queue is None else self.queue.pipe


Pick = Callable[[list[Actor]], Actor]
PickEnd = Callable[[list[Entry]], Entry]
PickStore = Callable[[list[LateStore]], LateStore]


class QueuedSchedule:
    interleaves = True

    def next_warp(self, ready: Sequence[Any]) -> Any:
        return self.pick_store(list(ready))

    def __init__(self, turns: TurnTaker, pick: Pick, pick_end: PickEnd, pick_store: PickStore) -> None:
        self.turns = turns
        self.pick = pick
        self.pick_end = pick_end
        self.pick_store = pick_store
        self.turn = 0
        """The turns of the cores that poll, if none does anything else."""
        self.launches: set[Core] = set()
        """Cores that carry out a launch which has let others go first, on their own threads."""
        self.errand: PipeQueue | None = None
        """A launch that the thread which gets the turn has to carry out before all else."""
        self.cores: list[Core] = []
        self.actors: list[tuple[Actor, Actor, list[tuple[PipeQueue, Actor, Actor]]]] = []
        """For each core its scalar unit, the end of its stores, and begin and end of the entries of each pipe."""

    def issue(self, queue: PipeQueue, entry: Entry) -> None:
        core = queue.core
        if queue.full:
            core.waiting, core.full = entry, queue
            self._advance(core)
            core.waiting = core.full = None
        queue.entries.append(entry)
        self._advance(core)

    def block(self, core: Core, entry: Entry) -> None:
        core.waiting = entry
        self._advance(core)
        core.waiting = None

    give_way = block

    def give_turn(self, core: Core, site: Site) -> None:
        assert core is self.turns.holder
        current = core.current
        self.launches.add(core)
        self._advance(core)
        self.launches.discard(core)
        core.current = current

    def drain(self, woken: list[PipeQueue]) -> None:
        """Pipes that were set free are actors like any other."""

    def after(self, core: Core) -> Core | None:
        return self._until_scalar_unit(core)

    def _advance(self, core: Core) -> None:
        """Let things happen until the SU of this core is picked."""
        while True:
            receiver = self._until_scalar_unit(core)
            if receiver is None:
                raise self.turns.stuck()
            self.turns.give(core, receiver)
            queue, self.errand = self.errand, None
            if queue is None:
                return
            self._begin(queue)

    def _begin(self, queue: PipeQueue) -> None:
        queue.begin(queue.entries.popleft(), [], overlap=queue.pipe not in SERIAL_PIPES)

    def _until_scalar_unit(self, core: Core) -> Core | None:
        """Step the pipes until a scalar unit is picked; None when all have ended. What may let others go first happens
        on the thread of its own core: this one is that of `core`."""
        while True:
            actors = self._actors()
            if not actors:
                if all(core.ended for core in self.turns.cores):
                    return None
                raise self.turns.stuck()
            actor = self.pick(actors)
            queue = actor.queue
            if queue is None and not actor.ends:
                return actor.core
            actor.core.signals.fruitless = 0
            if queue is None:
                actor.core.late.end(self.pick_store(actor.core.late.free()))
                continue
            if actor.ends:
                queue.end(self.pick_end(_in_flight(queue)), [])
            else:
                if queue.core is not core and queue.entries[0].site.name == SIMT_LAUNCH:
                    self.errand = queue
                    return queue.core
                self._begin(queue)

    def _actors(self) -> list[Actor]:
        """The actors that can take the next step: the same object for the same one each time."""
        if self.cores is not self.turns.cores:
            self.cores = self.turns.cores
            self.actors = [(Actor(core), Actor(core, ends=True), _of_pipes(core)) for core in self.cores]
        found: list[Actor] = []
        polling: list[Actor] = []
        for unit, stores, pipes in self.actors:
            if unit.core in self.launches:
                polling.append(unit)
            elif can_go_on(unit.core):
                (polling if looks_in_vain(unit.core) else found).append(unit)
            if unit.core.late.pending:
                found.append(stores)
            for queue, begins, ends in pipes:
                open_copies = len(_in_flight(queue)) if queue.unended else 0
                is_busy = queue.pipe is Pipe.V and unit.core in self.launches
                if open_copies < IN_FLIGHT and queue.ready and not is_busy:
                    found.append(begins)
                if open_copies:
                    found.append(ends)
        if found or not polling:
            return found
        self.turn += 1
        return [polling[self.turn % len(polling)]]


def _of_pipes(core: Core) -> list[tuple[PipeQueue, Actor, Actor]]:
    return [(queue, Actor(core, queue), Actor(core, queue, ends=True)) for queue in core.queues.values()]


def _in_flight(queue: PipeQueue) -> list[Entry]:
    return [entry for entry in queue.unended.values() if entry.kind is WORK]


def random_schedule(turns: TurnTaker, seed: int) -> QueuedSchedule:
    """Every scalar unit and pipe has a speed of its own, and every rank one, drawn once, so that some run far ahead of
    others."""
    source, of_ranks = random.Random(seed), random.Random(seed)
    ranks: dict[int | None, int] = {}

    def drawn(actor: Actor) -> int:
        rank = actor.core.rank
        if rank not in ranks:
            ranks[rank] = 8 ** of_ranks.randrange(4)
        actor.speed = 4 ** source.randrange(4) * ranks[rank]
        return actor.speed

    def pick(actors: list[Actor]) -> Actor:
        if len(actors) == 1:
            return actors[0]
        sums = list(accumulate([actor.speed or drawn(actor) for actor in actors]))
        return actors[bisect(sums, source.random() * sums[-1])]

    return QueuedSchedule(turns, pick, source.choice, source.choice)


def delayed_schedule(turns: TurnTaker, delayed: Pipe) -> QueuedSchedule:
    """The pipe moves only when nothing else can; its copies then end in reverse, as late as they can."""

    def pick(actors: list[Actor]) -> Actor:
        return min(actors, key=_lateness)

    def _lateness(actor: Actor) -> tuple[bool, bool, bool]:
        late = actor.pipe is delayed
        return late, actor.pipe is Pipe.S, actor.ends is late

    def pick_end(open_copies: list[Entry]) -> Entry:
        return open_copies[-1] if open_copies[0].pipe is delayed else open_copies[0]

    return QueuedSchedule(turns, pick, pick_end, lambda stores: stores[-1])


def in_order(name: str, blocks: Sequence[int]) -> Sequence[int]:
    """The order in which blocks run that do not wait for each other: any one, where it is drawn."""
    kind, _, seed = name.partition(":")
    return random.Random(int(seed)).sample(blocks, len(blocks)) if kind == "random" else blocks


def make_schedule(name: str, turns: TurnTaker) -> ProgramSchedule | QueuedSchedule:
    """The schedule of this name: program, random:SEED or delay:PIPE."""
    kind, _, value = str(name).partition(":")
    if name == "program":
        return ProgramSchedule(turns)
    if kind == "random" and value.isdecimal() and len(value) <= LONGEST_SEED:
        return random_schedule(turns, int(value))
    if kind == "delay" and value in set(Pipe) - {Pipe.ALL}:
        return delayed_schedule(turns, Pipe(value))
    pipes = ", ".join(pipe for pipe in Pipe if pipe is not Pipe.ALL)
    hint = f"schedules are program, random:SEED and delay:PIPE with PIPE one of {pipes}"
    raise error("argument", f"there is no schedule '{name}'", hint=hint)
