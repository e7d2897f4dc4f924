"""Elements of tiles as scalars, and tiles as text."""

import numpy as np
import pytest

import ptosim
from tables import table
from tile_programs import Given, dtype_of, run, text


@pytest.mark.parametrize("element", ["i8", "ui8", "i16", "i32", "ui32", "f16", "bf16", "f32"])
@pytest.mark.parametrize("known", [True, False])
def test_elements_move_through_the_scalar_unit(element, known):
    a = np.arange(32).reshape(1, 32).astype(dtype_of(element))
    offsets = "%i = arith.constant 5 : index\n%j = arith.constant 17 : index" if known else ""
    got = run(
        f"%x = pto.tgetval ins(%a, %i : A, index) outs : {element}\n"
        f"pto.tsetval ins(%j, %x : index, {element}) outs(%d : D)",
        *([] if known else [5, 17]),
        scalars="" if known else "%i: index, %j: index",
        before=offsets,
        a=Given(f"1x32x{element}", a),
        d=Given(f"2x32x{element}", np.zeros((2, 32), dtype_of(element))),
    )
    expected = np.zeros((2, 32))
    expected[0, 17] = 5
    assert np.array_equal(got["d"].all.astype("f4"), expected)


@table(
    "scalar, element, value",
    ("si32", "f32", -7),
    ("ui32", "f32", 2**31),
    ("ui8", "f16", 200),
    ("ui8", "i32", 200),
    ("si8", "i32", -56),
)
def test_a_scalar_of_another_type_keeps_its_number(scalar, element, value):
    """Whatever its sign."""
    d = Given(f"1x32x{element}", np.zeros((1, 32), dtype_of(element)))
    before = "%i = arith.constant 3 : index"
    got = run(
        f"pto.tsetval ins(%i, %x : index, {scalar}) outs(%d : D)", value, scalars=f"%x: {scalar}", before=before, d=d
    )
    assert got["d"].all[0, 3] == value


def test_the_scalar_unit_does_not_make_narrow_floats():
    d, before = Given("1x32xf8E4M3FN"), "%i = arith.constant 3 : index"
    with pytest.raises(ptosim.PTOError, match="does not convert f32 to f8E4M3FN"):
        run("pto.tsetval ins(%i, %x : index, f32) outs(%d : D)", 1.0, scalars="%x: f32", before=before, d=d)


def test_offsets_count_elements_in_memory():
    a = np.arange(64, dtype="f4").reshape(8, 8)
    got = run(
        "%x = pto.tgetval ins(%a, %i : A, index) outs : f32\npto.tsetval ins(%i, %x : index, f32) outs(%d : D)",
        before="%i = arith.constant 11 : index",
        a=Given("8x8xf32, blayout=col_major", a),
        d=Given("8x8xf32", np.zeros((8, 8))),
    )
    assert got["d"].all[1, 3] == a[3, 1]


def test_offsets_outside_are_found():
    with pytest.raises(AssertionError, match="the offset is outside of the 64 elements of %d"):
        run(
            "pto.tsetval ins(%i, %x : i32, f32) outs(%d : D)",
            *(64, 1.0),
            scalars="%i: i32, %x: f32",
            d=Given("1x64xf32"),
        )


def printed(capfd: pytest.CaptureFixture[str], operation: str, tiles: dict[str, Given]) -> list[str]:
    kernel = ptosim.load(text(operation, tiles), sync="written").kernel()
    outputs = []
    for engine in ("native", "reference"):
        kernel(*(tile.image() for tile in tiles.values()), engine=engine)
        outputs.append(capfd.readouterr().out)
    assert outputs[0] == outputs[1]
    return outputs[0].splitlines()


def test_tiles_are_printed(capfd):
    a = np.arange(16, dtype="f4").reshape(2, 8)
    lines = printed(
        capfd,
        "pto.tprint ins(%a : A) {printFormat = #pto<print_format width8_precision2>}",
        {"a": Given("2x8xf32, valid=2x6", a)},
    )
    assert lines[0].endswith("%a 2x8xf32, valid 2x6")
    texts = [[f" {value:8.2f}" for value in row] for row in a]
    numbers = ["".join([*row[:6], " |", *row[6:]]) for row in texts]
    assert lines[1:] == numbers


@table(
    "layout",
    "blayout=col_major",
    "blayout=col_major, slayout=row_major",
    "blayout=row_major, slayout=row_major",
    "blayout=row_major, slayout=col_major",
)
def test_printed_tiles_are_in_order_whatever_their_layout(capfd, layout):
    a = np.arange(32 * 16).reshape(32, 16)
    lines = printed(capfd, "pto.tprint ins(%a : A)", {"a": Given(f"32x16xi32, {layout}", a)})
    assert [[int(word) for word in line.split()] for line in lines[1:]] == a.tolist()


def test_views_are_printed(capfd):
    a = np.arange(32).reshape(1, 32)
    lines = printed(
        capfd,
        "pto.tprint ins(%part_a : !pto.partition_tensor_view<1x32xui8>)",
        {"a": Given("1x32xui8", a)},
    )
    assert lines[0].endswith("%part_a 1x32xui8, valid 1x32")
    assert [int(word) for word in lines[1].split()] == a[0].tolist()
