"""Compiled code at work: contexts, independent blocks on worker threads, and how a run ends.

Nothing here knows an instruction. What to run and with which memories is in `Launch`; what a failing site means is in
the table that came with the object.
"""

import ctypes
import itertools
import os
import threading
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ptosim.native.context import RESET, WORDS, Status, Word, register_word
from ptosim.native.memory import Memory

WAKE_SECONDS = 0.1  # how often the main thread looks up from waiting, so that Ctrl-C is answered

_Entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


@dataclass(frozen=True)
class Launch:
    """One call of a kernel."""

    address: int  # of the compiled function, which takes a context
    grid: int
    arguments: Sequence[tuple[int, int]]  # GM base and bytes, or the bits of a scalar and 0, per parameter
    memories: Mapping[Word, int] = field(default_factory=dict[Word, int])  # bytes of each on-chip memory
    max_steps: int = 10**9


@dataclass(frozen=True)
class Fault:
    """Why a block failed: the site's number, the value it found wrong, and the loop indices, outermost first."""

    block: int
    site: int
    value: int
    loops: tuple[int, ...]


class Core:
    """One context with its memories; compiled code runs on it for one block after the other."""

    def __init__(self, launch: Launch, arguments: array[int], number: int = 0) -> None:
        self._launch = launch
        self._entry = _Entry(launch.address)
        self._words = array("q", bytes(8 * WORDS))
        self._memories = {word: Memory(size) for word, size in launch.memories.items()}
        self._words[Word.ARGUMENTS] = arguments.buffer_info()[0]
        self._words[Word.CORE] = number
        self._words[Word.BLOCK_NUM] = launch.grid
        self._words[Word.SUBBLOCK_NUM] = 1
        for word, memory in self._memories.items():
            self._words[word] = memory.address
        self.address = self._words.buffer_info()[0]

    def run(self, block: int) -> Status:
        """One block from its beginning, with memories and registers as they are at the start."""
        words = self._words
        words[Word.BLOCK] = block
        words[Word.STEPS] = self._launch.max_steps
        for memory in self._memories.values():
            memory.clear()
        words[Word.REGISTERS :] = array("q", bytes(8 * (WORDS - Word.REGISTERS)))
        for register, value in RESET.items():
            words[register_word(register)] = value
        return Status(self._entry(self.address))

    def stop(self) -> None:
        """From any thread: the code leaves at its next loop iteration."""
        self._words[Word.STOP] = 1

    def fault(self) -> Fault:
        words = self._words
        loops = words[Word.FAULT_LOOPS : Word.FAULT_LOOPS + words[Word.FAULT_DEPTH]]
        return Fault(words[Word.BLOCK], words[Word.FAULT], words[Word.FAULT_VALUE], tuple(loops))


def run_blocks(launch: Launch, threads: int | None = None) -> Fault | None:
    """All blocks, handed out in ascending order to so many threads (None: one per processor); the lowest block's fault.

    Once a block fails, higher ones are stopped and no more begin; lower ones go on, because one of them may fail too.
    """
    count = min(threads or os.cpu_count() or 1, launch.grid)
    return _Workers(launch, max(count, 1)).run()


class _Workers:
    def __init__(self, launch: Launch, count: int) -> None:
        self._launch = launch
        self._arguments = argument_words(launch.arguments)
        self._cores = [Core(launch, self._arguments, number) for number in range(count)]
        self._running = [-1] * count  # the block each worker is in
        self._blocks = itertools.count()  # next() is atomic
        self._lock = threading.Lock()
        self._fault: Fault | None = None
        self._problem: BaseException | None = None

    def run(self) -> Fault | None:
        workers = [threading.Thread(target=self._work, args=(number,)) for number in range(len(self._cores))]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(WAKE_SECONDS)
        except BaseException:
            self._stop_above(-1)
            for worker in workers:
                worker.join()
            raise
        if self._problem is not None:
            raise self._problem
        return self._fault

    def _work(self, number: int) -> None:
        try:
            core = self._cores[number]
            while (block := self._begin(number)) is not None:
                if core.run(block) is Status.FAILED:
                    self._failed(core.fault())
        except BaseException as problem:
            self._problem = problem
            self._stop_above(-1)

    def _begin(self, number: int) -> int | None:
        """The next block for this worker, unless the run is over."""
        with self._lock:
            block = next(self._blocks)
            over = block >= self._launch.grid or self._fault is not None or self._problem is not None
            self._running[number] = -1 if over else block
        return None if over else block

    def _failed(self, fault: Fault) -> None:
        with self._lock:
            if self._fault is None or fault.block < self._fault.block:
                self._fault = fault
        self._stop_above(fault.block)

    def _stop_above(self, block: int) -> None:
        with self._lock:
            for core, running in zip(self._cores, self._running, strict=True):
                if running > block:
                    core.stop()


def argument_words(arguments: Sequence[tuple[int, int]]) -> array[int]:
    """The table that ARGUMENTS points to; scalars go in as the signed word with their bits."""
    return array("q", [_signed(word) for pair in arguments for word in pair])


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
