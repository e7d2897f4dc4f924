"""Random kernels of the micro level: what checks clean leaves the same bytes in every schedule, in both engines.

`make fuzz KIND=schedules N=… SEED=…` tries as many as wanted.
"""

import pytest

from fuzz.schedule_programs import schedule_program
from fuzz.schedules import Trial
from fuzz.scope_features import FEATURES

SEEDS = {False: 1, True: 20}
"""Of each feature."""
ENOUGH = {"clean": 1 / 3, "found": 1 / 10, "shown": 1 / 30}


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_alone_and_with_another(feature: str, full: bool) -> None:
    others = sorted(FEATURES)
    for seed in range(SEEDS[full]):
        for features in ((feature,), (feature, others[(seed + others.index(feature)) % len(others)])):
            trial = Trial(schedule_program(seed, features), 36 if full else 6)
            assert [*trial.wrong(), *trial.wrong_if_inserted(8 if full else 2)] == []


def test_the_kernels_tell_something(full: bool) -> None:
    """Enough are clean, enough are not, and of these enough show it: else nothing would be held."""
    trials = [Trial(schedule_program(seed), 2) for seed in range(30 if not full else 300)]
    told = {
        "clean": sum(trial.is_clean for trial in trials),
        "found": sum(not trial.is_clean for trial in trials),
        "shown": sum(not trial.is_clean and trial.differs is not None for trial in trials),
    }
    assert all(told[kind] >= share * len(trials) for kind, share in ENOUGH.items()), told
