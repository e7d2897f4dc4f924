"""The recording of a timed run: one row for each entry that took time, each wait that held something up, each signal.

Columns of numbers, because a run may have a million of them. Times are cycles since the start of the block until
`waves` has placed the blocks, then since the launch of the kernel.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import NamedTuple

from ptosim.machine.entry import Site
from ptosim.machine.moments import NOTHING as NOTHING
from ptosim.machine.moments import PIPE_ORDER
from ptosim.timing.function_time import VectorFunctionTiming

SDMA = "SDMA"
"""The queues of transfers in GM, which are no pipe: the scalar unit alone waits for them."""
PIPES: tuple[str, ...] = (*PIPE_ORDER, SDMA)
"""The pipes by their number in a recording."""


class RowKind(IntEnum):
    WORK = 0
    """Something that a pipe executed."""
    WAIT = 1
    """A wait or barrier that was reached before it was satisfied."""


class WaitCause(IntEnum):
    """Why a row begins (work) or ends (a wait) when it does, and so how it hangs on the row before it."""

    PIPE = 0
    """The pipe was busy with the row before."""
    ISSUE = 1
    """The scalar unit had not issued it; it was last held up by the row before."""
    SIGNAL = 2
    """The signal of a set or release, which followed the row before."""
    DRAIN = 3
    """A barrier of all pipes: the row before ended last."""


@dataclass(slots=True)
class ColumnTable:
    """Columns of numbers, all equally long."""

    @property
    def columns(self) -> list[array[int]]:
        return [getattr(self, each.name) for each in fields(self)]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return zip(*self.columns, strict=True)


@dataclass(slots=True)
class RecordingRows(ColumnTable):
    """Work and waits."""

    kind: array[int] = field(default_factory=lambda: array("b"))
    link: array[int] = field(default_factory=lambda: array("b"))
    pipe: array[int] = field(default_factory=lambda: array("b"))
    core: array[int] = field(default_factory=lambda: array("i"))
    site: array[int] = field(default_factory=lambda: array("i"))
    before: array[int] = field(default_factory=lambda: array("q"))
    start: array[int] = field(default_factory=lambda: array("q"))
    end: array[int] = field(default_factory=lambda: array("q"))
    detail: array[int] = field(default_factory=lambda: array("i"))
    """The number of a vector function's timing, or of the cause of a wait; otherwise NOTHING."""
    bytes: array[int] = field(default_factory=lambda: array("q"))
    """Moved by a copy."""
    arguments: array[int] = field(default_factory=lambda: array("q"))
    """The start of its arguments in the pool; their names are those of its site."""


@dataclass(slots=True)
class SignalTable(ColumnTable):
    """From every set to the wait that consumed it, and from every release to the get that waited for it."""

    set_core: array[int] = field(default_factory=lambda: array("i"))
    set_pipe: array[int] = field(default_factory=lambda: array("b"))
    set_site: array[int] = field(default_factory=lambda: array("i"))
    set_time: array[int] = field(default_factory=lambda: array("q"))
    wait_core: array[int] = field(default_factory=lambda: array("i"))
    wait_pipe: array[int] = field(default_factory=lambda: array("b"))
    wait_site: array[int] = field(default_factory=lambda: array("i"))
    wait_time: array[int] = field(default_factory=lambda: array("q"))
    """The time when the wait was over."""
    id: array[int] = field(default_factory=lambda: array("h"))
    """The id of the flag, buffer or semaphore."""


@dataclass(slots=True)
class Crossings(ColumnTable):
    """Rows that moved bytes from one rank to another."""

    row: array[int] = field(default_factory=lambda: array("q"))
    source: array[int] = field(default_factory=lambda: array("i"))
    """The rank that the bytes come from;"""
    dest: array[int] = field(default_factory=lambda: array("i"))
    """and that which they go to."""
    alone: array[int] = field(default_factory=lambda: array("q"))
    """Cycles that it would take if nothing else were on the links."""
    lane: array[int] = field(default_factory=lambda: array("i"))
    """Copies of one pipe, or of one queue of transfers, follow each other."""


