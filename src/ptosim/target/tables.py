"""The tables of a target file: the figures that each holds, and what their values may be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any, NamedTuple

Value = int | float | str | tuple[int, int] | tuple[float, float]


@dataclass(frozen=True)
class FigureKind:
    """The domain of a figure, in words and as a condition."""

    words: str
    is_fitting: Callable[[Any], bool]
    is_pair: bool = False
    """A figure for wide and one for narrow elements; one number stands for both."""

    def kept(self, value: Any) -> Value | None:
        """The value as it is kept, None where it does not fit."""
        if not self.is_pair:
            return value if self.is_fitting(value) else None
        columns: tuple[Any, ...] = tuple(value) if isinstance(value, list | tuple) else (value, value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return columns if len(columns) == 2 and all(map(self.is_fitting, columns)) else None


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and 0 <= value < 1e12)


def _word(*words: str) -> FigureKind:
    return FigureKind(" or ".join(map(repr, words)), lambda value: value in words)


COUNT = FigureKind("a whole number above 0", lambda value: _is_whole(value) and value > 0)
RATE = FigureKind("a number above 0", lambda value: _is_number(value) and value > 0)
PAIR = FigureKind("a whole number, or [wide, narrow]", _is_whole, is_pair=True)
GAP = FigureKind(PAIR.words, lambda value: isinstance(value, int) and _is_whole(abs(value)), is_pair=True)
"""Likewise, of numbers that may be negative."""

Whole = Annotated[int, FigureKind("a whole number", _is_whole)]
Count = Annotated[int, COUNT]
Number = Annotated[float, FigureKind("a number, not negative", _is_number)]
Rate = Annotated[float, RATE]
Pair = Annotated[tuple[int, int], PAIR]
SLOPES = FigureKind("a number, or [wide, narrow], not negative", _is_number, is_pair=True)
Slopes = Annotated[tuple[float, float], SLOPES]
Flag = Annotated[bool, FigureKind("true or false", lambda value: isinstance(value, bool))]


def figures_of(table: type) -> dict[str, FigureKind]:
    """The figures of a table or row, and what each may be."""
    return {name: kind.__metadata__[0] for name, kind in table.__annotations__.items() if hasattr(kind, "__metadata__")}


def column(width: int) -> int:
    """The half of a pair that holds for elements of so many bytes."""
    return 0 if width >= 4 else 1


class Sync(NamedTuple):
    event_ids: Count
    buffer_ids: Count
    semaphores: Count
    vector_semaphores: Count
    semaphore_limit: Count
    subblock_sem_offset: Count
    inter_core_wait: Annotated[str, _word("pipe", "core")]  # what a wait for another core stalls
    inter_core_signal: Annotated[str, _word("direct", "broadcast")]
    buffers: Flag


class WorkitemPrice(NamedTuple):
    """Launches of workitems."""

    launch: Whole  # cycles from the start of the entry to the first instruction
    schedulers: Count  # of warps, each issues an instruction a cycle
    integer: Whole  # latencies of instructions of a warp
    float: Whole
    convert: Whole
    special: Whole
    shuffle: Whole
    reduce: Whole
    ub: Whole  # on top of the cycles of the port
    gm_hit: Whole
    gm_miss: Whole
    gm_bytes_per_cycle: Rate
    sector: Count  # bytes of GM that one request brings
    ub_atomic: Whole  # for each lane at one address
    gm_atomic: Whole
    gm_atomic_used: Whole  # where the old value is used
    gm_atomic_lanes: Count  # sectors that are updated side by side
    barrier: Whole


class Rules(NamedTuple):
    scatter_duplicates: Annotated[str, _word("lowest-lane", "illegal")]
    dma_length_multiple: Count


class Chip(NamedTuple):
    clock_ghz: Rate
    cube_cores: Count
    vector_cores: Count


class RankLink(NamedTuple):
    """Bandwidth of copies between ranks together, one way, in GB/s: between two ranks, and out of or into one rank."""

    peer_gb_s: Rate
    rank_gb_s: Rate


class Latency(NamedTuple):
    scalar: Whole
    flag: Whole
    inter_core: Whole
    barrier: Whole
    notify: Whole


class OperationPrice(NamedTuple):
    """A queue entry that is no copy and no vector function: start-up, then cycles for each item."""

    startup: Whole
    each: Slopes

    def cycles(self, items: int, width: int = 4) -> int:
        return ceil(self.startup + items * self.each[column(width)])


class Copy(NamedTuple):
    """A path between two memories."""

    bytes_per_cycle: Rate
    startup: Whole
    ramp_bytes: Whole  # a copy takes as long as this many more bytes at full rate

    def transfer(self, size: int) -> int:
        return ceil((size + self.ramp_bytes) / self.bytes_per_cycle) if size else 0

    def cycles(self, size: int) -> int:
        return self.startup + self.transfer(size)


CONSUMERS = ("alu", "special", "store")


class IssueClass(NamedTuple):
    """The execution of a class of instructions on an A5 vector unit."""

    latency: Pair
    interval: Pair
    port: Annotated[str, _word("any", "exu0", "load", "both-loads", "store", "none")]
    consumer: Annotated[str, _word(*CONSUMERS)]  # the column of `forward` that holds where this class consumes


class IssueUnit(NamedTuple):
    """The A5 vector unit: vector functions issue instructions to queues and ports."""

    startup: Whole
    drain: Whole
    decode: Count
    issue: Count
    load_slots: Count
    load_slots_beside_store: Whole
    store_slots: Count
    shared_queue: Count
    execute_queue: Count
    registers: Count
    register_release: Whole
    retire_in_order: Flag
    iteration: Count
    loop_entry: Whole
    post_update: Whole
    branch: Whole
    classes: Mapping[str, IssueClass]
    forward: Mapping[str, Mapping[str, Pair]]  # producer class -> consumer column or class -> distance of the starts


class RepeatClass(NamedTuple):
    head: Number
    slope: Number
    tail: Number


class TileOperationPrice(NamedTuple):
    """The cost of a tile operation besides its instructions."""

    head: Number
    count_mode: Number  # switched on and off again


class RepeatedInstruction(NamedTuple):
    """An instruction on UB: so much for each repeat, and a tail before what waits for it goes on."""

    slope: Slopes
    tail: Number


class RepeatUnit(NamedTuple):
    """The A2A3 vector unit. Micro-instructions are priced by class, tile operations by the instructions that they
    consist of on that machine."""

    classes: Mapping[str, RepeatClass]
    tile: TileOperationPrice
    instructions: Mapping[str, RepeatedInstruction]
