"""Groups of 32 elements with a common power of two, against NumPy."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptosim
from tile_cases import Array, numbers, same, sampled
from tile_programs import Given, Outcome, dtype_of, run

FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


@dataclass(frozen=True)
class Case:
    kind: str = "MXFP8"
    element: str = "f32"
    rows: int = 40
    cols: int = 96
    axis: str = "axis1"
    formula: str = "ocp"
    store: str = "nd"
    linear: bool = False
    interleave: bool = False
    zz: bool = False
    known: bool = True

    def __str__(self) -> str:
        flags = [name for name in ("linear", "interleave", "zz") if getattr(self, name)]
        known = [] if self.known else ["dynamic"]
        return "-".join(
            [self.kind, self.element, f"{self.rows}x{self.cols}", self.axis, self.formula, self.store, *flags, *known]
        )

    @property
    def groups(self) -> tuple[int, int]:
        """Rows and columns of what is said of groups."""
        if self.axis == "axis1":
            return self.rows, -(-self.cols // 32)
        return -(-self.rows // 32), self.cols


def f32_of(bits: int) -> np.float32:
    return np.array(bits, "u4").view("f4")[()]


def bits_of(x: Any) -> int:
    return int(np.array(x, "f4").view("u4"))


def scale_of(case: Case, greatest: Any) -> tuple[int, int]:
    """The exponent and the bits of the scale of a group, from its greatest magnitude."""
    if case.formula == "nv":
        return nv(np.float32(greatest))
    if np.isnan(greatest):
        return 255, 0x7FC00000
    most = 8 if case.kind == "MXFP8" else 2
    exp = max((bits_of(greatest) >> 23) - most, 0)
    return exp, (254 - exp) << 23


def nv(greatest: np.float32) -> tuple[int, int]:
    part = greatest * np.float32(1 / 448)
    if np.isnan(part):
        return 255, 0x7FC00000
    if np.isinf(part):
        return 254, 0x00400000
    field, rest = bits_of(part) >> 23, bits_of(part) & 0x7FFFFF
    exp = field + ((field > 0 and rest != 0) or (field == 0 and rest > 0x400000))
    return exp, (254 - exp) << 23


def fp8(x: Array) -> Array:
    """To the nearest even, clamped; NaN is zero."""
    clamped = np.clip(np.nan_to_num(x.astype("f4"), nan=0.0, posinf=448, neginf=-448), -448, 448)
    return clamped.astype(ml_dtypes.float8_e4m3fn).view("u1")


def fp4(x: Array) -> Array:
    """Rounded to bf16, then to the nearest code, the even one of two; two in a byte."""
    rounded = x.astype(ml_dtypes.bfloat16).astype("f8")
    distance = np.abs(np.abs(rounded)[..., None] - FP4)
    even = np.arange(8) % 2 == 0
    code = np.argmin(distance - even * 1e-9, axis=-1) | np.signbit(rounded) << 3
    code = np.pad(code, ((0, 0), (0, code.shape[1] % 2)))
    return (code[:, ::2] | code[:, 1::2] << 4).astype("u1")


def expected(case: Case, x: Array) -> dict[str, Array]:
    wide = x.astype("f4")
    max_, scale, exp = (np.zeros(case.groups, type_) for type_ in ("f4", "u4", "u1"))
    product_ = np.zeros(x.shape, "f4")
    for row, col in np.ndindex(*case.groups):
        part = (row, slice(32 * col, 32 * col + 32)) if case.axis == "axis1" else (slice(32 * row, 32 * row + 32), col)
        max_[row, col] = np.max(np.abs(wide[part]))
        exp[row, col], scale[row, col] = scale_of(case, max_[row, col])
        product_[part] = wide[part] * f32_of(int(scale[row, col]))
    narrow = x.dtype.itemsize == 2
    return {
        "d": (fp8 if case.kind == "MXFP8" else fp4)(product_),
        "m": max_.astype(x.dtype),
        "s": (scale >> 16).astype("u2") if narrow else scale,
        "e": exp,
    }


def tiles_of(case: Case, x: Array) -> dict[str, Given]:
    rows, cols = 64, 128
    region = (case.rows, case.cols)
    fp4_ = case.kind != "MXFP8"
    boxes = ", blayout=col_major, slayout=row_major" if case.store == "nz" else ""
    out = (
        (f"{rows}x{cols // 2}x!pto.f4E2M1x2", (case.rows, -(-case.cols // 2)))
        if fp4_
        else (f"{rows}x{cols}xf8E4M3FN", region)
    )
    n = int(np.prod(case.groups))
    exponents = f"1x{-(-2 * n // 32) * 32}xui8" if case.linear or case.interleave else "64x128xui8"
    numbers_ = f"1x{-(-n // 32) * 32}x{case.element}" if case.linear else f"64x128x{case.element}"
    valid = "" if not case.known else f", valid={region[0]}x{region[1]}"
    found = {
        "a": Given(f"{rows}x{cols}x{case.element}{valid}", x, None if case.known else region),
        "d": Given(f"{out[0]}, valid={out[1][0]}x{out[1][1]}{boxes}"),
        "e": Given(exponents),
        "m": Given(numbers_),
        "s": Given(numbers_),
    }
    return {**found, **({"z": Given("1x8192xui8")} if case.zz else {})}


def quantised(case: Case, x: Array, check: bool = True) -> dict[str, Outcome]:
    names = ["d", "e", "m", "s", *(["z"] if case.zz else [])]
    attributes = (
        f"quant_type = #pto<quant_type {case.kind}>, quantScaleAlg = #pto<quant_scale_alg {case.formula}>,"
        f" storeMode = #pto<vec_store_mode {case.store}>, grpAxis = #pto<mx_group_axis {case.axis}>,"
        f" interleave = {str(case.interleave).lower()}"
    )
    outs = f"{', '.join(f'%{name}' for name in names)} : {', '.join(names).upper()}"
    tiles = tiles_of(case, x)
    got = run(f"pto.tquant.mx ins(%a : A) outs({outs}) {{{attributes}}}", check=check, **tiles)
    assert np.array_equal(got["a"].image, tiles["a"].image())
    assert got["d"].unchanged_outside()
    return got


def verify(case: Case, x: Array) -> None:
    with np.errstate(all="ignore"):
        got, wanted = quantised(case, x), expected(case, x)
    rows, cols = wanted["d"].shape
    assert np.array_equal(got["d"].all.view("u1")[:rows, :cols], wanted["d"])
    rows, cols = case.groups
    for name in "mse":
        if name == "e" and case.interleave:
            continue
        found = got[name].all
        found = found.ravel()[: rows * cols].reshape(rows, cols) if case.linear else found[:rows, :cols]
        if name == "m":
            assert same(np.ascontiguousarray(found), wanted["m"], case.element)
        else:
            assert np.array_equal(np.ascontiguousarray(found).view(f"u{found.dtype.itemsize}"), wanted[name])
    if case.interleave:
        flat = got["e"].image
        for row, col in np.ndindex(rows, cols):
            assert flat[(row // 2 * case.cols + col) * 2 + row % 2] == wanted["e"][row, col]
    if case.zz:
        ordered = got["z"].image
        for row, col in np.ndindex(rows, cols):
            if case.axis == "axis1":
                at = ((row // 16 * -(-cols // 2) + col // 2) * 16 + row % 16) * 2 + col % 2
            else:
                at = ((col // 16 * -(-rows // 2) + row // 2) * 16 + col % 16) * 2 + row % 2
            assert ordered[at] == wanted["e"][row, col]


def scattered(case: Case, seed: int) -> Array:
    """Elements of very different magnitudes, one group of zeros, one of the smallest numbers."""
    x = numbers(case.element, (case.rows, case.cols), seed).astype("f4")
    x *= np.exp2(np.random.default_rng(seed).integers(-20, 20, x.shape) // 4).astype("f4")
    if x.shape[1] > 32:
        x[:, :32] *= np.float32(2.0**-9)
        x[0, :32] = 0
        x[-1, :32] = 1e-40
    return x.astype(dtype_of(case.element))


SHAPES = [(40, 96), (1, 32), (33, 128), (64, 70), (3, 7)]
PLAIN = [
    Case(kind, element, *shape, axis, formula, known=known)
    for (kind, elements, formulas) in [
        ("MXFP8", ["f32", "f16", "bf16"], ["ocp", "nv"]),
        ("MXFP4_E2M1", ["f16", "bf16"], ["ocp"]),
    ]
    for element, formula, shape, axis, known in product(elements, formulas, SHAPES, ["axis1", "axis0"], [True, False])
]


@pytest.mark.parametrize("case", sampled(PLAIN, 8))
def test_groups(case):
    verify(case, scattered(case, seed=case.rows))


FORMS = [
    Case(store="nz"),
    Case(store="nz", cols=128, axis="axis0"),
    Case("MXFP4_E2M1", "bf16", store="nz", cols=128),
    Case(linear=True),
    Case(linear=True, axis="axis0", rows=64, cols=64),
    Case("MXFP4_E2M1", "bf16", linear=True, cols=128),
    Case("MXFP4_E2M1", "bf16", linear=True, axis="axis0", cols=128, rows=64),
    Case(axis="axis0", interleave=True, rows=64, cols=64),
    Case(axis="axis0", interleave=True, rows=40, cols=128, known=False),
    Case(zz=True, rows=40, cols=128),
    Case("MXFP4_E2M1", "f16", zz=True, rows=16, cols=64),
    Case(zz=True, axis="axis0", rows=64, cols=128),
    Case(zz=True, axis="axis0", interleave=True, linear=True, rows=64, cols=80),
]


@pytest.mark.parametrize("case", FORMS, ids=str)
def test_forms(case):
    verify(case, scattered(case, seed=7))


@pytest.mark.parametrize(
    "case", [Case(), Case(axis="axis0"), Case(formula="nv"), Case(formula="nv", axis="axis0")], ids=str
)
def test_infinities_and_nan(case):
    x = scattered(case, seed=9)
    x[3, 40], x[5, 70], x[9, 3] = np.inf, np.nan, -np.inf
    verify(case, x)


def test_nothing_happens_without_elements():
    for rows, cols, axis in ((0, 96, "axis1"), (40, 0, "axis1"), (0, 96, "axis0"), (40, 0, "axis0")):
        case = Case(rows=rows, cols=cols, axis=axis, known=False)
        x = np.zeros((rows, cols), "f4")
        tiles = tiles_of(replace(case, rows=40, cols=96), np.zeros((40, 96), "f4")) | {
            "a": Given("64x128xf32", x, (rows, cols))
        }
        attributes = f"quant_type = #pto<quant_type MXFP8>, grpAxis = #pto<mx_group_axis {axis}>"
        got = run(f"pto.tquant.mx ins(%a : A) outs(%d, %e, %m, %s : D, E, M, S) {{{attributes}}}", **tiles)
        for name in "dems":
            assert np.array_equal(got[name].image, tiles[name].image())


def test_the_nv_formula_is_one_of_fp8():
    with pytest.raises(ptosim.PTOError, match="the nv formula is one of fp8"):
        quantised(Case("MXFP4_E2M1", "bf16", formula="nv"), np.zeros((40, 96), ml_dtypes.bfloat16))


def test_rows_in_one_row_are_whole_granules():
    with pytest.raises(ptosim.PTOError, match="max has one row, in which groups of 70 columns"):
        quantised(Case(axis="axis0", rows=64, cols=70, linear=True), np.zeros((64, 70), "f4"))


@pytest.mark.parametrize(
    ("d", "m", "message"),
    [
        ("64x128xf8E4M3FN, blayout=col_major", "64x128xf32", "with dst laid out as DN is not lowered"),
        ("64x128xf8E4M3FN", "64x128xi8", "max has elements of 2 or 4 bytes, not 1"),
    ],
)
def test_what_results_may_not_be(d, m, message):
    tiles = {"a": Given("64x128xf32"), "d": Given(d), "e": Given("64x128xui8"), "m": Given(m), "s": Given("64x128xf32")}
    with pytest.raises(ptosim.PTOError, match=message):
        run(
            "pto.tquant.mx ins(%a : A) outs(%d, %e, %m, %s : D, E, M, S) {quant_type = #pto<quant_type MXFP8>}", **tiles
        )


@pytest.mark.parametrize("role", ["d", "e", "m", "s", "z"])
@pytest.mark.parametrize("known", [True, False])
def test_results_that_a_tile_has_no_room_for_end_the_run(role, known):
    """Other tiles lie behind it."""
    ample = {"d": "64x64xf8E4M3FN", "e": "1x128xui8", "m": "1x128xf32", "s": "64x32xf32", "z": "1x128xui8"}
    small = {"d": "64x32xf8E4M3FN", "e": "1x96xui8", "m": "32x32xf32", "s": "1x120xf32", "z": "1x96xui8"}
    valid = None if known else (64, 64)
    tiles = {name: Given(small[name] if name == role else kind) for name, kind in ample.items()}
    words = "{quant_type = #pto<quant_type MXFP8>}"
    with pytest.raises(ptosim.PTOError, match=r"too (small|few) for"):
        run(
            f"pto.tquant.mx ins(%a : A) outs(%d, %e, %m, %s, %z : D, E, M, S, Z) {words}",
            a=Given("64x64xf32", valid=valid),
            **tiles,
        )


def test_few_columns_are_checked_by_compiled_code():
    """Compiling the filter for them has ended the process."""
    case = Case("MXFP4_E2M1", "bf16", 3, 7, "axis1", "ocp", known=True)
    verify(case, scattered(case, seed=3))
