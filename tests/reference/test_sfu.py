"""Activations, fused multiply-adds, wide products and sorting, by hand."""

import numpy as np
import pytest

from ptosim.diagnostics import PTOError
from sort_programs import counts, merge, records, sort
from tables import table
from vector_programs import binary, bits, lanes_of, mask_type, run, with_scalar

INF, NAN = float("inf"), float("nan")


# --- activations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_leaky_relu(kind):
    got = run(with_scalar("vlrelu", kind), a=[2.0, -2.0, -0.0, 0.0, -INF, INF, NAN, -8.0], s=0.125, m=range(7))
    expected = np.array([2.0, -0.25, -0.0, 0.0, -INF, INF, NAN, 0.0], got.dtype)
    assert bits(got)[:8] == bits(expected)


def test_leaky_relu_rounds_its_product_once():
    # 1.0009765625 * (1 + 2^-9) = 1 + 2^-9 + 2^-10 + 2^-19 in f16 keeps 1 + 3 * 2^-10
    assert run(with_scalar("vlrelu", "f16"), a=[-(1 + 2.0**-10)], s=1 + 2.0**-9)[0] == -(1 + 3 * 2.0**-10)


def test_leaky_relu_of_integers_wraps():
    assert run(with_scalar("vlrelu", "i16"), a=[5, -5, -32768], s=-3)[:3].tolist() == [5, 15, -32768]
    assert run(with_scalar("vlrelu", "ui8"), a=[200, 5], s=3)[:2].tolist() == [200, 5]


def test_leaky_relu_with_a_slope_for_each_lane():
    got = run(binary("vprelu", "f32"), a=[1.0, -1.0, -1.0, -0.0], b=[9.0, 0.5, -0.5, 9.0], m=[0, 1, 2, 3])
    assert bits(got)[:4] == bits([1.0, -0.5, 0.5, -0.0], np.float32)


def test_a_nan_slope_matters_only_below_zero():
    nan = lanes_of("f16", [0xFE01, 0xFE01])
    assert bits(run(binary("vprelu", "f16"), a=[1.0, -1.0], b=nan))[:2] == [0x3C00, 0x7E00]


def _expdif(kind, part):
    return f'%d = pto.vexpdif %a, %b, %m, "{part}" : V<{kind}>, V<{kind}>, {mask_type(kind)} -> V<f32>'


@pytest.mark.parametrize("part", ["EVEN", "ODD"])
def test_the_exponential_of_a_difference_of_f32_ignores_the_part(part):
    got = run(_expdif("f32", part), a=[5.0, INF, 95.0, -115.0, 1.0, 7.0], b=[5.0, INF, 5.0, 5.0, 0.0, 0.0], m=range(5))
    assert got[[0, 2, 3, 4, 5]].tolist() == [1.0, INF, 0.0, float(np.float32(np.e)), 0.0]
    assert bits(got)[1] == 0x7FC00000


@pytest.mark.parametrize(("part", "first"), [("EVEN", 0), ("ODD", 1)])
def test_the_exponential_of_a_difference_of_f16_takes_half_of_the_lanes(part, first):
    a, b = [0.0] * 128, [0.0] * 128
    a[first : first + 4 : 2], b[first : first + 4 : 2] = [3.0, 65504.0], [2.0, -65504.0]
    got = run(_expdif("f16", part), a=a, b=b, m=[first, first + 2, 127])
    # the second difference overflows f16, not f32
    assert got[:2].tolist() == [float(np.float32(np.e)), INF]
    assert got[2:].tolist() == [0.0] * 61 + [float(first)]


# --- multiply and add -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_axpy_multiplies_its_first_operand_and_keeps_the_addend(kind):
    text = f"%d = pto.vaxpy %x, %y, %s, %m : V<{kind}>, V<{kind}>, {kind}, {mask_type(kind)} -> V<{kind}>"
    assert run(text, x=[2.0, 2.0], y=[1.0, 7.0], s=0.5, m=[0])[:2].tolist() == [2.0, 7.0]
    digits = 10 if kind == "f16" else 23
    step = 2.0**-digits
    # (1 + u)(1 + u) - 1 = 2u + u^2 needs the exact product
    assert run(text, x=[1 + step], y=[-1.0], s=1 + step)[0] == (2 * step + step * step)


