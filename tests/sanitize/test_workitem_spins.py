"""Workitems that wait for others: spins of a warp, of a block, chains of fences and atomics from block to block."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from workitem_programs import section

PARAMETERS = ["%x: !pto.ptr<i32, gm>", "%f: !pto.ptr<i32, gm>", "%y: !pto.ptr<i32, gm>"]
HANDED_OVER = """
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %first = arith.constant 0 : index
      %block64 = pto.get_block_idx : i64
      %block = arith.trunci %block64 : i64 to i32
      WAITS
      scf.if %waits {
        %w = scf.while (%k = %c0) : (i32) -> i32 {
          %v = pto.atomic_add %f, %c0 : !pto.ptr<i32, gm>, i32 -> i32
          %no = arith.cmpi eq, %v, %c0 : i32
          scf.condition(%no) %v : i32
        } do {
        ^bb0(%v: i32):
          scf.yield %v : i32
        }
        pto.threadfence
        %p = pto.load %x[%first] : !pto.ptr<i32, gm> -> i32
        pto.store %p, %y[%i] : !pto.ptr<i32, gm>, i32
      } else {
        %c32 = arith.constant 32 : i32
        %leads = arith.cmpi eq, %t, %c32 : i32
        scf.if %leads {
          %c77 = arith.constant 77 : i32
          pto.store %c77, %x[%first] : !pto.ptr<i32, gm>, i32
          pto.threadfence
          %o = pto.atomic_exch %f, %c1 : !pto.ptr<i32, gm>, i32 -> i32
        }
      }"""
OF_WARP = "%c64 = arith.constant 32 : i32\n%waits = arith.cmpi ult, %t, %c64 : i32"
OF_FIRST_BLOCK = "%waits = arith.cmpi eq, %block, %c0 : i32"
OF_LAST_BLOCK = "%waits = arith.cmpi ne, %block, %c0 : i32"
CASES = pytest.mark.parametrize(("waits", "grid"), [(OF_WARP, 1), (OF_FIRST_BLOCK, 2), (OF_LAST_BLOCK, 2)])


def program(waits: str, dropped: str = "") -> str:
    text = section(HANDED_OVER.replace("WAITS", waits), PARAMETERS, "64, 1, 1")
    return text.replace(dropped, "", 1) if dropped else text


def arrays() -> list[np.ndarray]:
    return [np.zeros(1, "i4"), np.zeros(1, "i4"), np.zeros(64, "i4")]


@CASES
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_spin_sees_what_another_warp_or_block_hands_over(waits: str, grid: int, engine: str) -> None:
    x, f, y = arrays()
    ptosim.load(program(waits)).kernel()(x, f, y, grid=grid, engine=engine)
    assert y[:32].tolist() == [77] * 32


@pytest.mark.parametrize("schedule", ["random:1", "random:2", "random:3", "delay:V"])
def test_a_spin_ends_in_every_schedule(schedule: str) -> None:
    x, f, y = arrays()
    ptosim.load(program(OF_FIRST_BLOCK)).kernel()(x, f, y, grid=2, engine="reference", schedule=schedule)
    assert y[:32].tolist() == [77] * 32


@CASES
def test_a_chain_orders_and_without_its_fence_there_is_a_race(waits: str, grid: int) -> None:
    report = ptosim.check(ptosim.load(program(waits)).kernel(), *arrays(), grid=grid)
    assert report.findings == ()
    text = HANDED_OVER.replace("WAITS", waits)
    before, fence, after = text.rpartition("          pto.threadfence\n")
    broken = section(before + after, PARAMETERS, "64, 1, 1")
    report = ptosim.check(ptosim.load(broken).kernel(), *arrays(), grid=grid)
    (race,) = (found for found in report.findings if found.severity == "error")
    lines = broken.splitlines()
    named = {lines[(place.line or 0) - 1].split()[0] for place in (race, *race.related)}
    assert fence and race.kind == "race" and {"%p", "pto.store"} <= named
    assert "pto.threadfence" in (race.hint or "")
    assert report.fix().verified


@pytest.mark.parametrize(("engine", "steps"), [("native", 10**9), ("reference", 10**7)])
def test_a_spin_without_end_reaches_the_limit(engine: str, steps: int) -> None:
    text = program(OF_FIRST_BLOCK).replace("pto.atomic_exch %f, %c1", "pto.atomic_exch %f, %c0")
    with pytest.raises(ptosim.PTOError, match=f"limit: more than {steps} loop iterations") as raised:
        ptosim.load(text).kernel()(*arrays(), grid=2, engine=engine, max_steps=steps)
    assert text.splitlines()[(raised.value.diagnostics[0].line or 0) - 1].split()[2] == "scf.while"


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_rounds_that_change_nothing_count_like_others(engine: str) -> None:
    """Warp 0 looks for as many rounds as it has in a turn, then warp 1 ends its spin; a limit one below is reached."""
    kernel, turn = ptosim.load(program(OF_WARP)).kernel(), 100_000
    kernel(*arrays(), engine=engine, max_steps=turn)
    with pytest.raises(ptosim.PTOError, match="limit: more than 99999 loop iterations"):
        kernel(*arrays(), engine=engine, max_steps=turn - 1)
