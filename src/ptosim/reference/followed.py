"""A core whose entries an observer follows: what they are issued with, the path through a scope, the bytes they touch.

This is all that timing asks for, and it costs little: instructions run as they do without an observer. Who wants to see
each access with the instruction that makes it, and taint, needs the core of observed.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.names import Space
from ptosim.machine.entry import Entry, Site
from ptosim.machine.observer import Observer
from ptosim.reference.core import Bytes, Core, Starts
from ptosim.reference.taint import Observed

_NOWHERE: deque[int | list[int]] = deque(maxlen=0)
"""The path of the scalar unit itself, which nobody asks for."""


Where = tuple[Space, str | None, int]
"""The memory of an access, whose it is if not one's own, and its length."""


class PathCore(Core):
    """A core that counts scalar operations and remembers the path through a vector scope."""

    observer: Observer
    entry: Entry
    """The entry that is being executed."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        assert self.machine.observer is not None
        self.observer = self.machine.observer
        self.path: list[int | list[int]] | deque[int | list[int]] = _NOWHERE
        """Trip counts and branches of the vector scope. The count of a while, known at its end, is a list of one."""
        self.bytes_read = 0

    def branch(self, condition: Any) -> bool:
        self.path.append(1 if condition else 0)
        return bool(condition)

    def turns(self) -> list[int]:
        """A counter for the rounds of an scf.while."""
        counter = [0]
        self.path.append(counter)
        return counter

    def count(self, operations: int) -> None:
        """So many scalar operations have been executed."""
        self.machine.operations += operations


class FollowedCore(PathCore):
    """A core that tells its observer what each entry does. Accesses of one length are told together, when it ends."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._reads: dict[Where, list[int]] = {}
        self._writes: dict[Where, list[int]] = {}

    def loop(self, lower: int, upper: int, step: int) -> Iterator[int] | range:
        indices = super().loop(lower, upper, step)
        self.path.append(max(0, -((lower - upper) // step)))
        return indices

    # --- issuing ----------------------------------------------------------------------------------------------------

    def issue_observed(self, observed: Observed, arguments: tuple[Any, ...]) -> None:
        """Queue an instruction of a serial pipe; what it returns to the observer is the number of bytes it read."""
        facts = dict(zip(observed.parameters, arguments, strict=True))
        act = partial(observed.function, *arguments)
        self.machine.work(observed.site.pipe, observed.site, partial(self._act, act), facts=facts)

    def transfer_observed(self, observed: Observed, arguments: tuple[Any, ...]) -> None:
        """Queue a copy that reads when it starts and writes when it ends."""
        facts = dict(zip(observed.parameters, arguments, strict=True))
        act = partial(next, cast("Iterator[None]", observed.function(*arguments)), None)

        def finish(_: object) -> None:
            self._act(act)

        self.machine.work(observed.site.pipe, observed.site, partial(self._act, act), finish, facts=facts)

    def launch(self, site: Site, function: Callable[..., None], captured: tuple[Any, ...]) -> None:
        """Queue a vector scope; what it returns to the observer is its path (trip counts and branches, in order)."""
        self.machine.work(site.pipe, site, partial(self._follow, partial(function, self, *captured)))

    def _act(self, act: Callable[[], Any]) -> int:
        self.bytes_read = 0
        self._reads.clear()
        self._writes.clear()
        act()
        entry = cast(Entry, self.machine.current)
        for (space, at, width), starts in self._reads.items():
            self.observer.load(entry, entry.site, self.footprint(space, np.array(starts), width, at))
        for (space, at, width), starts in self._writes.items():
            self.observer.store(entry, entry.site, self.footprint(space, np.array(starts), width, at), None, None)
        return self.bytes_read

    def _follow(self, act: Callable[[], Any]) -> tuple[int, ...]:
        saved, self.path = self.path, []
        self._act(act)
        path, self.path = self.path, saved
        return tuple(item if isinstance(item, int) else item[0] for item in path)

    # --- memory -----------------------------------------------------------------------------------------------------

    def read(
        self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False, at: str | None = None
    ) -> Bytes:
        self.bytes_read += width
        self._reads.setdefault((space, at, width), []).append(start)
        return super().read(space, start, width, alignment, by_use, at)

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        self.bytes_read += len(starts) * width
        self._reads.setdefault((space, at, width), []).extend(starts.tolist())
        return super().read_pieces(space, starts, width, alignment, at)

    def write(
        self,
        space: Space,
        start: int,
        data: Bytes,
        alignment: int = 1,
        active: NDArray[np.bool_] | None = None,
        at: str | None = None,
    ) -> None:
        low, high = (0, len(data)) if active is None else _hull(active)
        self._writes.setdefault((space, at, high - low), []).append(start + low)
        super().write(space, start, data, alignment, active, at)

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        self._writes.setdefault((space, at, data.shape[1]), []).extend(starts.tolist())
        super().write_pieces(space, starts, data, alignment, at)


def _hull(active: NDArray[np.bool_]) -> tuple[int, int]:
    """The first byte that is written, and one past the last."""
    places = np.flatnonzero(active)
    return (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
