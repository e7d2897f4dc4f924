"""Private tokens (pto.sim.set_token, pto.sim.wait_token) order what flags order, in every engine and schedule; a check
demands them, and never their ids. The scoped wait (pto.sim.tsync) orders what touches its bytes.
"""

import re

import numpy as np
import pytest

import ptosim
from both_engines import agree
from ptosim.api import Kernel
from sanitize.kernels import ALL, COPY, MASK, check, kinds, load, order, put, scope, store, take, text, vlds, vsts

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
    (found,) = check(BODY.replace(private(take("V", "MTE3")), "")).findings
    assert found.kind == "race"
    assert [each.kind for each in found.consequences] == ["undrained"]


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


# --- the scoped wait --------------------------------------------------------------------------------------------------

OTHER = (
    "    %far = arith.constant 1024 : i64\n    %b = pto.castptr %far : i64 -> !pto.ptr<f32, ub>\n"
    "    %b_out_at = arith.constant 2048 : i64\n    %b_out = pto.castptr %b_out_at : i64 -> !pto.ptr<f32, ub>\n"
)
"""A second buffer, %b."""


def tsync(*pointers: str) -> str:
    spaces = ["gm" if pointer in ("%x", "%y") else "ub" for pointer in pointers]
    types = ", ".join([*(f"!pto.ptr<f32, {space}>" for space in spaces), *["i64"] * len(pointers)])
    return f"    pto.sim.tsync {', '.join(pointers)} sizes {', '.join(['%bytes'] * len(pointers))} : {types}\n"


def copied(source: str, dest: str) -> str:
    return scope(MASK + vlds(source=source) + vsts(dest=dest))


def test_it_orders_what_touches_the_bytes() -> None:
    body = load() + tsync("%in") + COPY + tsync("%out") + store() + ALL
    assert kinds(check(body)) == []
    assert "race!" in kinds(check(body.replace(tsync("%in"), "")))
    assert "race!" in kinds(check(body.replace(tsync("%out"), "")))


def test_it_does_not_order_what_touches_others() -> None:
    """The copy to %b comes later on its pipe: a wait for %in does not cover it."""
    both = OTHER + load() + load(dest="%b")
    end = order("V", "MTE3") + store() + ALL
    assert kinds(check(both + tsync("%in") + copied("%in", "%out") + end)) == []
    assert kinds(check(both + tsync("%in") + copied("%b", "%out") + end)) == ["race!"]


def test_an_earlier_entry_of_the_pipe_is_covered() -> None:
    """What a pipe did before the entry that is waited for has ended as well."""
    both = OTHER + load() + load(dest="%b")
    assert kinds(check(both + tsync("%b") + copied("%in", "%out") + ALL)) == []


def test_several_ranges() -> None:
    both = OTHER + load() + load(dest="%b") + tsync("%in", "%b")
    assert kinds(check(both + copied("%in", "%out") + copied("%b", "%b_out") + ALL)) == []


def test_reads_count_as_well() -> None:
    """The second load overwrites what the scope reads."""
    again = load() + order("MTE2", "V") + COPY + tsync("%in") + load() + order("V", "MTE3") + store() + ALL
    assert kinds(check(again)) == []
    assert "race!" in kinds(check(again.replace(tsync("%in"), "")))


def test_global_memory() -> None:
    """A store and then a load of the same bytes of an argument."""
    back = load() + order("MTE2", "MTE3") + store("%in") + tsync("%y") + load("%y", "%out") + ALL
    assert kinds(check(back)) == []
    assert "race!" in kinds(check(back.replace(tsync("%y"), "")))


def test_in_a_second_block() -> None:
    """Nothing of an earlier block is taken for this one's."""
    body = load() + tsync("%in") + COPY + tsync("%out") + store() + ALL
    assert [kind for kind in kinds(check(body, grid=2)) if kind == "race!"] == []
    assert "race!" in kinds(check(body.replace(tsync("%in"), ""), grid=2))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_it_holds_under_every_schedule(schedule: str) -> None:
    made = kernel(load() + tsync("%in") + COPY + tsync("%out") + store() + ALL)
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    made(x, y, engine="reference", schedule=schedule)
    assert (x == y).all()


def test_both_engines_with_and_without_a_stall() -> None:
    """MTE3 waits for a flag that comes before the scoped wait, so that its queue is not empty in between."""
    plain = load() + tsync("%in") + COPY + tsync("%out") + store() + ALL
    stalled = take("V", "MTE3") + store() + load() + order("MTE2", "V") + COPY + put("V", "MTE3") + tsync("%out") + ALL
    for body in (plain, stalled):
        x = np.arange(64, dtype=np.float32)
        found = agree(kernel(body), x, np.zeros(64, np.float32))
        assert isinstance(found, list)
        assert found[1] == x.tobytes()


def test_the_scalar_unit_stands_until_the_entry_has_ended() -> None:
    """Two copies of 256 bytes: the wait for the first is shorter than the wait for both."""
    both = OTHER + load() + load(dest="%b")
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    end = COPY + ALL
    first, second, barrier, none = (
        ptosim.profile(kernel(both + wait + end), x, y).timeline for wait in (tsync("%in"), tsync("%b"), ALL, "")
    )
    starts = [next(event.start for event in events if event.pipe == "V") for events in (none, first, second, barrier)]
    assert starts[0] < starts[1] < starts[2] == starts[3]
