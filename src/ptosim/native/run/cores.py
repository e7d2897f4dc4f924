"""The cores of a cluster as compiled code meets them: contexts, memories, and the way back into the scheduler.

Contexts and memories are made once and serve one block after the other. The compiler of the kernel knows the meaning of
a failing site (`Executable.explain`).
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ptosim.diagnostics import Workitem
from ptosim.effects.names import CoreKind, Space
from ptosim.effects.simt import WARP
from ptosim.language.text.print_format import Say, show
from ptosim.machine.core import Core as MachineCore
from ptosim.machine.launch import KernelKind
from ptosim.machine.memory import NO_REGIONS, Regions, poisoned
from ptosim.machine.observer import Observer
from ptosim.machine.scheduler import Stop, Stopped
from ptosim.machine.sync import SLOW
from ptosim.native.build.operations import ENTRIES, HandedOperation
from ptosim.native.build.resident import BLOCKS, EXP, READ, RECORDS, STREAM, resident
from ptosim.native.ir import context
from ptosim.native.run.memory import HostMemory
from ptosim.target.profile import Target

_Program = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
Attend = Callable[[int], MachineCore]
_Entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_Issue = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_void_p)

_OBSERVED_OF = {"aiv0": context.ContextWord.OBSERVED_AIV0, "aiv1": context.ContextWord.OBSERVED_AIV1}

_LARGEST = (1 << 63) - 1
_RESET = array("q", context.REGISTERS_AT_RESET)


@dataclass(frozen=True)
class Invocation:
    """One call of a kernel."""

    grid: int
    arguments: Sequence[int]  # one word per parameter: a GM pointer in its integer form, or the bits of a scalar
    buffers: Sequence[tuple[int, int]] | Mapping[int, tuple[int, int]]
    """Address and bytes of each buffer that pointers name, by number."""
    max_steps: int = 10**9
    regions: Regions = NO_REGIONS  # what the buffers are
    by_block: Callable[[int], Sequence[int]] | None = None  # the arguments of a block, where they are not the same
    readable: int = -1  # bits by the number of a buffer, for code that is checked: what lies there is what it reads
    writable: int = -1
    owner: object = None  # whatever keeps the buffers in place; compiled code that was told to stop may still run
    attach: Callable[[NativeCluster], Observer] | None = None
    """Prepares cores that are watched; who hears of the machine."""
    say: Say | None = show
    """Takes what the kernel prints."""
    stamps: int = 0
    """Address of the stamps of workitems, for code that is checked."""

    @property
    def shape(self) -> tuple[object, ...]:
        """All but the contents of the buffers and where they lie."""
        sizes = self.buffers.values() if isinstance(self.buffers, Mapping) else self.buffers
        return self.grid, self.arguments, [size for _, size in sizes]


@dataclass(frozen=True)
class WorkitemsAtFault:
    """The failed workitems of a launch: the dimensions, the number of the warp, and bits of its lanes."""

    sizes: tuple[int, int, int]
    warp: int
    lanes: int

    def workitem(self, number: int) -> Workitem:
        x, y, _ = self.sizes
        return Workitem(number, number % x, number // x % y, number // (x * y))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the lanes."""
        return tuple(lane for lane in range(WARP) if self.lanes >> lane & 1)


@dataclass(frozen=True)
class CompiledFault:
    """Why compiled code failed: the site's number, the values it found wrong, and the loop indices, outermost first."""

    core: str
    block: int
    site: int
    value: int
    detail: int
    loops: tuple[int, ...]
    invocation: Invocation
    workitems: WorkitemsAtFault


class Suspicion(Exception):
    """A block of a kernel that is checked has to be judged."""


class LinkedCode(Protocol):
    """Linked object code (toolchain.Program), in memory as long as this lives."""

    def address(self, symbol: str) -> int: ...


def _no_operation(number: int) -> HandedOperation:
    raise KeyError(number)


