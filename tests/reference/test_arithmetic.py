"""Element-wise arithmetic beside the formulas of tests/golden/test_arithmetic.py: values worked out by hand."""

import numpy as np
import pytest

from tables import table
from vector_programs import binary, bits, lanes_of, run, unary, with_scalar

INF, NAN = float("inf"), float("nan")
PAYLOAD = {"f16": 0xFE01, "bf16": 0xFF81, "f32": 0xFF800001}  # NaNs with a sign and a payload
QUIET = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000}


# --- from scalars and lanes -------------------------------------------------------------------------------------------


@table(
    "scalar, kind, given, lane, lanes",
    ("f32", "f32", 1.25, 1.25, 64),
    ("i32", "i32", 7, 7, 64),
    ("i8", "si8", -7, -7, 256),
    ("i8", "ui8", -55, 201, 256),
)
def test_a_broadcast_fills_every_lane_with_the_bits_of_the_scalar(scalar, kind, given, lane, lanes):
    assert run(f"%d = pto.vbr %s : {scalar} -> V<{kind}>", s=given).tolist() == [lane] * lanes


def test_a_duplicated_scalar_reaches_active_lanes_only():
    got = run("%d = pto.vdup %s, %m : i8, M<b8> -> V<ui8>", s=-83, m=[0, 3, 255])
    assert got.tolist() == [173, 0, 0, 173, *[0] * 251, 173]


@table("position, lane", ("", 5.0), (' {position = "LOWEST"}', 5.0), (' {position = "HIGHEST"}', -6.0))
def test_a_duplicated_lane_is_the_first_or_the_physical_last(position, lane):
    got = run(f"%d = pto.vdup %a, %m{position} : V<f32>, M<b32> -> V<f32>", a=[5.0, *[0] * 62, -6.0], m=[1, 2])
    assert got.tolist() == [0, lane, lane, *[0] * 61]


def test_a_duplicated_lane_keeps_its_payload():
    got = run("%d = pto.vdup %a, %m : V<f16>, M<b16> -> V<f16>", a=lanes_of("f16", [0xFE01]))
    assert set(bits(got)) == {0xFE01}


# --- unary ------------------------------------------------------------------------------------------------------------


@table(
    "kind, given, expected",
    ("i64", [-(2**63), -9, 4], [-(2**63), 9, 4]),
    ("ui16", [65535, 32768, 1], [65535, 32768, 1]),
)
def test_the_absolute_value_wraps_at_the_least_integer(kind, given, expected):
    assert run(unary("vabs", kind), a=given)[:3].tolist() == expected


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_abs_and_neg_change_the_sign_bit_alone(kind):
    sign = 1 << (15 if kind != "f32" else 31)
    patterns = [sign, 0, PAYLOAD[kind], PAYLOAD[kind] ^ sign, sign | 1]
    assert bits(run(unary("vabs", kind), a=lanes_of(kind, patterns)))[:5] == [p & ~sign for p in patterns]
    assert bits(run(unary("vneg", kind), a=lanes_of(kind, patterns)))[:5] == [p ^ sign for p in patterns]


@table(
    "kind, given, expected",
    ("i8", [-128, 5], [-128, -5]),
    ("ui16", [1, 65535], [65535, 1]),
    ("i64", [-(2**63), 1], [-(2**63), -1]),
)
def test_integers_negate_modulo_their_width(kind, given, expected):
    assert run(unary("vneg", kind), a=given)[:2].tolist() == expected


def test_the_exponential_at_its_edges():
    given = [-INF, INF, 0.0, -0.0, 90.0, 104.0, -104.0, 1.0]
    got = run(unary("vexp", "f32"), a=given)
    assert got[:8].tolist() == [0.0, INF, 1.0, 1.0, INF, INF, 0.0, float(np.float32(np.e))]
    assert bits(run(unary("vexp", "f32"), a=lanes_of("f32", [0xFF800001])))[0] == 0x7FC00000


