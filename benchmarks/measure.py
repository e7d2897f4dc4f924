"""How a time is taken: the best of several runs, after one that warms up."""

from __future__ import annotations

import time
from collections.abc import Callable

REPEATS = 5


def best(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """Seconds of the fastest of `repeats` runs."""
    return in_turns(action, rounds=repeats)[0]


def in_turns(
    *actions: Callable[[], object], rounds: int = REPEATS, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds of the fastest run of each. They take turns, so that whatever else the computer does slows down all of
    them alike; each turn begins with a run that brings its data back into the caches."""
    for action in actions:
        action()
    least = [float("inf")] * len(actions)
    for _ in range(rounds):
        for index, action in enumerate(actions):
            if len(actions) > 1:
                action()
            start = clock()
            action()
            least[index] = min(least[index], clock() - start)
    return least


def once(action: Callable[[], object]) -> float:
    """Seconds of a single run."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
