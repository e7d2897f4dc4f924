"""The witness of every access: an observer is told of it when it happens, and taint travels with the registers.

Taint of a value is None while it is clean; what it looks like otherwise is in taint.py, how it moves through memory in
observed_instruction.py. The observer decides what taint means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, cast

import numpy as np

from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.names import UB, Pipe, Space
from ptosim.machine.entry import Entry, EntryKind, Site
from ptosim.machine.observer import Change, Quick, Use
from ptosim.reference.core import Core
from ptosim.reference.memory.access_places import Bytes
from ptosim.reference.memory.memories import clip
from ptosim.reference.memory.port import AccessPlace, Active, Atomic, Complaint, Step, Witness
from ptosim.reference.numeric.float_lanes import Lanes
from ptosim.reference.numeric.integers import signed64
from ptosim.reference.observed.observed_instruction import Act
from ptosim.reference.observed.remarks import Remarks
from ptosim.reference.observed.taint import Image, Observed, Taints


class AccessWitness(Witness):
    """Stands beside a core and tells of its accesses."""

    goes_on = True
    entry: Entry
    """The entry that is being executed."""
    act: Act
    """The instruction that is being carried out."""
    site: Site
    """The place of that."""
    quick: Quick | None = None
    """The quick way past the observer, inside a vector scope."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.doubtful: dict[str, int] = {}
        """The taint of special registers that are not clean."""
        self._size_of_ub = len(core.memories.own.get(UB, ()))
        self._register_starts, self._lanes_of_ub = core.memories.register_starts, core.memories.lanes_of_ub
        self.remarks = self._remarks = Remarks(self.say, lambda: self.site)
        self._held = self._remarks.held

    # --- the scalar unit ----------------------------------------------------------------------------------------------

    def loop(self, indices: Iterable[int], lower: int, trips: int) -> Iterator[int]:
        loops = self.machine.loops
        loops.append(lower)
        for index in indices:
            loops[-1] = index
            yield index
        loops.pop()

    def scalar(self, observed: Observed, arguments: tuple[Any, ...], written: str) -> Any:
        """A scalar access of the scalar unit, which loads or writes this memory."""
        machine, site = self.machine, observed.site
        self.entry = machine.scalar_store(site, Space(written)) if written else machine.scalar_load(site)
        return self.perform(observed, arguments)[0]

    def stand_at(self, site: Site) -> None:
        self.site = site
        self.entry = self.machine.current or Entry(site, Pipe.S, self.machine, EntryKind.FENCE)

    def begin_transfer(self, entry: Entry) -> None:
        self.entry = entry

    # --- instructions -------------------------------------------------------------------------------------------------

    def attend(self, what: Observed, arguments: tuple[Any, ...]) -> tuple[Callable[[Step], Any], None]:
        return partial(self._take, Act(what, arguments)), None

    def _take(self, act: Act, step: Step) -> None:
        self._enter(act.site)
        self.act = act
        step()
        self._used(act)
        self._settle(act)

    def enter(self, site: Site, scope: Step) -> None:
        self._enter(site)
        before, self.machine.loops = self.machine.loops, list(self.entry.loops)
        self.quick = self.observer.inside(self.entry)
        scope()
        self.quick = None
        self._remarks.lost()
        self.machine.loops = before

    def _enter(self, site: Site) -> None:
        self.entry = cast(Entry, self.machine.current)
        self.site = site

    def perform(self, observed: Observed, arguments: tuple[Any, ...], taints: Taints | None = None) -> tuple[Any, Any]:
        """Execute an instruction that uses the core; gives its results and their taint."""
        self.site = observed.site
        self.act = act = Act(observed, arguments, taints)
        if observed.has_registers:
            act.register = self._register_taint(observed)
            act.special = dict(self.core.special)
        for use, taint in act.decided() if taints is not None or act.register else ():
            self._tell_use(act, use, taint)
        results = observed.function(*arguments)
        self._used(act)
        self._settle(act)
        clean = (act.met is None and taints is None) or observed.uses
        return results, observed.clean if clean else act.results(self.core)

    def settle(self, observed: Observed, taints: Taints) -> None:
        """An instruction on registers, some of them doubtful, has written special ones."""
        act = Act(observed, (), taints)
        act.register = self._register_taint(observed)
        self._settle(act)

    def _register_taint(self, observed: Observed) -> int:
        return max((self.doubtful.get(name, 0) for name in observed.registers_read), default=0)

    def _settle(self, act: Act) -> None:
        """The special registers that an instruction has written are as doubtful as what they come from."""
        for name in act.observed.registers_written:
            self.doubtful.pop(name, None)
            if taint := act.taint_of_registers():
                self.doubtful[name] = taint

    def _used(self, act: Act) -> None:
        """Tell of the taint that was read, where reading is using."""
        if act.met is not None and act.observed.uses:
            for taint in act.met.values():
                self._tell_use(act, "operand", taint)

    def _tell_use(self, act: Act, use: Use, taint: Image) -> None:
        """A tainted value decides something."""
        self.observer.tainted(self.entry, act.site, use, taint)

    # --- memory -------------------------------------------------------------------------------------------------------

    def read(self, place: AccessPlace, by_use: bool = False) -> Bytes:
        act, memories = self.act, self.memories
        if place.in_pieces:
            data = memories.read(place)
        else:
            _, start, width, _, at, _ = place = self._wrapped(place)
            data = memories.read(place)
            if place.space is UB:
                if self._held:
                    self._remarks.loads(start, width)
                quick = self.quick if at is None and start >= 0 and start + width <= self._size_of_ub else None
                if quick is not None and quick.load(act.site, start, width):
                    act.reads += 1
                    return data
        act.has_read(self.observer.load(self.entry, act.site, memories.footprint(place), by_use))
        return data

    def read_numbers(self, place: AccessPlace) -> Bytes:
        act, data = self.act, self.memories.read(place)
        act.numbers = [*act.numbers, data]
        taint = self.observer.load(self.entry, act.site, self.memories.footprint(place), False)
        if taint is not None:
            self._tell_use(act, "address", taint)
        return data

    def _wrapped(self, place: AccessPlace) -> AccessPlace:
        """The bytes behind a pointer and an offset, whose sum wraps."""
        start = int(place.starts)
        address = signed64(start)
        if address != start:
            message = f"the address wraps past 2^63: pointer and offset make {start}, which is taken for {address}"
            self.core.lint(message)
        elif type(place.starts) is int:
            return place
        return place._replace(starts=address)

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        quick, act = self.quick, self.act
        inside = start in self._register_starts
        if inside and quick is not None and not self._held and quick.load(act.site, start, VECTOR_BYTES):
            act.reads += 1
            ub, power = self._lanes_of_ub[dtype.char]  # as Memories.load, which would look at the start again
            return ub[start >> power : (start + VECTOR_BYTES) >> power].copy()
        return super().load(start, dtype)

    def store(self, start: int, value: Lanes) -> None:
        quick, act = self.quick, self.act
        clean = act.met is None and act.taints is None and start in self._register_starts
        if clean and quick is not None and quick.store(act.site, start, VECTOR_BYTES):
            ub, power = self._lanes_of_ub[value.dtype.char]
            ub[start >> power : (start + VECTOR_BYTES) >> power] = value
        else:
            super().store(start, value)

    def write(
        self, place: AccessPlace, data: Bytes, active: Active | None = None, atomic: Atomic | None = None
    ) -> None:
        if not place.in_pieces:
            self._write_row(self._wrapped(place), data, active)
            return
        # Whether the pieces lie in the memory is said when they are written.
        taint = self.act.taint_of_write(self.core, data.size)
        before, name = partial(self.memories.present, place), None if atomic is None else atomic.name
        self._tell_store(place, data.reshape(-1), before, taint, name)
        self.memories.write(place, data, active, atomic)

    def _write_row(self, place: AccessPlace, data: Bytes, active: Active | None) -> None:
        memory, offset, inside = self.memories.window("writes", place)
        taint = self.act.taint_of_write(self.core, place.width)
        if not inside:
            low, high = clip(memory, offset, place.width)
            data, offset = data[low:high], offset + low
            place = place._replace(starts=place.starts + low, width=high - low)
            taint = None if taint is None else taint[low:high]
            active = None if active is None else active[low:high]
        window = memory[offset : offset + len(data)]
        if active is not None:
            if active.any():
                self._tell_active(place, data, window, taint, active)
                np.copyto(window, data, where=active)
            return
        quick = self.quick if inside and taint is None else None
        if quick is None or not quick.store(self.act.site, place.starts, place.width):
            self._tell_store(place, data, lambda: window, taint)
        window[:] = data

    def _tell_active(self, place: AccessPlace, data: Bytes, window: Bytes, taint: Image | None, active: Active) -> None:
        numbers = np.flatnonzero(active)
        first, last = int(numbers[0]), int(numbers[-1]) + 1
        if last - first == len(numbers):  # one stretch, as a tail leaves it
            part, place = slice(first, last), place._replace(starts=place.starts + first, width=len(numbers))
        else:
            part, place = numbers, place._replace(starts=place.starts + numbers, width=1)
        self._tell_store(place, data[part], lambda: window[part], None if taint is None else taint[part])

    def _tell_store(
        self,
        place: AccessPlace,
        data: Bytes,
        before: Callable[[], Bytes],
        taint: Image | None,
        atomic: str | None = None,
    ) -> None:
        self.observer.store(self.entry, self.site, self.memories.footprint(place), Change(data, before, taint, atomic))

    def say(self, complaint: Complaint) -> None:
        if complaint.site is not None:
            self.stand_at(complaint.site)
        self.report(complaint, complaint.severity, self.entry, self.site, self.machine.loops)
