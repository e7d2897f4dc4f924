"""The timer of the reference engine: the observer that gives every entry of a run its cycles.

The scalar unit of a core takes a cycle for each scalar operation and for each instruction that it issues. A pipe takes
its entries one after the other; one starts when the pipe is free, the entry has been issued and its waits are over. A
set or release fires when everything before it in its pipe has ended, and is seen some cycles later. What the machine
did first decides nothing here, only what depended on what.

A time is kept with the row of the recording that explains it, which is what the critical path is read from. That copies
between ranks hinder each other is not known here (rank_timer.py): each takes as long as it would alone, or as it is
told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ptosim.diagnostics import Diagnostic, Location
from ptosim.effects.names import PIPES_OF, Pipe, Space
from ptosim.effects.sync import UnitFlagUse
from ptosim.machine import moments
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, EntryKind, Key, Site
from ptosim.machine.memory import decode
from ptosim.machine.moments import BEGIN, NOTHING, Moment
from ptosim.machine.observer import Change, Closeness, Footprint, Observer
from ptosim.machine.sync import unit_word
from ptosim.machine.unit_flags import unit_key
from ptosim.target import Target
from ptosim.timing import recording as rec
from ptosim.timing.notice_times import NoticeWords
from ptosim.timing.recorder import Recorder, Stretch
from ptosim.timing.recording import PIPES, SDMA, CorePipeTime, CoreRun, Recording, WaitCause
from ptosim.timing.work import Cost, Prices
from ptosim.timing.workitems import APPROXIMATE

PIPE_NUMBERS = {**{pipe: number for number, pipe in enumerate(PIPES)}, Pipe.ALL: 0}
_S = 0
"""The number of the scalar unit among the pipes. A barrier of all pipes is a matter of the scalar unit."""
_SDMA = PIPES.index(SDMA)

_WORK, _WAIT = int(rec.RowKind.WORK), int(rec.RowKind.WAIT)


Touch = tuple[Space, int | None, int, int]
"""A memory, the core it belongs to, and bytes in it."""


Hulls = dict[tuple[Site, Space, int | None], tuple[int, int]]
"""For an instruction, a memory and the core that it belongs to: the lowest byte that was touched, and one past the
highest.
"""


class Done(NamedTuple):
    """The result of an entry of a pipe: its price, the path that it took, and the bytes that it touched, on the chip
    at least."""

    cost: Cost
    path: Any
    reads: Hulls
    writes: Hulls


class _CoreState:
    """A core on its way: until when its scalar unit and its pipes are busy, and how long they were busy and waiting."""

    __slots__ = ("flying", "index", "moments", "operations", "queues", "run", "spent", "tiles")

    def __init__(self, index: int, core: Core, name: str, begin: Moment) -> None:
        self.index = index
        self.operations = 0
        self.moments = [begin] * len(PIPES)
        self.spent = [CorePipeTime() for _ in PIPES]
        pipes: dict[str, CorePipeTime] = {pipe: self.spent[PIPE_NUMBERS[pipe]] for pipe in PIPES_OF[core.kind]}
        self.run = CoreRun(name, core.role, core.block, pipes, core.rank, since=begin[0])
        self.flying: list[tuple[Moment, list[Touch]]] = []  # when entries end, and the bytes that they touch
        self.queues: dict[int, list[Moment]] = {}  # of each session, when its transfers end
        self.tiles: dict[int, tuple[Moment, Site]] = {}  # when a tile has become full or free, and by what

    def free(self, slot: int) -> Moment:
        return self.moments[slot]

    def keep(self, slot: int, moment: Moment) -> None:
        self.moments[slot] = moment

    def worked(self, slot: int, cycles: int) -> None:
        self.spent[slot].busy += cycles

    def waited(self, slot: int, cycles: int) -> None:
        self.spent[slot].waiting += cycles


class PipeTimer(Observer):
    """Times one launch."""

    closeness: Closeness = "entries"

    def __init__(self, target: Target, prices: Prices) -> None:
        self.latency = target.latency
        self.prices = prices
        self.recorder = Recorder(Recording())
        self._cores: dict[int, _CoreState] = {}  # by the machine's index
        self._names: dict[str, int] = {}  # how many cores have each
        self._reads: Hulls = {}
        self._writes: Hulls = {}
        self._written = 0
        self.follows_gm = prices.waits_for_bytes
        """Whether the bytes of GM count as well."""
        self._strays: dict[Location | None, Diagnostic] = {}
        self.words = NoticeWords(target.latency)
        self.delayed: Sequence[int] = ()
        """The cycles of copies between ranks, in the order in which they come; others take as long as alone."""
        self._ended: dict[int, Moment] = {}  # when the last core of a launch has

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Accesses outside of GM, which the hardware does not tell of either: one for each line, with a count."""
        return tuple(self._strays.values())

    def recording(self) -> Recording:
        """Complete when all cores have finished; the blocks have still to be placed."""
        return self.recorder.finish()

    # --- cores --------------------------------------------------------------------------------------------------------

    def begin(self, core: Core) -> None:
        self._state(core)

    def _state(self, core: Core) -> _CoreState:
        """Made when first met: a core can be named by another before it begins, and before others of its cluster."""
        state = self._cores.get(core.index)
        if state is None:
            for earlier in core.cluster.cores:
                if earlier.index < core.index:
                    self._state(earlier)
            cores = self.recorder.recording.cores
            begin = max((self._ended.get(earlier.number, BEGIN) for earlier in core.progress.before), default=BEGIN)
            state = self._cores[core.index] = _CoreState(len(cores), core, self._name(core), begin)
            cores.append(state.run)
        return state

    def _name(self, core: Core) -> str:
        """Cores of a later launch on the same rank are told apart by its number."""
        number = self._names[core.name] = self._names.get(core.name, 0) + 1
        return core.name if number == 1 else f"{core.name} #{number}"

    def finish(self, core: Core) -> None:
        state = self._state(core)
        run = state.run
        end, row = self._advance(state, core.operations)
        scalar = state.spent[_S]
        scalar.busy = end - run.since - scalar.waiting
        if state.queues:
            run.pipes[SDMA] = state.spent[_SDMA]
        run.scalar_last = row
        run.end, run.last = moments.ended(
            (end, row), (*state.moments[_S + 1 :], *(ends[-1] for ends in state.queues.values()))
        )
        number = core.progress.number
        over = run.end, row if run.last == NOTHING else run.last
        self._ended[number] = max(self._ended.get(number, BEGIN), over)

    # --- entries ------------------------------------------------------------------------------------------------------

    def issue(self, entry: Entry) -> None:
        state, operations = self._cores[entry.core.index], entry.operations
        entry.data = moments.counted(state.free(_S), operations + 1 - state.operations, self.latency.scalar)
        state.moments[_S], state.operations = entry.data, operations

    def _advance(self, state: _CoreState, operations: int) -> Moment:
        """The scalar unit has come to so many operations."""
        state.moments[_S] = moment = moments.counted(state.free(_S), operations - state.operations, self.latency.scalar)
        state.operations = operations
        return moment

    def start(self, entry: Entry) -> None:
        kind = entry.kind
        if kind is EntryKind.WORK:
            self._reads, self._writes, self._written = {}, {}, 0
            if entry.unit is not None:
                self._wait_for_tile(self._cores[entry.core.index], entry, entry.unit)
        elif kind is EntryKind.SET or kind is EntryKind.RELEASE:
            entry.data, _ = moments.ready(self._cores[entry.core.index].free(PIPE_NUMBERS[entry.pipe]), entry.data)
        elif kind is EntryKind.WAIT or kind is EntryKind.GET:
            self._wait(self._cores[entry.core.index], entry, PIPE_NUMBERS[entry.pipe])
        elif kind is EntryKind.NOTIFY:
            self.words.notify(entry, moments.ready(self._cores[entry.core.index].free(_S), entry.data)[0])
        elif kind is EntryKind.WATCH:
            self._watch(self._cores[entry.core.index], entry)
        elif kind is EntryKind.BARRIER:
            self._barrier(self._cores[entry.core.index], entry, PIPE_NUMBERS[entry.pipe])
        elif kind is EntryKind.TRANSFER:
            self._transfer(self._cores[entry.core.index], entry)
        elif kind is EntryKind.FENCE and entry.event is not None:
            self._settle(self._cores[entry.core.index], entry, *entry.event)

    def end(self, entry: Entry) -> None:
        self.ended(entry, self.done(entry) if entry.kind is EntryKind.WORK else None)

    def done(self, entry: Entry) -> Done:
        """The result of an entry of a pipe at its end; it is forgotten afterwards."""
        return Done(self._cost(entry), entry.payload, self._reads, self._writes)

    def ended(self, entry: Entry, done: Done | None) -> None:
        kind = entry.kind
        if kind is EntryKind.SET or kind is EntryKind.RELEASE:
            entry.data = moments.last((entry.data, *(other.data for other in entry.needs)))
            return
        state, pipe = self._cores[entry.core.index], PIPE_NUMBERS[entry.pipe]
        if done is not None:
            self._work(state, entry, pipe, done)
        entry.data = state.free(pipe)
        if entry.unit is not None and entry.unit.left is not None:
            state.tiles[unit_word(entry.unit.address)] = entry.data, entry.site

    def _work(self, state: _CoreState, entry: Entry, pipe: int, done: Done) -> None:
        moment = self._take(state, entry, pipe, pipe, state.free(pipe), done.cost, done.path)
        state.keep(pipe, moment)
        for writes, hulls in enumerate((done.reads, done.writes)):
            if stretches := _stretches(hulls):
                self.recorder.touched(moment[1], writes, stretches)
        if self.prices.waits_for_bytes:
            now = state.free(_S)[0]
            state.flying = [(end, touches) for end, touches in state.flying if end[0] > now]
            touched = (*done.reads.items(), *done.writes.items())
            state.flying.append((moment, [(space, owner, *bytes) for (_, space, owner), bytes in touched]))

    def _take(
        self, state: _CoreState, entry: Entry, pipe: int, lane: int, free: Moment, cost: Cost, path: Any
    ) -> Moment:
        """Write down that an entry takes its time on a pipe, once that is free, or on one of the queues of transfers;
        when it ends."""
        recorder = self.recorder
        site = recorder.site(entry.site)
        arguments = recorder.arguments(site, self.prices.of(entry.site), entry.facts)
        function = recorder.function(cost.function, path)
        way = self._way(entry) if entry.core.rank is not None else None
        crossing, cycles = recorder.crossings.count, cost.cycles
        if way is not None and crossing < len(self.delayed):
            cycles = self.delayed[crossing]

        def row(start: int, end: int, before: int, by_pipe: bool) -> int:
            link = WaitCause.PIPE if by_pipe else WaitCause.ISSUE
            numbers = (_WORK, link, pipe, state.index, site, before, start, end, function, cost.bytes, arguments)
            return recorder.rows.append(numbers)

        moment = moments.taken(free, entry.data, cycles, row)
        if way is not None:
            recorder.crossings.append((moment[1], *way, cost.cycles, lane))
        state.worked(pipe, cycles)
        return moment

    def _cost(self, entry: Entry) -> Cost:
        if self.prices.of(entry.site).program is not None:
            return self.prices.scope(entry.site, entry.payload)
        if entry.facts and "counts" in entry.facts:
            self._strays.setdefault(None, Diagnostic("lint", "warning", APPROXIMATE))
        is_remote = entry.core.rank is not None and self._way(entry) is not None
        return self.prices.instruction(entry.site, entry.facts, entry.payload, self._written, is_remote)

    # --- between ranks ------------------------------------------------------------------------------------------------

    def _way(self, entry: Entry) -> tuple[int, int] | None:
        """Source and destination rank of a copy, if they differ."""
        mine = entry.core.rank
        if mine is None or entry.facts is None:
            return None
        ends = [mine, mine]
        priced = self.prices.of(entry.site)
        for role in priced.pointers:
            ends[role in priced.written] = _rank_of(entry.core, entry.facts.get(role))
        return (ends[0], ends[1]) if ends[0] != ends[1] else None

    def _transfer(self, state: _CoreState, entry: Entry) -> None:
        """A transfer of a session begins when those before it have ended."""
        assert entry.event is not None
        queue, moved = entry.event[0], entry.facts["bytes"]
        ends = state.queues.setdefault(queue, [])
        cost = Cost(self.prices.target.dma["transfer"].cycles(moved), moved)
        ends.append(self._take(state, entry, _SDMA, _SDMA + queue, ends[-1] if ends else BEGIN, cost, ()))

    def _settle(self, state: _CoreState, entry: Entry, session: int, count: int) -> None:
        """The scalar unit stands until so many transfers of a session have ended."""
        ends = state.queues.get(session, [])[:count]
        (since, _), _ = moments.ready(state.free(_S), entry.data)
        if ends and moments.is_held(since, ends[-1]):
            cause = self.recorder.cause("transfers", self.recorder.site(entry.site), 0)
            self._hold(state, entry, _S, WaitCause.SIGNAL, since, ends[-1], cause)

    # --- waits --------------------------------------------------------------------------------------------------------

    def _wait(self, state: _CoreState, entry: Entry, pipe: int) -> None:
        (since, _), _ = moments.ready(state.free(pipe), entry.data)
        near, far, recorder = self.latency.flag, self.latency.inter_core, self.recorder
        hops = [near if signal.core is entry.core else far for signal in entry.consumed]
        told = zip(entry.consumed, hops, strict=True)
        over, (latest, hop) = moments.heard(since, ((True, signal.data, hop, (signal, hop)) for signal, hop in told))
        if over[0] > since:
            cause = recorder.cause(entry.key, recorder.site(latest.site), hop)
            self._hold(state, entry, pipe, WaitCause.SIGNAL, since, over, cause)
        site, number = recorder.site(entry.site), NOTHING if entry.key is None else entry.key.id
        for signal in entry.consumed:
            time, _ = signal.data
            place = self._cores[signal.core.index].index, PIPE_NUMBERS[signal.pipe], recorder.site(signal.site)
            recorder.signals.append((*place, time, state.index, pipe, site, over[0], number))

    def _wait_for_tile(self, state: _CoreState, entry: Entry, unit: UnitFlagUse) -> None:
        """A product waits until its tile is free, a store until it is full, which is seen at once."""
        pipe = PIPE_NUMBERS[entry.pipe]
        (since, _), _ = moments.ready(state.free(pipe), entry.data)
        told = state.tiles.get(unit_word(unit.address))
        if told is not None and moments.is_held(since, told[0]):
            cause = self.recorder.cause(unit_key(unit), self.recorder.site(told[1]), 0)
            self._hold(state, entry, pipe, WaitCause.SIGNAL, since, told[0], cause)

    def _watch(self, state: _CoreState, entry: Entry) -> None:
        """The scalar unit stands until the words in GM are what it waits for."""
        assert entry.watched is not None
        (since, _), _ = moments.ready(state.free(_S), entry.data)
        said = self.words.satisfied(entry.watched, entry.core, since)
        by = NOTHING if said is None else self._cores[said.entry.core.index].index
        over = since if said is None else said.seen_by(entry.core)
        self.recorder.watches.append((state.index, self.recorder.site(entry.site), since, over, by))
        if said is None:
            return
        key = Key("signal", said.notice.address, entry.core.regions.word(said.notice.address))
        recorder, other = self.recorder, said.entry
        time, row = said.moment
        cause = recorder.cause(key, recorder.site(other.site), over - time)
        self._hold(state, entry, _S, WaitCause.SIGNAL, since, (over, row), cause)
        place = self._cores[other.core.index].index, _S, recorder.site(other.site)
        recorder.signals.append((*place, time, state.index, _S, recorder.site(entry.site), over, NOTHING))

    def _barrier(self, state: _CoreState, entry: Entry, pipe: int) -> None:
        """One of all pipes holds the scalar unit until they are empty; a pipe, where entries follow each other anyway,
        has nothing to wait for, and the scalar unit less still."""
        if entry.pipe is Pipe.S:
            return
        cost = self.latency.barrier
        self.recorder.recording.barriers = True
        if entry.pipe is Pipe.ALL:
            unit = state.free(_S)
            touching = state.moments[_S + 1 :] if entry.ranges is None else self._touching(state, entry.ranges)
            final = moments.last([*touching] or [unit])
            if moments.is_held(unit[0], final):
                cause = self.recorder.cause("all pipes", self.recorder.site(entry.site), cost)
                self._hold(state, entry, _S, WaitCause.DRAIN, unit[0], moments.seen(final, cost), cause)
                return
        moments.passed(state, pipe, entry.data, cost)

    def _touching(self, state: _CoreState, ranges: Iterable[Footprint]) -> Iterator[Moment]:
        """The ends of the entries in flight that touch bytes of a range."""
        wanted = [(space, self._whose(space, owner), start, start + size) for space, owner, start, size in ranges]
        for moment, touches in state.flying:
            if any(_meet(one, other) for one in touches for other in wanted):
                yield moment

    def _hold(
        self, state: _CoreState, entry: Entry, pipe: int, link: WaitCause, since: int, until: Moment, cause: int
    ) -> None:
        """A pipe, or the scalar unit, stood still from a moment on until something happened elsewhere."""

        def row(since: int, until: Moment) -> int:
            end, before = until
            site = self.recorder.site(entry.site)
            return self.recorder.rows.append((_WAIT, link, pipe, state.index, site, before, since, end, cause, 0, 0))

        state.keep(pipe, moments.held(state, pipe, since, until, row))

    # --- memory -------------------------------------------------------------------------------------------------------

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> None:
        self._touch(self._reads, site, footprint)

    def store(self, entry: Entry, site: Site, footprint: Footprint, change: Change | None = None) -> None:
        self._written += len(footprint.starts) * footprint.width
        self._touch(self._writes, site, footprint)

    def _touch(self, hulls: Hulls, site: Site, footprint: Footprint) -> None:
        """The bytes of an instruction count from its lowest byte to its highest."""
        space, owner, starts, width = footprint
        if not starts or (space is Space.GM and not self.follows_gm):
            return
        key = site, space, self._whose(space, owner)
        low, high = min(starts), max(starts) + width
        first, last = hulls.get(key, (low, high))
        hulls[key] = min(low, first), max(high, last)

    def _whose(self, space: Space, owner: Core | None) -> int | None:
        """The number of the core that a memory belongs to. Vector cores reach those of their cube core as well."""
        if owner is None:
            return None
        return self._state(owner if space is Space.UB else owner.cluster.cores[0]).index

    # --- complaints ---------------------------------------------------------------------------------------------------

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None:
        """A report that stops a run stops it here; brackets of buffers that are merely untidy do not."""
        if diagnostic.kind == "out-of-bounds" and diagnostic.severity == "warning":
            known = self._strays.setdefault(diagnostic.location, replace(diagnostic, count=0))
            self._strays[diagnostic.location] = replace(known, count=known.count + 1)
        elif diagnostic.kind != "buffer-misuse":
            super().report(diagnostic, entry)


def _rank_of(core: Core, address: Any) -> int:
    """The rank that a pointer leads to."""
    region = core.regions.all.get(decode(address)[0]) if type(address) is int else None
    rank = region.rank if region is not None else core.rank
    return 0 if rank is None else rank


def _stretches(hulls: Hulls) -> list[Stretch]:
    """The stretches of the memories on the chip."""
    return [
        (core, moments.MEMORIES.index(space), low, high)
        for (_, space, core), (low, high) in hulls.items()
        if space is not Space.GM and core is not None
    ]


def _meet(one: Touch, other: Touch) -> bool:
    return one[:2] == other[:2] and one[2] < other[3] and other[2] < one[3]
