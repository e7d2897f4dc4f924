"""The time of one execution of a vector function."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PricedInstruction:
    """Instructions of the A2/A3 vector unit that are alike: how many of so many repeats each, and what they cost."""

    name: str
    times: int
    repeats: float  # the mean, where a long run takes several
    slope: float
    tail: float
    lane_use: float  # the valid share of the lanes of the repeats, up to 1
    line: int
    column: int  # of the slopes: 0 for elements of 4 bytes and more, 1 for smaller ones
    bytes: int  # valid ones of each

    @property
    def cycles(self) -> float:
        return self.times * (self.repeats * self.slope + self.tail)

    def __str__(self) -> str:
        each = f"{_short(self.repeats)} × {_short(self.slope)}" if self.repeats != 1 else _short(self.slope)
        sum_ = f"{each} ({self.name})" + (f" + {_short(self.tail)}" if self.tail else "")
        return sum_ if self.times == 1 else f"{self.times} × ({sum_})"


@dataclass(frozen=True, slots=True)
class VectorFunctionTiming:
    """Cycles, and where they went. `startup`, `drain` and the cycles of the lines add up to `cycles`."""

    cycles: int
    startup: float
    drain: float
    lines: Mapping[int, float]  # what each source line contributes to the chain of waits that leads to the end
    causes: Mapping[str, float]  # the same cycles by cause, the largest first; start-up and drain are "launch"
    busy: Mapping[str, float]  # cycles in which a unit was taken: issue, EXU0, EXU1, SFU, load, store
    figures: frozenset[str]  # of the target that this rests on, by dotted path
    limit: str  # what bounds it: launch, issue, loop, load/store, execute ports, SFU, reduction port, dependency ...
    heads: tuple[float, ...] = ()
    instructions: tuple[PricedInstruction, ...] = ()
    """The instructions of a tile operation on A2A3: its single costs, and its instructions there."""

    @property
    def sum(self) -> str:
        """The sum of the cycles of a tile operation on A2A3: `7 + 4 + 64 × 7 (vcadd) + 32 = 491`, else nothing."""
        if not self.instructions:
            return ""
        return " + ".join([*map(_short, self.heads), *map(str, self.instructions)]) + f" = {self.cycles}"

    @property
    def lane_use(self) -> float | None:
        """The valid share of the lanes of its repeats: of a tile operation on A2A3, up to 1."""
        weights = [each.times * each.repeats for each in self.instructions]
        if not any(weights):
            return None
        return sum(w * each.lane_use for w, each in zip(weights, self.instructions, strict=True)) / sum(weights)


def _short(number: float) -> str:
    return f"{number:g}"
