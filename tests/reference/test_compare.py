"""Comparisons and selections, by hand."""

import numpy as np
import pytest

from ptosim.effects.element import ELEMENTS
from tables import table
from vector_programs import bits, lanes_of, mask_type, run

INF, NAN = float("inf"), float("nan")
WORDS = ("eq", "ne", "lt", "le", "gt", "ge")


def _lanes(image, kind):
    """The lanes that a predicate selects; no bit but the lowest of a lane may be set."""
    width = ELEMENTS[kind].bytes
    assert not image.reshape(-1, width)[:, 1:].any()
    return np.flatnonzero(image[::width]).tolist()


def _compare(word, kind, a, b, seed=None):
    mask = mask_type(kind)
    text = f'%p = pto.vcmp %a, %b, %seed, "{word}" : V<{kind}>, V<{kind}>, {mask} -> {mask}'
    return _lanes(run(text, a=a, b=b, seed=range(len(a)) if seed is None else seed), kind)


def _with_scalar(word, kind, a, s, scalar=None):
    mask = mask_type(kind)
    text = f'%p = pto.vcmps %a, %s, %seed, "{word}" : V<{kind}>, {scalar or kind}, {mask} -> {mask}'
    return _lanes(run(text, a=a, s=s, seed=range(len(a))), kind)


@table("word, lanes", ("eq", [1]), ("ne", [0, 2, 3]), ("lt", [0, 3]), ("le", [0, 1, 3]), ("gt", [2]), ("ge", [1, 2]))
@pytest.mark.parametrize("kind", ["i8", "si16", "i32", "f16", "bf16", "f32"])
def test_the_six_comparisons(word, lanes, kind):
    assert _compare(word, kind, [-3, 5, 7, -100], [-2, 5, -7, 100]) == lanes


def test_the_element_type_decides_about_the_sign():
    assert _compare("lt", "i16", [-1, 1], [1, -1]) == [0]
    assert _compare("lt", "ui16", [65535, 1], [1, 65535]) == [1]


def test_lanes_outside_the_seed_are_clear():
    assert _compare("eq", "f32", [0.0] * 64, [0.0] * 64, seed=[2, 63]) == [2, 63]


def test_only_the_lowest_bit_of_a_seed_counts():
    image = np.zeros(256, np.bool_)
    image[[1, 2, 3, 4, 9]] = True
    text = '%p = pto.vcmp %a, %b, %seed, "eq" : V<f32>, V<f32>, M<b32> -> M<b32>'
    assert np.flatnonzero(run(text, a=[], b=[], seed=image)).tolist() == [4]


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_a_nan_is_unequal_and_the_zeros_are_equal(kind):
    a, b = [NAN, 1.0, NAN, -0.0, INF, -INF], [NAN, NAN, 1.0, 0.0, INF, INF]
    expected = {"eq": [3, 4], "ne": [0, 1, 2, 5], "lt": [5], "le": [3, 4, 5], "gt": [], "ge": [3, 4]}
    assert {word: _compare(word, kind, a, b) for word in WORDS} == expected


def test_subnormals_differ_from_zero():
    assert _compare("gt", "f32", lanes_of("f32", [1, 0x80000001, 0]), [0.0, 0.0, 0.0]) == [0]


@table(
    "word, kind, scalar, a, s, lanes",
    ("gt", "ui8", "i8", [128, 129, 130, 255, 0], -127, [2, 3]),  # -127 means 129
    ("gt", "si8", "i8", [-128, -127, -126, 127], -127, [2, 3]),
    ("le", "ui16", "i16", [0, 65534, 65535], -2, [0, 1]),
    ("eq", "f32", "f32", [1.5, -1.5], 1.5, [0]),
    ("ne", "bf16", "bf16", [1.5, -1.5, NAN], 1.5, [1, 2]),
    ("lt", "f16", "f16", [1.0, NAN, -INF], NAN, []),
)
def test_against_a_scalar(word, kind, scalar, a, s, lanes):
    assert _with_scalar(word, kind, a, s, scalar) == lanes


# --- select -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_a_selection_copies_bits_and_leaves_no_lane_out(kind):
    text = f"%d = pto.vsel %a, %b, %m : V<{kind}>, V<{kind}>, {mask_type(kind)} -> V<{kind}>"
    top = (1 << ELEMENTS[kind].bits) - 1
    got = run(text, a=lanes_of(kind, [top, top, 1]), b=lanes_of(kind, [2, top - 1, top]), m=[0])
    assert bits(got)[:3] == [top, top - 1, top]


def test_a_selection_of_64_bit_lanes_looks_at_every_second_bit_of_a_b32_mask():
    text = "%d = pto.vsel %a, %b, %m : V<i64>, V<i64>, M<b32> -> V<i64>"
    assert run(text, a=[1, 1, 1], b=[2, 2, 2], m=[2, 3, 5])[:3].tolist() == [2, 1, 2]


def test_lanes_are_picked_by_number_modulo_their_count():
    text = "%d = pto.vselr %a, %i : V<f32>, V<i32> -> V<f32>"
    got = run(text, a=range(64), i=[63, 0, 5, 64, -1, 2**31 + 7])
    assert got[:6].tolist() == [63, 0, 5, 0, 63, 7]
    assert got[6:].tolist() == [0] * 58
    eight = run("%d = pto.vselrv2 %a, %i : V<ui8>, V<ui8> -> V<ui8>", a=range(256), i=range(255, -1, -1))
    assert eight.tolist() == list(range(255, -1, -1))


def test_picked_lanes_keep_their_payload():
    got = run("%d = pto.vselr %a, %i : V<f16>, V<ui16> -> V<f16>", a=lanes_of("f16", [0, 0xFE01]), i=[129])
    assert bits(got)[0] == 0xFE01
