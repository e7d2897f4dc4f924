"""From the log of compiled code (machine/moments.py) to a recording: the records of all workers, block by block."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import PIPES_OF
from ptosim.machine import moments
from ptosim.machine.entry import Key, Site, buffer_key, flag_key, token_key
from ptosim.machine.launch import KernelKind, LaunchGeometry
from ptosim.machine.moments import EndRecord, LogPart
from ptosim.machine.sync import CORE_WORDS, DONE, EVENT_IDS, FLAGS, ISSUED, PIPES, SLOT, TOKEN_IDS, TOKENS
from ptosim.target.tables import Latency
from ptosim.timing.numbering import put_in_order
from ptosim.timing.recorder import MOST_TOUCHING, joined
from ptosim.timing.recording import PIPES as RECORDED
from ptosim.timing.recording import Cause, ColumnTable, CorePipeTime, CoreRun, Issued, Recording, RowKind, WaitCause
from ptosim.timing.work import Cost

Ints = NDArray[np.int64]

_PIPE = {slot: pipe for pipe, slot in SLOT.items()}
_NUMBER = np.array([RECORDED.index(_PIPE[slot]) for slot in sorted(_PIPE)])
"""By slot, the number of a pipe in a recording."""


@dataclass(frozen=True)
class LoggedOperands:
    """The reading of an operation's operands from the words that the log keeps of it."""

    words: int
    issued: Issued
    columns: tuple[int | tuple[int, Callable[[Ints], Ints]], ...]
    """For each name its constant, or its word and how that is read."""


class Price(NamedTuple):
    """The meaning of the number of a price."""

    cost: Cost
    path: tuple[int, ...]
    touches: Sequence[tuple[int, int]]


class LoggedProgram(Protocol):
    """The program behind a log."""

    kind: KernelKind
    priced: list[Price]
    """By number."""
    latency: Latency
    memory: Mapping[str, int]
    """Bytes of each memory on the chip."""

    @property
    def keys(self) -> Mapping[int, tuple[Key, int]]:
        """Signals that are no sync words of a core, and their hops."""
        ...

    def site(self, operation: int) -> Site: ...

    def operands(self, operation: int) -> LoggedOperands:
        """The operands of an operation that is no vector scope."""
        ...


def recorded(logs: Sequence[Mapping[LogPart, Ints]], told: LoggedProgram) -> Recording:
    """The recording of a launch; times are cycles since the start of the block."""
    recording = Recording()
    blocks = _Blocks(logs, len(LaunchGeometry(told.kind, 1).places(0)))
    _cores(recording, blocks, told.kind, _row_places(blocks))
    sites = _Sites(recording, told)
    _rows(recording, blocks, told, sites)
    _last_rows(recording)
    _signals(recording, blocks, told, sites)
    put_in_order(recording)
    return recording


