"""Rules between the operations of a FIFO: its initialisation, its entries, the parameters of its epilogue, its peer.

A FIFO is found by its id among the operations of one kind of core in one function: an *end*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Block, Operation, SSAValue

from ptosim.effects.names import CoreKind, Space
from ptosim.language.operation import Problem, core_of, lint
from ptosim.language.rules.tile_place_rules import element_word
from ptosim.language.rules.tile_rules import name_of
from ptosim.language.structure.function import Function, function_of
from ptosim.language.tile import tile_fifo
from ptosim.language.tile.fifo_end import C2V, V2C, InitializePipe
from ptosim.language.tile.tile_epilogue import LAYOUTS, MODES, PAYLOADS, AccPushEpilogueAttr, Epilogue
from ptosim.language.tile.tile_reserve import ImportReservedBuffer, ReserveBuffer
from ptosim.language.tile.tile_types import TensorViewType, tile_of
from ptosim.target import load_target

Found = Iterator[tuple[Operation, Problem]]

_EVEN, _ODD = (1, 2), (3, 4)
"""Splits into halves that are alike, and into halves that are not."""
_ARRIVAL = {C2V: "c2v_consumer_buf", V2C: "v2c_consumer_buf"}
"""The memory in which the entries of a direction arrive."""
_COLUMNS = 32
"""The columns by which the fixpipe of a5 splits left and right halves."""


@dataclass
class EndOfFifo:
    """Operations on FIFOs of one kind of core of a function."""

    initialised: dict[int, InitializePipe] = field(default_factory=dict[int, InitializePipe])
    operations: list[tile_fifo.FifoOperation] = field(default_factory=list[tile_fifo.FifoOperation])
    problems: list[tuple[Operation, Problem]] = field(default_factory=list[tuple[Operation, Problem]])

    def entries(self, number: int) -> list[tile_fifo.EntryOperation]:
        return [op for op in self.operations if isinstance(op, tile_fifo.EntryOperation) and op.number == number]


def fifo_problems(module: Operation, target: str) -> Found:
    """Problems between the operations of each FIFO of a module."""
    ends = _ends(module)
    for end in ends.values():
        yield from end.problems
        yield from _ids(end, target)
        yield from _matches(end)
        for number, pipe in end.initialised.items():
            yield from _splits(pipe, end.entries(number), target)
            yield from _sizes(pipe, end.entries(number), target)
            yield from _parameters(pipe, end, target)
    yield from _peers(ends, target)


def _ends(module: Operation) -> dict[tuple[Function, CoreKind], EndOfFifo]:
    ends: dict[tuple[Function, CoreKind], EndOfFifo] = {}
    for op in module.walk():
        if not isinstance(op, InitializePipe | tile_fifo.FifoOperation):
            continue
        function, core = function_of(op), core_of(op)
        if function is None or core is None:
            continue
        end = ends.setdefault((function, core), EndOfFifo())
        if isinstance(op, tile_fifo.FifoOperation):
            end.operations.append(op)
        else:
            _initialise(end, op)
    return ends


def _initialise(end: EndOfFifo, op: InitializePipe) -> None:
    if op.number in end.initialised:
        message = f"a FIFO with id {op.number} is already initialised in this function"
        end.problems.append((op, Problem(message, at="id")))
    else:
        end.initialised[op.number] = op


# --- one end ----------------------------------------------------------------------------------------------------------


def _ids(end: EndOfFifo, target: str) -> Found:
    """Each direction of a FIFO takes two semaphores."""
    used, most = 0, load_target(target).sync.vector_semaphores
    for pipe in end.initialised.values():
        used += 4 if pipe.integer("dir_mask") == C2V | V2C else 2
        if used > most:
            message = f"the FIFOs of this function take {used} semaphores; there are {most}, two for each direction"
            yield pipe, Problem(message, kind="id-range")
            return


def _matches(end: EndOfFifo) -> Found:
    """Every operation has its FIFO, which goes its way."""
    for op in end.operations:
        pipe = end.initialised.get(op.number)
        side = "aic" if op.cores == (CoreKind.AIC,) else "aiv"
        if pipe is None:
            message = f"{op.name} needs pto.{side}_initialize_pipe with id {op.number} in this function"
            yield op, Problem(message, at="id")
        elif not (pipe.integer("dir_mask") or 0) & op.direction:
            way = "from cube to vector" if op.direction == C2V else "from vector to cube"
            message = f"the FIFO with id {op.number} has dir_mask {pipe.integer('dir_mask')}: nothing goes {way}"
            yield op, Problem(message, at="id")
        elif _is_global(op) and pipe.gm_slot_tensor is None:
            yield op, Problem(f"a tensor view as an entry needs gm_slot_tensor of the FIFO with id {op.number}")
        elif isinstance(op, tile_fifo.Pop) and not _is_global(op) and not pipe.has(role := _ARRIVAL[op.direction]):
            yield op, Problem(f"a tile from the FIFO with id {op.number} needs its {role}, where it arrives")


def _is_global(op: tile_fifo.FifoOperation) -> bool:
    values: tuple[SSAValue, ...] = (*op.operands, *op.results)
    return isinstance(op, tile_fifo.Alloc) or any(isinstance(value.type, TensorViewType) for value in values)


def _splits(pipe: InitializePipe, entries: list[tile_fifo.EntryOperation], target: str) -> Found:
    """All entries of a FIFO are split, or none is."""
    unsplit = "nosplit = true" if pipe.setting("nosplit") is True else None
    unsplit = "an acc_push_epilogue" if pipe.acc_push_epilogue is not None else unsplit
    for op in entries:
        expected = unsplit is None and entries[0].shared != 0
        if (op.shared != 0) != expected:
            why = unsplit or f"other entries with split {entries[0].shared}"
            yield op, Problem(f"split is {op.shared}, but the FIFO with id {op.number} has {why}", at="split")
        if op.shared in _ODD and not (op.direction == C2V and pipe.gm_slot_tensor and pipe.c2v_consumer_buf):
            message = f"split {op.shared} is for entries to the vector cores with gm_slot_tensor and c2v_consumer_buf"
            yield op, Problem(message, at="split")
        elif isinstance(op, tile_fifo.Push) and op.direction == C2V:
            yield from _halves(op, 2 if pipe.through_gm(target) else _COLUMNS)


def _halves(op: tile_fifo.Push, columns: int) -> Found:
    """The halves of an entry are alike, or differ by one; left and right ones have whole groups of columns."""
    tile = tile_of(op.entry.type)
    if tile is None or op.shared not in (*_EVEN, *_ODD):
        return
    axis = 0 if op.shared in (1, 3) else 1
    if (extent := tile.valid[axis]) is None:  # the run knows
        return
    side, unit = ("rows", "columns")[axis], columns if op.shared == 2 else 2
    if op.shared in _ODD and extent % 2 == 0:
        yield op, Problem(f"split {op.shared} needs an odd number of {side}, not {extent}", at="entry_type")
    elif op.shared in _EVEN and extent % unit:
        wanted = "an even number of" if unit == 2 else f"a multiple of {unit}"
        yield op, Problem(f"split {op.shared} needs {wanted} {side}, not {extent}", at="entry_type")


# --- sizes ------------------------------------------------------------------------------------------------------------


def _sizes(pipe: InitializePipe, entries: list[tile_fifo.EntryOperation], target: str) -> Found:
    slot = pipe.integer("slot_size") or 0
    for op in entries:
        size = _entry_bytes(pipe, op)
        if size is not None and 0 < slot < size:
            place = "entry_type" if isinstance(op, tile_fifo.Push) else "result"
            yield op, Problem(f"an entry of {size} bytes does not fit in slots of slot_size {slot}", at=place)
    slots = pipe.slots if target == "a5" else pipe.integer("local_slot_num") or pipe.slots
    for direction, memory in ((C2V, Space.UB), (V2C, Space.L1)):
        role = _ARRIVAL[direction]
        for buffer in (_reserved(value.owner) for value in pipe.segment(role)):
            if buffer is None or not (pipe.integer("dir_mask") or 0) & direction:
                continue
            if buffer.space is not memory:
                yield pipe, Problem(f"{role} is reserved in {buffer.space}; its entries arrive in {memory}", at=role)
            elif 0 < buffer.bytes < slots * slot:
                yield pipe, _too_small(role, buffer.bytes, slots, slot)
    if pipe.slots > 3 and pipe.slots % 2:
        message = f"{pipe.slots} slots cannot be given back in two halves, so each is given back alone"
        yield pipe, lint(message, at="slot_num")


def _too_small(role: str, reserved: int, slots: int, slot: int) -> Problem:
    """Kernels are written that way: a run has as many slots as there is room for."""
    message = f"{role} has {reserved} bytes; {slots} slots of {slot} bytes need {slots * slot}"
    if reserved < slot:
        return Problem(message, at=role)
    return lint(f"{message}; a run uses {reserved // slot}", at=role)


def _reserved(owner: Operation | Block) -> ReserveBuffer | None:
    """The buffer that an address is of, if it is reserved here, at a place that is known."""
    return owner if isinstance(owner, ReserveBuffer) and owner.located else None


def _entry_bytes(pipe: InitializePipe, op: tile_fifo.EntryOperation) -> int | None:
    """The bytes of an unsplit entry, as far as its valid region is known; an epilogue changes them, so that only the
    consumer knows."""
    value = op.entry if isinstance(op, tile_fifo.Push) else op.results[0] if isinstance(op, tile_fifo.Pop) else None
    tile = tile_of(value.type) if value is not None else None
    if tile is None or (isinstance(op, tile_fifo.Push) and pipe.acc_push_epilogue is not None):
        return None
    halved = op.shared in _EVEN and tile.loc == "vec"
    rows, cols = tile.valid
    if rows is None or cols is None:
        return None
    return rows * cols * tile.element_bytes * (2 if halved else 1)


# --- epilogue ---------------------------------------------------------------------------------------------------------


def _parameters(pipe: InitializePipe, end: EndOfFifo, target: str) -> Found:
    epilogue = pipe.acc_push_epilogue
    known = epilogue.data if isinstance(epilogue, AccPushEpilogueAttr) else None
    for op in end.operations:
        if op.number != pipe.number:
            continue
        if isinstance(op, tile_fifo.SetQuantScalar | tile_fifo.SetQuantVector):
            wanted = "vector" if isinstance(op, tile_fifo.SetQuantVector) else "scalar"
            if known is None or known.parameter != wanted:
                has = f"quant = {known.quant}" if known is not None else "no acc_push_epilogue"
                yield op, Problem(f"the FIFO with id {op.number} has {has}: {op.name} has no effect")
            elif isinstance(op, tile_fifo.SetQuantVector):
                yield from _payload(op, target)
        elif known is not None and isinstance(op, tile_fifo.Push):
            yield from _pushed(op, known)
        elif known is not None and isinstance(op, tile_fifo.Pop):
            yield from _popped(op, known)


def _payload(op: tile_fifo.SetQuantVector, target: str) -> Found:
    tile = tile_of(op.fp.type)
    if tile is not None and (found := name_of(tile.element)) not in PAYLOADS[target]:
        legal = ", ".join(PAYLOADS[target])
        message = f"parameters of an acc_push_epilogue have elements of {legal} on {target}, not {found}"
        yield op, Problem(message, at="fp_type")


def _pushed(op: tile_fifo.Push, epilogue: Epilogue) -> Found:
    if (tile := tile_of(op.entry.type)) is None:
        yield op, Problem("acc_push_epilogue is for entries that are tiles", at="entry_type")
        return
    sources = MODES[epilogue.quant]
    if element_word(tile) not in sources:
        taken = " or ".join(sources)
        yield op, Problem(f"quant = {epilogue.quant} takes {taken}, not {name_of(tile.element)}", at="entry_type")
    if epilogue.parameter is None:
        return
    setter = tile_fifo.SetQuantVector if epilogue.parameter == "vector" else tile_fifo.SetQuantScalar
    if not _set_before(op, setter):
        name = setter.name
        hint = f"add {name}(...) {{id = {op.number}}} before it"
        yield op, Problem(f"quant = {epilogue.quant} needs {name} before the push, in the same block", hint=hint)


def _set_before(op: tile_fifo.Push, setter: type[tile_fifo.SetQuantVector | tile_fifo.SetQuantScalar]) -> bool:
    earlier = op.prev_op
    while earlier is not None:
        if isinstance(earlier, setter) and earlier.number == op.number:
            return True
        earlier = earlier.prev_op
    return False


def _popped(op: tile_fifo.Pop, epilogue: Epilogue) -> Found:
    if (tile := tile_of(op.result.type)) is None:
        return
    if tile.layout != LAYOUTS[epilogue.layout] and 1 not in tile.shape:
        message = (
            f"layout = {epilogue.layout} of the epilogue gives {LAYOUTS[epilogue.layout]} tiles, not {tile.layout}"
        )
        yield op, Problem(message, at="result")
    if (found := name_of(tile.element)) not in epilogue.results:
        yield op, Problem(f"quant = {epilogue.quant} of the epilogue does not give {found}", at="result")


# --- both ends --------------------------------------------------------------------------------------------------------


def _peers(ends: dict[tuple[Function, CoreKind], EndOfFifo], target: str) -> Found:
    """Both ends of a FIFO have the same slots and the same epilogue, and take what they give to each other."""
    for (function, core), end in ends.items():
        if core is not CoreKind.AIV:
            continue
        for (other, kind), cube in ends.items():
            if kind is CoreKind.AIC and (other is function or _imports(function, other) or _imports(other, function)):
                yield from _same_settings(end, cube)
                yield from _same_entries(cube, end, target)
                yield from _same_entries(end, cube, target)


def _imports(function: Function, peer: Function) -> bool:
    """Whether a function takes the address of a buffer that the other reserves."""
    for op in function.walk():
        if isinstance(op, ImportReservedBuffer):
            symbol = op.attribute("peer_func")
            if isinstance(symbol, SymbolRefAttr) and symbol.root_reference.data == peer.symbol:
                return True
    return False


def _same_settings(vector: EndOfFifo, cube: EndOfFifo) -> Found:
    """Each end counts by itself, so both must agree on the entries and their use."""
    for number, pipe in vector.initialised.items():
        if (other := cube.initialised.get(number)) is None:
            continue
        for name in ("dir_mask", "slot_size", "slot_num"):
            mine, theirs = (end.slots if name == "slot_num" else end.integer(name) for end in (pipe, other))
            if mine != theirs:
                message = f"{name} of the FIFO with id {number} is {mine} here and {theirs} at its other end"
                yield pipe, Problem(message, at=name if pipe.integer(name) is not None else None)
        if pipe.acc_push_epilogue != other.acc_push_epilogue:
            message = f"acc_push_epilogue of the FIFO with id {number} differs from that of its other end"
            yield pipe, Problem(message, at="acc_push_epilogue")


def _same_entries(producer: EndOfFifo, consumer: EndOfFifo, target: str) -> Found:
    """Checks that an entry is popped in the shares it was pushed in; its bytes may change their type."""
    for number, pipe in producer.initialised.items():
        if number not in consumer.initialised:
            continue
        pushes = [op for op in producer.entries(number) if isinstance(op, tile_fifo.Push)]
        pops = [op for op in consumer.entries(number) if isinstance(op, tile_fifo.Pop)]
        splits = sorted({op.shared for op in pushes})
        if isinstance(pipe.acc_push_epilogue, AccPushEpilogueAttr):
            yield from _converted(pipe, pipe.acc_push_epilogue.data, pushes, pops)
        for op in pops:
            if splits and op.shared not in splits:
                pushed = " and ".join(map(str, splits))
                message = f"split is {op.shared}, but the FIFO with id {number} has split {pushed} at its other end"
                yield op, Problem(message, at="split")
            elif pipe.acc_push_epilogue is None:
                yield from _taken(op, pushes, pipe.through_gm(target))


def _converted(
    pipe: InitializePipe, epilogue: Epilogue, pushes: list[tile_fifo.Push], pops: list[tile_fifo.Pop]
) -> Found:
    """The type that is popped, one for all entries, says what the pushes make of theirs."""
    if pushes and not pops:
        yield (
            pipe,
            Problem("nothing is popped, so that the acc_push_epilogue has no type to give", at="acc_push_epilogue"),
        )
    for op in pops[1:]:
        if op.result.type != pops[0].result.type:
            message = f"an acc_push_epilogue gives entries of one type, and {pops[0].result.type} is popped as well"
            yield op, Problem(message, at="result")
    for push in pushes if pops else ():
        tile, popped = tile_of(push.entry.type), tile_of(pops[0].result.type)
        given = MODES[epilogue.quant].get(element_word(tile)) if tile is not None else None
        found = name_of(popped.element) if popped is not None else ""
        if given is not None and found in epilogue.results - given:
            message = f"quant = {epilogue.quant} does not make {found} of this, which is popped"
            yield push, Problem(message, at="entry_type")


def _taken(op: tile_fifo.Pop, pushes: list[tile_fifo.Push], through_gm: bool) -> Found:
    """Nothing converts an entry on its way, and a fixpipe writes it row by row."""
    popped, pushed = tile_of(op.result.type), [tile for push in pushes if (tile := tile_of(push.entry.type))]
    if popped is None or not pushed:
        return
    if element_word(popped) not in [element_word(tile) for tile in pushed]:
        given, taken = name_of(pushed[0].element), name_of(popped.element)
        message = f"an entry of {given} is taken as {taken}; nothing converts it"
        yield op, lint(message, at="result")
    layouts = ["ND" if tile.loc == "acc" else tile.layout for tile in pushed if 1 not in tile.shape]
    if layouts and popped.layout not in layouts and 1 not in popped.shape and not through_gm:
        message = f"an entry laid out as {layouts[0]} is taken as {popped.layout}; nothing converts it"
        yield op, lint(message, at="result")
