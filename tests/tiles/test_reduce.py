"""Reductions of rows and columns against the trees of the instruction set, worked out in NumPy."""

import struct
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest

import ptosim
from tables import table
from tile_cases import EMPTY, REGIONS, Array, column, numbers, same, sampled, tile
from tile_programs import Given, run, run_each

NUMBERS = ["i16", "ui16", "i32", "ui32", "f16", "f32"]
WIDE = ["i8", "ui8", "si16", *NUMBERS, "bf16"]


def lanes_of(x: Array) -> int:
    return 256 // x.dtype.itemsize


def chunks(row: Array) -> list[Array]:
    step = lanes_of(row)
    return [row[at : at + step] for at in range(0, len(row), step)]


def halved(x: Array, join: np.ufunc) -> Array:
    while len(x) > 1:
        x = join(x[: len(x) // 2], x[len(x) // 2 :])
    return x[0]


def order(x: Array) -> list[int]:
    """Numbers whose order is that of floats with -0 below +0, and that of integers."""
    if x.dtype.kind in "iu":
        return [int(value) for value in x]
    words = [struct.unpack("<i", struct.pack("<f", float(value)))[0] for value in x]
    return [word if word >= 0 else -(word & 0x7FFFFFFF) - 1 for word in words]


def has_nan(x: Array) -> bool:
    return x.dtype.kind not in "iu" and bool(np.isnan(x.astype("f4")).any())


def row_sum(row: Array):
    if row.dtype.kind in "iu":
        return np.array(int(row.astype("i8").sum()) & (1 << 8 * row.dtype.itemsize) - 1, f"u{row.dtype.itemsize}")
    total = row.dtype.type(0)
    for chunk in chunks(row):
        lanes = np.zeros(lanes_of(row), "f4")
        lanes[: len(chunk)] = chunk
        total = total + row.dtype.type(halved(lanes, np.add))
    return total


def row_product(row: Array):
    lanes = np.ones(lanes_of(row), row.dtype)
    for chunk in chunks(row):
        lanes[: len(chunk)] *= chunk
    return halved(lanes, np.multiply)


def first_best(x: Array, sign: int) -> int:
    """The first of the greatest (sign 1) or least (sign -1) elements."""
    keys = order(x)
    return max(range(len(x)), key=lambda i: sign * keys[i])


def extremum(x: Array, sign: int):
    return np.nan if has_nan(x) else x[first_best(x, sign)]


def row_argument(row: Array, sign: int) -> int:
    """Registers with a NaN never win; of equal elements the first does."""
    worst = (
        -sign * np.inf if row.dtype.kind not in "iu" else [None, np.iinfo(row.dtype).min, np.iinfo(row.dtype).max][sign]
    )
    best, where = worst, 0
    for number, chunk in enumerate(chunks(row)):
        at = first_best(chunk, sign)
        if not has_nan(chunk) and (chunk[at] > best if sign > 0 else chunk[at] < best):
            best, where = chunk[at], number * lanes_of(row) + at
    return where


def column_argument(x: Array, sign: int) -> int:
    """Row by row; a NaN stays the best."""
    best, where = x[0], 0
    for row in range(1, len(x)):
        if x[row] > best if sign > 0 else x[row] < best:
            where = row
        best = np.asarray(extremum(np.array([x[row], best]), sign), x.dtype)
    return where


Reduction = Callable[[Array], Array]


def by_row(of_one: Callable[[Array], object]) -> Reduction:
    return lambda x: np.array([[of_one(row)] for row in x])


ROW = {
    "trowsum": by_row(row_sum),
    "trowprod": by_row(row_product),
    "trowmax": by_row(lambda row: extremum(row, 1)),
    "trowmin": by_row(lambda row: extremum(row, -1)),
}
ROW_ARGUMENT = {
    "trowargmax": by_row(lambda row: row_argument(row, 1)),
    "trowargmin": by_row(lambda row: row_argument(row, -1)),
}


def joined(x: Array, join) -> Array:
    total = x[0]
    for row in x[1:]:
        total = join(total, row).astype(x.dtype)
    return total


def by_column(of_one: Callable[[Array], object]) -> Reduction:
    return lambda x: np.array([[of_one(one) for one in x.T]])


COLUMN = {
    "tcolsum": lambda x: joined(x, np.add)[None],
    "tcolprod": lambda x: joined(x, np.multiply)[None],
    "tcolmax": by_column(lambda one: extremum(one, 1)),
    "tcolmin": by_column(lambda one: extremum(one, -1)),
}
COLUMN_ARGUMENT = {
    "tcolargmax": by_column(lambda one: column_argument(one, 1)),
    "tcolargmin": by_column(lambda one: column_argument(one, -1)),
}


def reduced(name: str, source: Given, into: Given):
    got = run(f"pto.{name} ins(%a : A) outs(%d : D)", a=source, d=into)
    assert got["d"].unchanged_outside()
    assert np.array_equal(got["a"].image, source.image())
    return got["d"]


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def check_reductions(
    reductions: Mapping[str, Reduction], element: str, region: tuple[int, int], known: bool, *into: Given
) -> None:
    """All of these from the same tile, into a tile of each kind; products from one without special numbers."""
    results = dict(zip("de", into, strict=False))
    x = {source: numbers(element, region, seed=sum(region), special=source == "a") for source in "ab"}
    sources = {name: "b" if name.endswith("prod") else "a" for name in reductions}
    operations = {
        f"{name} {results[d].element}": f"pto.{name} ins(%{a} : {a.upper()}) outs(%{d} : {d.upper()})"
        for (name, a), d in product(sources.items(), results)
    }
    given = {a: tile(element, region, x[a], known) for a in set(sources.values())}
    got = run_each(operations, results="".join(results), **given, **results)
    for (name, a), (d, result) in product(sources.items(), results.items()):
        of = f"{name} {result.element}"
        assert got[of][d].unchanged_outside(), of
        if 0 in region:
            assert np.array_equal(got[of][d].image, result.image()), of
        else:
            assert same(got[of][d].valid, reductions[name](x[a]), result.element), of


ROW_CASES = [
    *product(NUMBERS, REGIONS, ["DN"], [True]),
    *product(NUMBERS, [(5, 131)], ["ND"], [True, False]),
    *product(NUMBERS, [(5, 131), (3, 7), *EMPTY], ["DN"], [False]),
]


@pytest.mark.parametrize("case", sampled(ROW_CASES, 16))
def test_rows(case):
    element, region, layout, known = case
    check_reductions(ROW, element, region, known, column(element, region[0], layout, known=known))


ROW_ARGUMENT_CASES = [
    *product(NUMBERS, REGIONS, ["DN"], ["i32"], [True]),
    *product(NUMBERS, [(5, 131), *EMPTY], ["ND"], ["ui32"], [False]),
]


@pytest.mark.parametrize("case", sampled(ROW_ARGUMENT_CASES, 8))
def test_places_in_rows(case):
    element, region, layout, index, known = case
    check_reductions(ROW_ARGUMENT, element, region, known, column(index, region[0], layout, known=known))


def one_row(element: str, cols: int, known: bool) -> Given:
    if known:
        return Given(f"1x160x{element}, valid=1x{cols}")
    return Given(f"1x160x{element}", valid=(1, cols))


COLUMN_REGIONS = [*((one, True) for one in REGIONS), ((5, 131), False), *((one, False) for one in EMPTY)]


@pytest.mark.parametrize("case", sampled([*product(WIDE, COLUMN_REGIONS)], 14))
def test_columns(case):
    """There is no product of bytes."""
    element, (region, known) = case
    taken = {name: one for name, one in COLUMN.items() if name != "tcolprod" or element not in ("i8", "ui8")}
    check_reductions(taken, element, region, known, one_row(element, region[1], known))


@pytest.mark.parametrize("case", sampled([*product(WIDE, COLUMN_REGIONS)], 12))
def test_places_in_columns(case):
    element, (region, known) = case
    places = (one_row(index, region[1], known) for index in ("i32", "ui32"))
    check_reductions(COLUMN_ARGUMENT, element, region, known, *places)


# --- sums in pairs ----------------------------------------------------------------------------------------------------


def in_pairs(x: Array) -> Array:
    """Rows in pairs, an odd last one with the last pair, until one is left."""
    rows = list(x)
    while len(rows) > 1:
        sums = [(rows[2 * i] + rows[2 * i + 1]).astype(x.dtype) for i in range(len(rows) // 2)]
        if len(rows) % 2:
            sums[-1] = (sums[-1] + rows[-1]).astype(x.dtype)
        rows = sums
    return rows[0]


PAIRS = [*product([1, 2, 3, 7, 12], ["f32", "f16", "bf16", "i8"], [True, False], [True, False])]


@pytest.mark.parametrize("case", sampled(PAIRS, 6))
def test_columns_in_pairs(case):
    rows, element, known, tmp = case
    x = numbers(element, (rows, 131), seed=rows)
    given = {
        "a": Given(f"13x160x{element}, valid={rows}x131", x) if known else Given(f"13x160x{element}", x, (rows, 131)),
        **({"t": Given(f"6x160x{element}")} if tmp else {}),
        "d": one_row(element, 131, known),
    }
    sources, types = ("%a, %t", "A, T") if tmp else ("%a", "A")
    text = f"pto.tcolsum ins({sources} {{isBinary = true}} : {types}) outs(%d : D)"
    got = run(text, **given)
    assert got["d"].unchanged_outside()
    assert same(got["d"].valid, in_pairs(x)[None], element)


def test_sums_in_pairs_are_in_order():
    """A row of tmp is written once for each halving; barriers keep the later value."""
    a, t, d = (f"!pto.tile_buf<vec, {rows}x64xf32>" for rows in (9, 5, 1))
    text = f"""module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    func.func @k() attributes {{pto.kernel}} {{
    %one = arith.constant 1.0 : f32
    %a = pto.alloc_tile : {a}
    %t = pto.alloc_tile : {t}
    %d = pto.alloc_tile : {d}
    pto.texpands ins(%one : f32) outs(%a : {a})
    pto.tcolsum ins(%a, %t {{isBinary = true}} : {a}, {t}) outs(%d : {d})
    return
    }}
    }}
    """
    report = ptosim.check(ptosim.load(text).kernel())
    assert not report.findings, report


def test_sums_in_pairs_need_half_the_rows():
    with pytest.raises(ptosim.PTOError, match="tmp has 4 rows; it takes one for every two of src, 6"):
        run(
            "pto.tcolsum ins(%a, %t {isBinary = true} : A, T) outs(%d : D)",
            a=Given("12x64xf32"),
            t=Given("4x128xf32"),
            d=Given("1x64xf32"),
        )


# --- what the instruction set names -----------------------------------------------------------------------------------


def test_sums_of_short_integers_wrap():
    x = np.full((5, 160), 1000, "i2")
    got = reduced("trowsum", Given("5x160xi16", x), column("i16", 5, "DN"))
    assert got.valid.ravel().tolist() == [160000 - 2 * 65536] * 5


def test_a_row_of_minus_infinity_keeps_it():
    x = np.full((5, 160), -np.inf, "f4")
    assert np.all(reduced("trowmax", Given("5x160xf32", x), column("f32", 5, "DN")).valid == -np.inf)
    assert np.all(reduced("trowargmax", Given("5x160xf32", x), column("i32", 5, "DN")).valid == 0)


def test_nan_spreads():
    x = np.ones((5, 160), "f4")
    x[2, 100] = np.nan
    for name in ("trowsum", "trowmax", "trowmin", "trowprod"):
        got = reduced(name, Given("5x160xf32", x), column("f32", 5, "DN")).valid.ravel()
        assert np.flatnonzero(np.isnan(got)).tolist() == [2]


WHOLE, PART = "!pto.tile_buf<vec, 16x128xf32>", "!pto.tile_buf<vec, 8x64xf32>"
CUT = f"""%c4 = arith.constant 4 : index
%c64 = arith.constant 64 : index
%p = pto.subview %a[%c4, %c64] sizes [8, 64] : {WHOLE} -> {PART}"""


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_parts_of_tiles(target):
    """A part keeps the pitch of the whole; on a2a3 operations have working tiles, which they leave alone."""
    x = numbers("f32", (16, 128), seed=1)
    part = x[4:12, 64:]
    t = Given("16x128xf32")
    text = f"pto.trowsum ins(%p, %t : {PART}, T) outs(%d : D)"
    got = run(text, before=CUT, target=target, a=Given("16x128xf32", x), t=t, d=column("f32", 8, "DN"))
    assert same(got["d"].valid, np.array([[row_sum(row)] for row in part]), "f32")
    assert np.array_equal(got["t"].image, t.image())
    text = f"pto.tcolmax ins(%p : {PART}) outs(%d : D)"
    got = run(text, before=CUT, target=target, a=Given("16x128xf32", x), d=Given("1x64xf32"))
    assert same(got["d"].valid, part.max(axis=0)[None], "f32")


def test_softmax():
    """The operations of a softmax one after the other, in one tile and a column."""
    x = numbers("f32", (5, 131), seed=2)
    steps = """pto.trowmax ins(%a : A) outs(%c : C)
pto.trowexpandexpdif ins(%a, %c : A, C) outs(%a : A)
pto.trowsum ins(%a : A) outs(%c : C)
pto.trowexpanddiv ins(%a, %c : A, C) outs(%a : A)"""
    got = run(steps, a=tile("f32", (5, 131), x), c=column("f32", 5, "DN"))
    powers = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True)).astype("f4")
    assert np.allclose(got["a"].valid, powers / powers.sum(axis=1, keepdims=True), rtol=1e-6)
    assert got["a"].unchanged_outside()


@table(
    "name, d",
    ("trowsum", Given("8x1xf32, valid=0x0, blayout=col_major")),
    ("trowprod", Given("8x1xf32, valid=0x0, blayout=col_major")),
    ("trowmax", Given("8x1xf32, blayout=col_major", valid=(0, 0))),
    ("trowargmax", Given("8x1xi32, blayout=col_major", valid=(8, 0))),
    ("tcolsum", Given("1x64xf32", valid=(0, 64))),
    ("tcolargmin", Given("1x64xi32", valid=(1, 0))),
)
def test_a_result_without_elements_is_left_alone(name, d):
    """The valid shape 0x0 marks a result that is empty."""
    a = Given("8x64xf32", numbers("f32", (8, 64), seed=1))
    got = run(f"pto.{name} ins(%a : A) outs(%d : D)", a=a, d=d)
    assert np.array_equal(got["d"].image, d.image())