@pytest.mark.parametrize(("kind", "one", "e"), [("f16", 1.0, 0x4170), ("bf16", 1.0, 0x402E)])
def test_the_exponential_of_16_bit_floats(kind, one, e):
    assert bits(run(unary("vexp", kind), a=[one]))[0] == e  # 2.71828 lies nearest to 2.71875 in both


def test_the_logarithm_at_its_edges():
    got = run(unary("vln", "f32"), a=[0.0, -0.0, INF, 1.0, np.float32(np.e)])
    assert got[:4].tolist() == [-INF, -INF, INF, 0.0]
    assert abs(float(got[4]) - 1) < 1e-7
    assert bits(run(unary("vln", "f32"), a=[-1.0, NAN, -INF]))[:3] == [0x7FC00000] * 3


def test_the_square_root_is_correctly_rounded():
    got = run(unary("vsqrt", "f32"), a=lanes_of("f32", [0x80000000, 0, 0x40000000, 0x7F7FFFFF, 1, 0xBF800000]))
    # sqrt(2) = 1.41421356; of the largest finite value 1.8446743e19; of 2^-149 it is 2^-74.5 = 1.4142135 * 2^-75
    assert bits(got)[:6] == [0x80000000, 0, 0x3FB504F3, 0x5F7FFFFF, 0x1A3504F3, 0x7FC00000]


def test_complement_flips_every_bit_of_any_type():
    assert run(unary("vnot", "i16"), a=[0, -1, 0x1234])[:3].tolist() == [-1, 0, ~0x1234]
    assert bits(run(unary("vnot", "f32"), a=lanes_of("f32", [0x7FC00001])))[0] == 0x803FFFFE


# --- binary -----------------------------------------------------------------------------------------------------------


@table(
    "name, kind, a, b, expected",
    ("vadd", "i64", 2**63 - 1, 1, -(2**63)),
    ("vmin", "si64", -5, 5, -5),
    ("vmax", "ui64", 2**63, 1, 2**63),
)
def test_wide_integers(name, kind, a, b, expected):
    assert run(binary(name, kind), a=[a], b=[b])[0] == expected


def test_inactive_lanes_become_zero():
    got = run(binary("vadd", "f32"), a=[NAN, 1, 2], b=[1, 1, 1], m=[1])
    assert bits(got) == [0, 0x40000000, *[0] * 62]


def test_only_the_lowest_bit_of_a_lane_decides():
    image = np.zeros(256, np.bool_)
    image[[1, 2, 3, 8]] = True  # lane 0 has all its bits but the lowest, lane 2 only the lowest
    assert run(binary("vadd", "i32"), a=[1, 1, 1], b=[1, 1, 1], m=image)[:3].tolist() == [0, 0, 2]


def test_the_b32_mask_of_64_bit_lanes_has_two_lanes_for_each():
    assert run(binary("vadd", "i64"), a=[1, 1, 1], b=[1, 1, 1], m=[2, 3])[:3].tolist() == [0, 2, 0]


@pytest.mark.parametrize(("kind", "tie", "smallest"), [("f16", 2048, -24), ("bf16", 256, -133), ("f32", 2**24, -149)])
def test_floats_round_to_even_and_keep_subnormals(kind, tie, smallest):
    assert run(binary("vadd", kind), a=[tie, tie], b=[1, 3])[:2].tolist() == [tie, tie + 4]
    assert run(binary("vmul", kind), a=[2.0 ** (smallest + 10)], b=[2.0**-10])[0] == 2.0**smallest


def test_bitwise_operations_keep_any_pattern_of_floats():
    a, b = [0xFE01, 0x7C00, 0x8000], [0x0000, 0x03FF, 0x7E00]
    assert bits(run(binary("vor", "f16"), a=lanes_of("f16", a), b=lanes_of("f16", b)))[:3] == [0xFE01, 0x7FFF, 0xFE00]


# --- shifts -----------------------------------------------------------------------------------------------------------


