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


def once(action: Callable[[], object]) -> float:
    """Seconds of a single run."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
