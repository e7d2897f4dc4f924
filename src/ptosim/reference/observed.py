"""A core that is watched: accesses are reported, and taint travels with the registers.

Taint of a value is None while it is clean; what it looks like otherwise, and how it spreads from register to register,
is in taint.py. Through memory it moves as the data does: an instruction that has met taint is *replayed*, the very same
function on a core whose reads give taint and whose writes are collected. The observer decides what taint means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Details, Diagnostic, Severity
from ptosim.effects.burst import BLOCK
from ptosim.effects.element import VECTOR_BYTES
from ptosim.effects.names import GM, UB, Pipe, Space
from ptosim.effects.record import Spread
from ptosim.machine.entry import Entry, Kind, Site
from ptosim.machine.memory import decode
from ptosim.machine.observer import Footprint, Quick, Use
from ptosim.machine.signal import Words
from ptosim.reference.core import Combine, Config, Core, clip
from ptosim.reference.integers import signed64
from ptosim.reference.mask import Mask
from ptosim.reference.numbers import Lanes
from ptosim.reference.places import Bytes, Places, Starts, lowest_and_highest, pieces, shifted, touching
from ptosim.reference.replay import Replay
from ptosim.reference.stream import StoreAlign
from ptosim.reference.taint import (
    CHOOSERS,
    GATES,
    Image,
    Observed,
    Taints,
    as_taint,
    as_tuple,
    image_of,
    merged,
    of_origin,
    origins,
    spread,
)

_NOTHING: Bytes = np.zeros(0, np.uint8)


class Act:
    """An instruction while it is carried out, and the taint it has met so far.

    One that has no tainted operands uses the same object every time; its arguments are filled in when it meets taint.
    """

    taints: Taints | None = None
    """Of the operands; None when all are clean."""
    reads = 0
    met: dict[int, Image] | None = None
    """The taint of those reads that met some."""
    writes = 0
    replayed = -1
    """The number of reads that the last replay knew."""
    collected: Sequence[Image | None] = ()
    """The taint of each write, by that replay."""

    def __init__(self, observed: Observed, arguments: tuple[Any, ...] = ()) -> None:
        self.observed = observed
        self.site = observed.site
        self.arguments = arguments

    def has_read(self, taint: Image | None) -> None:
        if taint is not None:
            self.met = {} if self.met is None else self.met
            self.met[self.reads] = taint
        self.reads += 1

    def origins(self) -> list[int]:
        return origins((*(self.met or {}).values(), *(self.taints or ())))


class ObservedCore(Core):
    """A core whose accesses an observer sees."""

    wants_lint = True
    entry: Entry
    """The entry that is being executed."""
    act: Act
    quick: Quick | None = None
    """The quick way past the observer, inside a vector scope."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        assert self.machine.observer is not None
        self.observer = self.machine.observer
        self.relied: dict[str, Any] = {}
        """By direction: the sizes of the loop registers that the last copy found."""
        self.overwritten: dict[str, Any] = {}
        """Registers that a copy with clauses has overwritten on hardware, with what they held."""
        self.resized_at: dict[str, Site] = {}
        """Where each of these registers was written last."""
        self.held: dict[StoreAlign, Site] = {}
        """Store streams of the scope with pending bytes, and the instruction that stored last."""

    # --- the scalar unit --------------------------------------------------------------------------------------------

    def loop(self, lower: int, upper: int, step: int) -> Iterator[int]:
        indices = super().loop(lower, upper, step)
        loops = self.machine.loops
        loops.append(lower)
        for index in indices:
            loops[-1] = index
            yield index
        loops.pop()

    # --- issuing ----------------------------------------------------------------------------------------------------

    def issue_observed(self, observed: Observed, arguments: tuple[Any, ...]) -> None:
        """Queue an instruction of a serial pipe."""
        self.machine.work(observed.site.pipe, observed.site, partial(self._execute, observed, arguments))

    def _execute(self, observed: Observed, arguments: tuple[Any, ...]) -> None:
        self.entry = cast(Entry, self.machine.current)
        self.perform(observed, arguments)

    def transfer_observed(self, observed: Observed, arguments: tuple[Any, ...]) -> None:
        """Queue a copy that reads when it starts and writes when it ends."""
        steps = cast("Iterator[None]", observed.function(*arguments))
        go_on = partial(self._go_on, Act(observed, arguments), steps)
        self.machine.work(observed.site.pipe, observed.site, go_on, go_on)

    def _go_on(self, act: Act, steps: Iterator[None], _: object = None) -> None:
        self._enter(act.site)
        self.act = act
        next(steps, None)

    def launch(self, site: Site, function: Callable[..., None], captured: tuple[Any, ...]) -> None:
        """Queue a vector scope with the values it captures."""

        def start() -> None:
            self._enter(site)
            before, self.machine.loops = self.machine.loops, list(self.entry.loops)
            self.quick = self.observer.inside(self.entry)
            function(self, *captured)
            self.quick = None
            self._lost()
            self.machine.loops = before

        self.machine.work(site.pipe, site, start)

    def _enter(self, site: Site) -> None:
        self.entry = cast(Entry, self.machine.current)
        self.site = site

    # --- instructions that touch memory -----------------------------------------------------------------------------

    def scalar(self, observed: Observed, arguments: tuple[Any, ...], store: bool) -> Any:
        """A scalar access of the scalar unit."""
        self.entry = self.machine.scalar_store(observed.site) if store else self.machine.scalar_load(observed.site)
        return self.perform(observed, arguments)[0]

    def moved(self, act: Act, arguments: tuple[Any, ...]) -> Any:
        """It has met taint: the taint of its results."""
        act.arguments = arguments
        images = self._moved(act)
        act.met = None
        return images

    def perform(self, observed: Observed, arguments: tuple[Any, ...], taints: Taints | None = None) -> tuple[Any, Any]:
        """Execute an instruction that uses the core; gives its results and their taint."""
        self.site = observed.site
        self.act = act = Act(observed, arguments)
        if taints is not None:
            act.taints = taints
            self._decided(act)
        results = observed.function(*arguments)
        if act.met is None and taints is None:
            return results, observed.clean
        if observed.taint.spread is Spread.USE:
            for taint in (act.met or {}).values():
                self.used(observed, "operand", taint)
            return results, observed.clean
        return results, self._moved(act)

    def _decided(self, act: Act) -> None:
        """Tainted masks and offsets decide which bytes are touched."""
        observed, taints = act.observed, act.taints or ()
        for role, argument, taint in zip(observed.parameters, act.arguments, taints, strict=False):
            if taint is None or role not in GATES | CHOOSERS:
                continue
            if role in GATES:
                self.used(observed, "mask", taint)
            else:
                lanes = taint.reshape(cast("NDArray[Any]", argument).size, -1).max(axis=1)
                active = self._active(act, len(lanes))
                if lanes[active].any():
                    self.used(observed, "address", lanes[active])

    def _active(self, act: Act, lanes: int) -> NDArray[np.bool_]:
        """Which lanes of a gather or scatter take part."""
        for role, argument in zip(act.observed.parameters, act.arguments, strict=False):
            if role == "mask" and isinstance(argument, Mask):
                return argument.lanes(256 // lanes)
            if role == "active_lanes" and argument is not None:
                return np.arange(lanes) < argument
        return np.ones(lanes, np.bool_)

    def _moved(self, act: Act) -> Any:
        """The taint of the results of an instruction that has read or holds tainted bytes."""
        images: list[Image | None] = [None] * len(act.observed.result_widths)
        for number in act.origins():
            _, outcome = self._replay(act, number)
            for place, result in enumerate(as_tuple(outcome)[: len(images)]):
                images[place] = merged(images[place], image_of(result), act.observed.passed_on(number))
        return tuple(images) if len(images) > 1 else images[0] if images else None

    def _replay(self, act: Act, number: int) -> tuple[list[Image], Any]:
        """Run an instruction on the taint of one origin; gives what it writes, and its results."""
        replay = Replay(self, {place: of_origin(taint, number) for place, taint in (act.met or {}).items()})
        operands = as_taint(act.observed, act.arguments, act.taints or (), number)
        outcome: Any = act.observed.function(*(replay if operand is self else operand for operand in operands))
        if isinstance(outcome, Iterator):
            for _ in cast("Iterator[None]", outcome):
                pass
        return replay.collected, cast(Any, outcome)

    def _taint_of_write(self, size: int) -> Image | None:
        """The taint of the bytes that the instruction is about to write."""
        act = self.act
        if act.met is None and act.taints is None:
            return None
        if act.observed.taint.spread is Spread.USE:
            return None
        if act.observed.taint.spread is Spread.ALL_TO_ALL:
            return np.full(size, max(map(act.observed.passed_on, act.origins()), default=0), np.uint8)
        if act.replayed != act.reads:  # what is read between two writes has to be replayed as well
            act.replayed = act.reads
            act.collected = self._collected(act)
        taint = act.collected[act.writes] if act.writes < len(act.collected) else None
        act.writes += 1
        return taint if taint is not None and taint.any() else None

    def _collected(self, act: Act) -> list[Image | None]:
        images: list[Image | None] = []
        for number in act.origins():
            written, _ = self._replay(act, number)
            images += [None] * (len(written) - len(images))
            for place, image in enumerate(written):
                images[place] = merged(images[place], image.reshape(-1), act.observed.passed_on(number))
        return images

    # --- memory -----------------------------------------------------------------------------------------------------

    def read(
        self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False, at: str | None = None
    ) -> Bytes:
        start = self._address(start)
        data = super().read(space, start, width, alignment, by_use, at)
        if self.held and space is UB:
            self._look_for_pending(start, width)
        act, quick = self.act, self.quick
        inside = start >= 0 and start + width <= len(self.memories.get(space, ()))
        if space is UB and at is None and inside and quick is not None and quick.load(act.site, start, width):
            act.reads += 1
            return data
        act.has_read(self.observer.load(self.entry, act.site, self.footprint(space, start, width, at), by_use))
        return data

    def _address(self, start: int) -> int:
        """Of a pointer and an offset, which wrap."""
        address = signed64(int(start))
        if address != start:
            self.lint(f"the address wraps past 2^63: pointer and offset make {start}, which is taken for {address}")
        return address

    def load(self, start: int, dtype: np.dtype[Any]) -> Lanes:
        quick, act = self.quick, self.act
        inside = start in self.register_starts
        if inside and quick is not None and not self.held and quick.load(act.site, start, VECTOR_BYTES):
            act.reads += 1
            ub, power = self._lanes_of_ub[dtype.char]  # as Core.load, which would look at the start again
            return ub[start >> power : (start + VECTOR_BYTES) >> power].copy()
        return self.read(UB, start, VECTOR_BYTES, BLOCK, True).copy().view(dtype)

    def store(self, start: int, value: Lanes) -> None:
        quick, act = self.quick, self.act
        clean = act.met is None and act.taints is None and start in self.register_starts
        if clean and quick is not None and quick.store(act.site, start, VECTOR_BYTES):
            ub, power = self._lanes_of_ub[value.dtype.char]
            ub[start >> power : (start + VECTOR_BYTES) >> power] = value
        else:
            self.write(UB, start, value.view(np.uint8), BLOCK)

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        data = super().read_pieces(space, starts, width, alignment, at)
        act = self.act
        act.has_read(self.observer.load(self.entry, act.site, self.footprint(space, starts, width, at)))
        return data

    def write(
        self,
        space: Space,
        start: int,
        data: Bytes,
        alignment: int = 1,
        active: NDArray[np.bool_] | None = None,
        at: str | None = None,
    ) -> None:
        start = self._address(start)
        memory, offset, inside = self._window("writes", space, start, len(data), alignment, at)
        taint = self._taint_of_write(len(data))
        if not inside:
            low, high = clip(memory, offset, len(data))
            data, offset, start = data[low:high], offset + low, start + low
            taint = None if taint is None else taint[low:high]
            active = None if active is None else active[low:high]
        window = memory[offset : offset + len(data)]
        if active is None:
            if (
                inside
                and taint is None
                and self.quick is not None
                and self.quick.store(self.act.site, start, len(data))
            ):
                window[:] = data
                return
            self._stored(self.footprint(space, start, len(data), at), data, lambda: window, taint)
            window[:] = data
        elif active.any():
            self._store_active(space, start, data, window, taint, active, at)
            np.copyto(window, data, where=active)

    def _store_active(
        self,
        space: Space,
        start: int,
        data: Bytes,
        window: Bytes,
        taint: Image | None,
        active: NDArray[np.bool_],
        at: str | None,
    ) -> None:
        places = np.flatnonzero(active)
        first, last = int(places[0]), int(places[-1]) + 1
        if last - first == len(places):  # one stretch, as a tail leaves it
            part = slice(first, last)
            kept = None if taint is None else taint[part]
            self._stored(self.footprint(space, start + first, len(places), at), data[part], lambda: window[part], kept)
            return
        kept = None if taint is None else taint[places]
        self._stored(self.footprint(space, start + places, 1, at), data[places], lambda: window[places], kept)

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        self._store_pieces(space, starts, data, at)
        super().write_pieces(space, starts, data, alignment, at)

    def accumulate(self, space: Space, starts: Starts, data: Bytes, combine: Combine, name: str) -> None:
        self._store_pieces(space, starts, data, None, name)
        super().accumulate(space, starts, data, combine, name)

    def _store_pieces(
        self, space: Space, starts: Starts, data: Bytes, at: str | None, atomic: str | None = None
    ) -> None:
        """Tell of pieces that are about to be written. Whether they lie in the memory is said when they are."""
        taint = self._taint_of_write(data.size)
        width = data.shape[1]
        footprint = self.footprint(space, starts, width, at)
        before = partial(self._present, space, starts, width, at)
        self._stored(footprint, data.reshape(-1), before, taint, atomic)

    def _present(self, space: Space, starts: Starts, width: int, at: str | None) -> Bytes:
        """What is in memory now; zeros where some of it lies outside, which is complained of elsewhere."""
        memory, offsets = self._memory(space, starts, at)
        if len(offsets):
            low, high = lowest_and_highest(offsets)
            if low >= 0 and high + width <= len(memory):
                return pieces(memory, offsets, width).reshape(-1)
        return np.zeros(len(starts) * width, np.uint8)

    def landing(self, space: Space, starts: Starts, width: int, at: str | None = None) -> Places | None:
        low, high = lowest_and_highest(starts)
        memory, offsets = self._memory(space, starts, at)
        lowest = low + int(offsets[0]) - int(starts[0])
        if lowest >= 0 and lowest + high - low + width <= len(memory):
            return None
        return touching(offsets, width, len(memory))

    def _memory(self, space: Space, starts: Starts, at: str | None) -> tuple[Bytes, Starts]:
        """The memory of an access, of which nothing may exist, and the starts as offsets in it."""
        if space is not GM or not len(starts):
            return (self._other(at) if at else self.memories).get(space, _NOTHING), starts
        number, first = decode(int(starts[0]))
        memory = self.global_memory.buffers.get(number, _NOTHING)
        return memory, shifted(starts, first - int(starts[0]))

    def violation(self, kind: str, message: str, extent: tuple[int, int] | None = None) -> None:
        found = Diagnostic(kind, "error", message, self.site_now.location, **self._context(extent))
        self.observer.report(found, self.entry)

    def _context(self, extent: tuple[int, int] | None = None) -> Details:
        machine = self.machine
        pipe, loops = str(self.entry.pipe), tuple(machine.loops)
        return Details(core=machine.name, pipe=pipe, bytes=extent, block=machine.block, loops=loops)

    def lint(self, message: str, kind: str = "lint", site: Site | None = None, hint: str | None = None) -> None:
        if site is not None:
            self._stand_at(site)
        details = self._context()
        if hint is not None:
            details["hint"] = hint
        self.observer.report(Diagnostic(kind, "warning", message, self.site_now.location, **details), self.entry)

    def idle(self, message: str) -> None:
        if not self.site_now.served:
            self.lint(message)

    def complain(self, site: Site, kind: str, message: str, severity: Severity = "error", fatal: bool = True) -> None:
        self._stand_at(site)
        found = Diagnostic(kind, severity, message, site.location, **self._context())
        self.observer.report(found, self.entry)

    def begin_transfer(self, site: Site, session: int, facts: Mapping[str, Any]) -> int:
        self.entry = self.machine.transfer(site, session, facts)
        return self.entry.n + 1

    def signal_words(self, site: Site, verb: str, addresses: Sequence[int]) -> Words | None:
        self._stand_at(site)
        return super().signal_words(site, verb, addresses)

    def _stand_at(self, site: Site) -> None:
        """The scalar unit is at an instruction that touches no memory."""
        self.site = site
        self.entry = self.machine.current or Entry(site, Pipe.S, self.machine, Kind.FENCE)

    def relies_on(self, direction: str, config: Config, *others: str) -> None:
        # The word of a register is a new object whenever it is written.
        sizes = config.get(f"loop_size_{direction}", (1, 1))
        if sizes != (1, 1) and self.relied.get(direction) is sizes:
            self.lint(f"the loop sizes {sizes} were not written since the last copy; restore them to 1, 1 after use")
        self.relied[direction] = sizes
        strides = [f"loop{number}_stride_{direction}" for number, size in enumerate(sizes, 1) if size > 1]
        for register in (*strides, *others):
            if register in self.overwritten and self.overwritten[register] is config.get(register, None):
                self.lint(
                    f"on hardware an earlier copy with clauses has written what pto.set_{register} sets: set it again"
                )

    def resized(self, site: Site) -> None:
        self.resized_at[site.name.removeprefix("pto.set_")] = site

    def ended(self) -> None:
        for register, site in self.resized_at.items():
            sizes = self.config.get(register, (1, 1))
            if sizes != (1, 1):
                self.lint(f"the loop sizes {sizes} are left set: restore them to 1, 1 after use", site=site)

    def overwrites(self, direction: str, config: Config, loops: int, *others: str) -> None:
        self.relied[direction] = config.get(f"loop_size_{direction}", (1, 1))
        strides = [f"loop{number}_stride_{direction}" for number in (1, 2) if number <= loops]
        self.overwritten |= {register: config.get(register, None) for register in (*strides, *others)}

    def hold(self, before: Any, after: Any) -> None:
        self.held.pop(before, None)
        if after is not None and after.stream.pending:
            self.held[after] = self.site_now

    def _look_for_pending(self, start: int, width: int) -> None:
        """A load of bytes that are still in an align value gets what was in memory before."""
        for align, site in self.held.items():
            low, high = max(start, align.stream.start), min(start + width, align.stream.end)
            if low < high:
                message = f"the store stream of line {site.line} holds ub[{low}:{high}] back"
                self.lint(f"{message}: before it is flushed this load gets older bytes")

    def _lost(self) -> None:
        """At the end of a scope: streams that nobody has flushed."""
        for align, site in self.held.items():
            self.site = site
            pending = align.stream.pending
            self.lint(f"a lost tail: {pending} bytes of the store stream are never flushed and do not reach ub")
        self.held.clear()

    def _stored(
        self, footprint: Footprint, data: Bytes, before: Callable[[], Bytes], taint: Any, atomic: str | None = None
    ) -> None:
        self.observer.store(self.entry, self.site_now, footprint, data, before, taint, atomic)

    @property
    def site_now(self) -> Site:
        assert self.site is not None
        return self.site

    def fence(self, site: Site, kind: str) -> None:
        if self.machine.current is not None:  # outside of a scope it orders nothing
            self.observer.fence(self.entry, site, kind)

    # --- registers --------------------------------------------------------------------------------------------------

    def spread(self, observed: Observed, arguments: tuple[Any, ...], taints: Taints) -> Any:
        """The taint of the results of an instruction without memory accesses, some of whose operands are tainted."""
        return spread(observed, arguments, taints)

    def used(self, observed: Observed, use: Use, taint: Image) -> None:
        """A tainted value decides something."""
        self.observer.tainted(self.entry, observed.site, use, taint)