@dataclass(frozen=True)
class Executable:
    """A linked kernel: its code, the operations that may be queued, and what its failures mean."""

    kind: KernelKind
    code: LinkedCode
    programs: Mapping[CoreKind, str]  # symbols of the scalar programs, which take a context
    explain: Callable[[CompiledFault], Exception]
    spaces: Mapping[Space, int]  # the on-chip memories that it uses, and how many bytes from the first it may write
    operation: Callable[[int], HandedOperation] = _no_operation
    steady: bool = False  # what is in the memories does not decide how many steps it takes
    state: int = 0  # bytes that code which is watched keeps for each core
    sifting: bool = False  # a block ends at the first operation that does not happen as if inline
    workitems: bool = False  # it launches workitems, which keep something from launch to launch
    shared_state: int = 0  # bytes that it keeps for a cluster of several cores

    def entry(self, number: int) -> int:
        """The address of the entry of an operation."""
        table = self.code.address(ENTRIES)
        return ctypes.c_int64.from_address(table + number * context.WORD_BYTES).value


class Tables:
    """The tables that all contexts of one invocation share; the addresses are valid as long as this lives."""

    def __init__(self, invocation: Invocation, blocks: range | None = None) -> None:
        self.invocation = invocation
        first, end = (0, invocation.grid) if blocks is None else (blocks.start, blocks.stop)
        self.handout = array("q", [first, end - 1])  # the next block, and the last that may begin
        self._arguments = array("q", [signed(word) for word in invocation.arguments] or [0])
        self._of_block: list[array[int]] = []
        self._buffers, count = _table(invocation.buffers)
        self.words = {
            context.ContextWord.BLOCK_NUM: invocation.grid,
            context.ContextWord.ARGUMENTS: self._arguments.buffer_info()[0],
            context.ContextWord.BUFFERS: self._buffers.buffer_info()[0],
            context.ContextWord.BUFFER_NUM: count,
            context.ContextWord.HANDOUT: self.handout.buffer_info()[0],
            context.ContextWord.MAX_STEPS: min(invocation.max_steps, _LARGEST),
            context.ContextWord.READABLE: signed(invocation.readable),
            context.ContextWord.WRITABLE: signed(invocation.writable),
            context.ContextWord.STAMPS: invocation.stamps,
        }

    def of_block(self, block: int) -> dict[context.ContextWord, int]:
        """The part of a context that differs from block to block."""
        if self.invocation.by_block is None:
            return self.words
        self._of_block.append(array("q", [signed(word) for word in self.invocation.by_block(block)] or [0]))
        return {**self.words, context.ContextWord.ARGUMENTS: self._of_block[-1].buffer_info()[0]}


def _table(buffers: Sequence[tuple[int, int]] | Mapping[int, tuple[int, int]]) -> tuple[array[int], int]:
    """Two words for each number of a buffer, from one behind the empty one on; numbers may be far apart."""
    if not isinstance(buffers, Mapping):
        return array("q", [0, 0] + [signed(word) for pair in buffers for word in pair]), len(buffers)
    count = max(buffers, default=-1) + 1
    table = array("q", bytes(2 * context.WORD_BYTES * (count + 1)))
    for number, pair in buffers.items():
        table[2 * number + 2 : 2 * number + 4] = array("q", [signed(word) for word in pair])
    return table, count


class NativeCluster:
    """The memories and cores behind one block at a time, by their names in the cluster: aic, aiv0, aiv1."""

    def __init__(
        self, executable: Executable, target: Target, stop: Stop, roles: Sequence[str], poison: bool = False
    ) -> None:
        used = executable.spaces

        def memory(space: Space) -> HostMemory:
            size = target.memory[space]
            return HostMemory(size, used[space], poisoned(size) if poison else None)

        # one of each for the cluster, and one UB for each vector core
        shared = {
            word: memory(space) for space, word in context.MEMORIES.items() if space in used and space is not Space.UB
        }
        self._ub = {role: memory(Space.UB) for role in roles if role in context.UB_OF and Space.UB in used}
        self._memories = [*shared.values(), *self._ub.values()]
        addresses = {word: memory.address for word, memory in shared.items()}
        if Space.L0C in used:
            self._workspace = HostMemory(context.WORKSPACE_BYTES, context.WORKSPACE_BYTES)
            addresses[context.ContextWord.WORKSPACE] = self._workspace.address
        addresses |= {context.UB_OF[role]: memory.address for role, memory in self._ub.items()}
        self.stretches = [(memory.address, memory.written) for memory in self._memories]
        self.state = HostMemory(executable.shared_state, executable.shared_state) if executable.shared_state else None
        """The state of code that is watched."""
        self.cores = {role: Core(role, executable, stop, self._visible(role, addresses), self) for role in roles}
        if self.state is not None:
            self._introduce(self.state)

    def _visible(self, role: str, addresses: Mapping[context.ContextWord, int]) -> dict[context.ContextWord, int]:
        return {**addresses, context.ContextWord.UB: self._ub[role].address if role in self._ub else 0}

    def _introduce(self, state: HostMemory) -> None:
        """Tell watched cores what they keep together, and where others keep theirs."""
        kept = {context.ContextWord.OBSERVED_CLUSTER: state}
        for role, word in _OBSERVED_OF.items():
            if role in self.cores and (own := self.cores[role].state) is not None:
                kept[word] = own
        for core in self.cores.values():
            core.tell({word: memory.address for word, memory in kept.items()})

    def clear(self) -> None:
        """Before a block: all memories are as new. (Cores write each other's, so none may be cleared later.)"""
        for memory in self._memories:
            memory.clear()


