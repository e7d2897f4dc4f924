"""A few random bodies of workitems; `make fuzz KIND=workitems N=… SEED=…` tries as many as wanted."""

import pytest

from fuzz.workitems import disagreement, disagreement_on_mutant


@pytest.mark.parametrize("seed", range(400, 412))
def test_engines_agree_and_clean_bodies_have_one_outcome(seed: int) -> None:
    assert disagreement(seed, orders=2) is None


@pytest.mark.parametrize("seed", range(400, 424))
def test_engines_agree_on_mutants(seed: int) -> None:
    assert disagreement_on_mutant(seed) is None
