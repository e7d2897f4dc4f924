"""Addresses for tiles that have none, and working memory for operations that need some.

Tiles share bytes only where the memory would not hold them otherwise (placement.py). A tile that no operation touches
gets no storage: a `tmp` that the machine ignores may be as large as it likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i8, i64
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from ptosim.diagnostics import Diagnostic, PTOError
from ptosim.effects.names import Space
from ptosim.language.builder import Builder, Head, InsertionPoint, head_of, known
from ptosim.language.load import VerifiedModule
from ptosim.language.operation import Problem, PTOOperation
from ptosim.language.structure.function import Function, every_function
from ptosim.language.tile.scale_words import stands_for_scales
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.tile.tile_reserve import ReserveBuffer
from ptosim.language.tile.tile_view import Allocation
from ptosim.target import load_target
from ptosim.tiles.catalogue import lowering_of
from ptosim.tiles.passes.liveness import Interval, Liveness
from ptosim.tiles.passes.placement import RoomRequest, busiest, place
from ptosim.tiles.tile_values import Tile

_ALIGNMENT = {Space.L0A: 4096, Space.L0B: 4096, Space.L0C: 4096}
_USUAL_ALIGNMENT = 256
_KEPT_FREE = {("a5", Space.UB): 8192}
"""Bytes at the end of a memory that the official compiler keeps for itself."""


def plan_memory(module: VerifiedModule) -> VerifiedModule:
    """Give every allocation an address; raises PTOError where a memory does not hold its tiles."""
    for function in every_function(module.parsed.module):
        if not function.is_declaration:
            _place_tiles(module, function)
    return module


@dataclass(frozen=True)
class Planned:
    """An allocation or a reserved buffer, and where it lies."""

    op: Allocation | ReserveBuffer
    address: int


def room_of(op: Allocation) -> int:
    """The bytes of an allocation with all its slots; MX scales have none of their own."""
    return 0 if stands_for_scales(op.results[0]) else (op.slots - 1) * op.pitch + op.tile.size


def plan(module: VerifiedModule, function: Function) -> list[Planned]:
    """The addresses of tiles and reserved buffers of a function that have none of their own."""
    allocations = [op for op in function.walk() if isinstance(op, Allocation)]
    liveness = Liveness(function)
    by_space: dict[Space, list[tuple[Allocation | ReserveBuffer, RoomRequest]]] = {}
    for op, interval in zip(allocations, liveness.intervals(allocations), strict=True):
        by_space.setdefault(op.tile.space, []).append((op, _room(module, op, interval)))
    for op in function.walk():
        if isinstance(op, ReserveBuffer):  # in use from the first statement to the last
            room = RoomRequest(
                op.label, op.bytes, 0, len(liveness.statements), None if op.automatic else op.integer("base")
            )
            by_space.setdefault(op.space, []).append((op, room))
    planned: list[Planned] = []
    for space, placed in by_space.items():
        rooms = [room for _, room in placed]
        if all(op.addr is not None if isinstance(op, Allocation) else not op.automatic for op, _ in placed):
            continue
        capacity = load_target(module.target).memory[space] - _KEPT_FREE.get((module.target, space), 0)
        found = place(rooms, _ALIGNMENT.get(space, _USUAL_ALIGNMENT), capacity)
        if found.peak > capacity:
            raise PTOError(_overflow(module, liveness, rooms, space, found.peak, capacity))
        planned += [
            Planned(op, address)
            for (op, room), address in zip(placed, found.addresses, strict=True)
            if room.pinned is None
        ]
    return planned


def _room(module: VerifiedModule, op: Allocation, interval: Interval) -> RoomRequest:
    name, written = _name(module, op), None if op.addr is None else known(op.addr) or 0
    if interval.start is None or interval.end is None:
        return RoomRequest(name, 0, 0, 0, written)
    return RoomRequest(name, room_of(op), interval.start, interval.end, written, interval.arms or frozenset())


def _overflow(
    module: VerifiedModule, liveness: Liveness, rooms: Sequence[RoomRequest], space: Space, need: int, capacity: int
) -> Diagnostic:
    moment, live = busiest(rooms)
    op = liveness.statements[moment]
    largest = ", ".join(f"{room.name} {room.size}" for room in live[:8])
    more = f" and {len(live) - 8} more" if len(live) > 8 else ""
    message = f"{space} overflow: the tiles need {need} bytes, {capacity} are available; in use here: {largest}{more}"
    return module.parsed.diagnostic(op, Problem(message, kind="limit"))


def _place_tiles(module: VerifiedModule, function: Function) -> None:
    head: Head | None = None
    for found in plan(module, function):
        if isinstance(found.op, ReserveBuffer):
            found.op.place(found.address)
        else:
            head = head or head_of(function.body.block)
            _put(module, found.op, found.address, head)


def _put(module: VerifiedModule, op: Allocation, place: int, head: Head) -> None:
    """The allocation with an address."""
    address = Builder(module.parsed, InsertionPoint.at(op), head, serves=op).i64(place)
    operands = {role: op.segment(role) for role in op.operand_roles} | {"addr": address}
    new = type(op).make(operands, [result.type for result in op.results], {}, op.attributes)
    new.properties.update({name: value for name, value in op.properties.items() if name not in new.properties})
    Rewriter.replace_op(op, new)
    module.parsed.replaced(op, new)


def _name(module: VerifiedModule, op: Operation) -> str:
    return module.parsed.named(op.results[0]) or "a tile"


# --- what became of it ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlacedTile:
    """A tile in its memory: where, how large, and the lines of the text between which it is in use."""

    name: str
    type: str
    space: Space
    address: int | None
    """None where only the run knows it."""
    size: int
    """0 where nothing touches it."""
    first: int
    last: int
    line: int
    """The line of the allocation."""


@dataclass(frozen=True)
class MemoryPlan:
    """The tiles of one function, and the bytes that each memory has."""

    function: str
    tiles: tuple[PlacedTile, ...]
    capacity: Mapping[str, int]


def memory_plans(module: VerifiedModule) -> list[MemoryPlan]:
    """The addresses of the tiles of each function, planned or written; asked of a module whose memory is planned."""
    return [
        MemoryPlan(function.symbol, tuple(_placed(module, function)), load_target(module.target).memory)
        for function in every_function(module.parsed.module)
        if not function.is_declaration
    ]


def _placed(module: VerifiedModule, function: Function) -> Iterator[PlacedTile]:
    liveness = Liveness(function)
    allocations = [op for op in function.walk() if isinstance(op, Allocation)]
    for op, interval in zip(allocations, liveness.intervals(allocations), strict=True):
        lines = [_line(module, op)]
        if interval.start is not None and interval.end is not None:
            lines = [_line(module, liveness.statements[number]) for number in range(interval.start, interval.end + 1)]
        yield PlacedTile(
            _name(module, op),
            str(op.results[0].type),
            op.tile.space,
            known(op.addr) if op.addr is not None else None,
            room_of(op) if interval.start is not None else 0,
            min(lines),
            max(lines),
            _line(module, op),
        )
    lines = [_line(module, op) for op in liveness.statements]
    for op in function.walk():
        if isinstance(op, ReserveBuffer):
            base, kind = op.integer("base"), f"reserved '{op.label}'"
            yield PlacedTile(
                _name(module, op), kind, op.space, base, op.bytes, min(lines), max(lines), _line(module, op)
            )


def _line(module: VerifiedModule, op: Operation) -> int:
    location = module.parsed.location(op)
    return location.line if location is not None else 0


# --- working memory ---------------------------------------------------------------------------------------------------


class Scratchpads:
    """Bytes for operations that need some of their own: behind every tile of the function, at the top of UB."""

    def __init__(self, module: VerifiedModule, function: Function) -> None:
        self.target = module.target
        self.free = _free(module, function)

    def of(self, op: PTOOperation, build: Builder) -> Tile | None:
        """Working memory of an operation as a tile of bytes, None where it needs none."""
        found = lowering_of(op.name)
        size = found.scratch(op, self.target) if found is not None and found.scratch is not None else 0
        if not size:
            return None
        size = -(-size // 32) * 32
        low, high = self.free
        if high - low < size:
            raise PTOError(
                build.parsed.diagnostic(
                    op, Problem(f"{op.name} needs {size} bytes of working memory, but ub has no room", kind="limit")
                )
            )
        buf = TileBuf("vec", i8, 1, size, (1, size))
        return Tile(buf, build.constant(high - size, i64), (1, size), buf.shape, "scratch")


def _free(module: VerifiedModule, function: Function) -> tuple[int, int]:
    """The bytes of UB behind every tile and buffer; none where only the run knows an address."""
    end, capacity = 0, load_target(module.target).memory[Space.UB]
    for op in function.walk():
        if isinstance(op, Allocation) and op.tile.space is Space.UB and op.addr is not None:
            address = known(op.addr)
            end = capacity if address is None else max(end, address + room_of(op))
        elif isinstance(op, ReserveBuffer) and op.space is Space.UB:
            end = max(end, (op.integer("base") or 0) + op.bytes)
    return -(-end // 32) * 32, capacity
