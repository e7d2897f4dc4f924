"""The conversion matrix: what each pair must be told, and the lane maps against the formulas written out."""

import pytest

from ptosim.effects.conversion import CONVERSIONS, LanePlacement, conversion, placement
from ptosim.effects.element import element
from tables import table


def place(source: str, dest: str, part: str | None) -> LanePlacement:
    return placement(CONVERSIONS[source, dest], part)


def test_the_matrix_has_36_pairs_and_15_of_low_precision():
    low = [pair for pair in CONVERSIONS if any(element(name).kind == "lowprecision" for name in pair)]
    assert len(low) == 15
    assert len(CONVERSIONS) == 36 + 15


@table(
    "source, dest, attributes, parts",
    ("f32", "f16", ("rnd", "sat", "part"), ("EVEN", "ODD")),
    ("f32", "si32", ("rnd", "sat"), ()),
    ("f16", "si32", ("rnd", "part"), ("EVEN", "ODD")),
    ("ui8", "ui32", ("part",), ("P0", "P1", "P2", "P3")),
    ("ui32", "ui8", ("sat", "part"), ("P0", "P1", "P2", "P3")),
    ("si16", "f16", ("rnd",), ()),
    ("si64", "f32", ("rnd", "part"), ("EVEN", "ODD")),
    ("f32", "f8E5M2", ("rnd", "sat", "part"), ("P0", "P1", "P2", "P3")),
    ("f16", "hif8", ("rnd", "sat", "part"), ("EVEN", "ODD")),
    ("bf16", "f4E2M1x2", ("rnd", "part"), ("P0", "P1", "P2", "P3")),
    ("f4E1M2x2", "bf16", ("part",), ("P0", "P1", "P2", "P3")),
)
def test_what_a_pair_must_be_told(source: str, dest: str, attributes: tuple[str, ...], parts: tuple[str, ...]):
    pair = CONVERSIONS[source, dest]
    assert (pair.attributes, pair.parts) == (attributes, parts)


def test_the_8_bit_targets_have_their_own_roundings():
    assert set(CONVERSIONS["f32", "hif8"].roundings) == set("AH")
    assert set(CONVERSIONS["f32", "f8E4M3FN"].roundings) == set("RAHZ")
    assert set(CONVERSIONS["bf16", "f8E4M3FN"].roundings) == set("RAFZC")
    assert set(CONVERSIONS["f32", "f16"].roundings) == set("RAFCZO")


def test_signless_converts_as_signed_and_ui64_not_at_all():
    assert conversion(element("i32"), element("i16")) is CONVERSIONS["si32", "si16"]
    assert conversion(element("ui64"), element("f32")) is None
    assert conversion(element("f32"), element("ui32")) is None
    assert conversion(element("f32"), element("f32")) is None


def test_a_conversion_of_one_width_stays_in_its_lane():
    assert place("f32", "si32", None).sources == tuple(range(64))
    assert place("f32", "si32", None).gates == tuple(4 * lane for lane in range(64))


@pytest.mark.parametrize("part, first", [("EVEN", 0), ("ODD", 1)])
def test_narrowing_by_two_leaves_gaps(part: str, first: int):
    expected: list[int | None] = [None] * 128
    for lane in range(64):
        expected[2 * lane + first] = lane
    assert place("f32", "f16", part).sources == tuple(expected)


@pytest.mark.parametrize("first", range(4))
def test_narrowing_by_four_leaves_gaps(first: int):
    expected: list[int | None] = [None] * 256
    gates: list[int | None] = [None] * 256
    for lane in range(64):
        expected[4 * lane + first] = lane
        gates[4 * lane + first] = 4 * lane
    assert place("ui32", "ui8", f"P{first}") == LanePlacement(tuple(expected), tuple(gates))


@pytest.mark.parametrize("part, first", [("EVEN", 0), ("ODD", 1)])
def test_widening_by_two_takes_every_second_lane_and_its_own_predicate_bit(part: str, first: int):
    lanes = tuple(2 * lane + first for lane in range(64))
    assert place("f16", "f32", part) == LanePlacement(lanes, tuple(2 * lane for lane in lanes))


@pytest.mark.parametrize("first", range(4))
def test_widening_by_four(first: int):
    lanes = tuple(4 * lane + first for lane in range(64))
    assert place("si8", "si32", f"P{first}") == LanePlacement(lanes, lanes)


def test_64_bit_lanes_are_gated_by_every_eighth_bit():
    assert place("si64", "f32", "ODD").sources[:4] == (None, 0, None, 1)
    assert place("si64", "f32", "ODD").gates[:4] == (None, 0, None, 8)
    assert place("si32", "si64", "ODD").sources == tuple(2 * lane + 1 for lane in range(32))


@pytest.mark.parametrize("first", range(4))
def test_a_byte_of_two_4_bit_values_widens_to_two_neighbours_under_one_bit(first: int):
    found = place("f4E2M1x2", "bf16", f"P{first}")
    for index in range(64):
        byte = 4 * index + first
        assert found.sources[2 * index : 2 * index + 2] == (2 * byte, 2 * byte + 1)
        assert found.gates[2 * index : 2 * index + 2] == (byte, byte)


@pytest.mark.parametrize("first", range(4))
def test_two_neighbours_narrow_to_the_nibbles_of_one_byte_each_under_its_own_bit(first: int):
    found = place("bf16", "f4E1M2x2", f"P{first}")
    for byte in range(256):
        index, rest = divmod(byte, 4)
        nibbles = (2 * index, 2 * index + 1) if rest == first else (None, None)
        gates = (4 * index, 4 * index + 2) if rest == first else (None, None)
        assert found.sources[2 * byte : 2 * byte + 2] == nibbles
        assert found.gates[2 * byte : 2 * byte + 2] == gates
