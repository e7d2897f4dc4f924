"""Tile operations on A2/A3 in a profile: instructions with repeats, the sum of their cycles, the use of their lanes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ptosim.timing.function_time import PricedInstruction, VectorFunctionTiming
from ptosim.timing.recording import NOTHING, Recording, RowKind

GUESS = "a guess: how this machine does it is not known"
"""Instead of the sum: the price is that of micro-instructions, which the machine does not have."""


@dataclass(frozen=True, slots=True)
class TileOperationTime:
    """Executions of a tile operation at one line that consist of the same instructions."""

    line: int | None
    name: str
    count: int
    cycles: int
    """The cycles of one execution."""
    sum: str
    """The sum of these: "7 + 64 × 2 (vadd) + 18 = 153"."""
    lane_use: float | None
    """The valid share of the lanes of the repeats, up to 1; None where there are no repeats or it is a guess."""
    idle_repeats: float
    """Repeats whose lanes do nothing, all instructions together: 2 of 8 where a quarter of the lanes is off."""
    single_repeats: int
    """Instructions of one repeat that stand in a row, each with its tail."""
    instructions: Sequence[PricedInstruction]

    @property
    def is_guess(self) -> bool:
        return not self.instructions

    def to_json(self) -> dict[str, Any]:
        made = [{**asdict(each), "cycles": each.cycles} for each in self.instructions]
        return {**asdict(self), "instructions": made, "guess": self.is_guess}


def tile_operation_times(recording: Recording) -> list[TileOperationTime]:
    """The tile operations of a profile on A2/A3, those that took the most cycles first."""
    rows = recording.rows
    kinds, sites, details = (np.asarray(each, np.int64) for each in (rows.kind, rows.site, rows.detail))
    of_scopes = (kinds == RowKind.WORK) & (details != NOTHING)
    pairs: list[tuple[int, int]] = list(zip(sites[of_scopes].tolist(), details[of_scopes].tolist(), strict=True))
    found: Counter[TileOperationTime] = Counter()
    for (site, function), count in Counter(pairs).items():
        told = recording.sites[site]
        if told.served and (timing := recording.functions[function]).cycles:
            found[_time(told.line, told.title, timing)] += count
    times = [replace(each, count=count) for each, count in found.items()]
    return sorted(times, key=lambda each: (-each.cycles * each.count, each.line or 0))


def _time(line: int | None, name: str, timing: VectorFunctionTiming) -> TileOperationTime:
    instructions = timing.instructions
    return TileOperationTime(
        line,
        name,
        1,
        timing.cycles,
        timing.sum or GUESS,
        timing.lane_use,
        sum(each.times * each.repeats * (1 - each.lane_use) for each in instructions),
        sum(each.times for each in instructions if each.repeats == 1 and each.times > 1),
        instructions,
    )


def guessed(times: Sequence[TileOperationTime]) -> Iterator[str]:
    """The names of operations whose price is a guess, each once."""
    yield from dict.fromkeys(each.name.split()[0] for each in times if each.is_guess)
