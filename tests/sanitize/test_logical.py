"""Loads that say which lanes count: nobody asks about the others, and the ones that count are judged by touch."""

import numpy as np

import ptosim
from sanitize.kernels import ALL, MASK, check, kinds, load, order, put, scope, store, take, vlds, vsts

TAIL = '      %half = pto.pset_b32 "PAT_VL32" : !pto.mask<b32>\n'
FIRST_HALF = "    %half_bytes = arith.constant 128 : i64\n" + load(length="%half_bytes")
FINISH = order("V", "MTE3") + store() + ALL


def logical(name: str = "%v", mask: str = "%half") -> str:
    types = "!pto.ptr<f32, ub>, !pto.mask<b32> -> !pto.vreg<64xf32>"
    return f"      {name} = pto.vlds %in[%c0] for {mask} : {types}\n"


def test_lanes_that_do_not_count_are_defined() -> None:
    """All 64 lanes are stored and reach GM; the upper half of what the load could see was never written."""
    body = MASK + TAIL + logical() + vsts()
    assert kinds(check(FIRST_HALF + order("MTE2", "V") + scope(body) + FINISH)) == []
    plain = MASK + TAIL + vlds() + vsts()
    assert kinds(check(FIRST_HALF + order("MTE2", "V") + scope(plain) + FINISH)) == ["uninitialized"]


def test_lanes_that_count_are_not() -> None:
    body = MASK + TAIL + logical(mask="%mask") + vsts()
    report = check(FIRST_HALF + order("MTE2", "V") + scope(body) + FINISH)
    assert kinds(report) == ["uninitialized"]
    assert report.findings[0].message == "V loads ub[128:256], which nothing has written, and it reaches GM"


UPPER = (
    "    %upper = arith.constant 128 : i64\n    %c32 = arith.constant 32 : index\n"
    "    %in32 = pto.addptr %in, %c32 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>\n"
)


def test_bytes_that_do_not_count_may_be_written_meanwhile() -> None:
    """MTE2 fills the upper half while V loads; only the lower half is waited for."""
    second = load(dest="%in32", length="%half_bytes")
    text = UPPER + FIRST_HALF + put("MTE2", "V") + second + take("MTE2", "V")
    assert kinds(check(text + scope(MASK + TAIL + logical() + vsts()) + FINISH)) == []


def test_a_later_write_of_bytes_that_count_races_by_touch() -> None:
    text = load() + put("MTE2", "V") + take("MTE2", "V") + scope(MASK + TAIL + logical() + vsts())
    report = check(text + "    pto.barrier #pto.pipe<PIPE_MTE2>\n" + load() + FINISH)
    assert kinds(report) == ["race!"]
    assert report.findings[0].bytes == (0, 128)


def test_a_race_with_an_earlier_write() -> None:
    report = check(load() + scope(MASK + TAIL + logical() + vsts()) + FINISH)
    assert kinds(report) == ["race!"]
    assert report.findings[0].bytes == (0, 128)


def test_an_undefined_mask_decides_what_is_loaded() -> None:
    mask = '      %half = pto.plds %out_bytes[%c0], "NORM" : !pto.ptr<ui8, ub>, index -> !pto.mask<b32>\n'
    pointer = "    %out_bytes = pto.castptr %bytes : i64 -> !pto.ptr<ui8, ub>\n"
    report = check(pointer + load() + order("MTE2", "V") + scope(MASK + mask + logical() + vsts()) + FINISH)
    assert kinds(report) == ["uninitialized!"]


def test_a_tail_behind_the_end_of_ub_is_no_finding() -> None:
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%x: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %count = arith.constant COUNT : i32
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 32 : i64
    %at = arith.constant 262112 : i64
    %ub = pto.castptr %at : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.vecscope {
      %m, %rest = pto.plt_b32 %count : i32 -> !pto.mask<b32>, i32
      %v = pto.vlds %ub[%c0] for %m : !pto.ptr<f32, ub>, !pto.mask<b32> -> !pto.vreg<64xf32>
      %w = pto.vabs %v, %m : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %w, %ub[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }
}
"""
    x = np.zeros(8, np.float32)
    assert kinds(ptosim.check(ptosim.load(text.replace("COUNT", "8")).kernel(), x)) == []
    outside = ptosim.check(ptosim.load(text.replace("COUNT", "9")).kernel(), x)
    assert outside.findings[0].kind == "out-of-bounds"
