"""The FIFOs of a module: which ends belong together, their semaphores, and the lines that a function has.

The functions of one kernel are one cluster's programs: FIFOs of one id in them are one FIFO. Those that are named by
handles are the same when they are initialised in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from ptosim.effects.names import CoreKind
from ptosim.language.analysis.kernel_entries import kernels
from ptosim.language.builder import Builder, InsertionPoint, Number, head_of, known
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.scope import Section
from ptosim.language.operation import core_of
from ptosim.language.structure.function import Function, callees, every_function
from ptosim.language.tile.fifo_end import C2V, V2C, InitializePipe
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_epilogue import AccPushEpilogueAttr
from ptosim.language.tile.tile_fifo import Alloc, EntryOperation, FifoOperation, Free, Pop, Push
from ptosim.language.tile.tile_pipe import Handled, Initialize, InitializeL2G2LPipe, TAlloc, TFree, TPop, TPush
from ptosim.language.tile.tile_reserve import ImportReservedBuffer, ReserveBuffer
from ptosim.language.tile.tile_types import LocalArrayType, TensorViewType, tile_of
from ptosim.language.tile.tile_types import ViewExtents as ViewType
from ptosim.target import load_target
from ptosim.tiles.fifo.fifo_direction import EntryCount, Line
from ptosim.tiles.refusal import Refused

FIFO = (InitializePipe, FifoOperation, Initialize, Handled)
"""The classes of all operations on FIFOs."""
TAKEN_APART = (*FIFO, ImportReservedBuffer)
"""The operations that lowering tiles removes."""

Key = int | str
"""The key that the ends of a FIFO share in a kernel: an id, or the number of its handle."""

_COUNT = LocalArrayType(ViewType((1,), i64))


def is_producer(op: Operation) -> bool:
    return isinstance(op, Push | Alloc | TPush | TAlloc)


def direction_of(op: Operation, core: CoreKind) -> int:
    """The direction that the entry of an operation goes."""
    return C2V if (core is CoreKind.AIC) == is_producer(op) else V2C


def split_of(op: Operation) -> int:
    return op.integer("split") or 0 if isinstance(op, EntryOperation | Handled) else 0


@dataclass
class Shared:
    """The agreement of all ends of a FIFO."""

    flag: int = 0
    """The first of its semaphores."""
    written: int | None = None
    """`flag_base`, if it is written."""
    width: int = 2
    splits: set[int] = field(default_factory=set[int])
    """The sharing of entries, as the operations on them say."""
    popped: dict[int, TileBuf] = field(default_factory=dict[int, TileBuf])
    """By direction, the tile that a consumer makes of an entry."""
    room: dict[int, int] = field(default_factory=dict[int, int])
    """By direction, the bytes that are reserved for entries."""

    @property
    def split(self) -> bool:
        """Whether the two vector cores share an entry."""
        return any(self.splits)

    @property
    def flags(self) -> set[int]:
        return set(range(self.flag, self.flag + self.width))


class Fifos:
    """The FIFOs of a module."""

    def __init__(self, module: VerifiedModule) -> None:
        self.target = module.target
        self._kernel_of: dict[Function, int] = {}
        self._shared: dict[tuple[int, Key], Shared] = {}
        every = [function for function in every_function(module.parsed.module) if not function.is_declaration]
        for number, program in enumerate(kernels(module.parsed)):
            for function in callees(*program.entries.values()):
                self._kernel_of.setdefault(function, number)
        for number, function in enumerate(every, start=len(every)):
            self._kernel_of.setdefault(function, number)
        for function in every:
            self._read(function)
        self._give_flags()

    def shared(self, function: Function, key: Key) -> Shared:
        return self._shared.setdefault((self._kernel_of[function], key), Shared())

    def _read(self, function: Function) -> None:
        keys = keys_of(function)
        for op, key in keys.items():
            shared = self.shared(function, key)
            if isinstance(op, InitializePipe | Initialize):
                mask = op.integer("dir_mask") or 0
                shared.width = max(shared.width, 4 if mask == C2V | V2C else 2)
                shared.written = op.integer("flag_base") if isinstance(op, Initialize) else None
                shared.room |= {way: size for way in (C2V, V2C) if (size := _reserved(op, way, mask)) is not None}
            shared.splits |= {split_of(op)} if isinstance(op, EntryOperation | Handled) else set()
            value = op.result if isinstance(op, Pop) else op.entry if isinstance(op, TPop) else None
            tile, core = tile_of(value.type) if value is not None else None, core_of(op)
            if tile is not None and core is not None:
                shared.popped.setdefault(direction_of(op, core), tile)

    def _give_flags(self) -> None:
        """Ids that are written, as they are; for the others the lowest free even numbers, in the order of the text."""
        taken: dict[int, set[int]] = {}
        for (kernel, _), shared in self._shared.items():
            if shared.written is not None:
                shared.flag = shared.written
                taken.setdefault(kernel, set()).update(shared.flags)
        for (kernel, _), shared in self._shared.items():
            if shared.written is None:
                used = taken.setdefault(kernel, set())
                shared.flag = next(n for n in count(0, 2) if used.isdisjoint(range(n, n + shared.width)))
                used.update(shared.flags)

    def conflict(self, function: Function, key: Key) -> bool:
        """Whether another FIFO of the kernel has written flags in common."""
        kernel, own = self._kernel_of[function], self.shared(function, key)
        others = (other for (k, _), other in self._shared.items() if k == kernel and other is not own)
        return any(not own.flags.isdisjoint(other.flags) for other in others)


def keys_of(function: Function) -> dict[Operation, Key]:
    """The operations on FIFOs of a function, each with the key of its FIFO."""
    keys: dict[Operation, Key] = {}
    handles: dict[SSAValue, Key] = {}
    counts: dict[CoreKind | None, int] = {}
    for op in function.walk():
        match op:
            case InitializePipe() | FifoOperation():
                keys[op] = op.number
            case Initialize():
                core = core_of(op)
                flag = op.integer("flag_base")
                name = f"flags {flag}" if flag is not None else f"handle {counts.get(core, 0)}"
                counts[core] = counts.get(core, 0) + 1
                keys[op] = handles[op.result] = name
            case Handled() if op.handle in handles:
                keys[op] = handles[op.handle]
            case _:
                pass
    return keys


class FifoLines:
    """The lines of the FIFOs of a function."""

    def __init__(self, module: VerifiedModule, function: Function, fifos: Fifos) -> None:
        self.module = module
        self.function = function
        self.fifos = fifos
        self.keys = keys_of(function)
        self._lines: dict[tuple[CoreKind, Key, int], Line] = {}
        for op, key in self.keys.items():
            if isinstance(op, InitializePipe | Initialize):
                self._open(op, key)

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines.values())

    def of(self, op: Operation) -> Line:
        """The line of an operation on an entry."""
        core = core_of(op)
        if core is None or op not in self.keys:
            raise Refused("the FIFO of this operation is not initialised in code of one kind of core")
        return self.find(core, self.keys[op], direction_of(op, core))

    def find(self, core: CoreKind, key: Key, direction: int) -> Line:
        """The line of a FIFO that goes one way."""
        if (core, key, direction) not in self._lines:
            raise Refused("the FIFO of this operation is not initialised here, or nothing goes this way")
        return self._lines[core, key, direction]

    def operations(self, line: Line) -> list[Operation]:
        """The operations on the entries of a line, in order."""
        return [
            op
            for op in self.keys
            if isinstance(op, EntryOperation | Handled) and core_of(op) is not None and self.of(op) is line
        ]

    def _open(self, op: InitializePipe | Initialize, key: Key) -> None:
        core, mask = core_of(op), op.integer("dir_mask") or 0
        if core is None:
            return
        shared = self.fifos.shared(self.function, key)
        most = load_target(self.module.target).sync.vector_semaphores
        if shared.flag + shared.width > most:
            raise Refused(f"the FIFOs of this kernel take more than the {most} semaphores that there are")
        if self.fifos.conflict(self.function, key):
            raise Refused("another FIFO of this kernel has some of these semaphores", "flag_base", "invalid")
        if shared.split and 0 in shared.splits:
            raise Refused("entries of this FIFO are shared by the vector cores, and others are not", kind="invalid")
        for direction in (C2V, V2C):
            if mask & direction:
                self._lines[core, key, direction] = self._line(op, core, direction, shared, key)

    def _line(self, op: InitializePipe | Initialize, core: CoreKind, direction: int, shared: Shared, key: Key) -> Line:
        mask, size = op.integer("dir_mask") or 0, op.integer("slot_size") or 0
        slots = op.integer("slot_num") or (4 if mask == C2V | V2C else 8)
        local = op.integer("local_slot_num") or slots
        if (room := shared.room.get(direction)) is not None:
            local = min(local, max(room // size, 1))
        second = mask == C2V | V2C and direction == V2C
        gm, arrival = _operands(op, direction, mask)
        if isinstance(op, InitializePipe) and not op.through_gm(self.fifos.target):
            gm = None
        epilogue = op.acc_push_epilogue if isinstance(op, InitializePipe) else None
        return Line(
            self.fifos.target,
            core,
            direction,
            slots if gm is not None else local,
            size,
            local,
            shared.flag + 2 * second,
            shared.split,
            gm is not None,
            EntryCount(self._array(core, key, direction, (Push, Pop, TPush, TPop))),
            None
            if self._freed_one_by_one(core, key, direction)
            else EntryCount(self._array(core, key, direction, (Free, TFree))),
            _address(arrival),
            gm,
            slots * size if second else 0,
            epilogue.data if isinstance(epilogue, AccPushEpilogueAttr) else None,
            shared.popped.get(direction),
            self._holds_views(core, key, direction),
        )

    def _own(self, core: CoreKind, key: Key, direction: int) -> list[EntryOperation | Handled]:
        """The operations on the entries of a line, in order."""
        entries = [op for op, its in self.keys.items() if its == key and isinstance(op, EntryOperation | Handled)]
        return [op for op in entries if core_of(op) is core and direction_of(op, core) == direction]

    def _holds_views(self, core: CoreKind, key: Key, direction: int) -> bool:
        values = (value for op in self._own(core, key, direction) for value in (*op.operands, *op.results))
        return any(isinstance(value.type, TensorViewType) for value in values)

    def _freed_one_by_one(self, core: CoreKind, key: Key, direction: int) -> bool:
        """Whether each entry is freed behind its pop, in the block of the pop, before the next one."""
        taken = [op for op in self._own(core, key, direction) if isinstance(op, Pop | TPop | Free | TFree)]
        return len(taken) % 2 == 0 and all(
            isinstance(pop, Pop | TPop) and isinstance(free, Free | TFree) and pop.parent_block() is free.parent_block()
            for pop, free in zip(taken[::2], taken[1::2], strict=True)
        )

    def _array(self, core: CoreKind, key: Key, direction: int, counted: tuple[type[Operation], ...]) -> SSAValue | None:
        """The counter of operations of these classes, None where the code says how many there were."""
        own = [op for op in self._own(core, key, direction) if isinstance(op, counted)]
        if all(_is_straight(op) for op in own):
            return None
        head = head_of(self.function.body.block)
        first = head.last.next_op if head.last is not None else head.block.first_op
        build = Builder(self.module.parsed, InsertionPoint(head.block, first), head, serves=self.function)
        return build.declare_local_array(result=_COUNT)


def _reserved(op: InitializePipe | Initialize, direction: int, mask: int) -> int | None:
    """The bytes that this function reserves for the entries of a direction, if it does."""
    if not mask & direction:
        return None
    _, local = _operands(op, direction, mask)
    owner = local.owner if local is not None else None
    return owner.bytes if isinstance(owner, ReserveBuffer) else None


def _operands(op: InitializePipe | Initialize, direction: int, mask: int) -> tuple[SSAValue | None, SSAValue | None]:
    """The slots in GM, if there are, and the address where entries arrive."""
    if isinstance(op, InitializePipe):
        role = "c2v_consumer_buf" if direction == C2V else "v2c_consumer_buf"
        gm = next(iter((*op.segment("gm_slot_buffer"), *op.segment("gm_slot_tensor"))), None)
        return gm, next(iter(op.segment(role)), None)
    given = list(op.buffers)
    gm = given.pop(0) if isinstance(op, InitializeL2G2LPipe) else None
    second = int(mask == C2V | V2C and direction == V2C)
    return gm, given[second] if len(given) > second else None


def _address(local: SSAValue | None) -> Number | None:
    if local is None:
        return None
    owner = local.owner
    number = owner.integer("base") if isinstance(owner, ReserveBuffer) else known(local)
    return local if number is None else number


def _is_straight(op: Operation) -> bool:
    """Whether an operation executes exactly once: it stands in the function itself, or in a section of it."""
    parent = op.parent_op()
    if isinstance(parent, Section):
        parent = parent.parent_op()
    return isinstance(parent, Function)
