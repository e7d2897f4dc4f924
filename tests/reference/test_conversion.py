"""Conversions: where lanes come from and go to, which mask bit decides them, and hand-worked values of every rule."""

import numpy as np
import pytest

from both_engines import BothEngines
from ptosim import api
from ptosim.effects.element import ELEMENTS
from tables import table
from vector_programs import bits, lanes_of, mask_type, run

INF, NAN = float("inf"), float("nan")


def _convert(source, dest, rnd=None, sat=None, part=None):
    words = {"rnd": rnd, "sat": sat, "part": part}
    written = ", ".join(f'{name} = "{word}"' for name, word in words.items() if word)
    return f"%d = pto.vcvt %a, %m {{{written}}} : V<{source}>, {mask_type(source)} -> V<{dest}>"


# --- placement --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("part", "first"), [("EVEN", 0), ("ODD", 1)])
def test_narrowing_by_two_fills_every_second_lane(part, first):
    got = run(_convert("f32", "f16", "R", "SAT", part), a=range(1, 65))
    expected = [0] * 128
    expected[first::2] = range(1, 65)
    assert got.tolist() == expected


@pytest.mark.parametrize("part", range(4))
def test_narrowing_by_four_fills_every_fourth_lane(part):
    got = run(_convert("ui32", "ui8", None, "SAT", f"P{part}"), a=range(1, 65))
    expected = [0] * 256
    expected[part::4] = range(1, 65)
    assert got.tolist() == expected


@pytest.mark.parametrize(("part", "first"), [("EVEN", 0), ("ODD", 1)])
def test_widening_by_two_takes_every_second_lane(part, first):
    assert run(_convert("f16", "f32", part=part), a=range(128)).tolist() == list(range(first, 128, 2))
    assert run(_convert("si32", "si64", part=part), a=range(64)).tolist() == list(range(first, 64, 2))


@pytest.mark.parametrize("part", range(4))
def test_widening_by_four_takes_every_fourth_lane(part):
    assert run(_convert("ui8", "ui32", part=f"P{part}"), a=range(256)).tolist() == list(range(part, 256, 4))


def test_the_bit_of_the_source_lane_decides():
    narrowed = run(_convert("f32", "f16", "R", "SAT", "ODD"), a=[5.0] * 64, m=[0, 2])
    assert np.flatnonzero(narrowed).tolist() == [1, 5]
    widened = run(_convert("f16", "f32", part="ODD"), a=[5.0] * 128, m=[0, 3, 5, 6])
    assert np.flatnonzero(widened).tolist() == [1, 2]
    assert np.flatnonzero(run(_convert("si32", "f32", "R"), a=[5] * 64, m=[7])).tolist() == [7]


def test_64_bit_lanes_look_at_every_second_lane_of_a_b32_mask():
    got = run(_convert("si64", "f32", "R", part="EVEN"), a=[1] * 32, m=[2, 3, 5])
    assert np.flatnonzero(got).tolist() == [2]


def test_inactive_lanes_are_zero_whatever_they_hold():
    assert set(bits(run(_convert("f32", "f16", "R", "NOSAT", "EVEN"), a=[NAN] * 64, m=[]))) == {0}


# --- four-bit formats -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(4))
def test_pairs_of_four_bits_expand_low_nibble_first(part):
    codes = [0] * 256
    codes[part], codes[4 + part] = 0x21, 0xF7  # .5 and 1, then 6 and -6
    got = run(_convert("f4E2M1x2", "bf16", part=f"P{part}"), a=codes)
    assert got[:4].tolist() == [0.5, 1.0, 6.0, -6.0]
    assert not np.any(got[4:])


def test_one_mask_bit_decides_both_values_of_a_byte():
    got = run(_convert("f4E1M2x2", "bf16", part="P1"), a=[0x11] * 256, m=[5])
    assert np.flatnonzero(got).tolist() == [2, 3]


@pytest.mark.parametrize("part", range(4))
def test_lanes_pack_into_nibbles_each_under_its_own_bit(part):
    values = [0.625, -0.875, 100.0, NAN, 1.0, 1.0]
    got = run(_convert("bf16", "f4E1M2x2", "R", part=f"P{part}"), a=values, m=[0, 1, 2, 3, 5])
    # .625 ties to code 2, .875 to 4; too large gives 7, NaN 0; lane 4 is inactive
    assert got[part::4][:3].tolist() == [0xC2, 0x07, 0x40]
    assert not np.delete(got, np.arange(part, 256, 4)).any()


