"""The model of launches of workitems ranks what the hardware is known to rank, and is near the rows of silicon."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from workitem_programs import section


def cycles(body: str, count: int = 32, size: int = 1 << 16) -> int:
    kernel = ptosim.load(section(body, ["%x: !pto.ptr<i32, gm>"], f"{count}, 1, 1")).kernel()
    (event,) = (each for each in ptosim.profile(kernel, np.zeros(size, "i4")).timeline if each.pipe == "V")
    assert event.name == "simt kernel_simt_0" and event.arguments["workitems"] == count
    return event.end - event.start


def chain(place: str) -> str:
    """A hundred loads of UB, each of which waits for the last."""
    return f"""
      {place}
      %c0 = arith.constant 0 : index
      %c100 = arith.constant 100 : index
      %one = arith.constant 1 : index
      %n = scf.for %j = %c0 to %c100 step %one iter_args(%s = %t) -> (i32) {{
        %v = pto.load %ub[%p] : !pto.ptr<i32, ub> -> i32
        %u = arith.addi %s, %v : i32
        scf.yield %u : i32
      }}
      pto.store %n, %x[%c0] : !pto.ptr<i32, gm>, i32
    """


ONE, ROW = "%p = arith.constant 0 : index", "%k = arith.constant 1 : index\n%p = arith.muli %i, %k : index"
PAIRS = ROW.replace("constant 1", "constant 2")
CONFLICT = ROW.replace("constant 1", "constant 64")


@pytest.mark.parametrize(("place", "published"), [(ONE, 1078), (ROW, 1081), (PAIRS, 1107), (CONFLICT, 3760)])
def test_dependent_loads_of_ub(place: str, published: int) -> None:
    found = cycles(chain(place)) - 200
    assert abs(found - published) <= 0.15 * published


def test_what_is_known_to_rank() -> None:
    row = "%v = pto.ldg %x[%i] : !pto.ptr<i32, gm> -> i32\npto.stg %v, %x[%i] : !pto.ptr<i32, gm>, i32"
    far = "%k = arith.constant 64 : index\n%p = arith.muli %i, %k : index\n" + row.replace("[%i]", "[%p]")
    assert cycles(row, 256) < cycles(far, 256)
    add = "%o = pto.atomic_add %ub, %t : !pto.ptr<i32, ub>, i32 -> i32"
    assert cycles(add) < cycles(add.replace("%ub", "%x").replace(", ub>", ", gm>"))
    parts = "%c16 = arith.constant 16 : i32\n%low = arith.cmpi slt, %t, %c16 : i32\n"
    work = "\n".join(f"%d{n} = arith.divsi %t, %c16 : i32" for n in range(20))
    other = work.replace("%d", "%e")
    both = f"{parts}scf.if %low {{ {work} }} else {{ {other} }}"
    assert cycles(f"{parts}{work}") < cycles(both)


def test_a_profile_says_that_it_is_approximate() -> None:
    kernel = ptosim.load(section("", ["%x: !pto.ptr<i32, gm>"])).kernel()
    assert "approximate: SIMT" in ptosim.profile(kernel, np.zeros(4, "i4")).warnings[0].message
