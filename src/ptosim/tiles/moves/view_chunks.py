"""Views larger than a tile of UB, moved chunk by chunk in ascending order.

A view that fits into the valid region of its tile is one chunk; otherwise each of its planes is cut into chunks of that
region, row by row, the last ones shorter. Which bytes arrive does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import DenseArrayBase, i64

from ptosim.language.builder import Builder, Number, known
from ptosim.tiles.run_conditions import require
from ptosim.tiles.tile_values import GmView, Tile

UNROLLED = 8
"""The most chunks that are written one after the other; more become a loop."""


@dataclass(frozen=True)
class Chunk:
    """A part of a view: where it begins and how large it is in each dimension."""

    starts: tuple[Number, ...]
    sizes: tuple[Number, ...]

    def of(self, build: Builder, view: GmView) -> GmView:
        """This part of a view that has the same extents."""
        return part(build, view, self.starts, self.sizes)

    def staged(self, build: Builder, tile: Tile) -> Tile:
        """A tile that holds it."""
        *outer, cols = self.sizes
        rows: Number = 1
        for size in outer:
            rows = build.times(rows, size)
        return replace(tile, valid=(rows, cols))


def part(build: Builder, view: GmView, starts: Sequence[Number], sizes: Sequence[Number]) -> GmView:
    offset: Number = 0
    for start, stride in zip(starts, view.strides, strict=True):
        offset = build.plus(offset, build.times(start, stride))
    pointer = view.pointer
    if known(offset) != 0:
        pointer = build.addptr(pointer=pointer, offset=build.index(offset), result=pointer.type)
    return replace(view, pointer=pointer, sizes=tuple(sizes))


@dataclass(frozen=True)
class Chunks:
    """All chunks of views with these extents."""

    sizes: tuple[Number, ...]
    steps: tuple[Number, ...]
    """The extent of a whole chunk in each dimension."""
    counts: tuple[Number, ...]
    total: Number

    def nth(self, build: Builder, number: Number) -> Chunk:
        starts: list[Number] = []
        for step, count in reversed(list(zip(self.steps, self.counts, strict=True))):
            at = 0 if known(count) == 1 else build.remainder(number, count)
            number = build.quotient(number, count)
            starts.insert(0, build.times(at, step))
        sizes = [
            step if _divides(step, size) else build.least(step, build.minus(size, start))
            for size, step, start in zip(self.sizes, self.steps, starts, strict=True)
        ]
        return Chunk(tuple(starts), tuple(sizes))

    def each(self, build: Builder, turns: int, act: Callable[[Chunk, int, bool], None]) -> None:
        """Call for each chunk, with the turn it has among so many, and whether its turn has come before."""
        count = known(self.total)
        if count is not None and count <= UNROLLED:
            for number in range(count):
                act(self.nth(build, number), number % turns, number >= turns)
            return
        for turn in range(turns):
            self.where(build, turn, lambda turn=turn: act(self.nth(build, turn), turn, False))

        def following(first: Number) -> None:
            for turn in range(turns):
                number = build.plus(first, turn)
                self.where(build, number, lambda number=number, turn=turn: act(self.nth(build, number), turn, True))

        build.loop(self.total, turns, following, lower=turns)

    def where(self, build: Builder, number: Number, act: Callable[[], None]) -> None:
        """Act if there is a chunk of this number."""
        first, count = known(number), known(self.total)
        if first is not None and count is not None:
            if first < count:
                act()
        else:
            build.choose(build.compare("slt", number, self.total), act)


def chunks_of(build: Builder, view: GmView, tile: Tile) -> Chunks:
    """The chunks in which a view passes through a tile."""
    for size in view.sizes:
        if known(size) is None:
            require(build, build.compare("sge", size, 0), "invalid", "an extent of a view is negative", fatal=True)
    *outer, rows, cols = view.sizes
    height, width = (_positive(build, extent) for extent in tile.valid)
    lines: Number = rows
    for size in outer:
        lines = build.times(lines, size)
    if _at_most(lines, height) and _at_most(cols, width):
        return Chunks(view.sizes, view.sizes, (1,) * len(view.sizes), 1)
    steps = (*([1] * len(outer)), build.least(height, rows), build.least(width, cols))
    counts = (*outer, _ceiling(build, rows, height), _ceiling(build, cols, width))
    total: Number = 1
    for count in counts:
        total = build.times(total, count)
    return Chunks(view.sizes, steps, tuple(build.most(count, 1) for count in counts), total)


def same_extents(build: Builder, view: GmView, other: GmView) -> None:
    """Checks that both views of a copy have one shape; written extents are compared at load."""
    for size, wanted in zip(view.sizes, other.sizes, strict=True):
        if size is not wanted and (known(size) is None or known(wanted) is None):
            message = "source and destination of a transfer have other extents"
            require(build, build.compare("eq", size, wanted), "invalid", message, fatal=True)


def _positive(build: Builder, extent: Number) -> Number:
    if known(extent) is None:
        message = "nothing can pass through a tile without valid rows and columns"
        require(build, build.compare("sgt", extent, 0), "invalid", message, fatal=True)
        return build.most(extent, 1)
    return extent


def _at_most(extent: Number, limit: Number) -> bool:
    a, b = known(extent), known(limit)
    return extent is limit or (a is not None and b is not None and a <= b)


def _divides(step: Number, size: Number) -> bool:
    a, b = known(step), known(size)
    return step is size or (a is not None and b is not None and a > 0 and b % a == 0)


def _ceiling(build: Builder, extent: Number, step: Number) -> Number:
    return build.quotient(build.plus(extent, build.minus(step, 1)), step)


# --- private tokens ---------------------------------------------------------------------------------------------------


def tell(build: Builder, source: str, dest: str, number: int) -> None:
    build.op("pto.sim.set_token", **_token(source, dest, number))


def hear(build: Builder, source: str, dest: str, number: int) -> None:
    build.op("pto.sim.wait_token", **_token(source, dest, number))


def _token(source: str, dest: str, number: int) -> dict[str, object]:
    numbers = DenseArrayBase.from_list(i64, [number])
    return {"source": f"PIPE_{source}", "destination": f"PIPE_{dest}", "number": numbers}
