"""A core whose entries an observer follows: what they are issued with, the path through a scope, the bytes they touch.

This is all that timing asks for, and it costs little: instructions run as they do without an observer. Who wants to see
each access with the instruction that makes it, and taint, needs the core of observed.py.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Details, Diagnostic
from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.names import UB, Pipe, Space
from ptosim.machine.entry import Entry, Kind, Site
from ptosim.reference.core import Bytes, Core
from ptosim.reference.integers import signed64
from ptosim.reference.numbers import Lanes
from ptosim.reference.places import Starts, shifted
from ptosim.reference.taint import Observed

_NOWHERE: deque[int | list[int]] = deque(maxlen=0)
"""The path of the scalar unit itself, which nobody asks for."""


Where = tuple[Space, str | None, int, Site | None]
"""The memory of an access, whose it is if not one's own, its length, and the instruction. What functions do that a
vector scope calls is not told apart."""


class FollowedCore(Core):
    """A core that tells its observer what each entry does. Accesses of one length are told together, when it ends."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        assert self.machine.observer is not None
        self.observer = self.machine.observer
        self.path: list[int | list[int]] | deque[int | list[int]] = _NOWHERE
        """Trip counts and branches of the vector scope. The count of a while, known at its end, is a list of one."""
        self._reads: dict[Where, list[int]] = {}
        self._writes: dict[Where, list[int]] = {}
        self.act: Site | None = None
        """The instruction that accesses memory."""

    def loop(self, lower: int, upper: int, step: int) -> Iterator[int] | range:
        indices = super().loop(lower, upper, step)
        self.path.append(max(0, -((lower - upper) // step)))
        return indices

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
        reads, writes = self._reads, self._writes = {}, {}
        entry, total = cast(Entry, self.machine.current), 0
        self.act = entry.site
        act()
        for (space, at, width, site), starts in reads.items():
            total += width * len(starts)
            self.observer.load(entry, site or entry.site, self.footprint(space, starts, width, at))
        for (space, at, width, site), starts in writes.items():
            self.observer.store(entry, site or entry.site, self.footprint(space, starts, width, at), None, None)
        return total

    def _follow(self, act: Callable[[], Any]) -> tuple[int, ...]:
        saved, self.path = self.path, []
        self._act(act)
        path, self.path = self.path, saved
        return tuple(item if isinstance(item, int) else item[0] for item in path)

    # --- memory -----------------------------------------------------------------------------------------------------

    def read(
        self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False, at: str | None = None
    ) -> Bytes:
        self._reads.setdefault((space, at, width, self.act), []).append(signed64(start))
        return super().read(space, start, width, alignment, by_use, at)

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        self._reads.setdefault((UB, None, VECTOR_BYTES, self.act), []).append(signed64(start))
        return super().load(start, dtype)

    def store(self, start: int, value: Lanes) -> None:
        self._writes.setdefault((UB, None, VECTOR_BYTES, self.act), []).append(signed64(start))
        super().store(start, value)

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        self._reads.setdefault((space, at, width, self.act), []).extend(_integers(starts))
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
        if high > low:
            self._writes.setdefault((space, at, high - low, self.act), []).append(signed64(start + low))
        super().write(space, start, data, alignment, active, at)

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        self._writes.setdefault((space, at, data.shape[1], self.act), []).extend(_integers(starts))
        super().write_pieces(space, starts, data, alignment, at)

    # --- faults that do not end the run -----------------------------------------------------------------------------

    def strays(self, message: str, extent: tuple[int, int] | None = None, dropped: bool = False) -> None:
        """The run goes on, as the hardware does; its observer is told where."""
        machine, frame = self.machine, inspect.currentframe()
        entry = machine.current
        site = entry.site if entry is not None else self.standing(frame)
        assert site is not None  # outside of entries an instruction of the scalar unit
        entry = entry or Entry(site, Pipe.S, machine, Kind.LOAD)
        details = Details(
            core=machine.name, pipe=str(entry.pipe), bytes=extent, block=machine.block, loops=self.indices(frame)
        )
        self.observer.report(Diagnostic("out-of-bounds", "warning", message, site.location, **details), entry)


def _integers(starts: Starts) -> Iterable[int]:
    if not isinstance(starts, range) or not starts:
        return np.asarray(starts).tolist()
    return shifted(starts, signed64(starts[0]) - starts[0])  # an address wraps


def _hull(active: NDArray[np.bool_]) -> tuple[int, int]:
    """The first byte that is written, and one past the last."""
    places = np.flatnonzero(active)
    return (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
