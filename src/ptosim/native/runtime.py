"""Running a linked kernel: its blocks on worker threads, the main thread free to hear Ctrl-C, the lowest error raised.

Every worker has a scheduler of the machine floor, contexts and memories of its own. Blocks that synchronise with each
other run together under one scheduler. Nothing here knows an instruction.
"""

import itertools
import os
import threading
from collections.abc import Callable
from functools import partial

from ptosim.diagnostics import PTOError
from ptosim.machine.core import Core as MachineCore
from ptosim.machine.deadlock import Reachable
from ptosim.machine.launch import Launch
from ptosim.machine.scheduler import Scheduler, Stop, Stopped
from ptosim.native.cores import Cluster, Executable, Invocation, Tables
from ptosim.native.crew import crew
from ptosim.target.profile import Target

WAKE_SECONDS = 0.1  # how often the main thread looks up from waiting


class Runner:
    """Runs one linked kernel, any number of times. Contexts and memories are kept from call to call."""

    def __init__(self, executable: Executable, target: Target, reachable: Reachable | None = None) -> None:
        self._executable = executable
        self._target = target
        self._reachable = reachable
        self._idle: list[_Worker] = []

    def run_apart(
        self, invocation: Invocation, threads: int | None = None, block_done: Callable[[], None] | None = None
    ) -> None:
        """All blocks, each by itself, handed out in ascending order to so many threads (None: one per processor).

        Once a block fails, higher ones are stopped and no more begin; lower ones go on, because one of them may fail
        too, and the error of the lowest is raised. `block_done` is called after each block, on the thread that ran it.
        """
        count = max(1, min(threads or os.cpu_count() or 1, invocation.grid))
        workers = [self._worker() for _ in range(count)]
        for worker in workers:
            worker.take(invocation)
        _Workers(invocation.grid, workers, block_done).run()
        self._idle += workers  # those of a run that was interrupted are not used again

    def run_together(self, invocation: Invocation) -> None:
        """All blocks under one scheduler: the kernel synchronises across them."""
        worker = _Worker(self._executable, self._target, self._reachable)
        worker.take(invocation)
        problems: list[BaseException] = []

        def run() -> None:
            try:
                worker.run_grid()
            except BaseException as problem:
                problems.append(problem)

        _run_threads([run], worker.stop.request)
        if problems:
            raise problems[0]

    def _worker(self) -> "_Worker":
        try:
            return self._idle.pop()
        except IndexError:
            return _Worker(self._executable, self._target, self._reachable)


class _Worker:
    """A scheduler with the cores that it drives."""

    def __init__(self, executable: Executable, target: Target, reachable: Reachable | None) -> None:
        self._executable = executable
        self._target = target
        self._roles = [place.role for place in Launch(executable.kind, 1).places(0)]
        self._clusters: dict[int, Cluster] = {}
        self._together = False
        self.stop = Stop()
        self._scheduler = Scheduler(
            target, Launch(executable.kind, 1), self._program, reachable=reachable, stop=self.stop
        )

    def take(self, invocation: Invocation) -> None:
        """Work for this invocation from now on."""
        self._tables = Tables(invocation)
        self._scheduler.launch = Launch(self._executable.kind, invocation.grid)
        self.stop.word[0] = 0

    def run_block(self, block: int) -> None:
        self._cluster(block).begin(self._tables)
        self._scheduler.run_block(block)

    def run_grid(self) -> None:
        self._together = True
        for block in range(self._scheduler.launch.blocks):
            self._cluster(block).begin(self._tables)
        self._scheduler.run_grid()

    def _program(self, machine: MachineCore) -> None:
        self._cluster(machine.block).cores[machine.role].run(machine)

    def _cluster(self, block: int) -> Cluster:
        """The cluster that a block runs on: always the same one, unless blocks run together."""
        number = block if self._together else 0
        if number not in self._clusters:
            self._clusters[number] = Cluster(self._executable, self._target, self.stop, self._roles)
        return self._clusters[number]


class _Workers:
    """Workers that share the blocks of one invocation."""

    def __init__(self, grid: int, workers: list[_Worker], block_done: Callable[[], None] | None) -> None:
        self._grid = grid
        self._workers = workers
        self._block_done = block_done
        self._running = [-1] * len(workers)  # the block that each is in
        self._blocks = itertools.count()
        self._lock = threading.Lock()
        self._over = False
        self._errors: dict[int, BaseException] = {}  # by block

    def run(self) -> None:
        _run_threads([partial(self._work, number) for number in range(len(self._workers))], self._stop)
        if self._errors:
            raise self._errors[min(self._errors)]

    def _work(self, number: int) -> None:
        while (block := self._begin(number)) is not None:
            try:
                self._workers[number].run_block(block)
                if self._block_done is not None:
                    self._block_done()
            except Stopped:
                return
            except PTOError as error:
                self._fail(block, error)
            except BaseException as problem:  # a defect of this program: it goes before all else
                self._fail(-1, problem)

    def _begin(self, number: int) -> int | None:
        """The next block for this worker, or none if the run is over."""
        with self._lock:
            block = next(self._blocks)
            if self._over or block >= self._grid:
                return None
            self._running[number] = block
            return block

    def _fail(self, block: int, error: BaseException) -> None:
        with self._lock:
            self._errors[block] = error
        self._stop(above=block)

    def _stop(self, above: int = -1) -> None:
        with self._lock:
            self._over = True
            for worker, running in zip(self._workers, self._running, strict=True):
                if running > above:
                    worker.stop.request()


def _run_threads(tasks: list[Callable[[], None]], stop: Callable[[], None]) -> None:
    """Run each task on a thread and wait, in short pieces, for their end; what interrupts the waiting stops them."""
    ends = [crew().begin(task) for task in tasks]
    try:
        _wait(ends)
    except BaseException:
        stop()
        _wait(ends)
        raise


def _wait(ends: list[threading.Event]) -> None:
    for end in ends:
        while not end.wait(WAKE_SECONDS):
            pass
