"""What one call costs in terms of another, on a machine that may be busy with other things."""

import time
from collections.abc import Callable

FEWEST, MOST = 5, 60  # rounds


def costs_at_most(most: int, reference: Callable[[], object], other: Callable[[], object]) -> bool:
    """Whether the quickest of several calls takes at most the processor time of so many calls of the other, the
    quickest such series.

    The two take turns, so that whatever else goes on slows both down, and last about equally long, so that it finds
    both as often; the quickest of either is seldom among the first, so there are many before the answer is no.
    """
    calls = {reference: most, other: 1}
    least = dict.fromkeys(calls, float("inf"))
    for call in calls:
        call()  # what is made once
    for number in range(MOST):
        for call, times in calls.items():
            start = time.process_time()
            for _ in range(times):
                call()
            least[call] = min(least[call], time.process_time() - start)
        if number >= FEWEST and least[other] <= least[reference]:
            return True
    return False
