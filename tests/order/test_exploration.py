"""Programs that are decided by all their states: loops inside loops, ids by turns, branches that go the same way."""

from __future__ import annotations

import pytest

import ptosim
from order.micro_machine import outcome
from order.micro_programs import micro_program
from ptosim.order.exploration import turning_numbers as turning
from ptosim.order.exploration.turning_numbers import NATURAL, TurningNumber
from ptosim.order.prove import explored as states

HEAD = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index, %m: index, %p: index) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %far = arith.constant 640 : index
    %l0 = arith.constant 0 : i64
    %l1 = arith.constant 1 : i64
    %l256 = arith.constant 256 : i64
    %ub = pto.castptr %l0 : i64 -> !pto.ptr<f32, ub>
"""
SLOT = """%at = arith.muli %slot, %c64 : index
%tile = pto.addptr %ub, %at : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>"""
LOAD = """pto.mte_gm_ub %x, %tile, %l0, %l256 nburst(%l1, %l256, %l256)
  : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"""
STORE = """%row = arith.muli %i, %far : index
%yo = pto.addptr %y, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
pto.mte_ub_gm %tile, %yo, %l256 nburst(%l1, %l256, %l256)
  : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"""
READY, FREE = '"PIPE_MTE2", "PIPE_MTE3"', '"PIPE_MTE3", "PIPE_MTE2"'


def explored(*lines: str) -> bool:
    text = "\n".join([HEAD, *lines, "pto.barrier #pto.pipe<PIPE_ALL>", "return", "}", "}", ""])
    kernel = ptosim.load(text).kernel()
    return states(kernel.module.executable, dict(kernel.program.entries)) > 0


def flag(word: str, pipes: str, event: str) -> str:
    return f"pto.{word}_flag_dyn[{pipes}, {event}]" if "%" in event else f'pto.{word}_flag[{pipes}, "EVENT_ID{event}"]'


BODY = (SLOT, flag("wait", FREE, "%slot"), LOAD, flag("set", READY, "%slot"))
BODY = (*BODY, flag("wait", READY, "%slot"), STORE, flag("set", FREE, "%slot"))
PRIMES = [flag("set", FREE, str(id_)) for id_ in (0, 1)]
DRAINS = [flag("wait", FREE, str(id_)) for id_ in (0, 1)]
OUTER, INNER = "scf.for %j = %c0 to %m step %c1 {", "scf.for %i = %c0 to %n step %c1 {"
TURN = "%slot = arith.remui %i, %c2 : index"
OWN_ROWS = "%j64 = arith.muli %j, %c64 : index\n%rows = arith.muli %j64, %far : index"


def test_a_remainder_with_too_many_values_is_given_up_at_once():
    turn = f"%many = arith.constant {1 << 40} : index\n%slot = arith.remui %i, %many : index"
    assert not explored(*PRIMES, INNER, turn, *BODY, "}", *DRAINS)


def test_slots_of_an_inner_loop_that_are_primed_outside_of_both():
    """What comes behind slot 0 in the next round of the inner loop may be slot 0 again."""
    alone = [line.replace("%yo = pto.addptr %y, %row", "%yo = pto.addptr %y, %c0") for line in BODY]
    assert not explored(*PRIMES, OUTER, INNER, TURN, *alone, "}", "}", *DRAINS)  # stores of one row are in no order
    barrier = ["pto.barrier #pto.pipe<PIPE_MTE3>" if line is alone[5] else "" for line in alone]
    inside = [text for pair in zip(barrier, alone, strict=True) for text in pair]
    assert explored(*PRIMES, OUTER, INNER, TURN, *inside, "}", "}", *DRAINS)
    assert not explored(*PRIMES[:1], OUTER, INNER, TURN, *inside, "}", "}", *DRAINS[:1])
    assert not explored(*PRIMES, OUTER, INNER, TURN, *inside, "}", "}", DRAINS[0])


@pytest.mark.parametrize("slots", [1, 2])
def test_the_first_of_the_ids_may_be_an_argument(slots: int):
    ahead = f"%ip = arith.addi %i, %p : index\n%slot = arith.remui %ip, %c{slots} : index"
    assert explored(*PRIMES[:slots], INNER, ahead, *BODY, "}", *DRAINS[:slots])
    other = ahead.replace("%slot =", "%other =") + "\n%slot = arith.remui %i, %c2 : index"
    late = [line.replace("%slot]", "%other]") if "wait" in line else line for line in BODY]
    assert explored(*PRIMES[:slots], INNER, other, *late, "}", *DRAINS[:slots]) is False


def test_conditions_that_are_the_same_go_the_same_way():
    even = "%even = arith.cmpi eq, %p, %c0 : index"
    odd = "%odd = arith.cmpi ne, %p, %c0 : index"
    slot = "%slot = arith.constant 0 : index"
    one = (SLOT, LOAD, flag("set", READY, "0"))
    assert explored(slot, even, odd, SLOT, "scf.if %even {", LOAD, flag("set", READY, "0"), "} else {", "}",
                    "scf.if %odd {", "} else {", flag("wait", READY, "0"), "}")  # fmt: skip
    assert not explored(slot, even, odd, *one[:2], "scf.if %even {", one[2], "}", "scf.if %odd {",
                        flag("wait", READY, "0"), "}")  # fmt: skip


ALL = "pto.barrier #pto.pipe<PIPE_ALL>"
GIVEN, TAKEN = (flag("set", READY, "0"), "}"), (flag("wait", READY, "0"), "}")


def test_a_condition_on_an_index_is_another_one_in_the_next_iteration():
    first = ("%first = arith.cmpi ult, %i, %p : index", "scf.if %first {")
    assert explored(INNER, *first, *GIVEN, "scf.if %first {", *TAKEN, ALL, "}")
    again = ("%i1 = arith.addi %i, %c1 : index", "%again = arith.cmpi ult, %i1, %p : index", "scf.if %again {")
    assert not explored(INNER, *first, *GIVEN, *again, *TAKEN, ALL, "}")


def test_two_loops_with_the_same_bounds_run_both_or_neither():
    """The first takes what was set before it, the second gives it back."""
    first, last = ("%first = arith.cmpi eq, %i, %c0 : index", "scf.if %first {"), "pto.barrier #pto.pipe<PIPE_ALL>"
    take = (INNER, *first, *TAKEN, last, "}")
    give = tuple(line.replace("%i", "%k").replace("%first", "%again") for line in (INNER, *first, *GIVEN, last, "}"))
    assert explored(flag("set", READY, "0"), *take, *give, flag("wait", READY, "0"))
    other = tuple(line.replace("%n", "%m") for line in give)
    assert not explored(flag("set", READY, "0"), *take, *other, flag("wait", READY, "0"))


@pytest.mark.parametrize("number", range(0, 60, 3))
def test_random_programs_that_are_explored_are_clean(number: int):
    program = micro_program(77, number)
    try:
        kernel = ptosim.load(program.text).kernel()
    except ptosim.PTOError:
        return
    if states(kernel.module.executable, dict(kernel.program.entries)):
        for launch in program.launches():
            assert not outcome(program.text, launch).kinds


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_numbers_that_are_known_by_their_remainder():
    third = TurningNumber(2, 6, 8)  # 8, 14, 20 ...
    assert turning.remainder(third, 3) == 2 and turning.remainder(third, 4) is None
    assert turning.divided(third, 2) == TurningNumber(1, 3, 4)
    assert turning.add(third, 5) == TurningNumber(1, 6, 13)
    assert turning.multiply(third, 4) == TurningNumber(8, 24, 32)
    assert turning.add(third, TurningNumber(1, 4, 1)) == TurningNumber(1, 2, 9)
    assert turning.compared("eq", third, 9) is False and turning.compared("eq", third, 14) is None
    assert turning.compared("ult", third, 8) is False and turning.compared("sgt", third, 7) is True
    assert turning.lesser(third, 3) == TurningNumber(0, 1, 3) and turning.is_natural(NATURAL)
