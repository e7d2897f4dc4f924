"""Repairs from order: what was written between two pipes is taken away and inserted anew; written lines stay."""

from __future__ import annotations

import pytest

import ptosim
from fuzz.orders import _arguments, tried
from order.micro_machine import outcome
from ptosim.repair import engine
from ptosim.repair.from_order import with_written_ids
from ptosim.repair.search import Effort
from repair.test_fix import LOST, OTHER, changes, check, flag

HALVES = ("set_flag", "wait_flag")


@pytest.mark.parametrize(("text", "lines"), [(LOST, 1), (OTHER, 2)], ids=["missing", "other id"])
def test_the_difference_is_the_line_that_was_wrong(text: str, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a look at single lines the same comes out: all other lines are as they were."""
    monkeypatch.setattr(engine, "HINTED", Effort(0, 1))
    monkeypatch.setattr(engine, "ASKED", Effort(0, 4))
    fix = check(text).fix()
    assert fix.verified and check(fix.text).findings == () and len(changes(fix)) == lines


def test_inserted_flags_get_the_ids_that_were_written() -> None:
    written = [flag(word, *ends).replace("EVENT_ID0", "EVENT_ID5") for ends in (("MTE2", "V"),) for word in HALVES]
    before = "\n".join(["load", written[0], "compute", "store"])
    after = "\n".join(["load", *(flag(word, "MTE2", "V") for word in HALVES), "compute", "store"])
    assert with_written_ids(before, after).split("\n") == ["load", *written, "compute", "store"]


def test_another_pair_gets_an_id_that_is_not_taken() -> None:
    before = flag("set_flag", "V", "MTE3", 1)
    found = with_written_ids(before, "\n".join([flag("set_flag", "V", "MTE3"), "more", before])).split("\n")
    assert found[0] == before and found[2] == flag("set_flag", "V", "MTE3")


@pytest.mark.full
def test_a_program_that_lacks_most_of_its_order_is_repaired() -> None:
    """Nothing in it is nearly right, so that no few edits would do."""
    trial = tried(8101, 30)
    assert trial is not None and trial.bad is not None
    fix = ptosim.check(trial.kernel, *_arguments(trial.program, trial.bad)).fix()
    assert fix.verified and engine.PROVEN in fix.notes and len(changes(fix)) > 12
    assert not any(outcome(fix.text, launch).kinds for launch in trial.launches)
