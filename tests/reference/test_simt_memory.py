"""Loads and stores of workitems: every type, bounds, alignment, what meets in one instruction."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from workitem_programs import both, lanes, section

RANDOM = np.random.default_rng(11)
BYTES = {
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "i64": 8,
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
    "vector<2xf32>": 8,
    "vector<2xi16>": 4,
}


@pytest.mark.parametrize("type_", BYTES)
@pytest.mark.parametrize(("load", "store"), [("load", "store"), ("ldg", "stg")])
def test_bytes_are_moved(type_: str, load: str, store: str) -> None:
    data = RANDOM.integers(0, 256, 40 * BYTES[type_]).astype("u1")
    text = f"%v = pto.{load} %x[%i] : !pto.ptr<{type_}, gm> -> {type_}\n"
    text += f"pto.{store} %v, %y[%i] : !pto.ptr<{type_}, gm>, {type_}"
    out = np.zeros_like(data)
    both([data], out, section(text, [f"%x: !pto.ptr<{type_}, gm>", f"%y: !pto.ptr<{type_}, gm>"], "40, 1, 1"))
    assert np.array_equal(out, data)


def test_the_highest_lane_stays() -> None:
    text = "%c0 = arith.constant 0 : index\npto.store %t, %out[%c0] : !pto.ptr<i32, gm>, i32"
    out = np.zeros(1, "i4")
    both([], out, section(text, ["%out: !pto.ptr<i32, gm>"], "70, 1, 1"))
    assert out[0] == 69


def test_ub_and_gm_by_scattered_places() -> None:
    place = RANDOM.permutation(32).astype("i4")
    text = """
      %at = arith.index_cast %a : i32 to index
      pto.store %t, %ub[%at] : !pto.ptr<i32, ub>, i32
      pto.syncthreads
      %r = pto.load %ub[%i] : !pto.ptr<i32, ub> -> i32
    """
    assert lanes(text, [("i32", place)], "i32").tolist() == np.argsort(place).tolist()


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_faults_name_the_lowest_workitem(engine: str) -> None:
    def fault(text: str, size: int = 64) -> ptosim.Finding:
        kernel = ptosim.load(section(text, ["%x: !pto.ptr<i32, gm>"], "64, 1, 1")).kernel()
        with pytest.raises(ptosim.PTOError) as raised:
            kernel(np.zeros(size, "i4"), engine=engine)
        return raised.value.diagnostics[0]

    gm = fault("%v = pto.ldg %x[%i] : !pto.ptr<i32, gm> -> i32", 40)
    assert (gm.kind, gm.line, gm.bytes) == ("out-of-bounds", 9, (160, 164))
    assert gm.workitem is not None and tuple(gm.workitem) == (40, 40, 0, 0)
    ub = fault(
        "%far = arith.constant 65535 : index\n%s = arith.addi %far, %i : index\n"
        "%v = pto.load %ub[%s] : !pto.ptr<i32, ub> -> i32"
    )
    assert (ub.kind, ub.line) == ("out-of-bounds", 11) and ub.workitem is not None and ub.workitem.number == 1
    odd = fault(
        "%c6 = arith.constant 6 : i64\n%p = pto.castptr %c6 : i64 -> !pto.ptr<i32, ub>\n"
        "pto.store %t, %p[%i] : !pto.ptr<i32, ub>, i32"
    )
    assert (odd.kind, odd.line) == ("misaligned", 11) and odd.workitem is not None and odd.workitem.number == 0
    zero = fault("%q = arith.divsi %t, %t : i32")
    assert (zero.kind, zero.line) == ("arithmetic", 9) and zero.workitem is not None and zero.workitem.number == 0


def test_dropped_accesses_read_zero() -> None:
    text = "%v = pto.ldg %x[%i] : !pto.ptr<i32, gm> -> i32\npto.stg %v, %y[%i] : !pto.ptr<i32, gm>, i32"
    kernel = ptosim.load(section(text, ["%x: !pto.ptr<i32, gm>", "%y: !pto.ptr<i32, gm>"])).kernel()
    for engine in ("reference", "native"):
        y = np.full(32, 9, "i4")
        kernel(np.arange(20, dtype="i4"), y, oob="drop", engine=engine)
        assert y.tolist() == [*range(20), *[0] * 12]


FAR = """
  %one = arith.constant 1 : index
  %k = arith.constant OFFSET : index
  %j = arith.addi %k, %i : index
  ACCESS
"""
FAR_ACCESSES = (
    "%v = pto.load %x[%j] : !pto.ptr<i32, gm> -> i32",
    "pto.store %t, %x[%j] : !pto.ptr<i32, gm>, i32",
    "pto.store %t, %ub[%j] : !pto.ptr<i32, ub>, i32",
    "%p = pto.addptr %x, %j : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>\n"
    "%o = pto.atomic_add %p, %t : !pto.ptr<i32, gm>, i32 -> i32",
)


@pytest.mark.parametrize("offset", [1 << 62, -(1 << 62), 1 << 46, 1 << 47, (1 << 63) - 64])
@pytest.mark.parametrize("access", FAR_ACCESSES)
def test_an_offset_whose_bytes_do_not_fit_is_outside(access: str, offset: int) -> None:
    """The product with the width of an element wraps to a place inside, or to another argument."""
    body = FAR.replace("OFFSET", str(offset)).replace("ACCESS", access)
    text = section(body, ["%x: !pto.ptr<i32, gm>", "%y: !pto.ptr<i32, gm>"])
    found: list[str] = []
    for engine in ("native", "reference"):
        arrays = np.zeros(64, "i4"), np.zeros(64, "i4")
        with pytest.raises(ptosim.PTOError, match=r"out-of-bounds.* far .*workitem 0") as raised:
            ptosim.load(text).kernel()(*arrays, engine=engine)
        assert not arrays[0].any() and not arrays[1].any()
        found.append(str(raised.value))
    assert found[0] == found[1]
