"""Running a linked kernel: its blocks on worker threads, the main thread free to hear Ctrl-C, the lowest error raised.

Every worker has a scheduler of the machine floor, contexts and memories of its own. Blocks that synchronise with each
other run together under one scheduler. Nothing here knows an instruction.
"""

import itertools
import os
import threading
from collections.abc import Callable

from ptosim.diagnostics import PTOError
from ptosim.machine.core import Core as MachineCore
from ptosim.machine.deadlock import Reachable
from ptosim.machine.launch import Launch
from ptosim.machine.scheduler import Scheduler, Stop, Stopped
from ptosim.native.cores import Cluster, Invocation, Tables

WAKE_SECONDS = 0.1  # how often the main thread looks up from waiting


def run_apart(invocation: Invocation, threads: int | None = None, reachable: Reachable | None = None) -> None:
    """All blocks, each by itself, handed out in ascending order to so many threads (None: one per processor).

    Once a block fails, higher ones are stopped and no more begin; lower ones go on, because one of them may fail too,
    and the error of the lowest is raised.
    """
    count = max(1, min(threads or os.cpu_count() or 1, invocation.grid))
    _Workers(invocation, [_Worker(invocation, reachable) for _ in range(count)]).run()


def run_together(invocation: Invocation, reachable: Reachable | None = None) -> None:
    """All blocks under one scheduler: the kernel synchronises across them."""
    worker = _Worker(invocation, reachable, together=True)
    _wait_for([threading.Thread(target=worker.run_grid, daemon=True)], worker.stop.request)
    if worker.problem is not None:
        raise worker.problem


class _Worker:
    """A scheduler with the cores that it drives."""

    def __init__(self, invocation: Invocation, reachable: Reachable | None, together: bool = False) -> None:
        self._invocation = invocation
        self._tables = Tables(invocation)
        self._launch = Launch(invocation.executable.kind, invocation.grid)
        self._together = together
        self._clusters: dict[int, Cluster] = {}
        self.stop = Stop()
        self.problem: BaseException | None = None
        self._scheduler = Scheduler(invocation.target, self._launch, self._program, reachable=reachable, stop=self.stop)

    def run_block(self, block: int) -> None:
        self._cluster(block).reset()
        self._scheduler.run_block(block)

    def run_grid(self) -> None:
        try:
            for block in range(self._invocation.grid):
                self._cluster(block).reset()
            self._scheduler.run_grid()
        except BaseException as problem:
            self.problem = problem

    def _program(self, machine: MachineCore) -> None:
        self._cluster(machine.block).cores[machine.role].run(machine)

    def _cluster(self, block: int) -> Cluster:
        """The cluster that a block runs on: always the same one, unless blocks run together."""
        number = block if self._together else 0
        if number not in self._clusters:
            roles = [place.role for place in self._launch.places(block)]
            self._clusters[number] = Cluster(self._invocation, self._tables, self.stop, roles)
        return self._clusters[number]


class _Workers:
    """Workers that share the blocks of one invocation."""

    def __init__(self, invocation: Invocation, workers: list[_Worker]) -> None:
        self._grid = invocation.grid
        self._workers = workers
        self._running = [-1] * len(workers)  # the block that each is in
        self._blocks = itertools.count()
        self._lock = threading.Lock()
        self._over = False
        self._errors: dict[int, BaseException] = {}  # by block

    def run(self) -> None:
        numbers = range(len(self._workers))
        _wait_for([threading.Thread(target=self._work, args=(number,), daemon=True) for number in numbers], self._stop)
        if self._errors:
            raise self._errors[min(self._errors)]

    def _work(self, number: int) -> None:
        while (block := self._begin(number)) is not None:
            try:
                self._workers[number].run_block(block)
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


def _wait_for(threads: list[threading.Thread], stop: Callable[[], None]) -> None:
    """Start the threads and wait for their end in short pieces; whatever interrupts the waiting stops them first."""
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(WAKE_SECONDS)
    except BaseException:
        stop()
        for thread in threads:
            thread.join()
        raise
