"""Reductions: sums, extrema with their lane numbers, blocks, pairs and histograms, by hand."""

import numpy as np
import pytest

from ptosim.effects.element import ELEMENTS
from tables import table
from vector_programs import bits, lanes_of, mask_type, run, unary

INF, NAN = float("inf"), float("nan")


def _sum(source, result):
    return f"%d = pto.vcadd %a, %m : V<{source}>, {mask_type(source)} -> V<{result}>"


# --- sums -------------------------------------------------------------------------------------------------------------


@table(
    "source, result, value, total",
    ("i8", "i16", -128, -128 * 256),
    ("ui8", "ui16", 255, 255 * 256),
    ("si16", "si32", -32768, -32768 * 128),
    ("ui16", "ui32", 65535, 65535 * 128),
    ("i32", "i32", 2**31 - 1, (2**31 - 1) * 64 % 2**32 - 2**32),
    ("ui32", "ui32", 2**32 - 1, (2**32 - 1) * 64 % 2**32),
    ("f32", "f32", 1.5, 96.0),
    ("f16", "f16", 0.5, 64.0),
)
def test_the_sum_is_in_lane_0_of_the_wider_type(source, result, value, total):
    lanes = 256 // ELEMENTS[source].bytes
    got = run(_sum(source, result), a=[value] * lanes)
    assert got.tolist() == [total, *[0] * (len(got) - 1)]


def test_inactive_lanes_do_not_count():
    assert run(_sum("f32", "f32"), a=[1.0] * 3 + [NAN] * 61, m=[0, 2])[0] == 2.0
    assert bits(run(_sum("f32", "f32"), a=[NAN] * 64, m=[])) == [0] * 64
    assert run(_sum("i8", "i16"), a=[5, 6, 7], m=[1])[0] == 6


def test_f32_is_summed_by_halving():
    lanes = [0.0] * 64
    lanes[0], lanes[32], lanes[1] = 2.0**24, -(2.0**24), 1.0
    # lanes 0 and 32 meet first and cancel; from left to right the 1 would be lost
    assert run(_sum("f32", "f32"), a=lanes)[0] == 1.0
    lanes[32], lanes[16] = 0.0, -(2.0**24)
    assert run(_sum("f32", "f32"), a=lanes)[0] == 1.0


def test_f16_is_summed_in_f32():
    # 2048 + 1 is no f16, but 2048 + 126 * 1 is
    assert run(_sum("f16", "f16"), a=[2048.0] + [1.0] * 126)[0] == 2174.0


def test_minus_zero_survives_only_where_all_lanes_are():
    assert bits(run(_sum("f32", "f32"), a=[-0.0] * 64))[0] == 0x80000000
    assert bits(run(_sum("f32", "f32"), a=[-0.0] * 64, m=range(63)))[0] == 0


def test_a_nan_makes_the_sum_a_canonical_nan():
    assert bits(run(_sum("f32", "f32"), a=lanes_of("f32", [0xFF800001])))[0] == 0x7FC00000
    assert bits(run(_sum("f16", "f16"), a=[INF, -INF]))[0] == 0x7E00


@pytest.mark.parametrize(("kind", "width"), [("i8", 32), ("ui16", 16), ("f16", 16), ("i32", 8), ("f32", 8)])
def test_the_sums_of_blocks_lie_next_to_each_other(kind, width):
    lanes = [block for block in range(8) for _ in range(width)]
    got = run(unary("vcgadd", kind), a=lanes)
    wrap = (lambda total: (total + 128) % 256 - 128) if kind == "i8" else (lambda total: total)
    assert got.tolist() == [wrap(block * width) for block in range(8)] + [0] * (len(got) - 8)


def test_a_block_without_an_active_lane_sums_to_zero():
    got = run(unary("vcgadd", "f32"), a=[1.0] * 64, m=range(40))
    assert got[:8].tolist() == [8, 8, 8, 8, 8, 0, 0, 0]


def test_pairs_are_added_and_packed():
    got = run(unary("vcpadd", "f32"), a=range(64))
    assert got.tolist() == [4 * lane + 1 for lane in range(32)] + [0] * 32
    odd = run(unary("vcpadd", "f16"), a=[3.0, 5.0, 7.0, 9.0], m=[0, 1, 2])
    assert odd[:3].tolist() == [8.0, 7.0, 0.0]


# --- extrema ----------------------------------------------------------------------------------------------------------


@table(
    "name, kind, lanes, value, lane",
    ("vcmax", "f32", [1.0, 5.0, 5.0, -2.0], 5.0, 1),
    ("vcmin", "f32", [1.0, 5.0, -2.0, -2.0], -2.0, 2),
    ("vcmax", "i16", [-5] * 127 + [-4], -4, 127),
    ("vcmin", "ui8", [255] * 255 + [7], 7, 255),
    ("vcmax", "ui8", [128, 127] + [0] * 254, 128, 0),
    ("vcmin", "i32", [3, -(2**31)] + [0] * 62, -(2**31), 1),
    ("vcmax", "ui64", [1, 2**63, 2**64 - 1], 2**64 - 1, 2),
    ("vcmin", "i64", [1, -(2**63), -(2**63)], -(2**63), 1),
    ("vcmax", "bf16", [-1.0] * 5 + [2.0] + [-1.0] * 122, 2.0, 5),
    ("vcmin", "f16", [1.0] * 100 + [-3.0], -3.0, 100),
)
def test_an_extremum_and_the_first_lane_that_has_it(name, kind, lanes, value, lane):
    got = run(unary(name, kind), a=lanes)
    assert got[0] == value
    assert bits(got)[1:] == [lane, *[0] * (len(got) - 2)]


