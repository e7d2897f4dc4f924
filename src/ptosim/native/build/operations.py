"""Operations that compiled code may hand to the scheduler, as plain data that survives in the cache.

Each names a method of the machine floor's `Core`, the arguments known at compile time, and where in the kernel it
stands. Arguments known only at run time come as captured words. What prints is nothing that the scheduler sees.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ptosim.diagnostics import Location, Source
from ptosim.effects.names import CoreKind, Pipe
from ptosim.effects.sim_signal import offsets
from ptosim.effects.sync import UnitFlagUse
from ptosim.language.text.print_format import printed
from ptosim.language.text.tile_text import Drawing, Extents, tile_text
from ptosim.machine.core import Core
from ptosim.machine.entry import Site
from ptosim.machine.signal import SignalledWords, WatchedWords
from ptosim.machine.sync import Form

Known = str | int | None  # None: the next captured word


def core_kinds(names: str) -> frozenset[CoreKind]:
    return frozenset(CoreKind(name) for name in names.split())


# What each method takes after the site; `work` takes all captured words itself, and its arguments are a unit flag.
METHODS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "work": (),
    "set_flag": (Pipe, Pipe, int),
    "wait_flag": (Pipe, Pipe, int),
    "set_token": (Pipe, Pipe, int),
    "wait_token": (Pipe, Pipe, int),
    "get_buffer": (Pipe, int, int),
    "release_buffer": (Pipe, int, int),
    "barrier": (Pipe,),
    "tsync": (),
    "dsb": (),
    "semaphore_set": (Pipe, int, Form),
    "semaphore_wait": (Pipe, int, Form),
    "syncall": (core_kinds,),
}


@dataclass(frozen=True)
class HandedOperation:
    """One operation of the kernel, by number: a method, its arguments, and how many words it captures after the loop
    indices around it."""

    method: str
    site: Site
    arguments: tuple[Known, ...] = ()
    loops: int = 0
    captured: int = 0
    members: tuple["HandedOperation", ...] = ()
    """The members of a "run": operations that follow each other, handed over together; their captured values follow
    each other too.
    """

    @property
    def words(self) -> int:
        return self.loops + self.captured

    def hand_over(self, core: Core, words: Sequence[int], start: Callable[[], None]) -> None:
        """Give it to the core; `start` is what its entry does when the pipe reaches it."""
        core.loops[:] = words[: self.loops]
        if self.method == "work":
            core.work(self.site.pipe, self.site, start, facts=words[self.loops :], unit=self._unit(words))
            return
        if self.method == "run":
            self._hand_over_members(core, words, start)
            return
        if self.method in _SIGNALS:
            _SIGNALS[self.method](self, core, words[self.loops :])
            return
        captured = iter(words[self.loops :])
        known = [next(captured) if argument is None else argument for argument in self.arguments]
        converted = [convert(argument) for convert, argument in zip(METHODS[self.method], known, strict=True)]
        getattr(core, self.method)(self.site, *converted)

    def _unit(self, words: Sequence[int]) -> UnitFlagUse | None:
        """The use that work makes of a unit flag: its word, the address of the tile, or the captured word that has
        it."""
        if not self.arguments:
            return None
        word, address, captured = self.arguments
        found = words[self.loops + int(captured or 0)] if address is None else int(address)
        return UnitFlagUse(str(word), found, self.site.pipe)

    def printed(self, core: Core, words: Sequence[int]) -> str | None:
        """The text of an operation that prints."""
        return _PRINTING[self.method](self, core, words[self.loops :]) if self.method in _PRINTING else None

    def _hand_over_members(self, core: Core, words: Sequence[int], start: Callable[[], None]) -> None:
        place = self.loops
        for member in self.members:
            following = place + member.captured
            member.hand_over(core, [*words[: self.loops], *words[place:following]], start)
            place = following

    def to_json(self) -> list[Any]:
        place, scope = self.site.location, self.site.scope
        return [
            self.method,
            self.site.name,
            self.site.pipe,
            list(self.arguments),
            self.loops,
            self.captured,
            [place.line, place.column, place.length] if place else None,
            [scope.line, scope.column, scope.length] if scope else None,
            [member.to_json() for member in self.members],
            self.site.number,
            self.site.served,
        ]


def _values(operation: HandedOperation, core: Core, words: Sequence[int]) -> str:
    """A line of scalars, headed by the core."""
    format, *kinds = (None if argument is None else str(argument) for argument in operation.arguments)
    return f"{core.name}: {printed(format, words, kinds)}"


def _tile(operation: HandedOperation, core: Core, words: Sequence[int]) -> str:
    """A tile, in a memory that compiled code names with its bounds."""
    title, element, format, rows, columns = operation.arguments
    address, size, start, *extents = words
    drawing = Drawing(str(title), str(element), str(format), (int(rows or 1), int(columns or 1)))
    memory = memoryview((ctypes.c_ubyte * size).from_address(address) if size else b"").cast("B")
    return tile_text(core.name, drawing, Extents(*extents), memory, start)


_PRINTING: dict[str, Callable[[HandedOperation, Core, Sequence[int]], str]] = {"print": _values, "print_tile": _tile}


def _words(first: int, place: int, shape: Sequence[Known], strides: Sequence[int]) -> SignalledWords:
    """Words of i32 from a pointer on, which compiled code has found to lie at a place of this process."""
    steps = offsets(tuple(int(size or 1) for size in shape), tuple(strides))
    found = [ctypes.c_int32.from_address(place + step) for step in steps]

    def write(position: int, value: int) -> None:
        found[position].value = value

    return SignalledWords([first + step for step in steps], lambda position: found[position].value, write)


def _notify(operation: HandedOperation, core: Core, words: Sequence[int]) -> None:
    first, place, value = words
    core.notify(operation.site, _words(first, place, (), ()), value, bool(operation.arguments[0]))


def _watch(operation: HandedOperation, core: Core, words: Sequence[int]) -> None:
    comparison, *shape = operation.arguments
    first, place, value, *strides = words
    core.watch(operation.site, _words(first, place, shape, strides), str(comparison), value)


def _test(operation: HandedOperation, core: Core, words: Sequence[int]) -> None:
    comparison, *shape = operation.arguments
    answer, first, place, value, *strides = words
    holds = core.test(operation.site, _words(first, place, shape, strides), str(comparison), value)
    ctypes.c_int64.from_address(answer).value = int(holds)


def _poll(operation: HandedOperation, core: Core, words: Sequence[int]) -> None:
    watched = None
    if words:  # otherwise it is not known what the loop waits for
        first, place, value = words
        watched = WatchedWords(_words(first, place, (1,), (0,)), str(operation.arguments[0]), value)
    core.poll(operation.site, watched)


_SIGNALS: dict[str, Callable[[HandedOperation, Core, Sequence[int]], None]] = {
    "give_turn": lambda operation, core, words: core.schedule.give_turn(core, operation.site),
    "poll": _poll,
    "notify": _notify,
    "watch": _watch,
    "test": _test,
}
"""Operations with words in GM, each with a pointer and its place in this process, and one for the schedule."""


def entry_symbol(operation: int) -> str:
    """The name of the entry that an operation issues."""
    return f"entry{operation}"


ENTRIES = "entries"
"""The name of the table that says, by the number of an operation, where its entry lies."""


def operation_from_json(record: Sequence[Any], source: Source) -> HandedOperation:
    """The operation again, its places in a source that has the same text."""
    method, name, pipe, arguments, loops, captured, place, scope, members, number, served = record
    site = Site(name, _location(place, source), Pipe(pipe), _location(scope, source), number, served)
    again = tuple(operation_from_json(member, source) for member in members)
    return HandedOperation(method, site, tuple(arguments), loops, captured, again)


def _location(place: Sequence[int] | None, source: Source) -> Location | None:
    return Location(source.name, *place, source=source) if place else None