class _Blocks:
    """The records of all workers in the order of the blocks."""

    def __init__(self, logs: Sequence[Mapping[LogPart, Ints]], width: int) -> None:
        self.width = width
        self.logs = logs
        ends = np.concatenate([log[LogPart.CORES] for log in logs])
        self.ends = ends[np.lexsort((ends[:, EndRecord.PLACE], ends[:, EndRecord.BLOCK]))]
        self.rank = {block: rank for rank, block in enumerate(np.unique(ends[:, EndRecord.BLOCK]).tolist())}
        self.worker = np.zeros(len(self.rank), np.int64)
        """By the rank of a block, who has run it."""
        for worker, log in enumerate(logs):
            self.worker[[self.rank[block] for block in log[LogPart.CORES][:, EndRecord.BLOCK].tolist()]] = worker

    def part(self, part: LogPart) -> tuple[Ints, Ints, Ints]:
        """The records of a part, the rank of the block of each, and by its number over all workers where each went."""
        records = np.concatenate([log[part] for log in self.logs])
        ranks = np.concatenate([self._ranks(log, part) for log in self.logs])
        order = np.argsort(ranks, kind="stable")
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return records[order], ranks[order], places

    def _ranks(self, log: Mapping[LogPart, Ints], part: LogPart) -> Ints:
        ends = log[LogPart.CORES]
        blocks, at = np.unique(ends[:, EndRecord.BLOCK], return_inverse=True)
        firsts = np.full(len(blocks), np.iinfo(np.int64).max)
        np.minimum.at(firsts, at, ends[:, EndRecord.FIRST + part])
        counts = np.diff(np.minimum(firsts, len(log[part])), append=len(log[part]))
        return np.repeat([self.rank[block] for block in blocks.tolist()], counts).astype(np.int64)

    def first_row_by_rank(self) -> Ints:
        """By the rank of a block, the number that its first row has with its worker."""
        firsts = np.full(len(self.rank), np.iinfo(np.int64).max)
        ranks = [self.rank[block] for block in self.ends[:, EndRecord.BLOCK].tolist()]
        np.minimum.at(firsts, ranks, self.ends[:, EndRecord.FIRST + LogPart.ROWS])
        return firsts

    def of_worker(self, part: LogPart) -> tuple[Ints, Ints]:
        """By the rank of a block: what its worker's numbers have to be raised by to be numbers over all workers, and
        how many records that one has left."""
        sizes = np.array([len(log[part]) for log in self.logs], np.int64)
        return (np.cumsum(sizes) - sizes)[self.worker], sizes[self.worker]


def recorded_ends(ends: Sequence[Ints], kind: KernelKind) -> Recording:
    """The cores of a launch alone, without what led to their ends."""
    recording = Recording()
    logs = [{LogPart.CORES: of_worker} for of_worker in ends]
    _cores(recording, _Blocks(logs, len(LaunchGeometry(kind, 1).places(0))), kind, lambda row, rank: moments.NOTHING)
    return recording


def _row_places(blocks: _Blocks) -> Callable[[int, int], int]:
    """The place of a worker's row, by its number and the rank of its block."""
    _, _, places = blocks.part(LogPart.ROWS)
    offsets, sizes = blocks.of_worker(LogPart.ROWS)

    def moved(row: int, rank: int) -> int:
        if row == moments.NOTHING:
            return row
        return int(places[row + offsets[rank]]) if row < sizes[rank] else _MISSING

    return moved


_MISSING = -2
"""Stands for a row that was not kept."""


def _cores(recording: Recording, blocks: _Blocks, kind: KernelKind, moved: Callable[[int, int], int]) -> None:
    ends: list[list[int]] = blocks.ends.tolist()
    for end in ends:
        block, rank = end[EndRecord.BLOCK], blocks.rank[end[EndRecord.BLOCK]]
        place = LaunchGeometry(kind, 1).places(int(block))[int(end[EndRecord.PLACE])]
        busy, waiting = end[EndRecord.SUMS : EndRecord.SUMS + PIPES], end[EndRecord.SUMS + PIPES :]
        pipes: dict[str, CorePipeTime] = {
            pipe: CorePipeTime(busy[SLOT[pipe]], waiting[SLOT[pipe]]) for pipe in PIPES_OF[place.kind]
        }
        run = CoreRun(place.name, place.role, block, pipes, end=end[EndRecord.TIME])
        scalar = run.pipes[_PIPE[moments.S]]
        scalar.busy = end[EndRecord.SCALAR_TIME] - scalar.waiting
        run.last, run.scalar_last = moved(end[EndRecord.LAST], rank), moved(end[EndRecord.SCALAR_LAST], rank)
        if _MISSING in (run.last, run.scalar_last):
            run.recorded = 0
        recording.cores.append(run)


