"""Quantised rows and histograms against NumPy."""

from itertools import product

import numpy as np
import pytest

from tile_cases import EMPTY, REGIONS, column, numbers, same, sampled, tile
from tile_programs import Given, run, run_each

KNOWN = [*((region, True) for region in REGIONS), ((5, 131), False), *((region, False) for region in EMPTY)]

# --- quantise ---------------------------------------------------------------------------------------------------------

QUANTISED = {kind: ["i8", "si8", "ui8"] for kind in ("INT8_SYM", "INT8_ASYM")}
"""The type of the result does not change its bits."""
LIMITS = {"INT8_SYM": (-128, 127), "INT8_ASYM": (0, 255)}


@pytest.mark.parametrize(
    "case",
    sampled(
        [
            (kind, element, *more)
            for kind in QUANTISED
            for element in QUANTISED[kind]
            for more in product(KNOWN, ["DN", "ND"])
        ],
        14,
    ),
)
def test_rows_are_quantised(case):
    kind, element, (region, known), layout = case
    x = numbers("f32", region, seed=1) * np.float32(40)
    if x.size:
        x.ravel()[:: max(x.size // 7, 1)] = np.resize(
            np.array([np.inf, -np.inf, 1e30, 0.5, 1.5, -2.5, np.nan], "f4"), len(x.ravel()[:: max(x.size // 7, 1)])
        )
    scale, shift = np.abs(numbers("f32", (5, 1), seed=2)), numbers("f32", (5, 1), seed=3) * np.float32(20)
    scale[0] = 1
    tiles = {"a": tile("f32", region, x, known), "s": column("f32", region[0], layout, scale, known)}
    if kind == "INT8_ASYM":
        tiles["o"] = column("f32", region[0], layout, shift, known)
    values, types = ", ".join(f"%{name}" for name in tiles), ", ".join(tiles).upper()
    got = run(
        f"pto.tquant ins({values} : {types}) outs(%d : D) {{quant_type = #pto<quant_type {kind}>}}",
        **tiles,
        d=tile(element, region, known=known),
    )
    assert got["d"].unchanged_outside()
    with np.errstate(all="ignore"):
        moved = x * scale[: region[0]] + (shift[: region[0]] if kind == "INT8_ASYM" else np.float32(0))
    expected = np.clip(np.rint(np.nan_to_num(moved.astype("f8"), nan=0.0, posinf=1e9, neginf=-1e9)), *LIMITS[kind])
    bits = expected.astype(np.int16).astype("u1")
    assert np.array_equal(np.ascontiguousarray(got["d"].valid).view("u1"), bits)


DEQUANTISED = {"q": "i8", "r": "si8", "t": "ui8", "u": "i16", "v": "ui16"}


@pytest.mark.parametrize("case", sampled(KNOWN, 8))
def test_rows_become_floats_again(case):
    """Rows of all types, with scales and offsets in both layouts."""
    region, known = case
    numbered = {letter: numbers(element, region, seed=4) for letter, element in DEQUANTISED.items()}
    scale, shift = numbers("f32", (5, 1), seed=5), numbers("f32", (5, 1), seed=6)
    layouts = {"DN": ("s", "o"), "ND": ("x", "y")}
    types = {letter: letter.upper() for letter in (*DEQUANTISED, *"soxy")}
    operations = {
        f"{DEQUANTISED[q]} {layout}": f"pto.tdequant ins(%{q}, %{s}, %{o} : {types[q]}, {types[s]}, {types[o]})"
        " outs(%d : D)"
        for q, (layout, (s, o)) in product(DEQUANTISED, layouts.items())
    }
    got = run_each(
        operations,
        **{q: tile(DEQUANTISED[q], region, holds, known) for q, holds in numbered.items()},
        **{s: column("f32", region[0], layout, scale, known) for layout, (s, _) in layouts.items()},
        **{o: column("f32", region[0], layout, shift, known) for layout, (_, o) in layouts.items()},
        d=tile("f32", region, known=known),
    )
    for (q, held), layout in product(numbered.items(), layouts):
        name = f"{DEQUANTISED[q]} {layout}"
        assert got[name]["d"].unchanged_outside(), name
        expected = (held.astype("f4") - shift[: region[0]]) * scale[: region[0]]
        assert same(got[name]["d"].valid, expected, "f32"), name


# --- histograms -------------------------------------------------------------------------------------------------------

COUNTED = [
    (element, byte, region, known)
    for element, top in (("ui16", 2), ("ui32", 4))
    for byte in range(top)
    for region, known in [
        ((3, 512), True),
        ((3, 131), True),
        ((1, 7), True),
        ((2, 300), False),
        ((0, 8), False),
        ((3, 0), False),
    ]
]


@pytest.mark.parametrize("case", sampled(COUNTED, 8))
def test_histograms(case):
    element, byte, (rows, cols), known = case
    size = int(element[2:]) // 8
    x = numbers(element, (rows, cols), seed=7) & np.array(0x03030303_03030303 & (1 << 8 * size) - 1, f"u{size}")
    x |= numbers(element, (rows, cols), seed=8) & np.array(0xFF << 8 * byte, f"u{size}")
    wanted = np.array([[1], [2], [3]], "u1")
    a = Given(f"3x512x{element}, valid={rows}x{cols}", x) if known else Given(f"3x512x{element}", x, (rows, cols))
    if size == 2:
        idx = Given(f"32x1xui8, valid={rows}x1, blayout=col_major", wanted)
        idx = idx if known else Given("32x1xui8, blayout=col_major", wanted, (rows, 1))
    else:
        idx = Given("3x32xui8", wanted)
    d = Given(f"3x256xui32, valid={rows}x256") if known else Given("3x256xui32", valid=(rows, 256))
    got = run(f"pto.thistogram ins(%a, %i : A, I) outs(%d : D) {{byte = {byte} : i32}}", a=a, i=idx, d=d)
    if not rows * cols:
        assert np.array_equal(got["d"].image, d.image())
        return
    assert got["d"].unchanged_outside()
    for row in range(rows):
        kept = np.ones(cols, bool)
        for place, higher in enumerate(range(size - 1, byte, -1)):
            kept &= (x[row] >> 8 * higher & 0xFF) == wanted[row if size == 2 else place, 0]
        found = (x[row] >> 8 * byte & 0xFF)[kept]
        assert got["d"].valid[row].tolist() == [int((found <= value).sum()) for value in range(256)]


def test_histograms_count_beyond_16_bits():
    x = np.zeros((1, 66048), "u2")
    got = run(
        "pto.thistogram ins(%a, %i : A, I) outs(%d : D) {byte = 1 : i32}",
        a=Given("1x66048xui16", x),
        i=Given("32x1xui8, valid=1x1, blayout=col_major"),
        d=Given("1x256xui32"),
        check=False,
    )
    assert got["d"].valid.tolist() == [[66048] * 256]