def test_shifts_of_wide_integers():
    text = binary("vshl", "i64").replace("V<i64>, V<i64>", "V<i64>, V<ui64>")
    assert run(text, a=[1, 1], b=[63, 64])[:2].tolist() == [-(2**63), 0]
    assert run(with_scalar("vshrs", "i64", "i16"), a=[-(2**63)], s=62)[0] == -2


@table("kind, a, count, expected", ("ui16", 3, 65535, 0), ("i32", 8, 2**31, 0))
def test_a_shift_count_has_no_sign(kind, a, count, expected):
    text = binary("vshl", kind).replace(f"V<{kind}>, V<{kind}>", f"V<{kind}>, V<ui{kind.lstrip('ui')}>")
    assert run(text, a=[a], b=[count])[0] == expected


# --- carry chain ------------------------------------------------------------------------------------------------------

FULL = 0xFFFFFFFF


def _chain(name, a, b, carry=None, active=None):
    middle = "" if carry is None else "%c, "
    types = "V<ui32>, V<ui32>, " + ("" if carry is None else "M<b32>, ") + "M<b32>"
    given = {} if carry is None else {"c": carry}
    d, out = run(f"%d, %o = pto.{name} %a, %b, {middle}%m : {types} -> V<ui32>, M<b32>", a=a, b=b, m=active, **given)
    assert not out.reshape(64, 4)[:, 1:].any()
    return list(zip(d[: len(a)].tolist(), out[::4][: len(a)].tolist(), strict=True))


def test_sums_carry_out_of_32_bits():
    a, b = [FULL, FULL - 1, 2**31, 2**31 - 1], [1, 2, 2**31, 1]
    assert _chain("vaddc", a, b) == [(0, 1), (0, 1), (0, 1), (2**31, 0)]


def test_sums_take_a_carry():
    a, b = [0, 1, FULL - 1, FULL, 2**31 - 1, 0xAAAAAAAA], [0, FULL, 1, 0, 2**31, 0x55555555]
    assert _chain("vaddcs", a, b, range(64)) == [(1, 0), (1, 1), (0, 1), (0, 1), (0, 1), (0, 1)]
    assert _chain("vaddcs", [FULL, FULL], [FULL, FULL], [1]) == [(FULL - 1, 1), (FULL, 1)]


def test_the_carry_of_a_difference_means_no_borrow():
    assert _chain("vsubc", [0, 0, FULL, 1], [0, 1, FULL, 2]) == [(0, 1), (FULL, 0), (0, 1), (FULL, 0)]
    assert _chain("vsubcs", [0, 0, 5, 0], [0, FULL, 3, 0], [2]) == [(FULL, 0), (0, 0), (2, 1), (FULL, 0)]


def test_inactive_lanes_of_a_chain_have_neither_value_nor_carry():
    assert _chain("vaddc", [FULL, FULL], [1, 1], active=[1]) == [(0, 0), (0, 1)]
    assert _chain("vsubc", [5, 5], [1, 1], active=[0]) == [(4, 1), (0, 0)]


# --- multiply and add -------------------------------------------------------------------------------------------------


def test_multiply_add_rounds_once_and_multiplies_its_first_operand():
    text = "%d = pto.vmadd %c, %a, %b, %m : V<f32>, V<f32>, V<f32>, M<b32> -> V<f32>"
    # (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24, which two roundings would lose
    x = 1 + 2.0**-12
    got = run(text, c=[x, 2, 3], a=[x, 3, 4], b=[-(1 + 2.0**-11), 1, 5], m=[0, 1])
    assert got[:3].tolist() == [2.0**-24, 7.0, 3.0]


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_multiply_add_keeps_the_payload_of_inactive_accumulators(kind):
    mask = "M<b16>"
    text = f"%d = pto.vmadd %c, %a, %b, %m : V<{kind}>, V<{kind}>, V<{kind}>, {mask} -> V<{kind}>"
    got = run(text, c=lanes_of(kind, [PAYLOAD[kind]] * 2), a=[1, 1], b=[1, 1], m=[1])
    assert bits(got)[:2] == [PAYLOAD[kind], QUIET[kind]]
