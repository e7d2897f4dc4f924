"""Correct kernels check clean: every example at its edge sizes, every kernel of the seed pages.

These have masked tails, padded rows, neighbouring buffers that are being filled, streams, semaphores and matrix
products; a check that cries wolf on one of them is of no use.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from examples.test_examples import EDGES, EXAMPLES, NAMES, script
from seeds.test_seeds_schedules import ARGUMENTS

SEEDS = Path(__file__).parents[1] / "seeds"
REMARKS = {
    "load_store_forms_stores": [("overlap", "warning")],  # one row of zeros is loaded ten times
    "sync_cluster_a5": [("lint", "warning")] * 3,  # waits that name no pipe
}
CASES = [(name, sizes) for name in NAMES for sizes in ({}, *EDGES.get(name, []))]


@pytest.mark.parametrize("name, sizes", CASES, ids=[f"{name}-{sizes}" for name, sizes in CASES])
def test_examples(name: str, sizes: dict[str, Any]) -> None:
    launch = script(name).launch(**sizes)
    report = ptosim.check(ptosim.load(EXAMPLES / f"{name}.pto").kernel(), *launch.arguments, grid=launch.grid)
    assert report.ok, report


@pytest.mark.parametrize("name", ARGUMENTS)
def test_seeds(name: str) -> None:
    report = ptosim.check(ptosim.load(SEEDS / f"{name}.pto").kernel(), *ARGUMENTS[name]())
    assert [(finding.kind, finding.severity) for finding in report.findings] == REMARKS.get(name, []), report


def test_examples_without_a_tail_have_no_finding_at_all() -> None:
    x = np.ones((32, 32), np.float32)
    report = ptosim.check(ptosim.load(EXAMPLES / "abs.pto").kernel(), x, np.zeros_like(x), unwritten="error")
    assert report.findings == ()
