"""Columns and rows that are broadcast, alone and as operands, against NumPy."""

from itertools import product

import numpy as np
import pytest

import ptosim
from tables import table
from tile_cases import EMPTY, REGIONS, column, numbers, same, sampled, tile
from tile_programs import Given, run, run_each

ELEMENTS = ["i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "f32"]


def greater(a, b):
    """NaN wins, and +0 over -0."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b))


def lesser(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where((a < b) | ((a == b) & np.signbit(a)), a, b))


def extremum(a, b, of_floats, of_integers):
    return (of_floats if a.dtype.kind not in "iu" else of_integers)(a, b).astype(a.dtype)


def quotient(a, b):
    """Integers are cut towards zero; divided by zero they give all bits."""
    if a.dtype.kind not in "iu":
        return a / b
    a, b = np.broadcast_arrays(a, b)
    divided = [
        -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    ]
    bits = [value & (1 << 8 * a.dtype.itemsize) - 1 for value in divided]
    return np.array(bits, f"u{a.dtype.itemsize}").view(a.dtype).reshape(a.shape)


JOINED = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": quotient,
    "max": lambda a, b: extremum(a, b, greater, np.maximum),
    "min": lambda a, b: extremum(a, b, lesser, np.minimum),
}
KNOWN = [*((region, True) for region in REGIONS), ((5, 131), False), *((region, False) for region in EMPTY)]


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def expanded(text: str, **tiles: Given):
    got = run(text, **tiles)
    assert got["d"].unchanged_outside()
    for name in set(tiles) - {"d"}:
        assert np.array_equal(got[name].image, tiles[name].image())
    return got["d"].valid


# --- alone ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", sampled([*product([*ELEMENTS, "bf16"], KNOWN, ["DN", "ND"])], 8))
def test_first_elements_fill_rows(case):
    element, (region, known), layout = case
    x = numbers(element, (5, 1), seed=3)
    d = tile(element, region, known=known)
    got = expanded("pto.trowexpand ins(%a : A) outs(%d : D)", a=column(element, region[0], layout, x, known), d=d)
    assert same(got, np.broadcast_to(x[: region[0]], region), element)


@pytest.mark.parametrize("case", sampled([*product([*ELEMENTS, "bf16"], KNOWN)], 6))
def test_a_row_fills_columns(case):
    element, (region, known) = case
    x = numbers(element, (1, 160), seed=4)
    valid = {"valid": (1, region[1])} if not known else {}
    more = f", valid=1x{region[1]}" if known else ""
    got = expanded(
        "pto.tcolexpand ins(%a : A) outs(%d : D)",
        a=Given(f"1x160x{element}{more}", x, **valid),
        d=tile(element, region, known=known),
    )
    assert same(got, np.broadcast_to(x[:, : region[1]], region), element)


def test_a_result_without_elements_is_left_alone():
    d = Given("5x160xf32, valid=0x0")
    got = run("pto.trowexpand ins(%a : A) outs(%d : D)", a=column("f32", 5, "DN"), d=d)
    assert np.array_equal(got["d"].image, d.image())


# --- beside a tile ----------------------------------------------------------------------------------------------------


def rows_of(element: str, region: tuple[int, int], layout: str, holds, known: bool) -> Given:
    """A column, or rows of 32 bytes all of which is valid."""
    given = column(element, region[0], layout, holds, known)
    if layout == "ND" and known:
        given.fields["valid"] = f"{region[0]}x{given.cols}"
    elif layout == "ND":
        given.valid = (region[0], given.cols)
    return given


def check_joined(operations: dict[str, str], element: str, x, y, **tiles: Given) -> None:
    """All operations on the same tiles."""
    for name, got in run_each(operations, **tiles).items():
        assert got["d"].unchanged_outside(), name
        assert same(got["d"].valid, JOINED[name](x, y).astype(x.dtype), element), name


@pytest.mark.parametrize("case", sampled([*product(ELEMENTS, KNOWN, ["DN", "ND"])], 18))
def test_rows_with_elements_of_a_column(case):
    element, (region, known), layout = case
    x = numbers(element, region, seed=5, special=True)
    y = numbers(element, (5, 32 // np.dtype(x.dtype).itemsize if layout == "ND" else 1), seed=6, special=True)
    check_joined(
        {name: f"pto.trowexpand{name} ins(%a, %b : A, B) outs(%d : D)" for name in JOINED},
        element,
        x,
        y[: region[0], :1],
        a=tile(element, region, x, known),
        b=rows_of(element, region, layout, y, known),
        d=tile(element, region, known=known),
    )


@pytest.mark.parametrize("case", sampled([*product(ELEMENTS, KNOWN)], 12))
def test_columns_with_elements_of_a_row(case):
    element, (region, known) = case
    x = numbers(element, region, seed=7, special=True)
    y = numbers(element, (1, 160), seed=8, special=True)
    row = Given(f"1x160x{element}, valid=1x{region[1]}", y) if known else Given(f"1x160x{element}", y, (1, region[1]))
    check_joined(
        {name: f"pto.tcolexpand{name} ins(%a, %b : A, B) outs(%d : D)" for name in JOINED},
        element,
        x,
        y[:, : region[1]],
        a=tile(element, region, x, known),
        b=row,
        d=tile(element, region, known=known),
    )


@table(
    "name, layout, known",
    *((name, "DN", True) for name in ("max", "min", "sub", "mul")),
    ("max", "DN", False),
    ("min", "ND", False),
)
def test_the_column_may_stand_first(name, layout, known):
    """Where only the run knows the valid extents, the shapes of the tiles tell which is the column."""
    x, y = numbers("f32", (5, 131), seed=9), numbers("f32", (5, 1), seed=10)
    got = expanded(
        f"pto.trowexpand{name} ins(%a, %b : A, B) outs(%d : D)",
        a=column("f32", 5, layout, y, known),
        b=tile("f32", (5, 131), x, known),
        d=tile("f32", (5, 131), known=known),
    )
    assert same(got, JOINED[name](y, x), "f32")


@pytest.mark.parametrize("case", sampled([*product(["trowexpand", "tcolexpand"], ["f16", "f32"], KNOWN)], 6))
def test_exponentials_of_differences(case):
    name, element, (region, known) = case
    x = numbers(element, region, seed=11)
    y = numbers(element, (region[0], 1) if name == "trowexpand" else (1, region[1]), seed=12)
    more = f", valid=1x{region[1]}" if known else ""
    given = (
        column(element, region[0], "DN", y, known)
        if name == "trowexpand"
        else Given(f"1x160x{element}{more}", y, None if known else (1, region[1]))
    )
    got = expanded(
        f"pto.{name}expdif ins(%a, %b : A, B) outs(%d : D)",
        a=tile(element, region, x, known),
        b=given,
        d=tile(element, region, known=known),
    )
    difference = (x - y).astype(x.dtype).astype("f8")
    assert same(got, np.exp(difference).astype("f4").astype(x.dtype), element)


def test_a_column_stands_before_a_tile_that_is_a_granule_wide():
    x, y = numbers("f32", (5, 8), seed=9), numbers("f32", (5, 1), seed=10)
    got = expanded(
        "pto.trowexpandmax ins(%a, %b : A, B) outs(%d : D)",
        a=column("f32", 5, "DN", y, known=False),
        b=Given("5x8xf32", x, valid=(5, 8)),
        d=Given("5x8xf32", valid=(5, 8)),
    )
    assert same(got, JOINED["max"](y, x), "f32")


@pytest.mark.parametrize("width", [8, 160])
@pytest.mark.parametrize("name", ["mul", "sub", "div"])
def test_rows_with_one_valid_element_are_a_column(name, width):
    """As a sum of rows leaves them, beside tiles whose valid region only the run knows."""
    x, y = numbers("f32", (5, width), seed=9), numbers("f32", (5, 1), seed=10)
    got = expanded(
        f"pto.trowexpand{name} ins(%a, %b : A, B) outs(%d : D)",
        a=Given(f"5x{width}xf32", x, valid=(5, width)),
        b=Given("5x8xf32, valid=5x1", y),
        d=Given(f"5x{width}xf32", valid=(5, width)),
    )
    assert same(got, JOINED[name](x, y), "f32")


def test_a_column_stands_before_a_tile_with_one_valid_column():
    x, y = numbers("f32", (5, 1), seed=9), numbers("f32", (5, 1), seed=10)
    got = expanded(
        "pto.trowexpandmin ins(%a, %b : A, B) outs(%d : D)",
        a=column("f32", 5, "DN", y),
        b=Given("5x8xf32, valid=5x1", x),
        d=Given("5x8xf32, valid=5x1"),
    )
    assert same(got, JOINED["min"](y, x), "f32")


@table("name, column", ("add", "5x16xf32"), ("min", "5x16xf32, valid=5x8"), ("max", "5x16xf32"), ("sub", "5x16xf32"))
def test_a_tile_that_is_a_granule_wide_stands_before_a_column(name, column):
    """A tile that is like the result is not its column, and a sum has its column in second place alone."""
    x, y = numbers("f32", (5, 8), seed=9), numbers("f32", (5, 8), seed=10)
    got = expanded(
        f"pto.trowexpand{name} ins(%a, %b : A, B) outs(%d : D)",
        a=Given("5x8xf32", x, valid=(5, 8)),
        b=Given(column, y, valid=None if "valid" in column else (5, 8)),
        d=Given("5x8xf32", valid=(5, 8)),
    )
    assert same(got, JOINED[name](x, y[:, :1]), "f32")


def test_exponentials_with_the_column_first():
    x, y = numbers("f32", (5, 131), seed=9), numbers("f32", (5, 1), seed=10)
    got = expanded(
        "pto.trowexpandexpdif ins(%a, %b : A, B) outs(%d : D)",
        a=column("f32", 5, "DN", y),
        b=tile("f32", (5, 131), x),
        d=tile("f32", (5, 131)),
    )
    assert same(got, np.exp((y - x).astype("f8")).astype("f4"), "f32")


def test_results_may_replace_the_tile():
    x, y = numbers("f32", (5, 160), seed=13), numbers("f32", (5, 1), seed=14)
    got = run("pto.trowexpandmul ins(%a, %b : A, B) outs(%a : A)", a=Given("5x160xf32", x), b=column("f32", 5, "DN", y))
    assert same(got["a"].valid, x * y, "f32")


def test_whole_tiles_are_row_major():
    with pytest.raises(ptosim.PTOError, match="laid out as DN is not lowered"):
        run(
            "pto.trowexpandsub ins(%a, %b : A, B) outs(%d : D)",
            a=Given("16x8xf32, blayout=col_major"),
            b=Given("16x1xf32, blayout=col_major"),
            d=Given("16x8xf32"),
        )


EMPTY_TILE = "16x16xf32, valid=0x0"


@pytest.mark.parametrize("name", ["", *JOINED, "expdif"])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_the_mark_of_an_idle_core_is_a_tile_of_no_rows_and_columns(name, target):
    """Of sources and result 0x0 nothing is asked, and nothing is written."""
    column = Given("16x1xf32, valid=0x0, blayout=col_major")
    ins = "%a, %b : A, B" if name else "%b : B"
    got = run(
        f"pto.trowexpand{name} ins({ins}) outs(%d : D)",
        target=target,
        a=Given(EMPTY_TILE),
        b=column,
        d=Given(EMPTY_TILE),
    )
    assert got["d"].unchanged_outside()