@dataclass(slots=True)
class Watches(ColumnTable):
    """Waits for words in GM, also those that found them satisfied."""

    core: array[int] = field(default_factory=lambda: array("i"))
    site: array[int] = field(default_factory=lambda: array("i"))
    since: array[int] = field(default_factory=lambda: array("q"))
    """The time when the scalar unit came to it,"""
    over: array[int] = field(default_factory=lambda: array("q"))
    """and when it went on."""
    by: array[int] = field(default_factory=lambda: array("i"))
    """The core whose signal ended the wait; NOTHING if it did not block."""


@dataclass(slots=True)
class TouchTable(ColumnTable):
    """Stretches of the memories on the chip that a row read or wrote."""

    row: array[int] = field(default_factory=lambda: array("q"))
    core: array[int] = field(default_factory=lambda: array("i"))
    """Whose memory it is."""
    space: array[int] = field(default_factory=lambda: array("b"))
    """Its number in `MEMORIES`."""
    writes: array[int] = field(default_factory=lambda: array("b"))
    low: array[int] = field(default_factory=lambda: array("i"))
    high: array[int] = field(default_factory=lambda: array("i"))


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a wait, in words, and the operation that ended it."""

    text: str
    site: int
    hop: int
    """Cycles from the set until the wait could see it."""


@dataclass(slots=True)
class CorePipeTime:
    """The cycles of one pipe of one core."""

    busy: int = 0
    waiting: int = 0


@dataclass(slots=True)
class CoreRun:
    """One core for the length of one block."""

    name: str
    role: str
    block: int
    pipes: dict[str, CorePipeTime]
    rank: int | None = None
    """None where there is one rank only."""
    begin: int = 0
    end: int = 0
    """The time when its scalar unit had returned and its pipes were empty."""
    last: int = NOTHING
    """The row that ended last; NOTHING where the scalar unit did."""
    scalar_last: int = NOTHING
    """The wait of the scalar unit that it last came out of."""
    window: int = 0
    """Until when the hardware core was this block's: the next block on it, or the end of the kernel."""
    since: int = 0
    """The begin of its launch, which follows others, counted from its block's begin; `begin` has it in."""
    after: int | None = None
    """The block before it on the same hardware core."""
    recorded: int | None = None
    """The end of the part that has rows, where only a part has. `last` is the one that ended last."""


def place_of(site: Site) -> tuple[int | None, int]:
    """The common part of all sites of an operation: the source that it stands in, by identity, and its number."""
    source = site.location.source if site.location else None
    return None if source is None else id(source), site.number


class Issued(NamedTuple):
    """The facts about the entries of a site; none for synchronisation and vector scopes."""

    timing_class: str = ""
    names: tuple[str, ...] = ()
    """Their arguments."""
    pointers: frozenset[str] = frozenset()
    """The operands that point to GM."""
    column: int = 0
    """The column of a pair of figures that prices them: 0 for elements of 4 bytes and more, 1 for smaller ones."""


@dataclass(slots=True)
class Recording:
    """All that a timed run leaves."""

    rows: RecordingRows = field(default_factory=RecordingRows)
    signals: SignalTable = field(default_factory=SignalTable)
    touches: TouchTable = field(default_factory=TouchTable)
    crossings: Crossings = field(default_factory=Crossings)
    watches: Watches = field(default_factory=Watches)
    cores: list[CoreRun] = field(default_factory=list[CoreRun])
    sites: list[Site] = field(default_factory=list[Site])
    issued: list[Issued] = field(default_factory=list[Issued])
    """By site."""
    causes: list[Cause] = field(default_factory=list[Cause])
    functions: list[VectorFunctionTiming] = field(default_factory=list[VectorFunctionTiming])
    paths: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """The path behind each of the functions."""
    barriers: bool = False
    """Whether a barrier was met."""
    pool: array[int] = field(default_factory=lambda: array("q"))
    cycles: int = 0
    hardware_cores: int = 0
    """The number of cores, or clusters of a mixed kernel, that took part."""

    def enter(self, site: Site) -> int:
        """A site, of which nothing is said yet; its number."""
        self.sites.append(site)
        self.issued.append(Issued())
        return len(self.sites) - 1

    def arguments(self, row: int) -> Iterator[tuple[str, int]]:
        """The captured arguments of a row by name."""
        first = self.rows.arguments[row]
        for place, name in enumerate(self.issued[self.rows.site[row]].names):
            yield name, self.pool[first + place]