def test_ties_of_e2m1():
    got = run(_convert("bf16", "f4E2M1x2", "R", part="P0"), a=[0.75, 1.25, 1.75, -0.0])
    assert got[[0, 4]].tolist() == [0x22, 0x84]


# --- values: float to integer -----------------------------------------------------------------------------------------


@table(
    "rnd, expected",
    ("R", [2, -2, 1, -1]),
    ("A", [3, -3, 1, -1]),
    ("F", [2, -3, 1, -2]),
    ("C", [3, -2, 2, -1]),
    ("Z", [2, -2, 1, -1]),
    ("O", [3, -3, 1, -1]),
)
@table("source, dest, part", ("f32", "si32", None), ("f16", "si16", None), ("bf16", "si32", "EVEN"))
def test_rounding_modes(rnd, expected, source, dest, part):
    spread = 1 if part is None else 2
    lanes = [0.0] * (4 * spread)
    lanes[::spread] = [2.5, -2.5, 1.4, -1.4]
    assert run(_convert(source, dest, rnd, "SAT", part), a=lanes)[:4].tolist() == expected


@table(
    "source, dest, part, given, expected",
    ("f32", "si32", None, [NAN, INF, -INF, 3e9, -3e9], [0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31)]),
    ("f32", "si16", "EVEN", [32767.5, -32769.0, NAN], [32767, -32768, 0]),
    ("f16", "si8", "EVEN", [127.5, -129.0, -INF], [127, -128, -128]),
    ("f16", "ui8", "EVEN", [255.5, -0.25, -7.0, INF], [255, 0, 0, 255]),
    ("f32", "si64", "EVEN", [INF, -INF, NAN, 2.0**62], [2**63 - 1, -(2**63), 0, 2**62]),
)
def test_saturating_conversions_to_integers(source, dest, part, given, expected):
    assert _chosen(source, dest, part, "R", "SAT", given) == expected


@table(
    "source, dest, given, expected",
    ("f32", "si16", [70000.0, INF, -INF, NAN, -32769.0], [70000 - 65536, -1, 0, 0, 32767]),
    ("f16", "si8", [300.0, INF, -INF], [44, -1, 0]),
    ("f16", "ui8", [300.0, INF, -1.0], [44, 255, 255]),
)
def test_conversions_to_integers_that_keep_the_low_bits(source, dest, given, expected):
    assert _chosen(source, dest, "EVEN", "R", "NOSAT", given) == expected


def _chosen(source, dest, part, rnd, sat, given):
    """The results of these values, at the places that EVEN leaves them."""
    widening = ELEMENTS[dest].bytes > ELEMENTS[source].bytes
    lanes = np.zeros(ELEMENTS[source].lanes)
    lanes[: len(given) * (1 + widening) : 1 + widening] = given
    got = run(_convert(source, dest, rnd, sat, part), a=lanes.tolist())
    narrowing = ELEMENTS[dest].bytes < ELEMENTS[source].bytes
    return got[:: 1 + narrowing][: len(given)].tolist()


def test_f16_to_si32_has_no_saturation_word_but_saturates():
    got = run(_convert("f16", "si32", "R", part="EVEN"), a=[INF, 0, -INF, 0, NAN, 0, 65504.0])
    assert got[:4].tolist() == [2**31 - 1, -(2**31), 0, 65504]


# --- values: float to narrower float ----------------------------------------------------------------------------------


