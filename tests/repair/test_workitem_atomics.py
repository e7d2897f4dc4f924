"""Workitems that load, compute and store at one place: the repair is one atomic update."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from workitem_programs import section

COUNTED = """
      %v = pto.load %x[%i] : !pto.ptr<TYPE, gm> -> TYPE
      %c3 = arith.constant 3 : i32
      %n = arith.andi %t, %c3 : i32
      %k = arith.index_cast %n : i32 to index
      %o = pto.load %y[PLACE] : !pto.ptr<TYPE, gm> -> TYPE
      %s = COMPUTE : TYPE
      pto.store %s, %y[PLACE] : !pto.ptr<TYPE, gm>, TYPE"""
X = np.random.default_rng(8).integers(1, 1000, 64)


def kernel(compute: str, type_: str = "i32", place: str = "%k", head: str = "") -> ptosim.Kernel:
    body = COUNTED.replace("COMPUTE", compute).replace("TYPE", type_).replace("PLACE", place)
    parameters = [f"%x: !pto.ptr<{type_}, gm>", f"%y: !pto.ptr<{type_}, gm>"]
    return ptosim.load(section(head + body, parameters, "64, 1, 1")).kernel()


def negative_sum(given: list[int]) -> int:
    return -sum(given)


def any_bit(given: list[int]) -> int:
    return int(np.bitwise_or.reduce(given))


def odd_bits(given: list[int]) -> int:
    return int(np.bitwise_xor.reduce(given))


@pytest.mark.parametrize(
    ("compute", "atomic", "expected"),
    [
        ("arith.addi %o, %v", "add", sum),
        ("arith.addi %v, %o", "add", sum),
        ("arith.subi %o, %v", "sub", negative_sum),
        ("arith.maxsi %o, %v", "max", max),
        ("arith.maxui %v, %o", "max", max),
        ("arith.ori %o, %v", "or", any_bit),
        ("arith.xori %o, %v", "xor", odd_bits),
    ],
)
def test_an_update_becomes_atomic(compute: str, atomic: str, expected: Callable[[list[int]], int]) -> None:
    report = ptosim.check(kernel(compute), X.astype("i4"), np.zeros(4, "i4"))
    (race, *_) = report.findings
    assert race.kind == "race" and f"pto.atomic_{atomic} %o_place, %v" in (race.hint or "")
    fix, y = report.fix(), np.zeros(4, "i4")
    assert fix.verified and not fix.left
    ptosim.load(fix.text).kernel()(X.astype("i4"), y)
    assert y.tolist() == [expected(X[first::4].tolist()) for first in range(4)]


def test_a_place_without_an_offset_needs_no_pointer() -> None:
    head = "%first = arith.constant 0 : index"
    subject = kernel("arith.addi %o, %v", place="%first", head=head)
    report = ptosim.check(subject, X.astype("i4"), np.zeros(1, "i4"))
    assert "pto.atomic_add %y, %v : !pto.ptr<i32, gm>, i32 -> i32" in (report.findings[0].hint or "")


@pytest.mark.parametrize(
    ("compute", "type_"),
    [("arith.subi %v, %o", "i32"), ("arith.muli %o, %v", "i32"), ("arith.addi %o, %v", "i16")],
)
def test_what_no_atomic_does_is_left(compute: str, type_: str) -> None:
    width = {"i32": "i4", "i16": "i2"}[type_]
    report = ptosim.check(kernel(compute, type_), X.astype(width), np.zeros(4, width))
    assert all(found.hint is None or "atomic" not in found.hint for found in report.findings)


def test_an_old_value_that_is_used_elsewhere_is_kept() -> None:
    source = section(
        COUNTED.replace("COMPUTE", "arith.addi %o, %v").replace("TYPE", "i32").replace("PLACE", "%k")
        + "\n      pto.store %o, %x[%i] : !pto.ptr<i32, gm>, i32",
        ["%x: !pto.ptr<i32, gm>", "%y: !pto.ptr<i32, gm>"],
        "64, 1, 1",
    )
    report = ptosim.check(ptosim.load(source).kernel(), X.astype("i4"), np.zeros(4, "i4"))
    assert all(found.hint is None or "atomic" not in found.hint for found in report.findings)
