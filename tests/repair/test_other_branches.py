"""Repairs hold on the branches and at the sizes that the check did not run."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from order.test_brackets import ALL, LOAD, STORE, kernel, loop
from order.test_replay import FREE, READY, WRONG, branch, flag, kinds
from ptosim.repair import engine
from ptosim.report.fix import Fix

CARRIED = [
    flag("set_flag", FREE),
    *loop(
        *branch("%some", flag("wait_flag", FREE), LOAD, "pto.barrier #pto.pipe<PIPE_MTE2>"),
        *(LOAD, flag("set_flag", READY), flag("wait_flag", READY), STORE, "pto.barrier #pto.pipe<PIPE_MTE3>"),
        flag("set_flag", FREE),
    ),
    flag("wait_flag", FREE),
]
"""The wait for the buffer has slipped into a branch."""


def fix(subject: ptosim.Kernel, n: int, m: int) -> Fix:
    return ptosim.check(subject, np.ones(4096, "f4"), np.zeros(4096, "f4"), n, m).fix()


@pytest.mark.parametrize(
    ("lines", "n", "m"), [(WRONG["a set under a branch"], 1, 0), (CARRIED, 3, 0)], ids=["a set", "a wait"]
)
def test_what_has_slipped_into_a_branch_is_moved_out(lines: list[str], n: int, m: int):
    subject = kernel(*lines, ALL)
    found = fix(subject, n, m)
    assert found.verified and engine.PROVEN in found.notes
    repaired = ptosim.load(found.text).kernel()
    assert not any(kinds(repaired, n, m) for n in range(4) for m in range(2))
    assert sorted(found.text.split()) == sorted(subject.module.source.split())


def test_no_repair_is_worse_in_another_launch():
    """Without the condition there is a flag too many on one branch, and whatever is tried on the other is judged."""
    lines = [*branch("%some", flag("set_flag", READY)), LOAD, ALL, flag("wait_flag", READY), STORE]
    subject = kernel(*lines, ALL)
    found = fix(subject, 1, 0)
    repaired = ptosim.load(found.text).kernel()
    for m in range(2):
        assert not (kinds(repaired, 1, m) - kinds(subject, 1, m))
    assert not found.verified or not any(kinds(repaired, 1, m) for m in range(2))
