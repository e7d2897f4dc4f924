"""The conversion matrix: what each pair must be told; where its lanes go is in tests/golden and tests/reference."""

from ptosim.effects.conversion import CONVERSIONS, conversion
from ptosim.effects.element import element
from tables import table


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
