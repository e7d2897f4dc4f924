"""Arguments of a launch on several ranks: windows, contexts, values by rank and by block.

A window is one array per rank, and every rank can address all of them: symmetric memory. Anything else is private to
the rank whose launch it is an argument of. `GlobalSpace` gives both their numbers (machine/memory.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ptosim.arguments import Bytes, Parameter, address_of, array_bytes, joined, scalar, unfit, whole
from ptosim.diagnostics import error
from ptosim.machine.memory import (
    MOST_ARGUMENTS,
    Region,
    Regions,
    argument_number,
    context_words,
    pointer,
    window_number,
)

LARGEST_WINDOW = 1 << 34
"""Bytes on one rank; a shape beyond this is taken for a slip of the pen."""

# --- what users hold --------------------------------------------------------------------------------------------------


class Symmetric:
    """A window: `window[r]` is the array of rank r. Made by `World.symmetric`, or by `ptosim.symmetric` for the world
    that the launch makes which it is an argument of."""

    def __init__(self, shape: int | Sequence[int], dtype: Any) -> None:
        try:
            self.dtype = np.dtype(ml_dtypes.bfloat16 if dtype == "bf16" else dtype)
            self.shape = tuple(np.broadcast_shapes(shape))
        except (TypeError, ValueError) as reason:
            raise error("argument", f"a window has a shape and a NumPy type: {reason}") from None
        if self.dtype.hasobject:
            raise error("argument", "a window holds numbers, not Python objects")
        if int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize > LARGEST_WINDOW:
            raise error("limit", f"a window has at most {LARGEST_WINDOW >> 30} GiB on each rank")
        self.number = -1
        self.arrays: list[NDArray[Any]] = []

    def allot(self, number: int, ranks: int) -> None:
        """Become a window of a world: the arrays of its ranks are zeros; one that has arrays already keeps them."""
        if self.arrays and len(self.arrays) != ranks:
            raise error("argument", f"the window has arrays of {len(self.arrays)} ranks, not of {ranks}")
        self.number = number
        self.arrays = self.arrays or [np.zeros(self.shape, self.dtype) for _ in range(ranks)]

    def __len__(self) -> int:
        return len(self.arrays)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter(self.arrays)

    def __getitem__(self, rank: int) -> NDArray[Any]:
        if not self.arrays:
            raise error("argument", "the window has no arrays before its kernel is launched")
        number = _number("a rank", rank)
        if not 0 <= number < len(self.arrays):
            raise error("argument", f"there is no rank {number}: ranks are 0 to {len(self.arrays) - 1}")
        return self.arrays[number]

    def at(self, rank: int) -> At:
        """The window of a given rank, as an argument."""
        return At(self, _number("a rank", rank))

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def _number(what: str, value: Any) -> int:
    if (number := whole(value)) is None:
        raise error("argument", f"{what} is a number, not {value!r}")
    return number


@dataclass(frozen=True, eq=False)
class At:
    """The window of one rank, for every rank that takes it as an argument."""

    window: Symmetric
    rank: int | Callable[[int, int], int]
    """A rank, or which one by the own rank and their number."""

    def seen_from(self, rank: int, ranks: int) -> int:
        return self.rank if isinstance(self.rank, int) else self.rank(rank, ranks)


class Context:
    """The device context of a window: the words of each rank."""

    def __init__(self, window: Symmetric) -> None:
        self.window = window
        self.arrays = [self._words(rank) for rank in range(len(window))]

    def _words(self, rank: int) -> NDArray[np.int64]:
        window = self.window
        return np.array(context_words(window.number, rank, len(window), window.nbytes), np.int64)


@dataclass(frozen=True)
class ContextOf:
    """The context of the argument at a position."""

    position: int


def symmetric(shape: int | Sequence[int], dtype: Any) -> Symmetric:
    """A window of the world that `ptosim.launch` makes; afterwards `window[r]` is the array of rank r."""
    return Symmetric(shape, dtype)


def context(position: int) -> ContextOf:
    """The device context of the window that is the argument at this position."""
    return ContextOf(_number("the position of an argument", position))


@dataclass(frozen=True)
class Each:
    """A value for each rank."""

    values: tuple[Any, ...]


def each(*values: Any) -> Each:
    """A value for each rank, in order: arrays, numbers or windows."""
    return Each(values)


def windows_in(value: Any) -> Iterator[Symmetric]:
    """The windows that an argument speaks of."""
    match value:
        case Symmetric():
            yield value
        case At(window):
            yield window
        case Each(values):
            for one in values:
                yield from windows_in(one)
        case _:
            pass


@dataclass(frozen=True)
class LaunchQuery:
    """A number that ptosim fills in."""

    name: str


RANK, RANKS, BLOCK, BLOCKS = (LaunchQuery(name) for name in ("rank", "ranks", "block", "blocks"))


def described_arguments(signature: Sequence[Parameter], given: Sequence[Any], ranks: int) -> list[Mapping[str, Any]]:
    """The arguments as reports tell of them."""
    from ptosim.report.envelope import described, described_on_ranks

    def told(index: int, parameter: Parameter, value: Any) -> Mapping[str, Any]:
        named = index, parameter.name, parameter.type
        match value:
            case Symmetric():
                return described_on_ranks(*named, value.arrays)
            case Each(values):
                return described_on_ranks(*named, values)
            case LaunchQuery():
                return described(*named, value.name)
            case At():
                return described_on_ranks(
                    *named, [f"window of rank {value.seen_from(rank, ranks)}" for rank in range(ranks)]
                )
            case Context() | ContextOf():
                return described(*named, "context")
            case _:
                return described(*named, value)

    return [told(index, *pair) for index, pair in enumerate(zip(signature, given, strict=True))]


# --- what they mean on one rank ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Private:
    """An array of one rank."""

    data: Bytes


@dataclass(frozen=True)
class InWindow:
    """A place in the window of some rank."""

    address: int


Value = int | LaunchQuery | Private | InWindow
Values = Sequence[tuple[str, Value]]
"""The value of each parameter of a kernel on one rank, with its name."""


def resolved(
    signature: Sequence[Parameter], given: Sequence[Any], rank: int, ranks: int, windows: Sequence[Symmetric]
) -> Values:
    """The arguments of a launch as one rank has them; says which one does not fit and why."""
    place = _Place(rank, ranks, windows)
    pairs = enumerate(zip(signature, given, strict=True))
    return [(parameter.name, place.value(index, parameter, value)) for index, (parameter, value) in pairs]


@dataclass(frozen=True)
class _Place:
    rank: int
    ranks: int
    windows: Sequence[Symmetric]

    def value(self, index: int, parameter: Parameter, value: Any, of_rank: bool = False) -> Value:
        match value:
            case Each(values):
                if len(values) != self.ranks:
                    raise unfit(index, parameter, f"{len(values)} values for {self.ranks} ranks")
                return self.value(index, parameter, values[self.rank], of_rank=True)
            case LaunchQuery():
                return self._number(index, parameter, value)
            case Symmetric() | At():
                return self._window(index, parameter, value)
            case Context():
                self._own(index, parameter, value.window)
                return Private(array_bytes(index, parameter, value.arrays[self.rank]))
            case _ if not parameter.is_pointer:
                return scalar(index, parameter, value)
            case _:
                return self._array(index, parameter, value, of_rank)

    def _number(self, index: int, parameter: Parameter, query: LaunchQuery) -> Value:
        known = {"rank": self.rank, "ranks": self.ranks}
        if parameter.is_pointer:
            raise unfit(index, parameter, f"expected an array, not the number of the {query.name}")
        checked = scalar(index, parameter, known.get(query.name, 0))
        return checked if query.name in known else query

    def _window(self, index: int, parameter: Parameter, value: Symmetric | At) -> InWindow:
        if not parameter.is_pointer:
            raise unfit(index, parameter, "expected a number, not a window")
        window = value.window if isinstance(value, At) else value
        rank = value.seen_from(self.rank, self.ranks) if isinstance(value, At) else self.rank
        self._own(index, parameter, window)
        if not 0 <= rank < self.ranks:
            raise unfit(index, parameter, f"there is no rank {rank}: ranks are 0 to {self.ranks - 1}")
        array_bytes(index, parameter, window[rank])
        return InWindow(pointer(window_number(window.number, rank)))

    def _own(self, index: int, parameter: Parameter, window: Symmetric) -> None:
        if not any(window is known for known in self.windows):
            raise unfit(index, parameter, "the window belongs to another world")

    def _array(self, index: int, parameter: Parameter, value: Any, of_rank: bool) -> Value:
        data = array_bytes(index, parameter, value)
        start = address_of(data)
        for window in self.windows:
            for rank, array in enumerate(window.arrays):
                offset = start - array.ctypes.data
                if offset >= 0 and offset + len(data) <= array.nbytes and len(data):
                    return InWindow(pointer(window_number(window.number, rank), offset))
        if self.ranks > 1 and not of_rank:
            reason = f"an array belongs to one rank, and there are {self.ranks}"
            raise unfit(index, parameter, f"{reason}: give one for each (ptosim.each), or a window (World.symmetric)")
        return Private(data)


# --- the memories of all ranks ----------------------------------------------------------------------------------------


class GlobalSpace:
    """Every array of a list of launches with its number, and the pointers that are passed."""

    def __init__(self, ranks: int, windows: Sequence[Symmetric], launches: Sequence[Sequence[Values]]) -> None:
        """`launches`: of each launch, of each rank, the values."""
        self.ranks = ranks
        self.regions: dict[int, Region] = {}
        self.buffers: dict[int, Bytes] = {}
        self._pointers: dict[Private, int] = {}
        for window in windows:
            title = self._title(window, launches)
            for rank, array in enumerate(window.arrays):
                data = array.reshape(-1).view(np.uint8)
                region = Region(window.number, title, len(data), self.name_of(rank), is_window=True)
                self._enter(window_number(window.number, rank), region, data)
        for rank in range(ranks):
            self._enter_arguments(rank, [launch[rank] for launch in launches])

    def _title(self, window: Symmetric, launches: Sequence[Sequence[Values]]) -> str:
        """A window is called after the first parameter that it is given to."""
        numbers = {pointer(window_number(window.number, rank)) for rank in range(self.ranks)}
        for values in chain(*launches):
            for name, value in values:
                if isinstance(value, InWindow) and value.address in numbers:
                    return name
        return f"window{window.number}"

    def _enter(self, number: int, region: Region, data: Bytes) -> None:
        self.regions[number] = region
        self.buffers[number] = data

    def _enter_arguments(self, rank: int, launches: Sequence[Values]) -> None:
        given = [(name, value) for name, value in chain(*launches) if isinstance(value, Private)]
        buffers, names, places = joined([(name, value.data) for name, value in given])
        if len(buffers) > MOST_ARGUMENTS:
            raise error("limit", f"rank {rank} has {len(buffers)} arrays; it can have {MOST_ARGUMENTS}")
        own = self.name_of(rank)
        for (_, value), (argument, offset) in zip(given, places, strict=True):
            self._pointers[value] = pointer(argument_number(argument, own), offset)
        for argument, (name, data) in enumerate(zip(names, buffers, strict=True)):
            self._enter(argument_number(argument, own), Region(argument, name, len(data), own), data)

    def name_of(self, rank: int) -> int | None:
        """The rank to show; None in a world of one."""
        return rank if self.ranks > 1 else None

    def copied(self) -> GlobalSpace:
        """The same on copies of all arrays."""
        other = GlobalSpace.__new__(GlobalSpace)
        other.ranks, other.regions, other._pointers = self.ranks, self.regions, self._pointers
        other.buffers = {number: data.copy() for number, data in self.buffers.items()}
        return other

    def seen_by(self, rank: int) -> Regions:
        return Regions(self.regions, self.name_of(rank))

    def visible(self, rank: int) -> Mapping[int, Bytes]:
        """The memory that a rank reaches."""
        regions = self.seen_by(rank)
        return {number: data for number, data in self.buffers.items() if regions.find(number) is not None}

    def addresses(self, rank: int) -> Mapping[int, tuple[int, int]]:
        """Its address in this process, and its size."""
        return {number: (data.ctypes.data, len(data)) for number, data in self.visible(rank).items()}

    def arguments(self, values: Values, grid: int) -> Callable[[int], list[int]]:
        """The values of a block."""
        fixed = [self._fixed(value) for _, value in values]
        queries = {index: value.name for index, (_, value) in enumerate(values) if isinstance(value, LaunchQuery)}

        def of_block(block: int) -> list[int]:
            given = list(fixed)
            for index, name in queries.items():
                given[index] = block if name == "block" else grid
            return given

        return of_block

    def _fixed(self, value: Value) -> int:
        match value:
            case Private():
                return self._pointers[value]
            case InWindow(address):
                return address
            case LaunchQuery():
                return 0
            case _:
                return value