def test_a_sum_beside_a_tie_is_rounded_once():
    # 97 * 172961 = 2^24 + 1 lies halfway between two f32; what decides is too small for a sum in double
    text = "%d = pto.vmula %c, %a, %b, %m : V<f32>, V<f32>, V<f32>, M<b32> -> V<f32>"
    got = run(text, c=[2.0**-60, -(2.0**-60), 0.0], a=[97.0] * 3, b=[172961.0] * 3)
    assert got[:3].tolist() == [2**24 + 2, 2**24, 2**24]


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_multiply_accumulate_adds_to_its_first_operand(kind):
    mask = mask_type(kind)
    text = f"%d = pto.vmula %c, %a, %b, %m : V<{kind}>, V<{kind}>, V<{kind}>, {mask} -> V<{kind}>"
    assert run(text, c=[1.0, 5.0], a=[2.0, 9.0], b=[3.0, 9.0], m=[0])[:2].tolist() == [7.0, 5.0]
    assert bits(run(text, c=[INF], a=[-INF], b=[1.0]))[0] == bits([abs(NAN)], run(text, c=[0], a=[0], b=[0]).dtype)[0]


def test_multiply_accumulate_of_integers_wraps():
    text = "%d = pto.vmula %c, %a, %b, %m : V<ui8>, V<ui8>, V<ui8>, M<b8> -> V<ui8>"
    assert run(text, c=[250, 9], a=[3, 3], b=[5, 5], m=[0])[:2].tolist() == [(250 + 15) % 256, 9]
    wide = "%d = pto.vmula %c, %a, %b, %m : V<i64>, V<i64>, V<i64>, M<b32> -> V<i64>"
    assert run(wide, c=[1], a=[2**62], b=[3])[0] == 3 * 2**62 + 1 - 2**64


@table(
    "kind, a, b", ("i32", -3, 5), ("si32", -(2**31), -(2**31)), ("ui32", 2**32 - 1, 2**32 - 1), ("i32", 2**31 - 1, -2)
)
def test_the_whole_product(kind, a, b):
    text = f"%low, %high = pto.vmull %a, %b, %m : V<{kind}>, V<{kind}>, M<b32> -> V<{kind}>, V<{kind}>"
    low, high = run(text, a=[a, a], b=[b, b], m=[0])
    assert bits(low)[:2] == [a * b % 2**32, 0]
    assert bits(high)[:2] == [(a * b >> 32) % 2**32, 0]


# --- sorting ----------------------------------------------------------------------------------------------------------


def _sorted_image(kind, scores, indices):
    dtype = np.float16 if kind == "f16" else np.float32
    image = np.zeros(4096, np.uint8)
    image[0 : 32 * dtype().itemsize] = np.array(scores, dtype).view(np.uint8)
    image[1024 : 1024 + 128] = np.array(indices, np.uint32).view(np.uint8)
    return image


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_scores_are_sorted_in_descending_order_and_ties_stay(kind):
    scores = [float(lane % 5) for lane in range(32)]
    image = _sorted_image(kind, scores, range(100, 132))
    order = sorted(range(32), key=lambda lane: (-scores[lane], lane))
    got = sort(kind, image, dest=2048, source=0, indices=1024, repeat=1)
    assert got[2048 : 2048 + 256].tolist() == records(kind, [(scores[n], 100 + n) for n in order]).tolist()
    assert not got[2048 + 256 :].any()


def test_zeros_tie_and_nans_are_at_the_ends():
    scores = np.zeros(32, np.float32)
    patterns = scores.view(np.uint32)
    patterns[:6] = [0xFFFFFFFF, 0x80000000, 0x7FC00000, 0x00000000, 0xFF800000, 0x7F800000]
    patterns[6:] = 0xFFFFFFFF  # padding: smaller than everything
    got = sort("f32", _sorted_image("f32", scores, range(32)), 2048, 0, 1024, 1)[2048:][:256].view(np.uint32)
    assert got[1::2].tolist() == [2, 5, 1, 3, 4, 0, *range(6, 32)]
    assert got[0:10:2].tolist() == [0x7FC00000, 0x7F800000, 0x80000000, 0, 0xFF800000]


def test_each_repeat_sorts_the_next_32():
    scores = np.arange(96, dtype=np.float16)
    image = np.zeros(4096, np.uint8)
    image[:192] = scores.view(np.uint8)
    image[1024 : 1024 + 384] = np.arange(96, dtype=np.uint32).view(np.uint8)
    got = sort("f16", image, dest=2048, source=0, indices=1024, repeat=3)[2048 : 2048 + 768].view(np.uint32)
    assert got[1::2].tolist() == [*range(31, -1, -1), *range(63, 31, -1), *range(95, 63, -1)]
    assert sort("f16", image, 2048, 0, 1024, repeat=0).tolist() == [*image.tolist(), *[0] * (16384 - 4096)]


def test_the_number_of_repeats_is_limited():
    with pytest.raises(PTOError, match=r"repeat is 256; it must be 0\.\.255") as raised:
        sort("f32", np.zeros(64, np.uint8), 0, 0, 0, 256)
    assert raised.value.diagnostics[0].kind == "invalid"


