"""The run time's part in a profile: pages of times, the log that compiled code writes, and what it asks for.

A log is written by one worker, whose cores take turns. Its parts grow by chunks of memory; where one ends, compiled
code asks for the next. Chunks and prices are kept from launch to launch (`Supplies`): memory that a process has not
touched before costs as much as writing to it. The caller of the run says the prices.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock

from ptosim.machine import moments
from ptosim.machine.entry import Key
from ptosim.machine.moments import LatencyWord, LogPart
from ptosim.machine.observer import Observer
from ptosim.machine.sync import CORE_WORDS
from ptosim.native.build.resident import resident
from ptosim.native.ir.context import WORD_BYTES, Status
from ptosim.native.observe.routines import SYMBOLS, Routine
from ptosim.native.run.cores import NativeCluster, signed

_Price = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
_Room = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)

CHUNKS = {LogPart.ROWS: 1 << 16, LogPart.POOL: 1 << 18, LogPart.SIGNALS: 1 << 16, LogPart.CORES: 1 << 12}
"""Records of a chunk."""
MOST_RECORDS = 1 << 21
"""The most records in one part of a log: beyond that a run only counts. To find the path through so many rows takes
seconds.
"""
FIRST_PRICES = 1 << 10
_ALL = (1 << 64) - 1

Words = ctypes.Array[ctypes.c_int64]
Touches = tuple[tuple[int, int], ...]
"""The bytes that an entry has touched, as in a page."""
Price = Callable[[int, Sequence[int], int, Touches], tuple[int, int]]
"""The price of a work, by its path, the address of its words and its touches: the cycles, and a number for its
further facts.
"""
MOST_VARIANTS = 1 << 10
"""Most touch patterns per work; later ones share one price."""


def _memory(words: int) -> Words:
    return (ctypes.c_int64 * words)()


class Supplies:
    """State that the launches of one kernel on one target leave to each other."""

    def __init__(self, price: Price, works: Mapping[int, int]) -> None:
        self.lock = Lock()
        self._price = price
        self._works = works  # by operation
        self._apart = (ctypes.c_int64 * max(1, len(works)))(*[-1] * len(works))
        self._variants: Counter[int] = Counter()
        self._keys: dict[tuple[Key, int], int] = {}
        self._chunks: dict[LogPart, list[Words]] = {part: [] for part in LogPart}
        self._paths: list[Words] = []
        self._prices: dict[int, tuple[int, int]] = {}
        self._tables: list[Words] = []  # the older ones as well: compiled code may be reading
        self._new_table(FIRST_PRICES)

    def chunk(self, part: LogPart) -> Words:
        try:
            return self._chunks[part].pop()
        except IndexError:
            return _memory(CHUNKS[part] * moments.WIDTHS[part])

    def path(self) -> Words:
        """Room for the path of an entry, for what it touches, and for what those in flight do."""
        try:
            return self._paths.pop()
        except IndexError:
            flying = (moments.MOST_FLYING + moments.MOST_TOUCHES) * moments.FLYING_WORDS
            return _memory(moments.PATH_ITEMS + 2 * moments.MOST_TOUCHES + flying)

    def take_back(self, chunks: Mapping[LogPart, Sequence[Words]], paths: Iterable[Words]) -> None:
        for part, given in chunks.items():
            self._chunks[part] += given
        self._paths += paths

    # --- prices -------------------------------------------------------------------------------------------------------

    @property
    def table(self) -> tuple[int, int]:
        """The address of the prices, and how many there is room for."""
        return ctypes.addressof(self._tables[-1]), len(self._tables[-1]) // moments.PRICE_WORDS

    @property
    def apart(self) -> int:
        """The address of a word for each work: whether what it touches is told apart."""
        return ctypes.addressof(self._apart)

    def enter(self, key: int, work: int, path: Sequence[int], words: int, touches: Touches) -> int:
        """Find a price out and put it into the table; the address of its place."""
        with self.lock:
            self._variants[work] += 1
            if self._variants[work] > MOST_VARIANTS:
                self._apart[work] = 0
            self._prices[key] = price = self._price(work, path, words, touches)
            _, size = self.table
            if 2 * len(self._prices) > size:
                self._new_table(2 * size)
            return self._place(key, price)

    def find(self, operation: int, path: Sequence[int], words: int, touches: Touches) -> tuple[int, int]:
        """The price of an entry of an operation that the machine has run."""
        with self.lock:
            return self._price(self._works[operation], path, words, touches)

    def key(self, key: Key, hop: int) -> int:
        """A number for a signal that is no sync word of a core, behind those that are."""
        with self.lock:
            return self._keys.setdefault((key, hop), CORE_WORDS + len(self._keys))

    @property
    def keys(self) -> Mapping[int, tuple[Key, int]]:
        """The meaning of those numbers: a signal, and the cycles until it is seen."""
        return {number: told for told, number in self._keys.items()}

    def _new_table(self, size: int) -> None:
        self._tables.append(_memory(size * moments.PRICE_WORDS))
        for key, price in self._prices.items():
            self._place(key, price)

    def _place(self, key: int, price: tuple[int, int]) -> int:
        """Threads read the table meanwhile: the key comes last."""
        table, (address, size) = self._tables[-1], self.table
        place = key & _ALL & size - 1
        while table[place * moments.PRICE_WORDS] not in (0, key):
            place = place + 1 & size - 1
        first = place * moments.PRICE_WORDS
        table[first + 1], table[first + 2] = price
        table[first] = key
        return address + first * WORD_BYTES


class WorkerSheet:
    """The log of one worker."""

    def __init__(self, supplies: Supplies, signals: Mapping[int, Key]) -> None:
        self.supplies = supplies
        self.signals = signals
        self.header = _memory(moments.LOG_WORDS)
        self.chunks: dict[LogPart, list[Words]] = {part: [] for part in LogPart}
        self.ends: dict[LogPart, list[int]] = {part: [] for part in LogPart}
        """The first record behind each chunk but the last."""
        self.kept: dict[LogPart, int] = {}
        """The records of each part that are read, where the run has left more."""
        self._spare: dict[LogPart, Words] = {}
        self.problem: BaseException | None = None
        self._pages: dict[str, Words] = {}
        self._paths: list[Words] = []
        self._price = _Price(self._asked_price)
        self._room = _Room(self._asked_room)
        for part in LogPart:
            self._extend(part)
        self._take_prices()

    # --- called by compiled code, into which nothing may be raised ----------------------------------------------------

    def _asked_room(self, header: int, part: int) -> int:
        try:
            self._extend(LogPart(part))
        except BaseException as problem:
            self.problem = problem
            return Status.STOPPED
        return Status.DONE

    def _asked_price(self, page: int, work: int, key: int, words: int) -> int:
        try:
            held = (ctypes.c_int64 * moments.PAGE_WORDS).from_address(page)
            place = self.supplies.enter(key, work, _path(held), words, _touches(held))
            self._take_prices()
        except BaseException as problem:
            self.problem = problem
            return 0
        return place

    def _take_prices(self) -> None:
        self.header[moments.PRICES], size = self.supplies.table
        self.header[moments.PRICES_MASK] = size - 1
        self.header[moments.APART] = self.supplies.apart

    # --- records ------------------------------------------------------------------------------------------------------

    def _extend(self, part: LogPart) -> None:
        header, words = self.header, 3 * part
        following = header[words + moments.NEXT]
        if following >= MOST_RECORDS and part is not LogPart.CORES and not self.kept:
            self._cut(part)
        if self.kept and part is not LogPart.CORES:
            chunk = self._spare.setdefault(part, self.supplies.chunk(part))  # over and over: it is not read
        else:
            if self.chunks[part]:
                self.ends[part].append(following)
            chunk = self.supplies.chunk(part)
            self.chunks[part].append(chunk)
        width = moments.WIDTHS[part] * WORD_BYTES
        header[words + moments.END] = following + CHUNKS[part]
        header[words + moments.BASE] = ctypes.addressof(chunk) - following * width

    def _cut(self, part: LogPart) -> None:
        """From now on only totals are kept. An entry whose operands have no room any more is the first without."""
        self.kept = {each: self.header[3 * each + moments.NEXT] for each in LogPart if each is not LogPart.CORES}
        if part is LogPart.POOL:
            self.kept[LogPart.ROWS] -= 1

    def written(self, part: LogPart) -> list[memoryview]:
        """The contents of a part of the log, chunk by chunk, as words."""
        last: int = self.kept[part] if part in self.kept else self.header[3 * part + moments.NEXT]
        ends = [*self.ends[part], last]
        counts = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
        sizes = [count * moments.WIDTHS[part] for count in counts]
        return [
            memoryview(chunk).cast("B").cast("q")[:size] for chunk, size in zip(self.chunks[part], sizes, strict=True)
        ]

    def give_back(self) -> None:
        """The log is not read any more."""
        for part, chunk in self._spare.items():
            self.chunks[part].append(chunk)
        self.supplies.take_back(self.chunks, self._paths)
        self.chunks, self._paths = {}, []

    # --- for the machine, and the observer that times it --------------------------------------------------------------

    def page(self, role: str) -> Words:
        return self._pages[role]

    def write(self, part: LogPart, words: Sequence[int]) -> int:
        """Append a record; its number."""
        header, place = self.header, 3 * part
        number = header[place + moments.NEXT]
        if number >= header[place + moments.END]:
            self._extend(part)
        address = header[place + moments.BASE] + number * moments.WIDTHS[part] * WORD_BYTES
        (ctypes.c_int64 * len(words)).from_address(address)[:] = [signed(word) for word in words]
        header[place + moments.NEXT] = number + 1
        return number

    def price(self, operation: int, role: str, words: Sequence[int]) -> tuple[int, int]:
        """The cycles of an entry that has just run on a core, and the number of its cost."""
        page = self._pages[role]
        held = (ctypes.c_int64 * len(words))(*words)
        path = _path(page)
        page[moments.PATH_HASH] = page[moments.PATH_LENGTH] = 0
        return self.supplies.find(operation, path, ctypes.addressof(held), _touches(page))

    def flying(self, role: str) -> Words:
        """The bytes of entries in flight, and behind them those of the last entry."""
        page = self._pages[role]
        count = page[moments.FLYING_COUNT] + page[moments.REACHED]
        return (ctypes.c_int64 * (count * moments.FLYING_WORDS)).from_address(page[moments.FLYING])

    @property
    def rows(self) -> int:
        """The number written."""
        return self.header[3 * LogPart.ROWS + moments.NEXT]

    def key(self, key: Key, hop: int) -> int:
        """A number for a signal that is no sync word of a core."""
        return self.supplies.key(key, hop)

    def tell(self, counter: int, told: tuple[int, int, int]) -> None:
        """A signal to another core, by the word of its cluster."""
        place = _counter(counter)
        number = self.header[place + moments.SETS]
        token = _token(place, number)
        self.header[token : token + len(told)] = [signed(word) for word in told]
        self.header[place + moments.SETS] = number + 1

    def hear(self, counter: int) -> tuple[int, int, int, int]:
        """Hears the next signal without a wait, and gives its number."""
        place = _counter(counter)
        number = self.header[place + moments.WAITS]
        self.header[place + moments.WAITS] = number + 1
        time, row, head = self.header[_token(place, number) : _token(place, number) + 3]
        return time, row, head, self.header[place + moments.KEY]

    def met_barrier(self) -> None:
        self.header[moments.BARRIERS] = 1

    # --- pages --------------------------------------------------------------------------------------------------------

    def attach(self, cluster: NativeCluster, figures: Sequence[int]) -> None:
        """Prepare the pages of all cores for this log."""
        code = resident()
        for number, key in self.signals.items():
            self.header[_counter(number) + moments.KEY] = self.supplies.key(key, figures[LatencyWord.INTER_CORE])
        for place, core in enumerate(cluster.cores.values()):
            assert core.state is not None
            page = self._pages[core.role] = (ctypes.c_int64 * moments.PAGE_WORDS).from_address(core.state.address)
            for figure in LatencyWord:
                page[figure] = figures[figure]
            self._paths.append(self.supplies.path())
            page[moments.PLACE] = place
            page[moments.LOG] = ctypes.addressof(self.header)
            page[moments.PATH] = ctypes.addressof(self._paths[-1])
            page[moments.TOUCHED] = page[moments.PATH] + moments.PATH_ITEMS * WORD_BYTES
            page[moments.FLYING] = page[moments.TOUCHED] + 2 * moments.MOST_TOUCHES * WORD_BYTES
            for routine, symbol in SYMBOLS.items():
                page[moments.ROUTINES + routine] = code.address(symbol)
            page[moments.ROUTINES + Routine.PRICE] = ctypes.cast(self._price, ctypes.c_void_p).value or 0
            page[moments.ROUTINES + Routine.ROOM] = ctypes.cast(self._room, ctypes.c_void_p).value or 0


def _counter(number: int) -> int:
    """The start of the words of a counter of the cluster."""
    return moments.SEMAPHORES + number * moments.COUNTER_WORDS


def _token(counter: int, number: int) -> int:
    return counter + moments.COUNTER_HEAD + number % moments.RING * moments.TOKEN_WORDS


def _path(page: Words) -> Sequence[int]:
    return (ctypes.c_int64 * page[moments.PATH_LENGTH]).from_address(page[moments.PATH])[:]


def _touches(page: Words) -> Touches:
    held = (ctypes.c_int64 * (2 * page[moments.TOUCHES])).from_address(page[moments.TOUCHED])
    return tuple(zip(held[::2], held[1::2], strict=True))


class Stopwatch:
    """Times one launch of a kernel. `signals` are what is waited for by the words of a cluster; `follow` makes the
    observer that times the machine, for a log."""

    def __init__(
        self,
        figures: Sequence[int],
        supplies: Supplies,
        signals: Mapping[int, Key],
        follow: Callable[[WorkerSheet], Observer],
    ) -> None:
        self.figures = figures
        self.supplies = supplies
        self.signals = signals
        self.follow = follow
        self.sheets: list[WorkerSheet] = []

    def attach(self, cluster: NativeCluster) -> Observer:
        """A cluster takes part in the launch."""
        with self.supplies.lock:
            sheet = WorkerSheet(self.supplies, self.signals)
        self.sheets.append(sheet)
        sheet.attach(cluster, self.figures)
        return self.follow(sheet)

    @property
    def is_cut(self) -> bool:
        """Whether a log had no room for all of the run."""
        return any(sheet.kept for sheet in self.sheets)

    @property
    def barriers(self) -> bool:
        """Whether a barrier was met."""
        return any(sheet.header[moments.BARRIERS] for sheet in self.sheets)

    def conclude(self) -> None:
        """Raise what the run was ended by from here."""
        for sheet in self.sheets:
            if sheet.problem is not None:
                raise sheet.problem

    def give_back(self) -> None:
        for sheet in self.sheets:
            sheet.give_back()
