"""A2/A3 sequences of tile operations: functions whose parameter names say what they want.

    @sequence("tadd", "tsub")
    def added(write: SequenceWriter, dst: Tile) -> None:
        write.over("vadd", dst)

Parameters are those of a lowering (tiles/lowering.py), with `write` for the writer. An instruction covers repeats of
256 bytes; the writer says how many instructions of how many repeats, as `pto.sim.instructions` in the scope that
computes the operation. Sizes that only the run knows are computed there, where scalar work takes no time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64

from ptosim.language.builder import Builder, Number, known
from ptosim.target.classes import REPEATED_INSTRUCTIONS, UB_COPY
from ptosim.tiles.lowering import Lowering
from ptosim.tiles.tile_values import Tile

Function = TypeVar("Function", bound=Callable[..., None])
REPEAT_BYTES = 256


@dataclass
class SequenceWriter:
    """Writes the instructions of one operation."""

    build: Builder
    is_known: bool = True
    """Whether it is known what this form of the operation is."""

    def run(self, instruction: str, size: Number, width: int, is_counted: bool = False) -> None:
        """One instruction on so many bytes in a row, a masked one on what is no whole repeat."""
        build = self.build
        whole, rest = build.quotient(size, REPEAT_BYTES), build.remainder(size, REPEAT_BYTES)
        self.some(instruction, build.least(whole, 1), whole, build.times(whole, REPEAT_BYTES), width, is_counted)
        self.some(instruction, build.least(rest, 1), 1, rest, width, is_counted)

    def some(
        self, instruction: str, times: Number, repeats: Number, size: Number, width: int, is_counted: bool = False
    ) -> None:
        """Instructions by number, each of so many repeats on so many valid bytes."""
        assert instruction == UB_COPY or instruction in REPEATED_INSTRUCTIONS, instruction
        if known(times) == 0 or known(repeats) == 0:
            return
        sizes = dict(zip(("times", "repeats", "bytes"), map(self.build.index, (times, repeats, size)), strict=True))
        mode = {"count_mode": UnitAttr()} if is_counted else {}
        self.build.sim_instructions(**sizes, instruction=instruction, width=IntegerAttr(width, i64), **mode)

    def nothing(self) -> None:
        """A sequence without time of its own."""
        zero = self.build.index(0)
        self.build.sim_instructions(times=zero, repeats=zero, bytes=zero, instruction="vadd", width=IntegerAttr(4, i64))

    # --- over a tile --------------------------------------------------------------------------------------------------

    def over(self, instruction: str, *tiles: Tile, width: int = 0) -> None:
        """An instruction on every element of the first tile: a run where no tile has gaps, else an instruction for each
        256 bytes of a row or for each row, whichever are fewer. Elements are as wide as the first says."""
        dst, width = tiles[0], width or tiles[0].kind.bytes
        if all(_is_run(tile) for tile in tiles):
            self.run(instruction, self.build.times(self.build.times(dst.rows, dst.cols), width), width)
            return
        rows, per_row = dst.rows, self.per_row(dst.cols, width)
        size = self.build.times(self.build.times(rows, dst.cols), width)
        times = self.build.least(rows, per_row)
        share = size if known(times) == 1 else self.build.quotient(size, self.build.most(times, 1))
        self.some(instruction, times, self.build.most(rows, per_row), share, width)

    def each_row(
        self, instruction: str, rows: Number, cols: Number, width: int, times: Number = 1, is_counted: bool = False
    ) -> None:
        """For each row `times` instructions, each on its elements."""
        row = self.build.times(cols, width)
        count = self.build.times(rows, times)
        self.some(instruction, count, self.per_row(cols, width), row, width, is_counted)

    def per_row(self, cols: Number, width: int) -> Number:
        """Repeats on the elements of a row."""
        return self.build.ceiling(self.build.times(cols, width), REPEAT_BYTES)

    def copy(self, times: Number, size: Number) -> None:
        """Copies within UB of so many bytes each."""
        self.some(UB_COPY, times, 1, size, 1)


def _is_run(tile: Tile) -> bool:
    """Whether the valid elements follow each other without a gap, whatever their layout."""
    if tile.buf.boxed and tile.buf.rows > 1:
        return known(tile.rows) == tile.buf.rows and known(tile.cols) == tile.buf.cols and tile.is_gapless
    return (tile.turned() if tile.buf.layout == "DN" else tile).is_linear


SEQUENCES: dict[str, Lowering] = {}
"""By operation name. Filled when the rooms are imported (tiles/catalogue.py), never changed afterwards."""


def sequence(*names: str) -> Callable[[Function], Function]:
    """Say that a function writes what these tile operations are."""

    def enter(function: Function) -> Function:
        for name in names:
            define_sequence(name, function)
        return function

    return enter


def define_sequence(name: str, function: Callable[..., None]) -> None:
    """Enter a function, for rooms that are tables."""
    assert f"pto.{name}" not in SEQUENCES, f"{name} has two sequences"
    SEQUENCES[f"pto.{name}"] = Lowering(function, tuple(inspect.signature(function).parameters))