@table(
    "dest, sat, patterns",
    ("f16", "SAT", [0x7BFF, 0xFBFF, 0x0000, 0x7BFF, 0x57BC, 0x8000]),
    ("f16", "NOSAT", [0x7C00, 0xFC00, 0x7E00, 0x7C00, 0x57BC, 0x8000]),
    ("bf16", "SAT", [0x7F7F, 0xFF7F, 0x0000, 0x4780, 0x42F8, 0x8000]),
    ("bf16", "NOSAT", [0x7F80, 0xFF80, 0x7FC0, 0x4780, 0x42F8, 0x8000]),
)
def test_what_saturation_does_to_infinity_and_nan(dest, sat, patterns):
    # 65520 is halfway between the largest f16 and the next power of two; 123.75 is 0x57BC, in bf16 124
    got = run(_convert("f32", dest, "R", sat, "EVEN"), a=[INF, -INF, NAN, 65520.0, 123.75, -0.0])
    assert bits(got)[::2][:6] == patterns


@table(
    "source, dest, rnd, sat, part, given, codes",
    ("f32", "f8E4M3FN", "R", "SAT", "P0", [1.0625, 1.1875, 1000.0, INF, NAN], [0x38, 0x3A, 0x7E, 0x7E, 0x00]),
    ("f32", "f8E5M2", "R", "SAT", "P0", [1.125, 1.375, 1e10], [0x3C, 0x3E, 0x7B]),
    ("f32", "hif8", "A", "NOSAT", "P0", [NAN, INF, -INF, 1.0, 32768.0], [0x80, 0x6F, 0xEF, 0x08, 0x6E]),
    ("f32", "hif8", "A", "SAT", "P0", [NAN, INF, 65536.0, -(2.0**-30)], [0x00, 0x6E, 0x6E, 0x00]),
    ("f32", "f8E4M3FN", "R", "NOSAT", "P0", [1000.0, -INF, NAN], [0x7F, 0x7F, 0x7F]),
    ("bf16", "f8E5M2", "R", "NOSAT", "EVEN", [1e10, -1e10, NAN], [0x7C, 0xFC, 0x7E]),
    ("f16", "f8E4M3FN", "C", "SAT", "EVEN", [1.0625, -1.0625], [0x39, 0xB8]),
)
def test_eight_bit_floats(source, dest, rnd, sat, part, given, codes):
    step = ELEMENTS[source].bytes
    assert run(_convert(source, dest, rnd, sat, part), a=given)[::step][: len(given)].tolist() == codes


def test_eight_bit_floats_decode():
    codes = [0] * 256
    codes[0:20:4] = [0x38, 0x01, 0x7E, 0x7F, 0xC0]
    got = run(_convert("f8E4M3FN", "f32", part="P0"), a=codes)
    assert got[:3].tolist() == [1.0, 2.0**-9, 448.0]
    assert bits(got)[3] == 0x7FC00000
    assert got[4] == -2.0


def test_bf16_becomes_f16():
    got = run(_convert("bf16", "f16", "R", "SAT"), a=[1.5, 1e10, -1e10, NAN, 2.0**-25])
    assert bits(got)[:5] == [0x3E00, 0x7BFF, 0xFBFF, 0, 0]
    assert bits(run(_convert("bf16", "f16", "C", "NOSAT"), a=[1e10, 2.0**-25]))[:2] == [0x7C00, 1]


# --- values: the others -----------------------------------------------------------------------------------------------


def test_widening_floats_is_exact_but_for_nan():
    given = lanes_of("f16", [0x7C00, 0, 0xFC00, 0, 0xFE01, 0, 0x7BFF, 0, 0x0001])
    got = run(_convert("f16", "f32", part="EVEN"), a=given)
    assert bits(got)[:5] == [0x7F800000, 0xFF800000, 0x7FC00000, 0x477FE000, 0x33800000]
    assert bits(run(_convert("bf16", "f32", part="EVEN"), a=lanes_of("bf16", [0xFF81])))[0] == 0x7FC00000


