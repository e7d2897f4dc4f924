"""How a time is taken: the best of several runs, after one that warms up."""

from __future__ import annotations

import time
from collections.abc import Callable

REPEATS = 5


def best(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """Seconds of the fastest of `repeats` runs."""
    action()
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def in_turns(*actions: Callable[[], object], rounds: int = 25) -> list[float]:
    """Processor seconds of the fastest run of each. They take turns, so that whatever else the computer does slows down
    all of them alike."""
    for action in actions:
        action()
    least = [float("inf")] * len(actions)
    for _ in range(rounds):
        for index, action in enumerate(actions):
            start = time.process_time()
            action()
            least[index] = min(least[index], time.process_time() - start)
    return least


def once(action: Callable[[], object]) -> float:
    """Seconds of a single run."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
