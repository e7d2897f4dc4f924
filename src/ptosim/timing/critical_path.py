"""The critical path of a vector function: the chain of waits that led to its end, and repeated stretches of time.

The chain is followed from the entry that ended last. It started when it did because of an operand, because its unit was
taken, or because it had not been issued before; it was issued when it was because of its predecessor in program order,
of a loop, or of another entry that had to start first. Each such wait is a span of cycles with a line and a cause.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ptosim.timing.a5_vector import IssuedStep

# Issue waited for the predecessor in program order to be issued; for any other cause, for an entry to start.
_IN_PROGRAM_ORDER = frozenset({"issue", "loop", "branch"})


@dataclass(frozen=True, slots=True)
class Span:
    begin: int
    end: int
    line: int
    cause: str


def critical_path(last: IssuedStep) -> Iterator[Span]:
    """The spans that led to the end of the entry, from there back to cycle 0, without gaps."""
    yield Span(last.start, last.end, last.step.line, "dependency")
    entry: IssuedStep | None = last
    at_start = True
    while entry is not None:
        if not at_start:
            after = entry.issue_after
            at_start = entry.issue_cause not in _IN_PROGRAM_ORDER
            begin = 0 if after is None else after.start if at_start else after.issued
            cause = after.step.unit if entry.issue_cause == "queue" and after else entry.issue_cause
            yield Span(begin, entry.issued, entry.issue_line, cause)
            entry = after
        elif after := entry.start_after:
            yield Span(after.start, entry.start, after.step.line, entry.start_cause)
            entry = after
        else:
            at_start = False


@dataclass(frozen=True, slots=True)
class Repetition:
    """A window of simulated cycles that stands for itself and so many repetitions more."""

    begin: int
    end: int
    more: int


class Clock:
    """From simulated to real cycles. Of two repetitions that meet, one lies inside the other and is repeated by it."""

    def __init__(self, repetitions: Iterable[Repetition]) -> None:
        self.edges, self.weights = [0], [1]
        inside: list[tuple[int, int]] = []  # end and weight of the repetitions around the current edge
        for window in sorted(repetitions, key=lambda window: (window.begin, -window.end)):
            self._leave(inside, window.begin)
            weight = (inside[-1][1] if inside else 1) * (1 + window.more)
            inside.append((window.end, weight))
            self._edge(window.begin, weight)
        self._leave(inside, None)
        self.times = [0]
        for place, weight in enumerate(self.weights[:-1]):
            self.times.append(self.times[-1] + (self.edges[place + 1] - self.edges[place]) * weight)

    def _leave(self, inside: list[tuple[int, int]], cycle: int | None) -> None:
        while inside and (cycle is None or inside[-1][0] <= cycle):
            end, _ = inside.pop()
            self._edge(end, inside[-1][1] if inside else 1)

    def _edge(self, cycle: int, weight: int) -> None:
        self.edges.append(cycle)
        self.weights.append(weight)

    def weight(self, cycle: int) -> int:
        """The number of real cycles that a simulated one stands for."""
        return self.weights[bisect_right(self.edges, cycle) - 1]

    def time(self, cycle: int) -> int:
        """The real cycle that a simulated one is, the first of them where it stands for many."""
        place = bisect_right(self.edges, cycle) - 1
        return self.times[place] + (cycle - self.edges[place]) * self.weights[place]
