"""Least cost: choices that cost least together, where each cost looks at a few of them.

One choice after the other is eliminated: what costs with it are joined to a table over its neighbours that holds the
least, and which option gave it. That is exact, and takes as much as the largest table, which is small where few costs
overlap. Where it would not be, a choice in the midst is fixed first, to what is least as far as it can be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST = 200_000
"""The most numbers of a table."""


class CostTable(NamedTuple):
    """Costs by the options of some choices, one axis for each."""

    choices: tuple[int, ...]
    costs: NDArray[np.int64]


def cost_table(choices: tuple[int, ...], sizes: Mapping[int, int], cost: Callable[..., int]) -> CostTable:
    """The costs of every combination of options."""
    shape = tuple(sizes[choice] for choice in choices)
    costs = [cost(*options) for options in product(*map(range, shape))]
    return CostTable(choices, np.array(costs, np.int64).reshape(shape))


def least_choices(tables: Sequence[CostTable], sizes: Mapping[int, int]) -> dict[int, int]:
    """An option for each choice; the first of those that cost as much."""
    left = _Elimination(tables, sizes)
    steps: list[tuple[int, tuple[int, ...], NDArray[np.intp]]] = []
    while left.near:
        number = min(left.near, key=left.size)
        if left.size(number) > MOST:
            number = max(left.near, key=lambda choice: len(left.near[choice]))
            steps.append((number, (), left.fix(number)))
        else:
            others = left.near[number][1:]
            steps.append((number, others, left.eliminate(number)))
    chosen: dict[int, int] = {}
    for number, others, best in reversed(steps):
        chosen[number] = int(best[tuple(chosen[each] for each in others)])
    return chosen


class _Elimination:
    """The choices left, each with the tables over it and the other choices of these tables."""

    def __init__(self, tables: Sequence[CostTable], sizes: Mapping[int, int]) -> None:
        self.sizes = sizes
        self.tables: dict[int, list[CostTable]] = {number: [] for number in sizes}
        for table in tables:
            for number in table.choices:
                self.tables[number].append(table)
        self.near = {number: self._seen(number) for number in sizes}

    def size(self, number: int) -> int:
        """The numbers of the table that eliminates a choice."""
        return prod(self.sizes[each] for each in self.near[number])

    def _seen(self, number: int) -> tuple[int, ...]:
        """The choice, and behind it the others that some cost looks at together with it."""
        return tuple(dict.fromkeys([number, *(each for table in self.tables[number] for each in table.choices)]))

    def eliminate(self, number: int) -> NDArray[np.intp]:
        """The best option by the options of the others that are near."""
        choices = self.near[number]
        joined = np.zeros([self.sizes[choice] for choice in choices], np.int64)
        for table in self.tables[number]:
            present = [choice for choice in choices if choice in table.choices]
            costs = table.costs.transpose([table.choices.index(choice) for choice in present])
            joined += costs.reshape([self.sizes[choice] if choice in present else 1 for choice in choices])
        self._replace(number, [CostTable(choices[1:], np.asarray(joined.min(axis=0)))])
        return np.asarray(joined.argmin(axis=0))

    def fix(self, number: int) -> NDArray[np.intp]:
        """The best option where every other choice may be the best for each cost alone."""
        alone = np.zeros(self.sizes[number], np.int64)
        for table in self.tables[number]:
            alone += table.costs.min(axis=tuple(axis for axis, each in enumerate(table.choices) if each != number))
        best = int(alone.argmin())
        kept: list[CostTable] = []
        for table in self.tables[number]:
            rest = tuple(each for each in table.choices if each != number)
            kept.append(CostTable(rest, np.asarray(table.costs.take(best, table.choices.index(number)))))
        self._replace(number, kept)
        return np.array(best)

    def _replace(self, number: int, tables: Sequence[CostTable]) -> None:
        """A choice is gone; these tables stand in place of those that looked at it."""
        near = self.near.pop(number)[1:]
        gone = set(map(id, self.tables.pop(number)))
        for other in near:
            self.tables[other] = [table for table in self.tables[other] if id(table) not in gone]
        for table in tables:
            for other in table.choices:
                self.tables[other].append(table)
        for other in near:
            self.near[other] = self._seen(other)
