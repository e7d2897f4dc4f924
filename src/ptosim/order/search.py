"""The search for a cheaper order: pairs that stand for several, as long as that costs no time.

What an order costs is asked of a function that is handed in, since the timing model is on a floor above. Insertion
places every set as early and every wait as late as the program allows, so time can only be lost here: the search gives
up pairs, never the analysis, and no more time than it is allowed to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ptosim.order.insert import Inserter
from ptosim.order.pairs import Pair

MOST_TRIALS = 24
"""The most evaluations of the cost."""


@dataclass(frozen=True)
class Goal:
    """The bounds of a result: no more pairs than were written, and so many cycles at most."""

    pairs: int
    cycles: Callable[[], int]


def search(
    inserters: Sequence[Inserter], cost: Callable[[], int], goal: Goal | None, trials: int = MOST_TRIALS
) -> None:
    """Merge pairs: first those that cost nothing, then those that cost least, until there are no more than by hand and
    as long as it takes no longer. The cost is asked for once more than there are trials."""
    is_reached = goal is None or sum(len(inserter.inserted.pairs) for inserter in inserters) <= goal.pairs
    if trials > 0 and (not is_reached or any(True for inserter in inserters for _ in inserter.alike())):
        _Search(inserters, cost, trials).run(goal)


class _Search:
    def __init__(self, inserters: Sequence[Inserter], cost: Callable[[], int], trials: int) -> None:
        self.inserters = inserters
        self.trials = trials
        self._cost = cost
        self.cycles = cost()
        self.refused: dict[tuple[Pair, Pair], int] = {}
        """Pairs for which none stands, and what it would cost; -1 where it cannot be."""

    def run(self, goal: Goal | None) -> None:
        while self.trials > 0 and self._merged():
            self.trials -= 1
        if goal is not None:
            self._reach(goal)

    def _merged(self) -> bool:
        """Whether there were two pairs for which one could stand: it does, unless it costs time."""
        alike = [found for found in self._pairs(Inserter.alike) if found[1:] not in self.refused]
        return any(self._tried(*found, self.cycles) for found in alike)

    def _tried(self, inserter: Inserter, one: Pair, other: Pair, allowed: int) -> bool:
        """Let one pair stand for two, unless it takes longer than allowed; says whether it could."""
        pair = inserter.merge(one, other)
        cycles = self._cost() if pair is not None else -1
        if pair is not None and cycles <= allowed:
            self.cycles = cycles
            return True
        self.refused[one, other] = cycles
        if pair is not None:
            inserter.split(pair, one, other)
        return pair is not None

    def _pairs(self, which: Callable[[Inserter], Iterator[tuple[Pair, Pair]]]) -> Iterator[tuple[Inserter, Pair, Pair]]:
        for inserter in self.inserters:
            for one, other in which(inserter):
                yield inserter, one, other

    def _reach(self, goal: Goal) -> None:
        """Merge what costs least, while there are too many and it takes no longer than allowed."""
        allowed = -1
        while sum(len(inserter.inserted.pairs) for inserter in self.inserters) > goal.pairs:
            allowed = goal.cycles() if allowed < 0 else allowed
            either = [*self._pairs(Inserter.alike), *self._pairs(Inserter.in_a_row)]
            costs = [(self.refused.get(found[1:], allowed), found) for found in either]
            costs = [each for each in costs if 0 <= each[0] <= allowed]
            if not costs or self.trials <= 0:
                return
            _, found = min(costs, key=lambda each: each[0])
            self._tried(*found, allowed)
            self.trials -= 1
