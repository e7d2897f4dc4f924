"""Entries of the queue of a pipe, with the operation that each came from, and the key it synchronises on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from ptosim.diagnostics import Location
from ptosim.effects.names import Pipe
from ptosim.effects.sync import ALL_WRITES

if TYPE_CHECKING:
    from ptosim.effects.sync import UnitFlagUse
    from ptosim.machine.core import Core
    from ptosim.machine.observer import Footprint
    from ptosim.machine.signal import Notice, WatchedWords
    from ptosim.machine.sync import Rendezvous, SyncCounter

Clock = dict[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """The operation of the kernel that entries come from; one object per operation, compared by identity."""

    name: str
    location: Location | None = None
    pipe: Pipe = Pipe.S
    scope: Location | None = None  # the vector scope around it
    number: int = -1
    """The number of the operation in the running program: several may stand at one place, made for one operation of
    the text.
    """
    served: str = ""
    """The operation of the text that it was made for, if that differs: `pto.tadd %sum`."""

    @property
    def title(self) -> str:
        """The name for a reader."""
        return self.served or self.name

    @property
    def line(self) -> int | None:
        """The line to show."""
        return self.location.shown.line if self.location else None

    def __str__(self) -> str:
        return f"{self.name} (line {self.line})" if self.location else self.name


class EntryKind(Enum):
    """The action of an entry when its pipe reaches it."""

    WORK = "work"
    SET = "set"
    WAIT = "wait"
    GET = "get"
    RELEASE = "release"
    BARRIER = "barrier"
    LOAD = "load"  # the rest are steps of the scalar unit
    STORE = "store"
    FENCE = "fence"
    DRAIN = "drain"
    NOTIFY = "notify"
    WATCH = "watch"
    PASS = "pass"
    TRANSFER = "transfer"


WORK, SET, WAIT, GET, RELEASE, BARRIER, LOAD, STORE, FENCE, DRAIN, NOTIFY, WATCH, PASS, TRANSFER = EntryKind
"""For code that every entry passes: looking a member up in its enumeration takes Python 3.11 a quarter microsecond."""


@dataclass(frozen=True, slots=True)
class Key:
    """The name under which a set and a wait find each other.

    `source` and `destination` are pipes for a flag and ends of the signal ("aic", "aiv0", "all aiv") for a semaphore;
    of a signal in GM `id` is the address and `source` what it is called; of the unit flag of a tile `id` is the
    address, `source` the state, and `destination` the word that makes it so.
    `written` are the ids by which the setting core may spell it: the AIC writes 16 + id for AIV1.
    """

    mechanism: str  # "flag", "token", "buffer", "semaphore", "cross-block", "syncall", "signal" or "unit"
    id: int
    source: str = ""
    destination: str = ""
    written: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.mechanism == "syncall":
            return f"syncall of {self.source}"
        if self.mechanism == "signal":
            return self.source
        if self.mechanism == "unit":
            return f"the tile at l0c[{self.id}] is {self.source}"
        ends = f" {self.source} -> {self.destination}" if self.source else ""
        spelled = [str(number) for number in self.written if number != self.id]
        also = f" ({', '.join(spelled)} on aic)" if spelled else ""  # which alone has to tell two vector cores apart
        return f"{self.mechanism}{ends} id {self.id}{also}"


@cache
def flag_key(source: Pipe, destination: Pipe, event: int) -> Key:
    """The key of a flag, the same object for all cores."""
    return Key("flag", event, source, destination, (event,))


@cache
def token_key(source: Pipe, destination: Pipe, number: int) -> Key:
    return Key("token", number, source, destination, (number,))


@cache
def buffer_key(buffer: int) -> Key:
    return Key("buffer", buffer, written=(buffer,))


class Entry:
    """One instruction on its way through a pipe. Numbers count from 0 per pipe; `data` is the observer's.

    Most entries need few of the fields: the others stay those of the class."""

    n = 0
    mode = 0  # of GET and RELEASE
    event: tuple[int, int] | None = None  # of a TRANSFER its queue and number; a FENCE waits for so many of the queue
    reach = ALL_WRITES  # of a STORE where it goes, of a FENCE or a BARRIER of all pipes what it waits for
    start: Callable[[], Any] | None = None
    finish: Callable[[Any], None] | None = None
    ranges: tuple[Footprint, ...] | None = None  # a BARRIER that waits for what touches these bytes
    unit: UnitFlagUse | None = None  # of WORK
    facts: Any = None  # what the engine said about the work when it issued it
    payload: Any = None  # what `start` returned; dropped after the end has been observed
    counters: tuple[SyncCounter, ...] = ()  # a SET raises all of them, a WAIT needs and takes one of each
    rendezvous: Rendezvous | None = None  # a SET that is an arrival at a barrier of several cores
    notice: Notice | None = None  # of a NOTIFY
    watched: WatchedWords | None = None  # of a WATCH
    answers = False  # of a WATCH: a test, which tells something only where the program goes by its answer
    told: tuple[Clock, ...] = ()  # of a WATCH, in observed runs: what it has learnt of each word
    snapshot: tuple[tuple[int, int], ...] = ()  # GET: (word of DONE, releases that must have happened)
    joint = False  # a SET that the SU issues for all its pipes: it fires when they have ended, not at its step
    needs: tuple[Entry, ...] = ()  # SET, RELEASE: entries of other pipes up to which all must have ended
    missing = 0  # how many of those pipes have not got so far
    # In observed runs only:
    loops: tuple[int, ...] = ()
    operations = 0
    captured: tuple[Clock, int] | None = None  # clock and steps of the SU when it issued the entry
    clock: Clock | None = None  # completed prefixes when it started; of a SET or RELEASE: what it tells
    consumed: tuple[Entry, ...] = ()  # sets that a WAIT consumed, releases that a GET waited for
    data: Any = None

    def __init__(self, site: Site, pipe: Pipe, core: Core, kind: EntryKind, key: Key | None = None) -> None:
        self.site = site
        self.pipe = pipe
        self.core = core
        self.kind = kind
        self.key = key

    @property
    def line(self) -> int | None:
        return self.site.line

    def __repr__(self) -> str:
        return f"<{self.core.name} {self.pipe} {self.n}: {self.site}>"
