"""Repairs from order: what was written between two pipes is taken away and inserted anew; written lines stay."""

from __future__ import annotations

import re

import pytest

import ptosim
from fuzz.orders import _arguments, tried
from order.micro_machine import outcome
from ptosim.language.text.edited_text import edited
from ptosim.repair import engine
from ptosim.repair.from_order import edits_between, with_written_ids
from ptosim.repair.proposals import Proposals
from ptosim.repair.search import Effort
from ptosim.repair.written import read
from ptosim.sanitize.program import WrittenProgram
from repair.test_fix import LOST, OTHER, changes, check, flag
from repair.tile_kernel import KERNEL, arguments

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
    before = ["load", written[0], "compute", "store"]
    after = ["load", *(flag(word, "MTE2", "V") for word in HALVES), "compute", "store"]
    assert with_written_ids(before, after) == ["load", *written, "compute", "store"]


def test_another_pair_gets_an_id_that_is_not_taken() -> None:
    before = flag("set_flag", "V", "MTE3", 1)
    found = with_written_ids([before], [flag("set_flag", "V", "MTE3"), "more", before])
    assert found[0] == before and found[2] == flag("set_flag", "V", "MTE3")


SOURCE = """func.func @kernel() attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  pto.barrier #pto.pipe<PIPE_V>
  scf.for %i = %c0 to %c4 step %c1 {
FIRST
    pto.barrier #pto.pipe<PIPE_V>
LAST
  }
  pto.barrier #pto.pipe<PIPE_MTE2>
  return
}"""


def told(inside: tuple[str, ...], *added: tuple[str, int]) -> list[str]:
    """The edits that make a text of one that lacks some lines in front of others."""
    before = SOURCE.replace("FIRST", inside[0]).replace("LAST", inside[1])
    lines = before.split("\n")
    for line, number in reversed(added):
        lines.insert(number - 1, line)
    program = WrittenProgram(ptosim.load(before).verified)
    edits = edits_between(program, "\n".join(lines))
    assert [line.partition("  // ")[0].strip() for line in edited(before, edits).text.split("\n")] == [
        line.strip() for line in lines
    ]
    return list(map(str, edits))


PUT, TAKE = (flag(word, "V", "MTE2", 3).strip() for word in HALVES)


def test_what_a_loop_lacks_around_it_is_told_as_prime_and_drain() -> None:
    assert told((TAKE, PUT), (PUT, 6), (TAKE, 11)) == [
        f"before line 6 add {PUT}  // prime",
        f"after line 10 add  {TAKE}  // drain",
    ]


def test_ids_that_a_loop_computes_are_primed_as_well() -> None:
    take, put = (f'pto.{word}_dyn["PIPE_V", "PIPE_MTE2", %i]' for word in reversed(HALVES))
    other = PUT.replace("ID3", "ID2")
    assert told((take, put), (other, 6), (PUT, 6)) == [f"before line 6 add {each}  // prime" for each in (other, PUT)]


def test_a_pair_around_a_loop_that_has_its_own_stands_beside_what_it_orders() -> None:
    """Neither is one of the next iteration."""
    assert told((PUT, TAKE), (PUT, 6), (TAKE, 11)) == [f"after line 5 add  {PUT}", f"before line 11 add {TAKE}"]


def test_a_set_goes_behind_an_access_and_a_wait_in_front_of_one() -> None:
    other = PUT.replace("ID3", "ID4")
    inserted = (PUT, 11), (other, 11), (TAKE, 11)
    assert told(("", ""), *inserted) == [
        f"after line 10 add  {PUT}",
        f"after line 10 add  {other}",
        f"before line 11 add {TAKE}",
    ]


@pytest.mark.full
def test_a_program_that_lacks_most_of_its_order_is_repaired() -> None:
    """Nothing in it is nearly right, so that no few edits would do."""
    trial = tried(8101, 30)
    assert trial is not None and trial.bad is not None
    fix = ptosim.check(trial.kernel, *_arguments(trial.program, trial.bad)).fix()
    assert fix.verified and engine.PROVEN in fix.notes and len(changes(fix)) > 12
    assert not any(outcome(fix.text, launch).kinds for launch in trial.launches)


def order_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is tried by itself."""
    monkeypatch.setattr(engine, "HINTED", Effort(0, 4))
    monkeypatch.setattr(Proposals, "propose", lambda *_: iter(()))


def without(*parts: str) -> str:
    return "\n".join(line for line in KERNEL.split("\n") if not any(part in line for part in parts))


LOST_EVENT = "_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>"
"""The set and the wait for what was loaded."""


def test_events_of_tiles_are_repaired_in_their_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiles get no addresses, and every event that is right stays as it is."""
    order_alone(monkeypatch)
    broken = without(LOST_EVENT)
    fix = ptosim.check(ptosim.load(broken).kernel(), *arguments(64)).fix()
    assert fix.verified and engine.PROVEN in fix.notes
    lines = [line.strip() for line in KERNEL.split("\n") if LOST_EVENT in line]
    assert sorted(line[1:].strip() for line in changes(fix)) == sorted(lines)


def test_edits_that_repair_several_findings_are_told_once() -> None:
    report = ptosim.check(ptosim.load(without("_event["), sync="written").kernel(), *arguments(64))
    edits = [edit for each in report.findings for edit in each.edits]
    assert len(set(edits)) == len(edits) == 12
    others = [each for each in report.findings if not each.edits]
    said = r"the edits for the race at line \d+ repair this as well"
    assert others and all(re.fullmatch(said, each.hint or "") for each in others)
    assert all(len(each.edits) in (4, 6, 2) for each in report.findings if each not in others)


def test_a_recorded_operation_is_read_without_its_location() -> None:
    line = flag("wait_flag", "V", "MTE3", 3)
    assert read(f"{line} loc(#place7)") == read(line)
