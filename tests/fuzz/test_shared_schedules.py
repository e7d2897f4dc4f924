"""Random kernels of blocks, ranks, clusters and FIFOs: what checks clean leaves the same bytes in every schedule, and
both engines say the same.

`make fuzz KIND=schedules N=… SEED=…` tries as many as wanted, and as many of one vector core.
"""

import pytest

from fuzz.shared_schedules import SharedTrial, program

SEEDS = {False: range(4, 13), True: range(200)}
ENOUGH = {"clean": 1 / 5, "found": 1 / 10, "shown": 1 / 30}


def test_clean_kernels_do_not_depend_on_the_schedule(full: bool) -> None:
    """Enough are clean, enough are not, and of these enough show it: else nothing would be held."""
    trials = [SharedTrial(program(seed), 36 if full else 2) for seed in SEEDS[full]]
    assert [(seed, what) for seed, trial in zip(SEEDS[full], trials, strict=True) for what in trial.wrong()] == []
    told = {
        "clean": sum(trial.is_clean for trial in trials),
        "found": sum(not trial.is_clean for trial in trials),
        "shown": sum(not trial.is_clean and trial.differs is not None for trial in trials),
    }
    assert all(told[kind] >= share * len(trials) for kind, share in ENOUGH.items()), told


@pytest.mark.parametrize("seed", [38])
def test_kernels_that_once_were_wrong(seed: int) -> None:
    assert list(SharedTrial(program(seed), 4).wrong()) == []