def _last_rows(recording: Recording) -> None:
    """Ends the cores that are recorded in part: their end, and the entry that ended then."""
    cores, ends = (np.asarray(column, np.int64) for column in (recording.rows.core, recording.rows.end))
    for number, run in enumerate(recording.cores):
        if run.recorded is None:
            continue
        mine = np.flatnonzero(cores == number)
        run.last, run.scalar_last = moments.NOTHING, moments.NOTHING
        if len(mine):
            run.last = int(mine[np.argmax(ends[mine])])
            run.recorded = int(ends[run.last])


class _Sites:
    """The sites that a log names, by the number of their operation."""

    def __init__(self, recording: Recording, told: LoggedProgram) -> None:
        self.recording = recording
        self.told = told
        self.numbers: dict[int, int] = {}

    def of(self, operations: Ints) -> Ints:
        found, at = np.unique(operations, return_inverse=True)
        return np.array([self.number(operation) for operation in found.tolist()], np.int64)[at]

    def number(self, operation: int) -> int:
        if operation not in self.numbers:
            self.numbers[operation] = self.recording.enter(self.told.site(operation))
        return self.numbers[operation]


def _field(words: Ints, shift: int, bits: int) -> Ints:
    return words >> shift & ((1 << bits) - 1)


def _head(words: Ints) -> tuple[Ints, Ints, Ints]:
    """Operation, number of the pipe, and place of the core."""
    slots = _field(words, moments.PIPE_SHIFT, 4)
    return words & moments.SITE_MASK, _NUMBER[slots], _field(words, moments.CORE_SHIFT, 8)


def _fill(table: ColumnTable, **columns: Ints) -> None:
    for name, values in columns.items():
        _extend(getattr(table, name), values)


def _extend(column: array[int], values: Ints) -> None:
    column.frombytes(np.ascontiguousarray(values, np.dtype(column.typecode)).tobytes())


def _rows(recording: Recording, blocks: _Blocks, told: LoggedProgram, sites: _Sites) -> None:
    records, ranks, places = blocks.part(LogPart.ROWS)
    offsets, _ = blocks.of_worker(LogPart.ROWS)
    first, second, start, end = records.T
    operations, pipes, cores = _head(first)
    waits = _field(first, 30, 1) == RowKind.WAIT
    links = _field(first, moments.LINK_SHIFT, 2)
    details = _field(first, moments.DETAIL_SHIFT, 24)
    before = second << 64 - moments.ROW_BITS >> 64 - moments.ROW_BITS
    known = before != moments.NOTHING
    before[known] = places[before[known] + offsets[ranks[known]]]
    rows, place = recording.rows, ranks * blocks.width + cores
    _fill(rows, kind=waits, link=links, pipe=pipes, core=place, before=before, start=start, end=end)
    _fill(rows, site=sites.of(operations))
    setters = _field(second, moments.ROW_BITS, 24)
    numbers = np.empty(len(records), np.int64)
    numbers[waits] = _causes(recording, told, sites, links[waits], details[waits], setters[waits], operations[waits])
    numbers[~waits] = _functions(recording, told)[details[~waits]]
    moved = np.zeros(len(records), np.int64)
    moved[~waits] = np.array([price.cost.bytes for price in told.priced] or [0], np.int64)[details[~waits]]
    _fill(rows, detail=numbers, bytes=moved)
    _touches(recording, np.where(waits, moments.NOTHING, details), ranks, blocks.width, told)
    _arguments(recording, blocks, told, sites, operations, waits, ~waits & (numbers == moments.NOTHING))


def _functions(recording: Recording, told: LoggedProgram) -> Ints:
    """By the number of a price, that of its function."""
    known: dict[int, int] = {}
    numbers: list[int] = []
    for cost, path, _ in told.priced:
        timing = cost.function
        if timing is None:
            numbers.append(moments.NOTHING)
            continue
        if id(timing) not in known:
            known[id(timing)] = len(known)
            recording.functions.append(timing)
            recording.paths.append(path)
        numbers.append(known[id(timing)])
    return np.array(numbers or [moments.NOTHING], np.int64)


