"""Running blocks: the cores of a block, or of all blocks, under one schedule.

A block with one core runs in the caller's thread, because such a core never passes the turn. Where cores interact each
SU program has a host thread of its own, exactly one of which holds the turn, and the caller only waits, in short
pieces, so that Ctrl-C is heard. Which blocks may run apart, and on which threads, is for the engines to say.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue

from ptosim.diagnostics import PTOError, error
from ptosim.machine.core import Core
from ptosim.machine.deadlock import Reachable, analyse
from ptosim.machine.launch import SHAPES, LaunchGeometry, progress_of
from ptosim.machine.observer import Observer
from ptosim.machine.schedules import make_schedule
from ptosim.machine.semaphores import Grid, SemaphoreCluster
from ptosim.machine.signal import SignalWords
from ptosim.machine.sync import CORE_WORDS, SLOW, clear, zero_words
from ptosim.target.profile import Target

Program = Callable[[Core], None]

PAUSE = 0.05  # seconds between two looks at the stop word
PATIENCE = 1.0  # seconds that threads get to unwind after a stop


class Stop:
    """A request to end runs early, shared by all who work on one call of a kernel. Compiled code polls `word[0]`."""

    def __init__(self) -> None:
        self.word = array("q", [0])

    def request(self) -> None:
        self.word[0] = 1

    @property
    def requested(self) -> bool:
        return self.word[0] != 0


class Stopped(Exception):
    """Unwinds a program that is not to go on: a stop was requested, or another core has failed."""


class Scheduler:
    """Runs the blocks of a launch one at a time, or all blocks of a list of launches together. Not for use by several
    threads."""

    def __init__(
        self,
        target: Target,
        launch: LaunchGeometry | Sequence[LaunchGeometry],
        program: Program,
        *,
        schedule: str = "program",
        observer: Observer | None = None,
        reachable: Reachable | None = None,
        stop: Stop | None = None,
    ) -> None:
        self.target = target
        self.launches: Sequence[LaunchGeometry] = (launch,) if isinstance(launch, LaunchGeometry) else launch
        self.program = program
        self.observer = observer
        self.reachable = reachable
        self.stop = stop or Stop()
        self.cores: list[Core] = []
        self.schedule = make_schedule(schedule, self)
        self.holder: Core | None = None
        """The core on whose thread everything happens now."""
        self._queued = schedule != "program"
        self._words: dict[tuple[int, int], array[int]] = {}
        self._clusters: dict[int, SemaphoreCluster] = {}
        self._failure: BaseException | None = None
        self._aborted = False
        self._deadlocked = False
        self._done = SimpleQueue[None]()
        self._threads: list[threading.Thread] = []

    @property
    def stopping(self) -> bool:
        return self.stop.requested

    def run_block(self, block: int) -> None:
        """Run one block of the only launch, which does not interact with others."""
        self._run([(0, block)])

    def run_grid(self) -> None:
        """Run all blocks of all launches at once: kernels synchronise across blocks, or several launches interact."""
        self._run((number, block) for number, launch in enumerate(self.launches) for block in range(launch.blocks))

    def attend(self, block: int) -> Core:
        """Join a block with one core that is already running: whatever it has done so far, the words of the block that
        this scheduler had before tell of it. The caller drains the core at its end."""
        self._build([(0, block)], new=False)
        (core,) = self.cores
        core.started = True
        self.holder = core
        return core

    # --- building -----------------------------------------------------------------------------------------------------

    def _run(self, blocks: Iterable[tuple[int, int]]) -> None:
        """Run these blocks, each with the number of its launch before it."""
        clusters, grids = self._build(blocks)
        self._run_here() if len(self.cores) == 1 else self._run_threads()
        failure, self._failure = self._failure, None
        if failure:
            raise failure
        if self._aborted and not self._deadlocked:
            raise Stopped
        if self.observer and not self.observer.inline and not self._deadlocked:
            self._report_leftovers(clusters, grids)

    def _build(self, blocks: Iterable[tuple[int, int]], new: bool = True) -> tuple[list[SemaphoreCluster], list[Grid]]:
        self.cores = []
        clusters: list[SemaphoreCluster] = []
        members: dict[int, list[Core]] = {}
        for position, (number, block) in enumerate(blocks):
            clusters.append(self._cluster(position, number, block, new))
            self.cores += clusters[-1].cores
            members.setdefault(number, []).extend(clusters[-1].cores)
        self._join_launches(members)
        self._failure, self._aborted, self._deadlocked = None, False, False
        return clusters, [cores[0].grid for cores in members.values()]

    def _join_launches(self, members: dict[int, list[Core]]) -> None:
        """The cores of a launch meet at its barriers; launches of one stream of a rank follow each other."""
        progress = progress_of(self.launches, {number: len(cores) for number, cores in members.items()})
        signals = SignalWords()
        for number, cores in members.items():
            grid = Grid(cores, self.target.sync.semaphore_limit)
            for core in cores:
                core.grid, core.progress, core.signals = grid, progress[number], signals

    def _cluster(self, position: int, number: int, block: int, new: bool) -> SemaphoreCluster:
        """The cores of a block; the words behind them, cleared for a new one, are the same from block to block."""
        if position not in self._clusters:
            self._clusters[position] = SemaphoreCluster(self.target)
        cluster = self._clusters[position]
        launch = self.launches[number]
        first = sum(other.blocks * len(SHAPES[other.kind]) for other in self.launches[:number])
        first += block * len(SHAPES[launch.kind])
        cores: list[Core] = []
        for member, place in enumerate(launch.places(block)):
            if (position, member) not in self._words:
                self._words[position, member] = zero_words(CORE_WORDS)
            words = self._words[position, member]
            if new:
                clear(words)
                followed = self.observer is not None and not self.observer.inline
                words[SLOW] = 1 if followed or self._queued else 0
            cores.append(Core(place, first + member, words, cluster, self.schedule, self.observer))
        cluster.reset(cores, new)
        return cluster

    def _report_leftovers(self, clusters: list[SemaphoreCluster], grids: list[Grid]) -> None:
        counters = [counter for core in self.cores for counter in core.counters()]
        counters += [counter for cluster in clusters for counter in cluster.counters()]
        counters += [counter for grid in grids for counter in grid.counters()]
        for counter in counters:
            if counter.value > 0:
                tracker = counter.pending[-1][-1].core.tracker
                assert tracker is not None
                tracker.leftover(counter)

    # --- running ------------------------------------------------------------------------------------------------------

    def _program(self, core: Core) -> None:
        core.started = True
        self.holder = core
        if core.tracker:
            core.tracker.begin()
        self.program(core)
        core.drain()
        core.ended = True
        core.progress.left -= 1
        if core.tracker:
            core.tracker.finish()

    def _run_here(self) -> None:
        try:
            self._program(self.cores[0])
        except Stopped:
            self._aborted = True

    def _run_threads(self) -> None:
        self._done = SimpleQueue[None]()
        self._threads = []
        self._start(self.cores[0])
        try:
            while not self._ends():
                if self.stopping:
                    self._abort()
        except BaseException:  # Ctrl-C: unwind the programs before it goes on
            self.stop.request()
            self._abort()
            self._join()
            raise
        self._join()

    def _ends(self) -> bool:
        """Wait a moment for the end. (An event stays locked for ever if Ctrl-C comes while it is being locked.)"""
        try:
            self._done.get(timeout=PAUSE)
        except Empty:
            return False
        return True

    def _join(self) -> None:
        for thread in self._threads:
            thread.join(PATIENCE)

    def _start(self, core: Core) -> None:
        core.started = True
        thread = threading.Thread(target=self._thread, args=(core,), name=core.name, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise error(
                "limit", f"the computer has no thread left for {core.name}: {len(self.cores)} cores interact"
            ) from None
        self._threads.append(thread)

    def _thread(self, core: Core) -> None:
        try:
            self._program(core)
            receiver = self.schedule.after(core)
            if receiver is None:
                self._done.put(None)
            else:
                self._pass_turn(receiver)
        except Stopped:
            self._abort()
        except BaseException as failure:
            if self._failure is None:
                self._failure = failure
            self._abort()

    def _abort(self) -> None:
        """No core gets the turn any more; those that wait for it unwind."""
        self._aborted = True
        for core in self.cores:
            core.baton.put(None)
        self._done.put(None)

    def _pass_turn(self, receiver: Core) -> None:
        if self._aborted:
            raise Stopped
        if receiver.started:
            receiver.baton.put(None)
        else:
            self._start(receiver)

    # --- what the schedule asks ---------------------------------------------------------------------------------------

    def give(self, holder: Core, receiver: Core) -> None:
        if self.stopping:
            raise Stopped
        if receiver is holder:
            return
        self._pass_turn(receiver)
        holder.baton.get()
        self.holder = holder
        if self._aborted:
            raise Stopped

    def stuck(self) -> Exception:
        deadlock = analyse(self.cores, self.reachable)
        if self.observer is None:
            return deadlock.error()
        self._deadlocked = True
        try:
            self.observer.deadlock(deadlock)
        except PTOError as problem:
            return problem
        return Stopped()
