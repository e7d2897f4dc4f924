"""Counterexamples are replayed before they are said: what never shows is not called an error, and a recipe holds."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptosim
from observed import findings
from order.test_brackets import ALL, LOAD, STORE, held, kernel, loop
from ptosim.order.replay.launches import launches
from ptosim.order.replay.replay import Replayer

READY, FREE = '"PIPE_MTE2", "PIPE_MTE3"', '"PIPE_MTE3", "PIPE_MTE2"'


def flag(word: str, pipes: str, event: int | str = 0) -> str:
    name, id_ = (word, f'"EVENT_ID{event}"') if isinstance(event, int) else (f"{word}_dyn", event)
    return f"pto.{name}[{pipes}, {id_}]"


def branch(condition: str, *lines: str) -> list[str]:
    return [f"scf.if {condition} {{", *lines, "}"]


SLOT = [
    "%s = arith.remui %j, %c2 : index",
    "%o = arith.muli %s, %c64 : index",
    "%b = pto.addptr %ub, %o : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>",
    "%row = arith.muli %j, %c64 : index",
    "%yo = pto.addptr %y, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>",
]
IN_SLOTS = [
    *SLOT,
    flag("wait_flag", FREE, "%s"),
    LOAD.replace("%ub,", "%b,"),
    flag("set_flag", READY, "%s"),
    flag("wait_flag", READY, "%s"),
    STORE.replace("%ub,", "%b,").replace("%y,", "%yo,"),
    flag("set_flag", FREE, "%s"),
]
FIRST = "%first = arith.cmpi eq, %i, %c0 : index"
CLEAN = {
    "a slot of an inner loop": [
        *(flag("set_flag", FREE, event) for event in (0, 1)),
        *loop(*loop(*IN_SLOTS, "pto.barrier #pto.pipe<PIPE_MTE3>", bound="%m", index="%j")),
        *(flag("wait_flag", FREE, event) for event in (0, 1)),
    ],
    "a buffer that is got under a branch": [*branch("%some", *held("MTE2", LOAD)), *held("MTE3", STORE)],
    "a store of the first iteration": [LOAD, ALL, *loop(FIRST, *branch("%first", STORE))],
}
"""Kernels that are in order at every number of iterations and on every branch."""
STORED = [STORE, flag("set_flag", FREE)]
WRONG = {
    "a set under a branch": [LOAD, ALL, *branch("%some", *STORED), flag("wait_flag", FREE), LOAD],
    "a wait under a branch": [
        flag("set_flag", FREE),
        *loop(*branch("%some", flag("wait_flag", FREE)), LOAD, ALL, flag("set_flag", FREE)),
        flag("wait_flag", FREE),
    ],
}
"""Kernels that are in order on one branch alone."""


def kinds(subject: ptosim.Kernel, n: int, m: int) -> set[str]:
    """What is out of order; data are another matter."""
    found = findings(subject, np.ones(4096, "f4"), np.zeros(4096, "f4"), n, m)
    return {each.kind for each in found} - {"uninitialized"}


@pytest.mark.parametrize("name", CLEAN)
def test_what_never_shows_is_no_counterexample(name: str):
    subject = kernel(*CLEAN[name], ALL)
    assert not any(kinds(subject, n, m) for n in range(4) for m in range(4))
    assert not ptosim.prove(subject).findings


@pytest.mark.parametrize("name", WRONG)
def test_a_counterexample_comes_with_arguments_that_show_it(name: str):
    found = ptosim.prove(kernel(*WRONG[name], ALL))
    assert found.findings
    for each in found.findings:
        given = re.search(r"replayed with %n = (\d+) and %m = (\d+)", str(each))
        assert given is not None
        assert each.kind in kinds(kernel(*WRONG[name], ALL), int(given[1]), int(given[2]))


@pytest.mark.parametrize("name", [*CLEAN, *WRONG])
def test_a_replay_finds_what_a_check_finds(name: str):
    subject = kernel(*(CLEAN | WRONG)[name], ALL)
    entries = dict(subject.program.entries)
    replayer = Replayer(subject.module.executable, entries)
    for launch in launches(list(entries.values()), 20):
        _, _, n, m = launch.scalars
        assert n is not None and m is not None
        assert {each.kind for each in replayer.replay(launch).shown if each.certain} == kinds(subject, n, m)


MOVED = [
    "%beside = pto.addptr %ub, %c64 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>",
    "pto.vecscope {",
    '%all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>',
    "%v = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>",
    "pto.vsts %v, %beside[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>",
    "}",
]
OVERTAKEN = [LOAD, ALL, *MOVED, LOAD, ALL]
"""A copy may overwrite what V still loads and puts beside it."""
SHOWN = STORE.replace("%ub,", "%beside,")
ONCE_MORE = [line.replace("%beside", "%far").replace("%ub[", "%beside[").replace("%ub,", "%beside,") for line in MOVED]


@pytest.mark.parametrize(
    ("rest", "is_used"),
    [
        ([], False),
        ([LOAD.replace("%ub,", "%beside,"), ALL, SHOWN], False),  # overwritten before anything has seen it
        ([SHOWN], True),
        ([*ONCE_MORE, LOAD.replace("%ub,", "%beside,"), ALL, SHOWN], False),
        ([*ONCE_MORE, ALL, STORE.replace("%ub,", "%far,")], True),  # through another load and store
    ],
)
def test_a_load_that_nothing_uses_is_no_counterexample(rest: list[str], is_used: bool):
    subject = kernel(*OVERTAKEN, *rest, ALL)
    assert kinds(subject, 1, 1) == ({"race"} if is_used else set())
    proof = ptosim.prove(subject)
    assert [each.kind for each in proof.findings] == (["race"] if is_used else []) and not proof.proven