def _causes(
    recording: Recording, told: LoggedProgram, sites: _Sites, links: Ints, words: Ints, setters: Ints, operations: Ints
) -> Ints:
    drains = links == WaitCause.DRAIN
    table = np.stack([links, np.where(drains, 0, words), np.where(drains, operations, setters)], axis=1)
    found, at = np.unique(table, axis=0, return_inverse=True)
    known: dict[Cause, int] = {}
    numbers: list[int] = []
    for link, word, operation in found.tolist():
        text, hop = ("all pipes", told.latency.barrier) if link == WaitCause.DRAIN else _signalled(word, told)
        numbers.append(known.setdefault(Cause(str(text), sites.number(operation), hop), len(known)))
    recording.causes += known
    return np.array(numbers, np.int64)[at.reshape(-1)]


def _signalled(word: int, told: LoggedProgram) -> tuple[Key, int]:
    """The signal of a wait, and how far away it was."""
    return told.keys.get(word) or (_key(word), told.latency.flag)


def _key(word: int) -> Key:
    """The key that a sync word of a core counts."""
    assert FLAGS <= word < CORE_WORDS
    if word < ISSUED:
        pair, event = divmod(word - FLAGS, EVENT_IDS)
        return flag_key(_PIPE[pair // PIPES], _PIPE[pair % PIPES], event)
    if word >= TOKENS:
        pair, number = divmod(word - TOKENS, TOKEN_IDS)
        return token_key(_PIPE[pair // PIPES], _PIPE[pair % PIPES], number)
    return buffer_key((word - DONE) // PIPES)


def _arguments(
    recording: Recording,
    blocks: _Blocks,
    told: LoggedProgram,
    sites: _Sites,
    operations: Ints,
    waits: NDArray[np.bool_],
    chosen: NDArray[np.bool_],
) -> None:
    """The operands of entries other than vector scopes, row by row."""
    pool, _, _ = blocks.part(LogPart.POOL)
    pool = pool.reshape(-1)
    words, names = np.zeros(len(operations), np.int64), np.zeros(len(operations), np.int64)
    members: list[tuple[LoggedOperands, NDArray[np.bool_]]] = []
    for operation in np.unique(operations[chosen]).tolist():
        operands, mine = told.operands(operation), chosen & (operations == operation)
        number = sites.number(operation)
        recording.issued[number] = operands.issued
        words[mine], names[mine] = operands.words, len(operands.issued.names)
        members.append((operands, mine))
    taken, given = np.cumsum(words) - words, np.cumsum(names) - names
    values = np.zeros(int(names.sum()), np.int64)
    for operands, mine in members:
        for place, column in enumerate(operands.columns):
            if isinstance(column, int):
                values[given[mine] + place] = column
            else:
                word, read = column
                values[given[mine] + place] = read(pool[taken[mine] + word])
    _extend(recording.pool, values)
    _fill(recording.rows, arguments=np.where(waits, 0, given))


def _signals(recording: Recording, blocks: _Blocks, told: LoggedProgram, sites: _Sites) -> None:
    """Signals that are written down, and those that the row of a held wait implies, in the order of the waits."""
    rows, row_ranks, _ = blocks.part(LogPart.ROWS)
    records, ranks, _ = blocks.part(LogPart.SIGNALS)
    held = (_field(rows[:, 0], 30, 2) == 1) & (_field(rows[:, 0], moments.LINK_SHIFT, 2) == WaitCause.SIGNAL)
    implied = _implied(rows[held], told)
    offsets = blocks.first_row_by_rank()
    following = _unwrapped(_field(records[:, 2], moments.DETAIL_SHIFT, 24), ranks)
    places = np.concatenate([4 * (following - offsets[ranks]) - 1, 4 * _numbers(row_ranks)[held] + 2])
    both, all_ranks = np.concatenate([records, implied]), np.concatenate([ranks, row_ranks[held]])
    order = np.lexsort((np.arange(len(both)), places, all_ranks))
    set_time, wait_time, set_head, wait_head = both[order].T
    signals = recording.signals
    _fill(signals, set_time=set_time, wait_time=wait_time)
    for head, prefix in ((set_head, "set"), (wait_head, "wait")):
        operations, pipes, cores = _head(head)
        found = {"core": all_ranks[order] * blocks.width + cores, "pipe": pipes, "site": sites.of(operations)}
        _fill(signals, **{f"{prefix}_{name}": values for name, values in found.items()})
    words, at = np.unique(_field(wait_head, moments.DETAIL_SHIFT, 24), return_inverse=True)
    ids = np.array([_signalled(word, told)[0].id for word in words.tolist()], np.int64)
    _fill(signals, id=ids[at])


def _implied(rows: Ints, told: LoggedProgram) -> Ints:
    """The signals of waits for a flag of the same core that were held: what the records of others say."""
    first, second, _, end = rows.T
    words = _field(first, moments.DETAIL_SHIFT, 24)
    base = np.where(words < ISSUED, FLAGS, TOKENS)
    slots = (words - base) // np.where(words < ISSUED, EVENT_IDS, TOKEN_IDS) // PIPES
    setters = _field(second, moments.ROW_BITS, 24) | slots << moments.PIPE_SHIFT
    core = _field(first, moments.CORE_SHIFT, 8) << moments.CORE_SHIFT
    return np.stack([end - told.latency.flag, end, setters | core, first], axis=1)


def _unwrapped(numbers: Ints, ranks: Ints) -> Ints:
    """Numbers of rows, which only grow in a block and of which the low 24 bits are known."""
    wraps = np.zeros(len(numbers), np.int64)
    if len(numbers):
        wraps[1:] = np.cumsum((np.diff(numbers) < 0) & (np.diff(ranks) == 0)) << 24
    return numbers + wraps


def _numbers(ranks: Ints) -> Ints:
    """The place of each record in its block."""
    _, first, counts = np.unique(ranks, return_index=True, return_counts=True)
    return np.arange(len(ranks)) - np.repeat(first, counts)


def _touches(recording: Recording, details: Ints, ranks: Ints, width: int, told: LoggedProgram) -> None:
    """For each row its reads, then its writes; `details` are the numbers of prices, NOTHING for waits."""
    rows = np.flatnonzero(details[:MOST_TOUCHING] != moments.NOTHING)
    numbers, at = np.unique(details[rows], return_inverse=True)
    prices: list[int] = numbers.tolist()
    sets = [_joined_touches(told.priced[number].touches, told.memory) for number in prices]
    counts = np.array([len(touched) for touched in sets], np.int64)
    table = np.array([touch for touched in sets for touch in touched], np.int64).reshape(-1, 5)
    each = counts[at]
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    writes, places, spaces, low, high = table[np.repeat((np.cumsum(counts) - counts)[at], each) + within].T
    row = np.repeat(rows, each)
    own = np.frombuffer(recording.rows.core, np.int32)[row] if len(row) else row
    core = np.where(places < 0, own, ranks[row] * width + places)
    _fill(recording.touches, row=row, writes=writes, core=core, space=spaces, low=low, high=high)


def _joined_touches(
    touches: Sequence[tuple[int, int]], memory: Mapping[str, int]
) -> list[tuple[int, int, int, int, int]]:
    """Whether it writes, the place of the core whose memory it is (-1: one's own), the memory, first byte and one past
    the last, of those that the memory has: a load from L1 may reach past its end."""
    found: dict[int, list[tuple[int, int, int, int]]] = {0: [], 1: []}
    for first, high in touches:
        if high:
            tag = first >> moments.ROW_BITS
            place = (tag >> 1 & 7) - 1
            space = tag >> moments.SPACE_SHIFT
            end = min(high, memory[moments.MEMORIES[space]])
            found[tag & 1].append((place, space, first & moments.ROW_MASK, end))
    return [(writes, *stretch) for writes, stretches in found.items() for stretch in joined(stretches)]
