"""Private tokens (pto.sim.set_token, pto.sim.wait_token) order what flags order, in every engine and schedule; a check
demands them, and never their ids.
"""

import re

import numpy as np
import pytest

import ptosim
from native.agreement import agree
from ptosim.api import Kernel
from sanitize.kernels import ALL, COPY, check, kinds, load, order, put, store, take, text

SCHEDULES = ["program", "delay:MTE2", "delay:V", "delay:MTE3", "random:1", "random:2"]


def private(body: str) -> str:
    """The flags of a body as tokens."""
    return re.sub(r'pto\.(set|wait)_flag\[(.*), "EVENT_ID(\d)"\]', r"pto.sim.\1_token[\2, \3]", body)


BODY = private(load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store() + ALL)


def kernel(body: str) -> Kernel:
    return ptosim.load(text(body)).kernel()


def test_the_tokens_are_there() -> None:
    assert len(re.findall(r"pto\.sim\.\w+_token", BODY)) == 4
    assert "flag" not in BODY


def test_a_check_finds_nothing_to_say() -> None:
    assert kinds(check(BODY)) == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_gives_the_same_bytes(schedule: str) -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel(BODY)(x, y, engine="reference", schedule=schedule)
    assert (x == y).all()


@pytest.mark.parametrize("pair", [("MTE2", "V"), ("V", "MTE3")])
def test_without_a_pair_there_is_a_race(pair: tuple[str, str]) -> None:
    found = check(BODY.replace(private(order(*pair)), ""))
    assert "race!" in kinds(found)


def test_a_lost_set_is_an_unmatched_wait() -> None:
    body = BODY.replace(private(put("MTE2", "V")), "")
    (finding,) = (found for found in check(body).findings if found.kind == "unmatched-wait")
    assert finding.message == "V waits for token MTE2 -> V id 0, and nothing is left that would set it"


def test_a_lost_wait_leaves_a_token() -> None:
    assert "undrained" in kinds(check(BODY.replace(private(take("V", "MTE3")), "")))


def test_tokens_count() -> None:
    """Two sets before the first wait: of flags a finding, of tokens none."""
    twice = load() + put("MTE2", "V") + put("MTE2", "V") + take("MTE2", "V") + take("MTE2", "V") + COPY
    rest = order("V", "MTE3") + store() + ALL
    assert "double-set" in kinds(check(twice + rest))
    assert kinds(check(private(twice) + rest)) == []


def test_tokens_and_flags_of_one_number_are_apart() -> None:
    body = load() + put("MTE2", "V") + private(take("MTE2", "V")) + COPY + ALL
    assert "unmatched-wait!" in kinds(check(body))


def test_a_wait_before_its_set_stalls_its_pipe_in_both_engines() -> None:
    """V is stalled when the copy and the set are issued; its queue drains at the set."""
    body = private(take("MTE2", "V")) + COPY + load() + private(put("MTE2", "V") + order("V", "MTE3")) + store() + ALL
    made = kernel(body)
    x = np.arange(64, dtype=np.float32)
    found = agree(made, x, np.zeros(64, np.float32))
    assert isinstance(found, list)
    assert found[1] == x.tobytes()


def test_runs_of_flags_and_tokens_in_both_engines() -> None:
    steps = put("MTE2", "V") + private(put("MTE2", "V")) + private(take("MTE2", "V")) + take("MTE2", "V")
    made = kernel(load() + steps + COPY + private(order("V", "MTE3")) + store() + ALL)
    x = np.arange(64, dtype=np.float32)
    found = agree(made, x, np.zeros(64, np.float32))
    assert isinstance(found, list)
    assert found[1] == x.tobytes()


def test_they_take_the_time_of_flags() -> None:
    flags = load() + order("MTE2", "V") + COPY + order("V", "MTE3") + store() + ALL
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    cycles = [ptosim.profile(kernel(body), x, y).cycles for body in (flags, private(flags))]
    assert cycles[0] == cycles[1]
