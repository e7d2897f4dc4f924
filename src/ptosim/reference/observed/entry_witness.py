"""The witness of entries: what they are issued with, the path through a scope, the bytes they touch.

This is all that timing asks for, and it costs little: instructions run as they do without an observer. Each access with
the instruction that makes it, and taint, are the business of access_witness.py.
"""

from __future__ import annotations

import inspect
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import numpy as np

from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.fractal import PARAMETERS
from ptosim.effects.names import UB, Pipe, Space
from ptosim.machine.entry import Entry, EntryKind, Site
from ptosim.reference.core import Core
from ptosim.reference.memory.access_places import Bytes, Starts, hull, shifted
from ptosim.reference.memory.port import AccessPlace, Active, Atomic, Complaint, Step, Witness
from ptosim.reference.numeric.float_lanes import Lanes
from ptosim.reference.numeric.integers import signed64
from ptosim.reference.observed.taint import Observed

_NOWHERE: deque[int | list[int]] = deque(maxlen=0)
"""The path of the scalar unit itself, which is not used."""


Where = tuple[Space, str | None, int, Site | None]
"""The memory of an access, whose it is if not one's own, its length, and the instruction. What functions do that a
vector scope calls is not told apart."""


class EntryWitness(Witness):
    """Stands beside a core and tells what each entry does. Accesses of one length are told together, when it ends."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.path: list[int | list[int]] | deque[int | list[int]] = _NOWHERE
        """Trip counts, branches and sizes of the vector scope. The count of a while, known at its end, is a list."""
        self._reads: dict[Where, list[int]] = {}
        self._writes: dict[Where, list[int]] = {}
        self._loads: defaultdict[Site | None, list[int]] = defaultdict(list)
        """Loads of whole registers from UB, which are by far the most."""
        self._stores: defaultdict[Site | None, list[int]] = defaultdict(list)
        self.act: Site | None = None
        """The instruction that accesses memory."""

    # --- the path -----------------------------------------------------------------------------------------------------

    def loop(self, indices: Iterable[int], lower: int, trips: int) -> Iterable[int]:
        self.path.append(trips)
        return indices

    def branch(self, condition: Any) -> bool:
        self.path.append(1 if condition else 0)
        return bool(condition)

    def turns(self) -> list[int]:
        """A counter for the rounds of an scf.while."""
        counter = [0]
        self.path.append(counter)
        return counter

    def priced_by(self, *numbers: int) -> None:
        self.path.extend(numbers)

    def count(self, operations: int) -> None:
        """Counts executed scalar operations."""
        self.machine.operations += operations

    # --- entries ------------------------------------------------------------------------------------------------------

    def attend(self, what: Observed, arguments: tuple[Any, ...]) -> tuple[Callable[[Step], Any], Any]:
        """The payload of an entry is the number of bytes it read to move; its facts are its operands."""
        return self._take, dict(zip(what.parameters, arguments, strict=True))

    def enter(self, site: Site, scope: Step) -> tuple[int, ...]:
        """The payload of a scope is its path: trip counts and branches, in order."""
        saved, self.path = self.path, []
        self._take(scope)
        path, self.path = self.path, saved
        return tuple(item if isinstance(item, int) else item[0] for item in path)

    def _take(self, step: Step) -> int:
        reads, writes = self._reads, self._writes = {}, {}
        entry, total = cast(Entry, self.machine.current), 0
        self.act = entry.site
        step()
        footprint = self.memories.footprint
        for registers, pieces in ((self._loads, reads), (self._stores, writes)):
            if registers:
                for site, starts in registers.items():
                    pieces.setdefault((UB, None, VECTOR_BYTES, site), []).extend(_words(starts))
                registers.clear()
        for (space, at, width, site), starts in reads.items():
            total += 0 if space in PARAMETERS else width * len(starts)
            self.observer.load(entry, site or entry.site, footprint(AccessPlace(space, starts, width, at=at)))
        for (space, at, width, site), starts in writes.items():
            self.observer.store(entry, site or entry.site, footprint(AccessPlace(space, starts, width, at=at)))
        return total

    def counted(self, counts: Any, facts: Mapping[str, int]) -> None:
        """The effects of the running entry, for its costs and its report."""
        entry = cast(Entry, self.machine.current)
        entry.facts = {**(entry.facts or {}), **facts, "counts": counts}

    # --- memory -------------------------------------------------------------------------------------------------------

    def read(self, place: AccessPlace, by_use: bool = False) -> Bytes:
        self._reads.setdefault((place.space, place.at, place.width, self.act), []).extend(_integers(place.starts))
        return self.memories.read(place)

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        self._loads[self.act].append(start)
        return self.memories.load(start, dtype)

    def store(self, start: int, value: Lanes) -> None:
        self._stores[self.act].append(start)
        self.memories.store(start, value)

    def write(
        self, place: AccessPlace, data: Bytes, active: Active | None = None, atomic: Atomic | None = None
    ) -> None:
        low, high = (0, place.width) if active is None else hull(active)
        if high > low:
            starts = place.starts + low if low else place.starts  # only bytes in a row are active by themselves
            self._writes.setdefault((place.space, place.at, high - low, self.act), []).extend(_integers(starts))
        self.memories.write(place, data, active, atomic)

    def say(self, complaint: Complaint) -> None:
        """The run goes on where hardware tolerates an access, and its observer is told."""
        if not complaint.is_stray:
            self.memories.say(complaint)
            return
        entry, frame = self.machine.current, inspect.currentframe()
        site = entry.site if entry is not None else self.core.standing(frame)
        assert site is not None  # outside of entries an instruction of the scalar unit
        entry = entry or Entry(site, Pipe.S, self.machine, EntryKind.LOAD)
        self.report(complaint, "warning", entry, site, self.core.indices(frame))


def _integers(starts: int | Starts) -> Iterable[int]:
    """The addresses of pieces, which wrap."""
    if not isinstance(starts, range | np.ndarray):
        return (signed64(starts),)
    if not isinstance(starts, range) or not starts:
        return np.asarray(starts).tolist()
    return shifted(starts, signed64(starts[0]) - starts[0])


def _words(starts: list[int]) -> list[int]:
    """Addresses as scalar code holds them; nearly all are already."""
    return starts if min(starts) >= 0 and max(starts) < 1 << 63 else [signed64(start) for start in starts]
