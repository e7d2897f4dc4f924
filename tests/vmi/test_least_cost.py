"""Choices that cost least together, against all combinations."""

from itertools import product

import numpy as np
import pytest

from ptosim.vmi import least_cost
from ptosim.vmi.least_cost import CostTable, cost_table, least_choices


def random_tables(seed: int, number: int, costs: int, width: int) -> tuple[list[CostTable], dict[int, int]]:
    random = np.random.default_rng(seed)
    sizes = {choice: int(random.integers(1, 5)) for choice in range(number)}
    tables: list[CostTable] = []
    for _ in range(costs):
        seen = tuple(map(int, random.permutation(number)[: random.integers(1, width + 1)]))
        tables.append(cost_table(seen, sizes, lambda *options: int(random.integers(0, 9))))
    return tables, sizes


def total(tables: list[CostTable], chosen: dict[int, int]) -> int:
    return sum(int(table.costs[tuple(chosen[number] for number in table.choices)]) for table in tables)


@pytest.mark.parametrize("seed", range(40))
def test_nothing_costs_less(seed: int) -> None:
    tables, sizes = random_tables(seed, 6, 9, 3)
    every = [dict(enumerate(options)) for options in product(*(range(size) for size in sizes.values()))]
    chosen = least_choices(tables, sizes)
    assert set(chosen) == set(sizes)
    assert total(tables, chosen) == min(total(tables, each) for each in every)


def test_choices_without_costs_take_their_first_option() -> None:
    assert least_choices([], {3: 2, 5: 4}) == {3: 0, 5: 0}


def test_long_chains_are_solved_exactly() -> None:
    """A thousand choices, each pair of neighbours alike at no cost, the ends unlike."""
    number, sizes = 1000, dict.fromkeys(range(1000), 3)
    tables = [cost_table((each, each + 1), sizes, lambda one, other: 2 * (one != other)) for each in range(number - 1)]
    tables += [
        cost_table((0,), sizes, lambda one: 5 * (one != 1)),
        cost_table((999,), sizes, lambda one: 5 * (one != 2)),
    ]
    chosen = least_choices(tables, sizes)
    assert total(tables, chosen) == 2
    assert (chosen[0], chosen[999]) == (1, 2)


def test_costs_that_overlap_too_much_still_give_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    tables, sizes = random_tables(7, 12, 60, 4)
    least = total(tables, least_choices(tables, sizes))
    monkeypatch.setattr(least_cost, "MOST", 16)
    chosen = least_choices(tables, sizes)
    assert set(chosen) == set(sizes)
    assert least <= total(tables, chosen) < total(tables, dict.fromkeys(sizes, 0))
