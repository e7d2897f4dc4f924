"""What is known about the time of one execution of a vector function."""

from collections.abc import Mapping
from dataclasses import dataclass


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
