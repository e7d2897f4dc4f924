"""The vector instructions of a profile: how often each executed, and how many of its lanes took part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ptosim.reference.observed.lane_count import ExecutedLanes


@dataclass(frozen=True)
class InstructionUse:
    """An instruction of vector scopes at one line, over the whole run."""

    line: int | None
    name: str
    count: int
    lane_use: float
    """The active share of its lanes, up to 1."""
    needed: int
    """Executions that would do where all lanes were active."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "lane_use": round(self.lane_use, 4)}


def instruction_mix(counted: Iterable[ExecutedLanes]) -> Sequence[InstructionUse]:
    """The instructions, those that executed most first."""
    sums: dict[tuple[int | None, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for each in counted:
        if each.times:
            place = sums[each.site.line, each.site.name]
            whole = each.times * each.lanes
            for number, amount in enumerate((each.times, each.active, whole, -(-each.active // each.lanes))):
                place[number] += amount
    found = [
        InstructionUse(line, name, times, active / whole, needed)
        for (line, name), (times, active, whole, needed) in sums.items()
    ]
    return sorted(found, key=lambda use: (-use.count, use.line or 0, use.name))
