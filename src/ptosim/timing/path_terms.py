"""The cycles of a launch as a sum over figures: how often each stands on the critical path.

    128 cycles = 1 × dma.gm_ub.startup + 16384 × (1 / dma.gm_ub.bytes_per_cycle)

What is no sum of figures, such as the schedule of an A5 vector function, is a rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, REPEATED_INSTRUCTIONS, UB_COPY
from ptosim.target.profile import Target
from ptosim.timing.function_time import PricedInstruction, VectorFunctionTiming
from ptosim.timing.kernel_path import Stretch
from ptosim.timing.recording import NOTHING, Recording, RowKind


class Term(NamedTuple):
    """A figure, or one of a pair: 0 for elements of 4 bytes and more, 1 for smaller ones."""

    path: str
    column: int | None = None

    @property
    def is_rate(self) -> bool:
        """Whether cycles are in proportion to its inverse."""
        return self.path.endswith(".bytes_per_cycle")

    def __str__(self) -> str:
        return self.path if self.column is None else f"{self.path}[{self.column}]"


def path_terms(recording: Recording, path: Sequence[Stretch], target: Target) -> dict[Term, float]:
    """The count of each figure on the path, a rate by bytes."""
    found: dict[Term, float] = {}
    crossing = set(recording.crossings.row)
    for stretch in path:
        if stretch.row in crossing:
            continue
        for term, times in _terms(recording, stretch, target):
            found[term] = found.get(term, 0) + times
    return found


def _terms(recording: Recording, stretch: Stretch, target: Target) -> Iterator[tuple[Term, float]]:
    cycles = stretch.end - stretch.start
    match stretch.activity:
        case "work":
            yield from _work(recording, stretch.row, cycles, target)
        case "scalar" if target.latency.scalar:
            yield Term("latency.scalar"), cycles / target.latency.scalar
        case "sync" if stretch.row != NOTHING and recording.rows.kind[stretch.row] == RowKind.WAIT:
            yield Term(f"latency.{_hop(recording, stretch.row)}"), 1
        case _:
            pass


def _hop(recording: Recording, row: int) -> str:
    """The way of the signal that ended a wait."""
    before = recording.rows.before[row]
    waiter = recording.cores[recording.rows.core[row]]
    setter = waiter if before == NOTHING else recording.cores[recording.rows.core[before]]
    if setter.rank != waiter.rank:
        return "notify"
    return "flag" if setter is waiter else "inter_core"


def _work(recording: Recording, row: int, cycles: int, target: Target) -> Iterator[tuple[Term, float]]:
    rows = recording.rows
    issued = recording.issued[rows.site[row]]
    if rows.detail[row] != NOTHING:
        yield from _function(recording.functions[rows.detail[row]], target)
    elif issued.timing_class in COPY_CLASSES:
        yield from _copy(issued.timing_class, rows.bytes[row], 1, target)
    elif issued.timing_class in OPERATION_CLASSES:
        price = target.operation[issued.timing_class]
        yield Term(f"operation.{issued.timing_class}.startup"), 1
        if each := price.each[issued.column]:
            yield Term(f"operation.{issued.timing_class}.each", issued.column), (cycles - price.startup) / each


def _copy(path: str, size: int, times: float, target: Target) -> Iterator[tuple[Term, float]]:
    yield Term(f"dma.{path}.startup"), times
    if size:
        yield Term(f"dma.{path}.bytes_per_cycle"), times * (size + target.dma[path].ramp_bytes)


def _function(timing: VectorFunctionTiming, target: Target) -> Iterator[tuple[Term, float]]:
    if timing.instructions:
        for name in ("head", "count_mode"):
            if f"tile.{name}" in timing.figures:
                yield Term(f"tile.{name}"), 1
        for each in timing.instructions:
            yield from _instruction(each, target)
    elif "vector.startup" in timing.figures:
        yield Term("vector.startup"), 1
        yield Term("vector.drain"), 1


def _instruction(each: PricedInstruction, target: Target) -> Iterator[tuple[Term, float]]:
    if each.name == UB_COPY:
        yield from _copy("ub_ub", each.bytes, each.times, target)
        return
    row = f"instruction.{REPEATED_INSTRUCTIONS[each.name]}"
    yield Term(f"{row}.slope", each.column), each.times * each.repeats
    yield Term(f"{row}.tail"), each.times
