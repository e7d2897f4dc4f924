"""Groups of 32 elements with a common power of two, against NumPy."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tables import table
from tile_cases import Array, numbers, same, sampled
from tile_programs import Given, Outcome, dtype_of, run

FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


@dataclass(frozen=True)
class Case:
    """A source, and where the results of its groups stand: flat in one row, or in rows."""

    kind: str = "MXFP8"
    element: str = "f32"
    rows: int = 40
    cols: int = 96
    axis: str = "axis1"
    formula: str = "ocp"
    store: str = "nd"
    flat: bool = True
    interleave: bool = False
    zz: bool = False
    width: int = 0
    """Columns of the tile of the source, where some are not valid."""
    byte: str = "i8"
    """The elements of a result of fp8."""

    def __str__(self) -> str:
        flags = [name for name in ("flat", "interleave", "zz") if getattr(self, name)]
        shape = f"{self.rows}x{self.cols}of{self.width}"
        return "-".join([self.kind, self.element, shape, self.axis, self.formula, self.store, self.byte, *flags])

    @property
    def groups(self) -> tuple[int, int]:
        """Rows and columns of what is said of groups."""
        if self.axis == "axis1":
            return self.rows, self.cols // 32
        return self.rows // 32, self.cols

    @property
    def shape(self) -> tuple[int, int]:
        return -(-self.rows // 64) * 64, self.width or self.cols


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
    (rows, cols), (height, width), n = case.shape, case.groups, int(np.prod(case.groups))
    per_byte, element = 1 + (case.kind != "MXFP8"), case.byte if case.kind == "MXFP8" else "!pto.f4E2M1x2"
    region = f"valid={case.rows}x{case.cols // per_byte}"
    in_row = "1x{}x{}, valid=1x" + str(n)
    if case.axis == "axis1":
        room = -(-2 * n // 128) * 128
        of_groups = f"64x{width}x{case.element}, valid={height}x{width}"
        max_, scales = (in_row.format(room, case.element),) * 2 if case.flat else (of_groups,) * 2
        exps = in_row.format(room, "ui8") if cols == case.cols else f"64x128xui8, valid={height}x{width}"
    else:
        max_ = scales = f"{height}x{cols}x{case.element}, valid={height}x{width}"
        exps = in_row.format(-(-n // 32) * 32, "ui8") if case.flat else f"{height}x{cols}xui8, valid={height}x{width}"
    if case.interleave:
        exps = f"{rows // 64}x{-(-2 * cols // 32) * 32}xui8, valid={case.rows // 64}x{2 * case.cols}"
    found = {
        "a": Given(f"{rows}x{cols}x{case.element}, valid={case.rows}x{case.cols}", x),
        "d": Given(f"{rows}x{cols // per_byte}x{element}, {region}"),
        "e": Given(exps),
        "m": Given(max_),
        "s": Given(scales),
    }
    boxes = -(-height // 16) * -(-width // 2) * 32
    return {**found, **({"z": Given(f"1x{-(-boxes // 32) * 32}xui8, valid=1x{n}")} if case.zz else {})}


def quantised(case: Case, x: Array) -> dict[str, Outcome]:
    names = ["d", "e", "m", "s", *(["z"] if case.zz else [])]
    attributes = (
        f"quant_type = #pto<quant_type {case.kind}>, quantScaleAlg = #pto<quant_scale_alg {case.formula}>,"
        f" storeMode = #pto<vec_store_mode {case.store}>, grpAxis = #pto<mx_group_axis {case.axis}>,"
        f" interleave = {str(case.interleave).lower()}"
    )
    outs = f"{', '.join(f'%{name}' for name in names)} : {', '.join(names).upper()}"
    tiles = tiles_of(case, x)
    got = run(f"pto.tquant.mx ins(%a : A) outs({outs}) {{{attributes}}}", **tiles)
    assert np.array_equal(got["a"].image, tiles["a"].image())
    if case.store == "nd":
        assert got["d"].unchanged_outside()
    return got


def bytes_of(outcome: Outcome, case: Case) -> Array:
    """The result of a case by row and column; blocks of 32 columns where it is stored as products want it."""
    if case.store == "nd":
        return outcome.all.view("u1")
    rows, cols = outcome.given.rows, outcome.given.cols
    return outcome.image.reshape(cols // 32, rows, 32).transpose(1, 0, 2).reshape(rows, cols)


def verify(case: Case, x: Array) -> None:
    with np.errstate(all="ignore"):
        got, wanted = quantised(case, x), expected(case, x)
    rows, cols = wanted["d"].shape
    assert np.array_equal(bytes_of(got["d"], case)[:rows, :cols], wanted["d"])
    for name in "mse":
        if name == "e" and case.interleave:
            continue
        found = np.ascontiguousarray(got[name].valid.reshape(case.groups))
        if name == "m":
            assert same(found, wanted["m"], case.element)
        else:
            assert np.array_equal(found.view(f"u{found.dtype.itemsize}"), wanted[name])
    if case.interleave:
        for row, col in np.ndindex(*case.groups):
            assert got["e"].all[row // 2, 2 * col + row % 2] == wanted["e"][row, col]
    if case.zz:
        for row, col in np.ndindex(*case.groups):
            at = ((row // 16 * -(-case.groups[1] // 2) + col // 2) * 16 + row % 16) * 2 + col % 2
            assert got["z"].image[at] == wanted["e"][row, col]


def scattered(case: Case, seed: int) -> Array:
    """Elements of very different magnitudes, one group of zeros, one of the smallest numbers."""
    x = numbers(case.element, (case.rows, case.cols), seed).astype("f4")
    x *= np.exp2(np.random.default_rng(seed).integers(-20, 20, x.shape) // 4).astype("f4")
    if x.shape[1] > 32:
        x[:, :32] *= np.float32(2.0**-9)
        x[0, :32] = 0
        x[-1, :32] = 1e-40
    return x.astype(dtype_of(case.element))


KINDS = [("MXFP8", ["f32", "f16", "bf16"]), ("MXFP4_E2M1", ["f16", "bf16"])]
PLAIN = [
    Case(kind, element, *shape)
    for kind, elements in KINDS
    for element, shape in product(
        elements,
        [
            *((rows, cols, "axis1") for rows, cols in [(40, 96), (1, 32), (33, 128), (64, 160)]),
            *((rows, cols, "axis0") for rows, cols in [(32, 64), (64, 96), (96, 192)]),
        ],
    )
    if not (kind == "MXFP4_E2M1" and element == "f16" and shape[2] == "axis0" and shape[1] % 64)
]


@pytest.mark.parametrize("case", sampled(PLAIN, 10))
def test_groups(case):
    verify(case, scattered(case, seed=case.rows))


FORMS = [
    Case(formula="nv", byte="ui8"),
    Case(formula="nv", axis="axis0", rows=64, byte="f8E4M3FN"),
    Case(element="f16", formula="nv", axis="axis0", rows=32),
    Case(element="bf16", formula="nv", flat=False, cols=512),
    Case(store="nz", rows=64),
    Case(store="nz", rows=64, cols=128, axis="axis0"),
    Case("MXFP4_E2M1", "bf16", rows=64, store="nz", cols=128),
    Case(flat=False, cols=256),
    Case(flat=False, cols=256, width=320),
    Case("MXFP4_E2M1", "bf16", flat=False, cols=512),
    Case(width=128),
    Case(axis="axis0", rows=64, cols=96, width=128, flat=False),
    Case(element="f16", axis="axis0", rows=64, cols=96, width=128, flat=False),
    Case("MXFP4_E2M1", "bf16", axis="axis0", cols=128, rows=64, flat=False),
    Case(element="f16", axis="axis0", interleave=True, rows=64, cols=64),
    Case(element="bf16", axis="axis0", interleave=True, rows=128, cols=128),
    Case("MXFP4_E2M1", "bf16", axis="axis0", interleave=True, rows=128, cols=160),
    Case(zz=True, rows=40, cols=128),
    Case("MXFP4_E2M1", "f16", zz=True, rows=16, cols=64),
]


@pytest.mark.parametrize("case", FORMS, ids=str)
def test_forms(case):
    verify(case, scattered(case, seed=7))


@table(
    "case", Case(), Case(axis="axis0", rows=64), Case(formula="nv"), Case(formula="nv", axis="axis0", rows=64), ids=str
)
def test_infinities_and_nan(case):
    x = scattered(case, seed=9)
    x[3, 40], x[5, 70], x[9, 3] = np.inf, np.nan, -np.inf
    verify(case, x)


def test_few_columns_are_checked_by_compiled_code():
    """Compiling the filter for them has ended the process."""
    case = Case("MXFP4_E2M1", "bf16", 3, 32)
    verify(case, scattered(case, seed=3))