@table(
    "source, dest, rnd, part, given, expected",
    ("si64", "f32", "R", "EVEN", [2**24 + 1, 2**24 + 3, -(2**24) - 1, 2**31], [2**24, 2**24 + 4, -(2**24), 2**31]),
    ("si64", "f32", "C", "EVEN", [2**24 + 1, -(2**24) - 1, 2**62 + 1], [2**24 + 2, -(2**24), 2**62 + 2**39]),
    ("si32", "f32", "Z", None, [2**24 + 1, -(2**24) - 1], [2**24, -(2**24)]),
    ("si16", "f16", "R", None, [2049, 2051, -32768], [2048, 2052, -32768]),
    ("si16", "f32", None, "EVEN", [-32768], [-32768]),
    ("ui8", "f16", None, "EVEN", [255], [255]),
    ("si8", "f16", None, "EVEN", [-128], [-128]),
    ("si16", "ui32", None, "EVEN", [-1], [2**32 - 1]),
    ("si8", "si32", None, "P0", [-3], [-3]),
    ("ui8", "ui16", None, "EVEN", [200], [200]),
    ("si32", "si64", None, "EVEN", [-(2**31)], [-(2**31)]),
)
def test_integers_to_floats_and_to_wider_integers(source, dest, rnd, part, given, expected):
    step = max(1, ELEMENTS[dest].bytes // ELEMENTS[source].bytes)
    lanes = [0] * (len(given) * step)
    lanes[::step] = given
    skip = max(1, ELEMENTS[source].bytes // ELEMENTS[dest].bytes)
    assert run(_convert(source, dest, rnd, part=part), a=lanes)[::skip][: len(given)].tolist() == expected


@table(
    "source, dest, sat, part, given, expected",
    ("i32", "i16", "SAT", "EVEN", [32768, -32769, 5], [32767, -32768, 5]),
    ("i32", "i16", "NOSAT", "EVEN", [32768, -32769, 5], [-32768, 32767, 5]),
    ("ui32", "ui8", "SAT", "P0", [2**32 - 1, 256, 7], [255, 255, 7]),
    ("si32", "ui8", "SAT", "P0", [-1, 256, 7], [0, 255, 7]),
    ("si32", "ui16", "NOSAT", "EVEN", [-1, 65536 + 7], [65535, 7]),
    ("ui32", "si16", "SAT", "EVEN", [2**31, 32768], [32767, 32767]),
    ("si16", "ui8", "SAT", "EVEN", [-5, 300], [0, 255]),
    ("ui16", "ui8", "NOSAT", "EVEN", [300], [44]),
    ("si64", "si32", "SAT", "EVEN", [2**40, -(2**40)], [2**31 - 1, -(2**31)]),
    ("si64", "si32", "NOSAT", "EVEN", [2**40 + 3], [3]),
)
def test_integers_to_narrower_integers(source, dest, sat, part, given, expected):
    step = ELEMENTS[source].bytes // ELEMENTS[dest].bytes
    assert run(_convert(source, dest, None, sat, part), a=given)[::step][: len(given)].tolist() == expected


@table(
    "ctrl, sat, expected",
    (0, "SAT", 32767),
    (0, "NOSAT", -25536),
    (1 << 59, "SAT", 32767),  # bit 59 alone decides nothing
    (1 << 60, "NOSAT", 32767),
    (1 << 60 | 1 << 59, "SAT", -25536),
)
def test_ctrl_may_take_the_decision_about_saturation(ctrl, sat, expected):
    assert run(_convert("f32", "si16", "R", sat, "EVEN"), a=[40000.0], ctrl=ctrl)[0] == expected


def test_ctrl_leaves_pairs_alone_that_have_no_saturation():
    assert run(_convert("f16", "si32", "R", part="EVEN"), a=[INF], ctrl=3 << 59)[0] == 2**31 - 1


LATER = """
module attributes {pto.target_arch = "a5"} {
  func.func private @converted(%v: !pto.vreg<64xf32>, %mask: !pto.mask<b32>) -> !pto.vreg<128xi16> {
    %r = pto.vcvt %v, %mask {rnd = "R", sat = "SAT", part = "EVEN"}
      : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<128xi16>
    return %r : !pto.vreg<128xi16>
  }
  func.func @kernel(%y: !pto.ptr<i16, gm>, %before: i64, %after: i64) attributes {pto.kernel} {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %size = arith.constant 256 : i64
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %ub = pto.castptr %zero : i64 -> !pto.ptr<i16, ub>
    pto.set_ctrl %before : i64
    pto.wait_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {
      %large = arith.constant 40000.0 : f32
      %v = pto.vbr %large : f32 -> !pto.vreg<64xf32>
      %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %all = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
      %here = pto.vcvt %v, %mask {rnd = "R", sat = "SAT", part = "EVEN"}
        : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<128xi16>
      %there = func.call @converted(%v, %mask) : (!pto.vreg<64xf32>, !pto.mask<b32>) -> !pto.vreg<128xi16>
      pto.vsts %here, %ub[%c0], %all : !pto.vreg<128xi16>, !pto.ptr<i16, ub>, !pto.mask<b16>
      pto.vsts %there, %ub[%c128], %all : !pto.vreg<128xi16>, !pto.ptr<i16, ub>, !pto.mask<b16>
    }
    pto.set_ctrl %after : i64
    pto.set_flag["PIPE_MTE3", "PIPE_V", "EVENT_ID0"]
    pto.barrier #pto.pipe<PIPE_ALL>
    %two = arith.constant 2 : i64
    pto.mte_ub_gm %ub, %y, %size nburst(%two, %size, %size)
      : !pto.ptr<i16, ub>, !pto.ptr<i16, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }
}
"""


@pytest.mark.parametrize(("before", "after", "expected"), [(0, 3 << 59, 32767), (3 << 59, 0, -25536)])
def test_a_scope_that_waits_keeps_the_ctrl_of_its_launch(before, after, expected):
    out = np.zeros((2, 128), np.int16)
    BothEngines(api.load(LATER).kernel())(out, before, after)
    assert out[:, 0].tolist() == [expected, expected]


# --- rounding, ramps, retyping ----------------------------------------------------------------------------------------


@table(
    "rnd, expected",
    ("R", [-0.0, 2.0, -2.0, 4.0]),
    ("A", [-1.0, 2.0, -3.0, 4.0]),
    ("F", [-1.0, 1.0, -3.0, 3.0]),
    ("C", [-0.0, 2.0, -2.0, 4.0]),
    ("Z", [-0.0, 1.0, -2.0, 3.0]),
)
@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_rounding_to_integral_values(rnd, expected, kind):
    text = f'%d = pto.vtrc %a, %m, "{rnd}" : V<{kind}>, {mask_type(kind)} -> V<{kind}>'
    got = run(text, a=[-0.5, 1.5, -2.5, 3.5])
    assert bits(got)[:4] == bits(expected, got.dtype)
    edges = run(text, a=[INF, -INF, NAN, -0.0])
    assert edges[:2].tolist() == [INF, -INF]
    assert bits(edges)[2:4] == bits([abs(NAN), -0.0], got.dtype)


@table(
    "scalar, kind, order, base, first, last",
    ("i32", "si32", "", 5, 5, 68),
    ("i32", "i32", ' {order = "DESC"}', 5, 5, -58),
    ("i8", "si8", ' {order = "ASC"}', 100, 100, 99),
    ("i16", "ui16", ' {order = "DESC"}', 0, 0, 65536 - 127),
    ("f16", "f16", "", 0.5, 0.5, 127.5),
    ("f32", "f32", ' {order = "DESC"}', 1.0, 1.0, -62.0),
)
def test_ramps(scalar, kind, order, base, first, last):
    got = run(f"%d = pto.vci %s{order} : {scalar} -> V<{kind}>", s=base)
    assert (got[0], got[-1]) == (first, last)


def test_a_ramp_of_floats_rounds_in_its_own_type():
    assert run("%d = pto.vci %s : f16 -> V<f16>", s=2048.0)[:4].tolist() == [2048, 2048, 2050, 2052]


def test_retyping_is_little_endian():
    halves = run("%d = pto.vbitcast %a : V<f32> -> V<i16>", a=[1.0])
    assert halves[:2].tolist() == [0, 0x3F80]


def test_products_are_rounded_in_f32_and_then_away_from_zero():
    text = "%d = pto.vmulscvt %a, %s, %m, " + '"A", "PART" : V<f32>, f32, M<b32> -> V<f16>'
    given = [1 + 2.0**-11, -(1 + 2.0**-11), 40000.0, NAN, 1.0]
    for part, first in (("EVEN", 0), ("ODD", 1)):
        got = run(text.replace("PART", part), a=given, s=2.0, m=range(4))
        assert got[first::2][:5].tolist() == [2 + 2.0**-9, -(2 + 2.0**-9), 65504.0, 0.0, 0.0]
        assert not np.any(got[1 - first :: 2])
