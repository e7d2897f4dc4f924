"""The state of a stopped core: the value of `Kernel.until`, printed by `ptosim run --until`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptosim.arguments import dtype_of
from ptosim.diagnostics import PTOError, error
from ptosim.effects.element import ELEMENTS
from ptosim.reference.observed.until import ReachedLine, StoppedState, Until
from ptosim.reference.observed.watch import watchable
from ptosim.report.execution import value_lines, wrapped_numbers
from ptosim.tiles.passes.memory_plan import PlacedTile

MOST_SHOWN = 16
"""Numbers of a memory or a tile."""


@dataclass(frozen=True)
class KernelState:
    """A core before it executes an instruction."""

    stopped: StoppedState
    tiles: tuple[PlacedTile, ...]
    arguments: Mapping[int, str]

    @property
    def core(self) -> str:
        return self.stopped.core

    @property
    def line(self) -> int | None:
        return self.stopped.site.line

    @property
    def loops(self) -> tuple[int, ...]:
        """The indices of the loops around it."""
        return self.stopped.loops

    @property
    def registers(self) -> Mapping[str, Any]:
        """Scalars, registers and masks by name, as %sum."""
        return {name: value.value for name, value in self.stopped.registers.items()}

    @property
    def memory(self) -> Mapping[str, NDArray[np.uint8]]:
        """The bytes of "ub", "l1" and so on, and of each argument by its name."""
        return self.stopped.memory

    @property
    def queues(self) -> Mapping[str, tuple[str, ...]]:
        """By pipe: what was issued and has not ended, in order."""
        return self.stopped.queues

    def tile(self, name: str) -> NDArray[Any]:
        """The elements of a tile, in the order of its bytes."""
        return next(_elements(self.stopped, tile) for tile in self.tiles if tile.name == name)

    def to_json(self) -> dict[str, Any]:
        """The place and what is held, as the lines that are printed; memories in figures."""
        registers = {name: value_lines(value, self.arguments) for name, value in self.stopped.registers.items()}
        return {
            "core": self.core,
            "line": self.line,
            "occurrence": self.stopped.occurrence,
            "loops": list(self.loops),
            "registers": registers,
            "tiles": [
                {"name": tile.name, "space": str(tile.space), "address": tile.address, "bytes": tile.size}
                for tile in self.tiles
            ],
            "memory": {name: {"bytes": len(data)} for name, data in self.memory.items()},
            "queues": {pipe: list(entries) for pipe, entries in self.queues.items()},
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        stopped = self.stopped
        site = stopped.site
        loops = f", loop indices {', '.join(map(str, stopped.loops))}" if stopped.loops else ""
        where = f"{site.location.shown}: " if site.location else ""
        yield f"{where}before {site.title} on {stopped.core}{loops}"
        if stopped.registers:
            yield "registers"
        for name, value in stopped.registers.items():
            first, *rest = value_lines(value, self.arguments)
            yield f"    {name}  {first}"
            yield from (f"    {line}" for line in rest)
        if self.tiles:
            yield "tiles"
        for tile in self.tiles:
            yield f"    {tile.name}  {tile.space}[{tile.address}:{(tile.address or 0) + tile.size}]  {tile.type}"
            yield from (f"    {line}" for line in wrapped_numbers(_shown(_elements(stopped, tile))))
        yield "memories"
        for name, data in stopped.memory.items():
            used = np.flatnonzero(data)
            extent = f"bytes {used[0]} to {used[-1]} hold something" if used.size else "zeros"
            yield f"    {name}  {len(data)} bytes, {extent}"
        yield "queues"
        for pipe, entries in stopped.queues.items():
            yield f"    {pipe}  {'; '.join(entries)}"
        if not stopped.queues:
            yield "    nothing is under way"


def _elements(stopped: StoppedState, tile: PlacedTile) -> NDArray[Any]:
    data = stopped.memory[str(tile.space)][tile.address or 0 :][: tile.size]
    name = tile.type.partition("x")[2].rpartition("x")[2] if "x" in tile.type else ""
    words = [word for word in _words(tile.type) if word in ELEMENTS]
    element = ELEMENTS[words[0]] if words else ELEMENTS.get(name)
    return data if element is None or len(data) % element.bytes else data.view(dtype_of(element))


def _words(type_: str) -> list[str]:
    """The element of a type, side by side: `!pto.tile_buf<vec, 32x128xf32>` has f32."""
    return type_.replace("<", " ").replace(",", " ").replace(">", " ").replace("x", " ").split()


def _shown(elements: NDArray[Any]) -> Sequence[str]:
    return [*map(str, elements[:MOST_SHOWN]), *(["..."] if len(elements) > MOST_SHOWN else [])]


class NotReached(PTOError):
    """The run has ended without coming there so often."""


def run_until(kernel: Any, launch: Any, line: int, occurrence: int, core: str | None) -> KernelState:
    """Run a kernel on the reference engine, up to a line."""
    parsed = kernel.module.executable.parsed
    known = watchable(parsed)
    if line not in known:
        near = min(known, key=lambda other: abs(other - line), default=None)
        hint = f"; the nearest that has is line {near}" if near is not None else ""
        raise error("argument", f"line {line} has no instruction to stop before{hint}")
    until = Until(line, occurrence, core)
    run = kernel.reference(launch, inspection=until)
    try:
        run()
    except ReachedLine as reached:
        place = reached.state
        names = {entry.symbol for entry in kernel.program.entries.values()}
        plans = [plan for plan in kernel.module.plan().functions if plan.function in names]
        held = place.memory
        tiles = {tile.name: tile for plan in plans for tile in plan.tiles if _lies(tile, held)}
        arguments = {number: region.name for number, region in launch.arguments.regions.all.items()}
        return KernelState(place, tuple(tiles.values()), arguments)
    counts = ", ".join(f"{name} {times} times" for name, times in until.counts.items())
    where = f" on {core}" if core is not None else ""
    message = f"line {line} is not reached {occurrence} times{where}: {counts or 'it is never executed'}"
    raise NotReached(*error("argument", message).raised)


def _lies(tile: PlacedTile, held: Mapping[str, NDArray[np.uint8]]) -> bool:
    return tile.address is not None and tile.size > 0 and str(tile.space) in held
