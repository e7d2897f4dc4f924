"""If a check finds no race, no scope-alias error and no deadlock, every schedule gives the same bytes in the arguments.

Random programs, of one vector core and of a whole cluster, are checked, and the race-free ones among them run under
twenty random schedules and with each pipe delayed. That racy ones do show differences is counted as well: a check that
called everything clean, or schedules that never differ, would not pass.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import ptosim
from observed import findings
from ptosim.diagnostics import Diagnostic
from sanitize import random_clusters, random_kernels

FORBIDDEN = {"race", "deadlock", "unmatched-wait"}
PIPES = {"vector": ("S", "V", "MTE2", "MTE3"), "cluster": ("V", "MTE2", "MTE3", "MTE1", "FIX")}

Arguments = Callable[[], list[np.ndarray]]


def outcome(kernel: ptosim.Kernel, arguments: Arguments, schedule: str) -> list[bytes]:
    given = arguments()
    kernel(*given, engine="reference", schedule=schedule)
    return [array.tobytes() for array in given]


def is_clean(found: Sequence[Diagnostic]) -> bool:
    return not any(
        finding.kind in FORBIDDEN or (finding.kind == "scope-alias" and finding.severity == "error")
        for finding in found
    )


def compare(texts: list[str], arguments: Arguments, pipes: tuple[str, ...]) -> None:
    """Texts that check clean give the same bytes in all schedules. Enough are clean, and enough others differ."""
    schedules = [*(f"delay:{pipe}" for pipe in pipes), *(f"random:{seed}" for seed in range(20))]
    clean = racy = shown = 0
    for text in texts:
        kernel = ptosim.load(text).kernel()
        found = findings(kernel, *arguments())
        expected = outcome(kernel, arguments, "program")
        same = all(outcome(kernel, arguments, schedule) == expected for schedule in schedules)
        if is_clean(found):
            clean += 1
            assert same, f"clean, but it depends on the schedule\n{text}"
        else:
            racy += 1
            shown += not same
    assert clean >= len(texts) / 5
    assert racy >= len(texts) / 10
    assert shown >= racy / 5


@pytest.mark.parametrize("length", [4, 9])
def test_clean_programs_do_not_depend_on_the_schedule(length: int, full: bool) -> None:
    texts = [random_kernels.program(seed, length) for seed in range(200 if full else 15)]
    compare(texts, random_kernels.arguments, PIPES["vector"])


@pytest.mark.parametrize("length", [5, 9])
def test_nor_do_clean_programs_of_a_cluster(length: int, full: bool) -> None:
    texts = [random_clusters.cluster(seed, length, care=0.85) for seed in range(100 if full else 20)]
    compare(texts, random_clusters.arguments, PIPES["cluster"])
