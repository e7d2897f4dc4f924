"""When everything happens: the observer that gives every entry of a run its cycles.

The scalar unit of a core takes a cycle for each scalar operation and for each instruction that it issues. A pipe takes
its entries one after the other; one starts when the pipe is free, the entry has been issued and its waits are over. A
set or release fires when everything before it in its pipe has ended, and is seen some cycles later. What the machine
did first decides nothing here, only what depended on what.

A time is kept with the row of the recording that explains it, which is what the critical path is read from.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import PIPES_OF, Pipe, Space
from ptosim.machine.core import Core
from ptosim.machine.entry import Entry, Kind, Site
from ptosim.machine.observer import Closeness, Footprint, Silent
from ptosim.target import Target
from ptosim.timing import recording as rec
from ptosim.timing.recording import NOTHING, PIPES, Cause, CoreRun, Link, PipeTime, Recording
from ptosim.timing.work import Cost, Prices

_NUMBER = {pipe: number for number, pipe in enumerate(PIPES)}
_MOST_PIECES = 16
"""Stretches of UB kept for one entry and direction; beyond that their hull."""


class Moment(NamedTuple):
    """A time, and the row whose end led to it."""

    time: int
    row: int


Stretch = tuple[int, int, int]
"""The core whose UB it is, first byte, one past the last."""


class _CoreState:
    """A core on its way: where its scalar unit and its pipes have got to."""

    __slots__ = ("free", "index", "operations", "run", "su")

    def __init__(self, index: int, run: CoreRun) -> None:
        self.index = index
        self.run = run
        self.su = Moment(0, NOTHING)
        self.operations = 0
        self.free = {pipe: Moment(0, NOTHING) for pipe in run.pipes if pipe is not Pipe.S}


class PipeTimer(Silent):
    """Times one launch. `recording` is complete when all cores have finished and the blocks have been placed."""

    closeness: Closeness = "entries"

    def __init__(self, target: Target, prices: Prices) -> None:
        self.target = target
        self.prices = prices
        self.recording = Recording(functions=prices.functions, paths=prices.paths)
        self._cores: dict[int, _CoreState] = {}  # by the machine's index
        self._sites: dict[Site, int] = {}
        self._causes: dict[tuple[Any, int], int] = {}
        self._reads: list[Stretch] = []
        self._writes: list[Stretch] = []
        self._written = 0

    # ---- cores

    def begin(self, core: Core) -> None:
        self._state(core)

    def _state(self, core: Core) -> _CoreState:
        """Made when first met: a core can be named by another before it begins."""
        state = self._cores.get(core.index)
        if state is None:
            run = CoreRun(core.name, core.role, core.block, {pipe: PipeTime() for pipe in PIPES_OF[core.kind]})
            state = self._cores[core.index] = _CoreState(len(self.recording.cores), run)
            self.recording.cores.append(run)
        return state

    def finish(self, core: Core) -> None:
        state = self._state(core)
        run = state.run
        self._advance(state, core.operations)
        run.pipes[Pipe.S].busy = state.su.time - run.pipes[Pipe.S].waiting
        run.scalar_last = state.su.row
        last = max(state.free.values(), key=_time)
        run.end = max(state.su.time, last.time)
        run.last = last.row if last.time > state.su.time else NOTHING

    # ---- entries

    def issue(self, entry: Entry) -> None:
        state = self._state(entry.core)
        self._advance(state, entry.operations)
        state.su = Moment(state.su.time + self.target.latency.scalar, state.su.row)
        entry.data = state.su

    def _advance(self, state: _CoreState, operations: int) -> None:
        if operations != state.operations:
            passed = (operations - state.operations) * self.target.latency.scalar
            state.su = Moment(state.su.time + passed, state.su.row)
            state.operations = operations

    def start(self, entry: Entry) -> None:
        match entry.kind:
            case Kind.WORK:
                self._reads, self._writes, self._written = [], [], 0
            case Kind.SET | Kind.RELEASE:
                entry.data, _ = self._ready(self._state(entry.core), entry)
            case Kind.WAIT | Kind.GET:
                self._wait(entry)
            case Kind.BARRIER if entry.pipe is Pipe.ALL:
                self._drain(entry)
            case Kind.BARRIER if entry.pipe is not Pipe.S:
                state = self._state(entry.core)
                ready, _ = self._ready(state, entry)
                state.free[entry.pipe] = Moment(ready.time + self.target.latency.barrier, ready.row)
            case _:
                pass

    def end(self, entry: Entry) -> None:
        state = self._state(entry.core)
        if entry.kind is Kind.WORK:
            self._work(state, entry)
        if entry.kind in (Kind.SET, Kind.RELEASE):
            for other in entry.needs:
                entry.data = max(entry.data, other.data, key=_time)
        else:
            entry.data = state.free.get(entry.pipe, state.su)

    def _ready(self, state: _CoreState, entry: Entry) -> tuple[Moment, Link]:
        """When the pipe of an entry, or the scalar unit, has got to it."""
        free = state.su if entry.pipe in (Pipe.S, Pipe.ALL) else state.free[entry.pipe]
        issued: Moment = entry.data
        return (free, Link.PIPE) if free.time >= issued.time else (issued, Link.ISSUE)

    def _work(self, state: _CoreState, entry: Entry) -> None:
        ready, link = self._ready(state, entry)
        cost = self._cost(entry)
        end = ready.time + cost.cycles
        row = self._row(rec.Kind.WORK, link, state, entry, ready, end, cost.function)
        rows = self.recording.rows
        rows.bytes.append(cost.bytes)
        rows.arguments.append(len(self.recording.pool))
        self._keep_arguments(entry, rows.site[row])
        self._keep_touches(row)
        state.free[entry.pipe] = Moment(end, row)
        state.run.pipes[entry.pipe].busy += cost.cycles

    def _cost(self, entry: Entry) -> Cost:
        if self.prices.of(entry.site).program is not None:
            return self.prices.scope(entry.site, entry.payload)
        return self.prices.instruction(entry.site, entry.facts, entry.payload, self._written)

    # ---- waits

    def _wait(self, entry: Entry) -> None:
        state = self._state(entry.core)
        ready, _ = self._ready(state, entry)
        arrival, last = ready, None
        for signal in entry.consumed:
            moment: Moment = signal.data
            seen = moment.time + self._hop(signal, entry)
            if seen > arrival.time:
                arrival, last = Moment(seen, moment.row), signal
        if last is not None:
            hop = self._hop(last, entry)
            cause = self._cause(entry.key, self._site(last.site), hop)
            self._hold(state, entry, Link.SIGNAL, ready.time, arrival, cause)
        for signal in entry.consumed:
            self._signal(signal, entry, state.index, arrival.time)

    def _hop(self, signal: Entry, wait: Entry) -> int:
        latency = self.target.latency
        return latency.flag if signal.core is wait.core else latency.inter_core

    def _drain(self, entry: Entry) -> None:
        """The scalar unit stands at a barrier until every pipe is empty."""
        state = self._state(entry.core)
        last = max(state.free.values(), key=_time)
        cost = self.target.latency.barrier
        if last.time > state.su.time:
            cause = self._cause("all pipes", self._site(entry.site), cost)
            arrival = Moment(last.time + cost, last.row)
            self._hold(state, entry, Link.DRAIN, state.su.time, arrival, cause)
        else:
            state.su = Moment(state.su.time + cost, state.su.row)

    def _hold(self, state: _CoreState, entry: Entry, link: Link, since: int, until: Moment, cause: int) -> None:
        """A pipe, or the scalar unit, stood still from a moment on until something happened elsewhere."""
        row = self._row(rec.Kind.WAIT, link, state, entry, Moment(since, until.row), until.time, cause)
        self.recording.rows.bytes.append(0)
        self.recording.rows.arguments.append(0)
        if entry.pipe in state.free:
            state.free[entry.pipe] = Moment(until.time, row)
            state.run.pipes[entry.pipe].waiting += until.time - since
        else:
            state.su = Moment(until.time, row)
            state.run.pipes[Pipe.S].waiting += until.time - since

    # ---- writing down

    def _row(
        self, kind: rec.Kind, link: Link, state: _CoreState, entry: Entry, start: Moment, end: int, detail: int
    ) -> int:
        rows = self.recording.rows
        rows.kind.append(kind)
        rows.link.append(link)
        rows.pipe.append(_NUMBER.get(entry.pipe, 0))
        rows.core.append(state.index)
        rows.site.append(self._site(entry.site))
        rows.before.append(start.row)
        rows.start.append(start.time)
        rows.end.append(end)
        rows.detail.append(detail)
        return len(rows.kind) - 1

    def _site(self, site: Site) -> int:
        number = self._sites.get(site)
        if number is None:
            number = self._sites[site] = len(self._sites)
            self.recording.sites.append(site)
            self.recording.classes.append("")
            self.recording.names.append(())
            self.recording.pointers.append(frozenset())
        return number

    def _cause(self, key: Any, site: int, hop: int) -> int:
        number = self._causes.get((key, site))
        if number is None:
            number = self._causes[key, site] = len(self._causes)
            self.recording.causes.append(Cause(str(key), site, hop))
        return number

    def _signal(self, signal: Entry, wait: Entry, core: int, time: int) -> None:
        signals = self.recording.signals
        moment: Moment = signal.data
        signals.row.append(moment.row)
        signals.set_core.append(self._state(signal.core).index)
        signals.set_pipe.append(_NUMBER.get(signal.pipe, 0))
        signals.set_site.append(self._site(signal.site))
        signals.set_time.append(moment.time)
        signals.wait_core.append(core)
        signals.wait_pipe.append(_NUMBER.get(wait.pipe, 0))
        signals.wait_site.append(self._site(wait.site))
        signals.wait_time.append(time)

    def _keep_arguments(self, entry: Entry, site: int) -> None:
        """The integers among the operands; which of them there are is the same for every entry of a site."""
        if entry.facts is None:
            return
        priced, recording = self.prices.of(entry.site), self.recording
        names: list[str] = []
        pool = recording.pool
        for name in priced.operands:
            value = entry.facts.get(name)
            if isinstance(value, tuple):
                items = cast("tuple[int, ...]", value)
                names += [f"{name}[{place}]" for place in range(len(items))]
                pool.extend(map(_word, items))
            elif isinstance(value, int):
                names.append(name)
                pool.append(_word(value))
        if not recording.classes[site]:
            recording.names[site], recording.pointers[site] = tuple(names), priced.pointers
            recording.classes[site] = priced.timing_class

    def _keep_touches(self, row: int) -> None:
        touches = self.recording.touches
        for writes, stretches in ((0, self._reads), (1, self._writes)):
            for core, low, high in _joined(stretches):
                touches.row.append(row)
                touches.core.append(core)
                touches.writes.append(writes)
                touches.low.append(low)
                touches.high.append(high)

    # ---- memory

    def load(self, entry: Entry, site: Site, footprint: Footprint, by_use: bool = False) -> None:
        if footprint.space is Space.UB:
            self._touch(self._reads, footprint)

    def store(
        self,
        entry: Entry,
        site: Site,
        footprint: Footprint,
        data: Any,
        before: Any,
        taint: Any = None,
        atomic: str | None = None,
    ) -> None:
        self._written += len(data)
        if footprint.space is Space.UB:
            self._touch(self._writes, footprint)

    def _touch(self, stretches: list[Stretch], footprint: Footprint) -> None:
        starts, width = footprint.starts, footprint.width
        assert footprint.owner is not None
        owner = self._state(footprint.owner).index
        if not isinstance(starts, np.ndarray):
            stretches.append((owner, starts, starts + width))
            return
        places = cast("NDArray[np.int64]", starts)
        if places.size > _MOST_PIECES and (np.diff(places) == width).all():
            stretches.append((owner, int(places[0]), int(places[-1]) + width))
        else:
            stretches += [(owner, start, start + width) for start in places.tolist()]

    # ---- complaints

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None:
        """What stops a run stops it here; brackets of buffers that are merely untidy do not."""
        if diagnostic.kind != "buffer-misuse":
            super().report(diagnostic, entry)


def _time(moment: Moment) -> int:
    return moment.time


def _word(value: int) -> int:
    """As a signed word of 64 bits."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    """Stretches of one UB that meet become one; where too many remain, each UB's become their hull."""
    if len(stretches) < 2:
        return stretches
    joined: list[Stretch] = []
    for core, low, high in sorted(stretches):
        if joined and joined[-1][0] == core and low <= joined[-1][2]:
            joined[-1] = core, joined[-1][1], max(high, joined[-1][2])
        else:
            joined.append((core, low, high))
    if len(joined) <= _MOST_PIECES:
        return joined
    cores = {core for core, _, _ in joined}
    return [
        (owner, min(low for core, low, _ in joined if core == owner), max(high for c, _, high in joined if c == owner))
        for owner in sorted(cores)
    ]
