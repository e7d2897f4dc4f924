"""`make fuzz KIND=… N=… SEED=…`: tries as many cases of a kind, tells what went wrong, and fails where anything did."""

import sys
from collections.abc import Callable, Mapping
from functools import partial

from fuzz import orders, schedules, shared_schedules, trial, workitems


def _texts(source: str, count: int, seed: int) -> bool:
    return trial.main(source, str(count), str(seed))


def _schedules(count: int, seed: int) -> bool:
    """One vector core, and several cores, blocks and ranks."""
    is_right = schedules.main(count, seed)
    return shared_schedules.main(count, seed) and is_right


KINDS: Mapping[str, Callable[[int, int], bool]] = {
    "order": orders.main,
    "schedules": _schedules,
    "workitems": workitems.main,
    **{source: partial(_texts, source) for source in trial.SOURCES},
}
"""By their names: the number of cases and the seed, and whether all is right."""

if __name__ == "__main__":
    kind, count, seed = sys.argv[1:]
    if kind not in KINDS:
        sys.exit(f"KIND is one of {', '.join(KINDS)}")
    sys.exit(not KINDS[kind](int(count), int(seed)))
