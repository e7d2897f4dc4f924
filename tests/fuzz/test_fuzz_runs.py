"""2,000 mutated examples and 1,000 settings of the copy registers: an answer in time, the same from both engines."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from random import Random

import pytest

import ptosim
from fuzz.case import loaded
from fuzz.mutated import CORPUS, MUTATIONS, mutants
from fuzz.registers import settings
from fuzz.trial import SOURCES

TESTS = Path(__file__).parents[1]
CASES = 50
"""Cases of one seed."""
FEW = 6
"""Of one in a sample."""
SEEDS = {"mutants": 40, "registers": 20}
TOGETHER = 4
"""Seeds that share a process, which takes longer to start than to try a few cases."""
SAMPLED = {"mutants": 1, "registers": 11}
"""The seed of a sample."""


def survives(source: str, seeds: Sequence[int], cases: int = CASES) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), *sys.path))}
    command = [sys.executable, "-m", "fuzz.trial", source, str(cases), *map(str, seeds)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600, check=False)
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    wrong = [answer for answer in answers if "case" in answer]
    told = "\n\n".join("\n".join((answer["case"], *answer["wrong"], answer["text"])) for answer in wrong)
    assert not wrong, told
    assert answers == [{"done": str(seed), "cases": cases} for seed in seeds], (
        f"exit code {ended.returncode}\n{ended.stderr}"
    )


@pytest.mark.parametrize("source", SAMPLED)
def test_a_sample(source: str):
    survives(source, [SAMPLED[source]], FEW)


@pytest.mark.parametrize(("source", "cases"), [("texts", 40), ("launches", 6), ("ranks", 2), ("deep", 1)])
def test_a_sample_of_the_other_kinds(source: str, cases: int):
    survives(source, [1], cases)


@pytest.mark.full
@pytest.mark.parametrize(
    ("source", "first"), [(name, seed) for name, count in SEEDS.items() for seed in range(0, count, TOGETHER)]
)
def test_all(source: str, first: int):
    survives(source, range(first, first + TOGETHER))


def test_most_cases_load():
    """A fuzz of texts that nobody accepts would find nothing."""
    for source, count in (("mutants", 24), ("registers", 60)):
        good = 0
        for case in islice(SOURCES[source](Random(5)), count):
            with suppress(ptosim.PTOError):
                loaded(case.text)
                good += 1
        assert good >= 0.75 * count, source


def test_mutants_differ_and_every_example_has_some():
    cases = list(islice(mutants(Random(1)), 2 * len(CORPUS)))
    assert {case.name.partition(":")[0] for case in cases} == set(CORPUS)
    assert len({case.text for case in cases}) >= 1.8 * len(CORPUS)
    assert len(MUTATIONS) > 1 and next(settings(Random(1))).text != next(settings(Random(2))).text
