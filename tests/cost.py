"""What one call costs in terms of another, on a machine that may be busy with other things."""

import time
from collections.abc import Callable

FEWEST, MOST = 5, 60  # rounds


def costs_at_most(most: float, reference: Callable[[], object], other: Callable[[], object]) -> bool:
    """Whether the quickest of several calls takes at most so many times the processor time of the other's quickest.

    The two take turns, so that whatever else goes on slows both down; the quickest call of either is seldom among the
    first, so there are many before the answer is no.
    """
    least = {reference: float("inf"), other: float("inf")}
    for call in least:
        call()  # what is made once
    for number in range(MOST):
        for call in least:
            start = time.process_time()
            call()
            least[call] = min(least[call], time.process_time() - start)
        if number >= FEWEST and least[other] <= most * least[reference]:
            return True
    return False
