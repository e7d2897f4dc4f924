"""Pipes and cores that wait for each other: in a loop all that nobody has primed is, elsewhere a wait goes behind."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from sanitize.kernels import ALL, COPY, load, order, put, store, take, text
from sanitize.repair import repaired
from sanitize.test_hints_between_cores import CUBE_LOADS, examine, loop, mixed

SEED = Path(__file__).parents[1] / "seeds" / "sync_example_3a_ping_pong_flags.pto"
MTE3_BARRIER = "    pto.barrier #pto.pipe<PIPE_MTE3>\n"


def without_primes(drained: bool) -> str:
    """The page says what becomes of the example then: the first iteration hangs."""
    lines = SEED.read_text().split("\n")
    begins = next(number for number, line in enumerate(lines) if "scf.for" in line)
    ends = max(number for number, line in enumerate(lines) if "set_flag" in line)
    primes = {number for number, line in enumerate(lines) if number < begins and "set_flag" in line}
    drains = {number for number, line in enumerate(lines) if number > ends and "wait_flag" in line}
    assert len(primes) == len(drains) == 4
    lost = primes if drained else primes | drains
    return "\n".join(line for number, line in enumerate(lines) if number not in lost)


@pytest.mark.parametrize("drained", [True, False])
def test_the_example_of_the_page_without_its_primes(drained: bool):
    source, x = without_primes(drained), np.ones(5 * 1024, "f4")
    (found,) = ptosim.check(ptosim.load(source).kernel(), x, np.zeros_like(x), 5).findings
    assert found.kind == "deadlock" and found.hint is not None
    added = [line.partition("add")[2].split() for line in found.hint.split("\n")]
    assert [words[-1] for words in added] == ["prime"] * 4 + ["drain"] * (0 if drained else 4)
    assert ptosim.check(ptosim.load(repaired(source, found.hint)).kernel(), x, np.zeros_like(x), 5).findings == ()


def test_a_wait_in_front_of_its_only_set_goes_behind_it():
    body = take("V", "MTE2", 3) + load() + order("MTE2", "V") + COPY + put("V", "MTE2", 3) + order("V", "MTE3")
    source, x = text(body + store() + ALL), np.ones(64, "f4")
    (found,) = ptosim.check(ptosim.load(source).kernel(), x, np.zeros_like(x)).findings
    assert found.kind == "deadlock" and found.hint is not None and found.hint.startswith("move line 13 after")
    assert ptosim.check(ptosim.load(repaired(source, found.hint)).kernel(), x, np.zeros_like(x)).findings == ()


CUBE = {"a5": (0, 16), "a2a3": (0,)}
INPUT = load("%x_mine") + order("MTE2", "MTE3")
FREE = "      pto.sync.wait <PIPE_MTE3>, 1\n"
HANDED_OUT = FREE + MTE3_BARRIER + store("%in", "%w_mine") + "      pto.sync.set <PIPE_MTE3>, 0\n"


def taken(arch: str) -> str:
    waits = "".join(f"      pto.sync.wait <PIPE_MTE2>, {number}\n" for number in CUBE[arch])
    signals = "".join(f"      pto.sync.set <PIPE_MTE2>, {number + 1}\n" for number in CUBE[arch])
    return waits + "      pto.barrier #pto.pipe<PIPE_MTE2>\n" + CUBE_LOADS + signals


@pytest.mark.parametrize("drain", ["", FREE])
@pytest.mark.parametrize("arch", CUBE)
def test_cores_of_which_nobody_has_said_that_the_place_is_free(arch: str, drain: str):
    source = mixed(loop(taken(arch)) + ALL, INPUT + loop(HANDED_OUT) + drain + ALL, arch)
    (found,) = examine(source)
    assert found.kind == "deadlock" and found.hint is not None
    primes = [f"pto.sync.set <PIPE_MTE2>, {number + 1}  // prime" for number in CUBE[arch]]
    drains = [] if drain else ["pto.sync.wait <PIPE_MTE3>, 1  // drain"]
    assert [line.partition("add")[2].strip() for line in found.hint.split("\n")] == primes + drains
    assert examine(repaired(source, found.hint)) == ()


def test_cores_that_wait_for_each_other_once():
    source = mixed(taken("a5") + ALL, INPUT + HANDED_OUT + ALL, "a5")
    (found,) = examine(source)
    assert found.kind == "deadlock" and found.hint is not None and found.hint.startswith("move line")
    assert examine(repaired(source, found.hint)) == ()