@table(
    "name, kind, pattern",
    ("vcmax", "f32", 0xFF800000),
    ("vcmin", "f32", 0x7F800000),
    ("vcmax", "f16", 0xFC00),
    ("vcmin", "bf16", 0x7F80),
    ("vcmax", "i8", 0x80),
    ("vcmin", "i8", 0x7F),
    ("vcmax", "ui16", 0),
    ("vcmin", "ui32", 0xFFFFFFFF),
    ("vcmax", "i64", 1 << 63),
)
def test_without_an_active_lane_the_extremum_is_the_worst_value(name, kind, pattern):
    assert bits(run(unary(name, kind), a=[1] * 8, m=[]))[:2] == [pattern, 0]


def test_an_active_lane_that_holds_the_worst_value_is_named():
    assert bits(run(unary("vcmax", "i32"), a=[-(2**31)] * 64, m=[3, 4]))[:2] == [2**31, 3]
    assert bits(run(unary("vcmin", "f32"), a=[INF] * 64, m=[9]))[:2] == [0x7F800000, 9]


def test_of_the_zeros_the_larger_has_no_sign():
    assert bits(run(unary("vcmax", "f32"), a=[-0.0, 0.0, *[-1.0] * 62]))[:2] == [0, 1]
    assert bits(run(unary("vcmin", "f32"), a=[0.0, -0.0, *[1.0] * 62]))[:2] == [0x80000000, 1]


def test_the_first_active_nan_wins_and_becomes_canonical():
    lanes = lanes_of("f32", [0x7F800000, 0xFFC00001, 0x7FC00000, 0x3F800000])
    assert bits(run(unary("vcmax", "f32"), a=lanes))[:2] == [0x7FC00000, 1]
    assert bits(run(unary("vcmin", "f32"), a=lanes))[:2] == [0x7FC00000, 1]
    assert bits(run(unary("vcmin", "f32"), a=lanes, m=[0, 2, 3]))[:2] == [0x7FC00000, 2]


@table("name, expected", ("vcgmax", [7, 15, 23, 31, 39, 47, 55, 63]), ("vcgmin", [0, 8, 16, 24, 32, 40, 48, 56]))
def test_the_extrema_of_blocks(name, expected):
    got = run(unary(name, "i32"), a=range(64))
    assert got.tolist() == expected + [0] * 56


def test_the_extrema_of_blocks_under_a_mask():
    assert bits(run(unary("vcgmax", "f32"), a=[-0.0, 0.0] * 32, m=[0, 9, 16, 17]))[:4] == [0x80000000, 0, 0, 0xFF800000]
    assert bits(run(unary("vcgmin", "f16"), a=[NAN, 1.0] * 64, m=[1, 16]))[:3] == [0x3C00, 0x7E00, 0x7C00]


@table("name, lanes, value, matches", ("vcbmax", [1, 4, 4, -4], 4, [1, 2]), ("vcbmin", [1, 4, 4, -4], -4, [3]))
def test_every_lane_that_equals_the_extremum_matches(name, lanes, value, matches):
    text = f"%d, %p = pto.{name} %a, %m : V<i32>, M<b32> -> V<i32>, M<b32>"
    got, mask = run(text, a=lanes, m=range(4))
    assert got.tolist() == [value, *[0] * 63]
    assert np.flatnonzero(mask).tolist() == [4 * lane for lane in matches]


def test_both_zeros_match_and_so_do_all_nans():
    text = "%d, %p = pto.vcbmax %a, %m : V<f16>, M<b16> -> V<f16>, M<b16>"
    got, mask = run(text, a=[-0.0, 0.0, -1.0, -0.0], m=range(3))
    assert bits(got)[0] == 0
    assert np.flatnonzero(mask).tolist() == [0, 2]
    got, mask = run(text, a=lanes_of("f16", [0x3C00, 0xFE01, 0x7C01]), m=range(4))
    assert bits(got)[0] == 0x7E00
    assert np.flatnonzero(mask).tolist() == [2, 4]
    got, mask = run(text, a=[1.0], m=[])
    assert bits(got)[0] == 0xFC00
    assert not mask.any()


# --- histograms -------------------------------------------------------------------------------------------------------


def _histogram(name, bin, lanes, acc=(), active=None):
    text = f"""%bin = arith.constant {bin} : i32
        %d = pto.{name} %c, %a, %m, %bin : V<ui16>, V<ui8>, M<b8>, i32 -> V<ui16>"""
    return run(text, c=acc, a=lanes, m=active).tolist()


def test_a_histogram_counts_the_values_of_its_half():
    lanes = [0] * 100 + [127] * 50 + [128] * 60 + [255] * 46
    low, high = _histogram("dhistv2", 0, lanes), _histogram("dhistv2", 1, lanes)
    assert low == [100, *[0] * 126, 50]
    assert high == [60, *[0] * 126, 46]


def test_a_cumulative_histogram_counts_what_is_at_most_each_value():
    lanes = [0] * 100 + [127] * 50 + [128] * 60 + [255] * 46
    assert _histogram("chistv2", 0, lanes) == [*[100] * 127, 150]
    assert _histogram("chistv2", 1, lanes) == [*[210] * 127, 256]


def test_a_histogram_adds_to_what_was_there_and_wraps():
    got = _histogram("dhistv2", 0, [3, 3, 4], acc=[9, 0, 0, 65535], active=[0, 1])
    assert got == [9, 0, 0, 1, *[0] * 124]
    assert _histogram("chistv2", 0, [3], acc=[1] * 128, active=[]) == [1] * 128