def test_a_sort_may_not_leave_ub():
    with pytest.raises(PTOError, match="the first byte outside is 262144"):
        sort("f32", np.zeros(64, np.uint8), 262144 - 128, 0, 0, 1)


# --- merging ----------------------------------------------------------------------------------------------------------


def _merge_image(kind, *lists):
    """Lists at 0, 1024, 2048 and 3072."""
    image = np.zeros(8192, np.uint8)
    for number, pairs in enumerate(lists):
        image[1024 * number :][: 8 * len(pairs)] = records(kind, pairs)
    return image


SOURCES = (0, 1024, 2048, 3072)


def test_a_suspending_merge_stops_when_a_list_runs_out():
    image = _merge_image("f32", [(9, 90)], [(7, 70)], [(8, 80)], [(6, 60)])
    got, taken = merge("f32", image, 4096, SOURCES, counts(1, 1, 1, 1), 0x1F01)
    assert taken == [1, 0, 0, 0]
    assert got[4096:4104].tolist() == records("f32", [(9, 90)]).tolist()
    assert not got[4104:].any()


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_a_full_merge_takes_equal_scores_from_the_lower_list_first(kind):
    lists = [[(5, 1), (3, 2)], [(5, 11), (4, 12), (1, 13)], [(4, 21)], [(9, 31), (3, 32)]]
    got, taken = merge(kind, _merge_image(kind, *lists), 4096, SOURCES, counts(2, 3, 1, 2), 0x0F01)
    merged = [(9, 31), (5, 1), (5, 11), (4, 12), (4, 21), (3, 2), (3, 32), (1, 13)]
    assert got[4096 : 4096 + 64].tolist() == records(kind, merged).tolist()
    assert taken == [2, 3, 1, 2]


def test_lists_that_are_not_valid_are_not_read():
    lists = [[(5, 1), (3, 2)], [(9, 11)], [(4, 21)]]
    outside = (0, 1 << 40, 2048, -8)
    got, taken = merge("f32", _merge_image("f32", *lists), 4096, outside, counts(2, 1, 1, 65535), 0x0501)
    assert got[4096 : 4096 + 24].tolist() == records("f32", [(5, 1), (4, 21), (3, 2)]).tolist()
    assert taken == [2, 0, 1, 0]


def test_the_rest_of_a_record_is_copied_as_it_is():
    image = _merge_image("f16", [(2, 1)], [(1, 2)])
    image[2:4] = [0xAB, 0xCD]
    got, _ = merge("f16", image, 4096, SOURCES, counts(1, 1), 0x0301)
    assert got[4096:4104].tolist() == image[:8].tolist()


def test_repeats_go_on_behind_the_four_lists():
    image = np.zeros(8192, np.uint8)
    image[:64] = records("f32", [(4, 0), (3, 1), (2, 2), (1, 3), (5, 4), (8, 5), (7, 6), (6, 7)])
    got, taken = merge("f32", image, 4096, (0, 8, 16, 24), counts(1, 1, 1, 1), 0x0F02)
    merged = [(4, 0), (3, 1), (2, 2), (1, 3), (8, 5), (7, 6), (6, 7), (5, 4)]
    assert got[4096 : 4096 + 64].tolist() == records("f32", merged).tolist()
    assert taken == [1, 1, 1, 1]


@table(
    "sources, count, config",
    ((0, 8, 16, 32), counts(1, 1, 1, 1), 0x0F02),
    ((0, 8, 16, 24), counts(1, 1, 1, 2), 0x0F02),
    ((0, 8, 16, 24), counts(1, 1, 1, 1), 0x0702),
    ((0, 8, 16, 24), counts(1, 1, 1, 1), 0x1F02),
)
def test_repeats_need_four_equal_lists_behind_each_other(sources, count, config):
    with pytest.raises(PTOError, match="needs four contiguous lists of equal length, none suspended") as raised:
        merge("f32", np.zeros(64, np.uint8), 4096, sources, count, config)
    assert raised.value.diagnostics[0].kind == "invalid"


def test_no_repeat_does_nothing():
    got, taken = merge("f32", _merge_image("f32", [(9, 90)]), 4096, SOURCES, counts(1), 0x0F00)
    assert not got[4096:].any()
    assert taken == [0, 0, 0, 0]


@table(
    "dest, source, message",
    (4096, 4, "reads ub at 4, which is not a multiple of 8"),
    (262144, 0, "the first byte outside is 262144"),
)
def test_merging_checks_its_addresses(dest, source, message):
    with pytest.raises(PTOError, match=message):
        merge("f32", np.zeros(64, np.uint8), dest, (source, 0, 0, 0), counts(1), 0x0101)
