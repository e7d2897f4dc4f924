"""Running a linked kernel: its blocks on worker threads, the caller's free to hear Ctrl-C, the lowest error raised.

Only a launch that is known to be short begins on the caller's thread: waking another takes longer than many kernels.
Every worker has a scheduler of the machine floor, contexts and memories of its own. Blocks that synchronise with each
other run together under one scheduler. Nothing here knows an instruction.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ptosim.diagnostics import PTOError
from ptosim.machine.core import Core as MachineCore
from ptosim.machine.deadlock import Reachable
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.scheduler import Scheduler, Stop, Stopped
from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.observe.record_memory import Rooms, confuses_cores
from ptosim.native.run.cores import Executable, Invocation, NativeCluster, Suspicion, Tables
from ptosim.native.run.crew import crew
from ptosim.target.profile import Target

WAKE_SECONDS = 0.1  # how often the main thread looks up from waiting
TOLD_SECONDS = 0.02  # about how often someone who follows the progress of a run hears of it
SHORT_SECONDS = 0.02  # Ctrl-C may be heard so much later
BRIEF_SECONDS = 0.001  # what all threads of a check have to do together for which no second one is woken

BlockDone = Callable[[], None]


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Runner:
    """Runs one linked kernel, any number of times. Contexts and memories are kept from call to call."""

    def __init__(
        self, executable: Executable, target: Target, reachable: Reachable | None = None, poison: bool = False
    ) -> None:
        self._executable = executable
        self._target = target
        self._reachable = reachable
        self._poison = poison
        self._idle: list[_Worker] = []
        self._sifters: list[_BlockSifter | _ClusterSifter] = []
        self._short: object = None  # the shape of the last invocation, if that ended within SHORT_SECONDS
        self._brief = False  # whether its threads together have worked for less than BRIEF_SECONDS

    def run_apart(
        self, invocation: Invocation, threads: int | None = None, block_done: BlockDone | None = None
    ) -> None:
        """All blocks, each by itself, handed out in ascending order to so many threads (None: one per processor).

        Once a block fails, higher ones are stopped and no more begin; lower ones go on, because one of them may fail
        too, and the error of the lowest is raised. `block_done` is called once for each block that has ended, on the
        thread that ran it, soon after.
        """
        began = time.monotonic()
        count = max(1, min(threads or processors(), invocation.grid))
        workers = [self._worker() for _ in range(count)]
        tables = Tables(invocation)
        for worker in workers:
            worker.take(tables)
        _Workers(tables, workers, block_done).run(here=self._executable.steady and invocation.shape == self._short)
        self._idle += workers  # those of a run that was interrupted are not used again
        self._short = invocation.shape if time.monotonic() - began < SHORT_SECONDS else None

    def sift(
        self,
        invocation: Invocation,
        outline: Mapping[str, Any],
        blocks: Sequence[range],
        threads: int | None,
        block_done: BlockDone | None,
    ) -> tuple[list[int], list[bytes | memoryview]]:
        """Run blocks of a kernel that is checked; gives those that have failed, and the records of all."""
        began = time.monotonic()
        shape = invocation.shape, blocks
        here = self._executable.steady and shape == self._short
        wanted = threads or (1 if here and self._brief else processors())
        workers = [self._sifter(outline) for _ in range(max(1, min(wanted, sum(map(len, blocks)))))]
        failed: list[int] = []
        for part in blocks:
            tables = Tables(invocation, part)
            for worker in workers:
                worker.take(tables)
            _Workers(tables, workers, block_done, failed).run(here)
        if confuses_cores({used for worker in workers for used in worker.rooms.used}):
            failed = [block for part in blocks for block in part]
        found = sorted(failed), [part for worker in workers for part in worker.rooms.taken()]
        self._sifters += workers  # those of a run that was interrupted are not used again
        seconds = time.monotonic() - began
        self._short = shape if seconds < SHORT_SECONDS else None
        self._brief = seconds * len(workers) < BRIEF_SECONDS
        return found

    def _sifter(self, outline: Mapping[str, Any]) -> "_BlockSifter | _ClusterSifter":
        make = _ClusterSifter if self._executable.kind is KernelKind.MIXED else _BlockSifter
        worker = self._sifters.pop() if self._sifters else make(self._executable, self._target, outline)
        worker.rooms.renew()
        return worker

    def run_together(self, invocation: Invocation) -> None:
        """All blocks under one scheduler: the kernel synchronises across them."""
        part = NativeLaunch(
            self._executable, Tables(invocation), LaunchGeometry(self._executable.kind, invocation.grid)
        )
        run_together([part], self._target, self._reachable, self._poison)

    def _worker(self) -> "_Worker":
        try:
            return self._idle.pop()
        except IndexError:
            if self._poison or self._executable.kind is KernelKind.MIXED:
                return _Worker(self._executable, self._target, self._reachable, self._poison)
            return _BlockWorker(self._executable, self._target, self._reachable)


@dataclass(frozen=True)
class NativeLaunch:
    """One launch of a list that runs together."""

    executable: Executable
    tables: Tables
    launch: LaunchGeometry


def run_together(
    parts: Sequence[NativeLaunch], target: Target, reachable: Reachable | None = None, poison: bool = False
) -> None:
    """All blocks of a list of launches under one scheduler. Each core has a context of its own, and each block its
    memories."""
    stop, clusters, problems = Stop(), dict[tuple[int, int], NativeCluster](), list[BaseException]()

    def program(machine: MachineCore) -> None:
        number = machine.progress.number
        part, place = parts[number], (number, machine.block)
        if place not in clusters:
            roles = [core.role for core in machine.cluster.cores]
            clusters[place] = NativeCluster(part.executable, target, stop, roles, poison)
            clusters[place].clear()
        clusters[place].cores[machine.role].run(part.tables, machine)

    scheduler = Scheduler(target, [part.launch for part in parts], program, reachable=reachable, stop=stop)

    def run() -> None:
        try:
            scheduler.run_grid()
        except BaseException as problem:
            problems.append(problem)

    _run_threads([run], stop.request)
    if problems:
        raise problems[0]


class _Worker:
    """A scheduler with the cores that it drives, for one block at a time."""

    def __init__(
        self, executable: Executable, target: Target, reachable: Reachable | None, poison: bool = False
    ) -> None:
        self._executable = executable
        self.stop = Stop()
        self._roles = [place.role for place in LaunchGeometry(executable.kind, 1).places(0)]
        self._cluster = NativeCluster(executable, target, self.stop, self._roles, poison)
        self._tables: Tables
        self._block = -1
        self._scheduler = Scheduler(
            target, LaunchGeometry(executable.kind, 1), self._program, reachable=reachable, stop=self.stop
        )

    def take(self, tables: Tables) -> None:
        """Work for this invocation from now on."""
        self._tables = tables
        self._scheduler.launches = [LaunchGeometry(self._executable.kind, tables.invocation.grid)]
        self.stop.word[0] = 0
        if tables.invocation.attach is not None:
            self._scheduler.observer = tables.invocation.attach(self._cluster)

    @property
    def block(self) -> int:
        """The block that was handed out to this worker last."""
        return self._block

    def run_blocks(self, lock: threading.Lock, most: int) -> int:
        """The next blocks that are handed out, at most so many; how many have ended, which is 0 if none is left."""
        handout = self._tables.handout
        with lock:
            self._block = handout[0]
            handout[0] += 1
            if self._block > handout[1]:
                return 0
        self._run_block()
        return 1

    def _run_block(self) -> None:
        self._cluster.clear()
        self._scheduler.run_block(self._block)

    def _program(self, machine: MachineCore) -> None:
        self._cluster.cores[machine.role].run(self._tables, machine)


class _BlockWorker(_Worker):
    """One whose blocks have one core: compiled code goes from block to block by itself, which it finds zeroed, and the
    scheduler joins those that need it."""

    def __init__(self, executable: Executable, target: Target, reachable: Reachable | None) -> None:
        super().__init__(executable, target, reachable)
        cluster = self._cluster
        (self._core,) = cluster.cores.values()
        self._machine = self._scheduler.attend(0)
        infos = [words.buffer_info() for words in (self._machine.words, self._machine.cluster_words)]
        words = [(address, count * WORD_BYTES) for address, count in infos]
        self._core.clear_before_blocks([*cluster.stretches, *words])

    def take(self, tables: Tables) -> None:
        super().take(tables)
        self._core.take(tables, self._machine)

    @property
    def block(self) -> int:
        return self._core.block

    def run_blocks(self, lock: threading.Lock, most: int) -> int:
        ended = self._core.run_blocks(self._scheduler.attend, most)
        if self._core.machine is not None:
            self._core.machine.drain()
        return ended


class _BlockSifter(_BlockWorker):
    """One whose code keeps what `check` needs to know, of blocks with one core."""

    def __init__(self, executable: Executable, target: Target, outline: Mapping[str, Any]) -> None:
        super().__init__(executable, target, None)
        self.rooms = Rooms(self._cluster, outline)

    def run_blocks(self, lock: threading.Lock, most: int) -> int:
        try:
            return super().run_blocks(lock, most)
        except PTOError as problem:  # a core that waits for a signal without a sender
            raise Suspicion from problem


class _ClusterSifter(_Worker):
    """Likewise of blocks with several, which signal to each other."""

    def __init__(self, executable: Executable, target: Target, outline: Mapping[str, Any]) -> None:
        super().__init__(executable, target, None)
        self.rooms = Rooms(self._cluster, outline)

    def _run_block(self) -> None:
        self.rooms.begin_block()
        try:
            super()._run_block()
        except PTOError as problem:  # cores that wait for each other, or a semaphore that does not exist
            raise Suspicion from problem
        core = self._scheduler.cores[0]
        if any(core.cluster_words) or any(counter.value for counter in core.cluster.counters()):
            raise Suspicion  # a signal without a wait
        self.rooms.end_block()


class _Workers:
    """Workers that share the blocks of one invocation."""

    def __init__(
        self,
        tables: Tables,
        workers: Sequence[_Worker],
        block_done: BlockDone | None,
        suspicious: list[int] | None = None,
    ) -> None:
        self._tables = tables
        self._workers = workers
        self._block_done = block_done
        self._lock = threading.Lock()
        self._errors: dict[int, BaseException] = {}  # by block
        self._suspicious = [] if suspicious is None else suspicious

    def run(self, here: bool) -> None:
        _run_threads([partial(self._work, worker) for worker in self._workers], self._stop, here)
        if self._errors:
            raise self._errors[min(self._errors)]

    def _work(self, worker: _Worker) -> None:
        most = 1 if self._block_done else self._tables.invocation.grid
        ended = 1
        while ended:
            began = time.monotonic()
            try:
                ended = worker.run_blocks(self._lock, most)
                self._tell(ended)
            except Stopped:
                return
            except Suspicion:
                self._suspicious.append(worker.block)
                self._tell(1)
            except PTOError as error:
                self._fail(worker.block, error)
            except BaseException as problem:  # a defect of this program: it goes before all else
                self._fail(-1, problem)
            most = most * 2 if time.monotonic() - began < TOLD_SECONDS else max(1, most // 2)

    def _tell(self, blocks: int) -> None:
        if self._block_done is not None:
            for _ in range(blocks):
                self._block_done()

    def _fail(self, block: int, error: BaseException) -> None:
        with self._lock:
            self._errors[block] = error
        self._stop(above=block)

    def _stop(self, above: int = -1) -> None:
        """No block above this one begins any more, and those that run are stopped."""
        with self._lock:
            self._tables.handout[1] = min(self._tables.handout[1], above)
        for worker in self._workers:
            if worker.block > above:
                worker.stop.request()


def _run_threads(tasks: list[Callable[[], None]], stop: Callable[[], None], here: bool = False) -> None:
    """Run each task on a thread, the first on this one if it may be `here`, and wait, in short pieces, for their end;
    what interrupts the waiting stops them."""
    elsewhere = tasks[1:] if here else tasks
    ends = [crew().begin(task) for task in elsewhere]
    try:
        if here:
            tasks[0]()
        _wait(ends)
    except BaseException:
        stop()
        _wait(ends)
        raise


def _wait(ends: list[threading.Event]) -> None:
    for end in ends:
        while not end.wait(WAKE_SECONDS):
            pass
