"""A core that is watched: accesses are reported, and taint travels with the registers.

Taint of a value is None while it is clean, otherwise an array of one byte per byte of its image, not zero where tainted
(the number is the observer's). It moves as the data does: a movement is *replayed* on the taint image by the very same
function, with a core whose reads give taint and whose writes are collected. The observer decides what taint means.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Details, Diagnostic
from ptosim.effects.names import Space
from ptosim.effects.record import Effects, Taint
from ptosim.machine.entry import Entry, Site
from ptosim.machine.observer import Footprint, Observer
from ptosim.reference.core import Bytes, Combine, Core, Starts
from ptosim.reference.mask import Mask
from ptosim.reference.stream import StoreAlign

Image = NDArray[np.uint8]

REGISTER_BYTES = 256
MASK_WIDTH = -1
"""Stands for a mask where the bytes per lane of a register are asked for."""

_NOWHERE: deque[int | list[int]] = deque(maxlen=0)
"""The path of the scalar unit itself, which nobody asks for."""


@dataclass(frozen=True, eq=False)
class Observed:
    """An operation of the kernel, as far as observing it needs to know."""

    site: Site
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    effects: Effects | None
    result_widths: tuple[int, ...]
    """Bytes per lane of each register result; 0 for any other result."""
    operand_widths: tuple[int, ...]
    """Bytes per lane of each argument that is a register; 0 for any other argument."""
    zeroing: int | None
    """Which argument, behind those of the function, is the mask that clears inactive result lanes."""


class ObservedCore(Core):
    """A core whose accesses an observer sees."""

    wants_lint = True
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
        self.relied: dict[str, Any] = {}
        """By direction: the sizes of the loop registers that the last copy found."""
        self.held: dict[StoreAlign, Site] = {}
        """Store streams of the scope with pending bytes, and the instruction that stored last."""
        self._reads: list[Any] = []
        self._writes: Iterator[Any] = iter(())

    # --- the scalar unit --------------------------------------------------------------------------------------------

    def loop(self, lower: int, upper: int, step: int) -> Iterator[int]:
        indices = super().loop(lower, upper, step)
        self.path.append(len(range(lower, upper, step)))
        loops = self.machine.loops
        loops.append(lower)
        for index in indices:
            loops[-1] = index
            yield index
        loops.pop()

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
        """Queue an instruction of a serial pipe."""
        facts = dict(zip(observed.parameters, arguments, strict=True))
        self.machine.work(observed.site.pipe, observed.site, partial(self._execute, observed, arguments), facts=facts)

    def _execute(self, observed: Observed, arguments: tuple[Any, ...]) -> int:
        self.bytes_read = 0
        self.entry = cast(Entry, self.machine.current)
        self.perform(observed, arguments, (None,) * len(arguments))
        return self.bytes_read

    def transfer_observed(self, observed: Observed, arguments: tuple[Any, ...]) -> None:
        """Queue a copy that reads when it starts and writes when it ends."""
        steps = cast("Iterator[None]", observed.function(*arguments))
        facts = dict(zip(observed.parameters, arguments, strict=True))
        reads: list[Any] = []

        def start() -> int:
            self._enter(observed.site)
            self._reads = reads
            self.bytes_read = 0
            next(steps, None)
            return self.bytes_read

        def finish(_: object) -> None:
            self._enter(observed.site)
            taints = self._replay(observed.function, arguments, reads) if any(t is not None for t in reads) else ()
            self._writes = iter(taints)
            next(steps, None)

        self.machine.work(observed.site.pipe, observed.site, start, finish, facts=facts)

    def launch(self, site: Site, function: Callable[..., None], captured: tuple[Any, ...]) -> None:
        """Queue a vector scope; what it returns to the observer is its path (trip counts and branches, in order)."""

        def start() -> tuple[int, ...]:
            self._enter(site)
            before, self.machine.loops = self.machine.loops, list(self.entry.loops)
            saved, self.path = self.path, []
            function(self, *captured)
            self._lost()
            path, self.path = self.path, saved
            self.machine.loops = before
            return tuple(item if isinstance(item, int) else item[0] for item in path)

        self.machine.work(site.pipe, site, start)

    def _enter(self, site: Site) -> None:
        self.entry = cast(Entry, self.machine.current)
        self.site = site

    # --- instructions that touch memory -----------------------------------------------------------------------------

    def scalar(self, observed: Observed, arguments: tuple[Any, ...], store: bool) -> Any:
        """A scalar access of the scalar unit."""
        self.entry = self.machine.scalar_store(observed.site) if store else self.machine.scalar_load(observed.site)
        return self.perform(observed, arguments, (None,) * len(arguments))[0]

    def perform(
        self, observed: Observed, arguments: tuple[Any, ...], taints: Sequence[Image | None]
    ) -> tuple[Any, Any]:
        """Execute an instruction that uses the core; gives its results and their taint."""
        self.site = observed.site
        reads: list[Any] = []
        self._reads = reads
        self._writes = iter(())
        if any(taint is not None for taint in taints):
            clean = _as_taint(observed, arguments, taints)
            self._writes = iter(self._replay(observed.function, clean, []))
        results = observed.function(*arguments)
        if observed.effects is not None and observed.effects.taint is Taint.USE:
            for taint in filter(lambda taint: taint is not None, reads):
                self.used(observed, "operand", taint)
            return results, None
        if not any(taint is not None for taint in reads):
            return results, None if not isinstance(results, tuple) else (None,) * len(cast("tuple[Any, ...]", results))
        return results, self._moved(observed, arguments, reads)

    def _moved(self, observed: Observed, arguments: tuple[Any, ...], reads: list[Any]) -> Any:
        replay = Replay(self, reads)
        results = observed.function(*(replay if argument is self else argument for argument in arguments))
        if isinstance(results, tuple):
            return tuple(_image(result) for result in cast("tuple[Any, ...]", results))
        return _image(results)

    def _replay(self, function: Callable[..., Any], arguments: Sequence[Any], reads: list[Any]) -> list[Any]:
        """Run a movement on taint; gives the taint of each of its writes."""
        replay = Replay(self, reads)
        outcome = function(*(replay if argument is self else argument for argument in arguments))
        if isinstance(outcome, Iterator):
            for _ in cast("Iterator[None]", outcome):
                pass
        return replay.collected

    # --- memory -----------------------------------------------------------------------------------------------------

    def read(
        self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False, at: str | None = None
    ) -> Bytes:
        data = super().read(space, start, width, alignment, by_use, at)
        self.bytes_read += width
        footprint = self.footprint(space, start, width, at)
        self._reads.append(self.observer.load(self.entry, self.site_now, footprint, by_use))
        return data

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        data = super().read_pieces(space, starts, width, alignment, at)
        self.bytes_read += data.size
        taint = self.observer.load(self.entry, self.site_now, self.footprint(space, starts, width, at))
        self._reads.append(None if taint is None else taint.reshape(data.shape))
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
        before = super().read(space, start, len(data), alignment, at=at)
        taint = next(self._writes, None)
        if active is None or active.all():
            self._stored(self.footprint(space, start, len(data), at), data, before, taint)
        elif active.any():
            places = np.flatnonzero(active)
            kept = None if taint is None else taint[places]
            self._stored(self.footprint(space, start + places, 1, at), data[places], before[places], kept)
        super().write(space, start, data, alignment, active, at)

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        before = super().read_pieces(space, starts, data.shape[1], alignment, at)
        taint = next(self._writes, None)
        footprint = self.footprint(space, starts, data.shape[1], at)
        self._stored(footprint, data.reshape(-1), before.reshape(-1), None if taint is None else taint.reshape(-1))
        super().write_pieces(space, starts, data, alignment, at)

    def accumulate(self, space: Space, starts: Starts, data: Bytes, combine: Combine, name: str) -> None:
        before = super().read_pieces(space, starts, data.shape[1])
        taint = next(self._writes, None)
        footprint = self.footprint(space, starts, data.shape[1])
        self._stored(
            footprint, data.reshape(-1), before.reshape(-1), None if taint is None else taint.reshape(-1), name
        )
        super().accumulate(space, starts, data, combine, name)

    def violation(self, kind: str, message: str, extent: tuple[int, int] | None = None) -> None:
        found = Diagnostic(kind, "error", message, self.site_now.location, **self._context(extent))
        self.observer.report(found, self.entry)

    def _context(self, extent: tuple[int, int] | None = None) -> Details:
        machine = self.machine
        pipe, loops = str(self.entry.pipe), tuple(machine.loops)
        return Details(core=machine.name, pipe=pipe, bytes=extent, block=machine.block, loops=loops)

    def lint(self, message: str, kind: str = "lint") -> None:
        found = Diagnostic(kind, "warning", message, self.site_now.location, **self._context())
        self.observer.report(found, self.entry)

    def relies_on(self, direction: str, sizes: Any) -> None:
        # The word of a register is a new object whenever it is written.
        if sizes != (1, 1) and self.relied.get(direction) is sizes:
            self.lint(f"the loop sizes {sizes} were not written since the last copy; restore them to 1, 1 after use")
        self.relied[direction] = sizes

    def overwrites(self, direction: str, sizes: Any) -> None:
        self.relied[direction] = sizes

    def hold(self, before: Any, after: Any) -> None:
        self.held.pop(before, None)
        if after is not None and after.stream.pending:
            self.held[after] = self.site_now

    def _lost(self) -> None:
        """At the end of a scope: streams that nobody has flushed."""
        for align, site in self.held.items():
            self.site = site
            pending = align.stream.pending
            self.lint(f"a lost tail: {pending} bytes of the store stream are never flushed and do not reach ub")
        self.held.clear()

    def _stored(self, footprint: Footprint, data: Bytes, before: Bytes, taint: Any, atomic: str | None = None) -> None:
        if taint is not None and not taint.any():
            taint = None
        self.observer.store(self.entry, self.site_now, footprint, data, before, taint, atomic)

    @property
    def site_now(self) -> Site:
        assert self.site is not None
        return self.site

    def fence(self, site: Site, kind: str) -> None:
        self.observer.fence(self.entry, site, kind)

    # --- registers --------------------------------------------------------------------------------------------------

    def spread(self, observed: Observed, arguments: tuple[Any, ...], taints: Sequence[Image | None]) -> Any:
        """The taint of the results of an instruction without memory accesses, some of whose operands are tainted."""
        self.site = observed.site
        spread = _SPREAD[observed.effects.taint if observed.effects else Taint.ALL_TO_ALL](
            self, observed, arguments, taints
        )
        spread = tuple(self._masked(observed, arguments, image) for image in spread)
        return spread if len(observed.result_widths) > 1 else spread[0]

    def _masked(self, observed: Observed, arguments: tuple[Any, ...], image: Image | None) -> Image | None:
        if image is None or observed.zeroing is None:
            return image if image is None or image.any() else None
        mask = cast(Mask, arguments[observed.zeroing])
        width = next((width for width in observed.result_widths if width), 1)
        kept = image & np.repeat(mask.lanes(width), width).astype(np.uint8) * 255
        return kept if kept.any() else None

    def used(self, observed: Observed, use: Any, taint: Image) -> None:
        """A tainted value decides something."""
        self.observer.tainted(self.entry, observed.site, use, taint)


class Replay:
    """The core of a replay: reads give the taint that was met, writes are collected; special registers are copies."""

    wants_lint = False

    def __init__(self, core: ObservedCore, reads: list[Any]) -> None:
        self.core = core
        self.special = dict(core.special)
        self.config, self.ctrl, self.target = core.config, core.ctrl, core.target
        self.machine, self.memories, self.global_memory = core.machine, core.memories, core.global_memory
        self._reads = iter(reads)
        self.collected: list[Any] = []

    def read(
        self, space: Space, start: int, width: int, alignment: int = 1, by_use: bool = False, at: str | None = None
    ) -> Bytes:
        taint = next(self._reads, None)
        return np.zeros(width, np.uint8) if taint is None else taint

    def read_pieces(self, space: Space, starts: Starts, width: int, alignment: int = 1, at: str | None = None) -> Bytes:
        taint = next(self._reads, None)
        return np.zeros((len(starts), width), np.uint8) if taint is None else taint

    def write(
        self, space: Space, start: int, data: Bytes, alignment: int = 1, active: Any = None, at: str | None = None
    ) -> None:
        self.collected.append(data.copy())

    def write_pieces(
        self, space: Space, starts: Starts, data: Bytes, alignment: int = 1, at: str | None = None
    ) -> None:
        self.collected.append(data.copy())

    def accumulate(self, space: Space, starts: Starts, data: Bytes, combine: Combine, name: str) -> None:
        self.collected.append(data.copy())

    def pattern(self, data: Bytes) -> Bytes:
        """Bytes that come from no memory are clean."""
        return np.zeros_like(data)

    def converted(self, data: Bytes, width: int, conversion: Callable[[Bytes], Bytes]) -> Bytes:
        """Each result has the taint of the element that it comes from."""
        lanes = _lanewise(data, width)
        return np.repeat(lanes, conversion(data).size // max(lanes.size, 1))

    def fence(self, site: Site, kind: str) -> None: ...

    def aligned(self, verb: str, space: Space, start: int, alignment: int) -> None: ...

    def violation(self, kind: str, message: str, extent: tuple[int, int] | None = None) -> None: ...

    def lint(self, message: str, kind: str = "lint") -> None: ...

    def relies_on(self, direction: str, sizes: Any) -> None: ...

    def overwrites(self, direction: str, sizes: Any) -> None: ...

    def hold(self, before: Any, after: Any) -> None: ...


# --- how taint spreads ----------------------------------------------------------------------------------------------


def _as_taint(observed: Observed, arguments: tuple[Any, ...], taints: Sequence[Image | None]) -> list[Any]:
    """The arguments with every register replaced by its taint image."""
    changed: list[Any] = []
    for argument, taint, width in zip(
        arguments, (*taints, *(None,) * len(arguments)), observed.operand_widths, strict=False
    ):
        if width and isinstance(argument, np.ndarray):
            image = np.zeros(REGISTER_BYTES, np.uint8) if taint is None else taint
            changed.append(image.view(cast("NDArray[Any]", argument).dtype))
        elif isinstance(argument, StoreAlign):
            changed.append(replace(argument, pending=np.zeros_like(argument.pending) if taint is None else taint))
        else:
            changed.append(argument)
    return changed


def _image(value: Any) -> Image | None:
    if isinstance(value, StoreAlign):
        return value.pending if value.pending.any() else None
    if not isinstance(value, np.ndarray):
        return None
    image = cast("NDArray[Any]", value).view(np.uint8)
    return image if image.any() else None


def _lanewise(image: Image, width: int) -> NDArray[np.uint8]:
    """The taint of each lane: the largest of its bytes."""
    return image.reshape(-1, width).max(axis=1)


def _elementwise(
    core: ObservedCore, observed: Observed, arguments: tuple[Any, ...], taints: Sequence[Image | None]
) -> Any:
    lanes: NDArray[np.uint8] | None = None
    for taint, width in zip(taints, observed.operand_widths, strict=False):
        if taint is None or not width:
            continue
        here = _lanewise(taint, width)
        lanes = here if lanes is None else np.maximum(lanes, here)
    for width in observed.result_widths:
        yield None if lanes is None or not width else _widened(lanes, width)


def _widened(lanes: NDArray[np.uint8], width: int) -> Image:
    """Lanes of taint as bytes; where the number of lanes differs (a result of another width), any lane taints all."""
    if len(lanes) * width != REGISTER_BYTES:
        return np.full(REGISTER_BYTES, lanes.max(), np.uint8)
    return np.repeat(lanes, width)


def _movement(
    core: ObservedCore, observed: Observed, arguments: tuple[Any, ...], taints: Sequence[Image | None]
) -> Any:
    results = observed.function(*_as_taint(observed, arguments, taints)[: len(observed.parameters)])
    yield from (_image(result) for result in (results if isinstance(results, tuple) else (results,)))


def _everywhere(
    core: ObservedCore, observed: Observed, arguments: tuple[Any, ...], taints: Sequence[Image | None]
) -> Any:
    most = max((int(taint.max()) for taint in taints if taint is not None), default=0)
    for width in observed.result_widths:
        yield np.full(REGISTER_BYTES, most, np.uint8) if width and most else None


def _clean(core: ObservedCore, observed: Observed, arguments: tuple[Any, ...], taints: Sequence[Image | None]) -> Any:
    yield from (None for _ in observed.result_widths)


_SPREAD: dict[Taint, Callable[..., Any]] = {
    Taint.NONE: _clean,
    Taint.ELEMENTWISE: _elementwise,
    Taint.MOVEMENT: _movement,
    Taint.REDUCTION: _everywhere,
    Taint.ALL_TO_ALL: _everywhere,
    Taint.USE: _clean,
}