class Core:
    """One context, and the compiled scalar code running on it."""

    def __init__(
        self,
        role: str,
        executable: Executable,
        stop: Stop,
        memories: Mapping[context.ContextWord, int],
        cluster: NativeCluster,
    ) -> None:
        self.role = role
        self.machine: MachineCore | None = None  # the scheduler's part in the block, if it has one
        self.state: HostMemory | None = None  # of code that is watched
        self._keep = stop  # compiled code has their addresses
        self.cluster = cluster
        self._tables: Tables
        self._attend: Attend
        self._executable = executable
        code = executable.code
        self._programs = {kind: _Program(code.address(symbol)) for kind, symbol in executable.programs.items()}
        shared = resident()
        self._blocks = _Program(shared.address(BLOCKS))
        self._operations: dict[int, HandedOperation] = {}
        self._entries: dict[int, Callable[[int, int], int]] = {}
        self._issue = _Issue(self._issued)
        self._problem: BaseException | None = None
        self._words = array("q", bytes(context.WORD_BYTES * context.WORDS))
        self._words[context.ContextWord.STOP] = stop.word.buffer_info()[0]
        self._words[context.ContextWord.ISSUE] = ctypes.cast(self._issue, ctypes.c_void_p).value or 0
        self._words[context.ContextWord.RESET] = _RESET.buffer_info()[0]
        self._words[context.ContextWord.PROGRAM] = code.address(next(iter(executable.programs.values())))
        self._words[context.ContextWord.READ] = shared.address(READ)
        self._words[context.ContextWord.STREAM] = shared.address(STREAM)
        self._words[context.ContextWord.EXP] = shared.address(EXP)
        self._words[context.ContextWord.RECORD] = shared.address(RECORDS[len(executable.programs) > 1])
        self.tell(memories)
        if executable.workitems:
            self._workitems = HostMemory(
                context.KEPT_BYTES + context.PERSISTENT_BYTES, context.KEPT_BYTES + context.PERSISTENT_BYTES
            )
            self._words[context.ContextWord.WORKITEMS] = self._workitems.address
        if executable.state:
            self.state = HostMemory(executable.state, executable.state)
            self._words[context.ContextWord.OBSERVED] = self.state.address
        self.address = self._words.buffer_info()[0]

    def tell(self, addresses: Mapping[context.ContextWord, int]) -> None:
        """Put addresses into the context."""
        for word, address in addresses.items():
            self._words[word] = address

    def take(self, tables: Tables, machine: MachineCore) -> None:
        """Work for this invocation from now on, in the place and with the sync words of this core of the machine."""
        self._tables = tables
        words = self._words
        for word, content in tables.of_block(machine.block).items():
            words[word] = content
        words[context.ContextWord.BLOCK] = machine.block
        words[context.ContextWord.SUBBLOCK] = machine.subblock
        words[context.ContextWord.SUBBLOCK_NUM] = machine.subblock_num
        words[context.ContextWord.CORE_SYNC] = machine.words.buffer_info()[0]
        words[context.ContextWord.CLUSTER_SYNC] = machine.cluster_words.buffer_info()[0]

    def clear_before_blocks(self, stretches: Sequence[tuple[int, int]]) -> None:
        """The memory that compiled code clears before each block: addresses and bytes."""
        self._cleared = array("q", [word for stretch in stretches for word in stretch])
        self._words[context.ContextWord.CLEARED] = self._cleared.buffer_info()[0]
        self._words[context.ContextWord.CLEARED_NUM] = len(stretches)

    @property
    def block(self) -> int:
        """The one that is running, or was last handed out."""
        return self._words[context.ContextWord.BLOCK]

    def run(self, tables: Tables, machine: MachineCore) -> None:
        """The scalar program of this core, from its beginning; returns when it has returned."""
        self.take(tables, machine)
        self.machine = machine
        machine.regions = tables.invocation.regions
        words = self._words
        words[context.ContextWord.STEPS] = words[context.ContextWord.MAX_STEPS]
        words[context.ContextWord.REGISTERS : context.ContextWord.REGISTERS + context.REGISTER_ROOM] = _RESET
        self._conclude(self._programs[machine.kind](self.address))

    def run_blocks(self, attend: Attend, pause: int) -> int:
        """Blocks as they are handed out, at most `pause` of them; how many have ended.

        `attend` gives the scheduler's part in a block that turns out to need it. It is the last that ends.
        """
        self._attend, self.machine = attend, None
        self._words[context.ContextWord.PAUSE] = pause
        self._words[context.ContextWord.ATTENDED] = 0
        status = self._blocks(self.address)
        if status != context.Status.PAUSED:
            self._conclude(status)
        return pause - self._words[context.ContextWord.PAUSE]

    def _conclude(self, status: int) -> None:
        """Go on, or raise what ended the run."""
        if status == context.Status.DONE:
            return
        problem, self._problem = self._problem, None
        if problem is not None:
            raise problem
        if status == context.Status.FAILED:
            raise self._executable.explain(self._fault())
        raise Stopped

    def _fault(self) -> CompiledFault:
        words = self._words
        depth = min(words[context.ContextWord.FAULT_DEPTH], context.LOOPS_RECORDED)
        loops = tuple(words[context.ContextWord.FAULT_LOOPS : context.ContextWord.FAULT_LOOPS + depth])
        site, value, detail = words[context.ContextWord.FAULT : context.ContextWord.FAULT_DETAIL + 1]
        name = self.machine.name if self.machine is not None else f"b{self.block}.{self.role}"
        x, y, z = words[context.ContextWord.SIMT_SIZES : context.ContextWord.SIMT_SIZES + 3]
        lanes, warp = words[context.ContextWord.FAULT_LANES : context.ContextWord.FAULT_WARP + 1]
        workitems = WorkitemsAtFault((x, y, z), warp, lanes)
        return CompiledFault(name, self.block, site, value, detail, loops, self._tables.invocation, workitems)

    # --- called by compiled code --------------------------------------------------------------------------------------

    def _issued(self, number: int, captured: int) -> int:
        """Nothing may be raised into compiled code: a problem waits until that has returned."""
        try:
            self._hand_over(number, captured)
        except BaseException as problem:
            self._problem = problem
            return context.Status.STOPPED
        return context.Status.DONE

    def _hand_over(self, number: int, captured: int) -> None:
        if number not in self._operations:
            self._operations[number] = self._executable.operation(number)
        operation = self._operations[number]
        if self._executable.sifting and operation.method not in ("semaphore_wait", "semaphore_set", "print"):
            raise Suspicion
        words = array("q", ctypes.string_at(captured, context.WORD_BYTES * operation.words))
        if self.machine is None:
            self.machine = self._attend(self.block)
            self._words[context.ContextWord.ATTENDED] = 1
        machine = self.machine
        if (text := operation.printed(machine, words)) is not None:
            if (say := self._tables.invocation.say) is not None:
                say(self.block, text)
            return
        if machine.tracker is None:
            operation.hand_over(machine, words, lambda: self._start(number, words))
            if self._executable.sifting and machine.words[SLOW]:  # it has not happened yet
                raise Suspicion
            return
        machine.words[SLOW] += 1  # what is watched becomes an entry, even where nothing is stalled
        try:
            operation.hand_over(machine, words, lambda: self._start(number, words))
        finally:
            machine.words[SLOW] -= 1

    def _start(self, number: int, words: array[int]) -> None:
        """The entry of an operation, which may run on the thread of another core that set it free."""
        if number not in self._entries:
            self._entries[number] = _Entry(self._executable.entry(number))
        self._conclude(self._entries[number](self.address, words.buffer_info()[0]))


def signed(word: int) -> int:
    """The signed integer with the same 64 bits."""
    return (word + (1 << 63)) % (1 << 64) - (1 << 63)
