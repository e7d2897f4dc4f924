"""Every operation on logical vectors against a direct formula, on both engines and from the text it is lowered to."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from logical_kernel import at, image, run_logical

Array = NDArray[Any]
OUT = 32_768


def computed(lines: str, before: NDArray[np.uint8], dtype: Any, count: int, **options: Any) -> Array:
    return at(run_logical(lines, before, **options), OUT, dtype, count)


N = 100
X = (np.arange(N) - 40).astype("f4") / 4
Y = (np.arange(N) % 7 - 3).astype("f4")
I32 = (np.arange(N, dtype="u4") * 0x9E3779B9) ^ 0x5A5A
J32 = np.arange(N, dtype="u4") * 0x85EBCA6B
HALF = np.arange(N) < 37
LOADED = f"""%a = pto.vmi.vload %ub_{{k}}[%c0] : P<{{k}}> -> L<{N}x{{k}}>
%b = pto.vmi.vload %ub1024_{{k}}[%c0] : P<{{k}}> -> L<{N}x{{k}}>
%c = pto.vmi.vload %ub2048_{{k}}[%c0] : P<{{k}}> -> L<{N}x{{k}}>
%m = pto.vmi.create_mask %c37 : index -> Q<{N}>
%all = pto.vmi.pset "PAT_ALL" : Q<{N}>
"""


def stored(kind: str, lanes: int = N) -> str:
    return f"\npto.vmi.vstore %r, %ub{OUT}_{kind}[%c0] : L<{lanes}x{kind}>, P<{kind}>"


def masked(values: Array) -> Array:
    return np.where(HALF, values, np.zeros_like(values))


V, S, W = f"L<{N}xf32>", f"L<{N}xsi32>", f"L<{N}xi32>"
Q = f"Q<{N}>"


def divided(one: Array, other: Array) -> Array:
    with np.errstate(all="ignore"):
        return one / other


FLOAT: dict[str, Callable[[], Array]] = {
    f"vadds %a, %c2.5_f32, %m : {V}, f32, {Q} -> {V}": lambda: masked(X + np.float32(2.5)),
    f"vmuls %a, %c2.5_f32, %m : {V}, f32, {Q} -> {V}": lambda: masked(X * np.float32(2.5)),
    f"vmaxs %a, %c2.5_f32, %m : {V}, f32, {Q} -> {V}": lambda: masked(np.maximum(X, np.float32(2.5))),
    f"vmins %a, %c2.5_f32, %m : {V}, f32, {Q} -> {V}": lambda: masked(np.minimum(X, np.float32(2.5))),
    f"vlrelu %a, %c0.5_f32, %m : {V}, f32, {Q} -> {V}": lambda: masked(np.where(X >= 0, X, X * np.float32(0.5))),
    f"vprelu %a, %b, %m : {V}, {V}, {Q} -> {V}": lambda: masked(np.where(X >= 0, X, X * Y)),
    f"vmula %a, %b, %c, %m : {V}, {V}, {V}, {Q} -> {V}": lambda: masked(X + Y * Y[::-1]),
    f"vmula %a, %b, %c : {V}, {V}, {V} -> {V}": lambda: X + Y * Y[::-1],
    f"fma %b, %c, %a : {V}, {V}, {V} -> {V}": lambda: X + Y * Y[::-1],
    f"vaxpy %a, %b, %c2.5_f32, %m : {V}, {V}, f32, {Q} -> {V}": lambda: masked(X * np.float32(2.5) + Y),
    f"vsel %m, %a, %b : {Q}, {V}, {V} -> {V}": lambda: np.where(HALF, X, Y),
    f"select %m, %a, %b : {Q}, {V}, {V} -> {V}": lambda: np.where(HALF, X, Y),
    f"vrelu %a : {V} -> {V}": lambda: np.maximum(X, np.float32(0)),
    f"relu %a : {V} -> {V}": lambda: np.maximum(X, np.float32(0)),
    f"vsqrt %a, %m : {V}, {Q} -> {V}": lambda: masked(np.sqrt(np.where(X < 0, np.float32("nan"), X))),
    f"addf %a, %b : {V}, {V} -> {V}": lambda: X + Y,
    f"subf %a, %b : {V}, {V} -> {V}": lambda: X - Y,
    f"mulf %a, %b : {V}, {V} -> {V}": lambda: X * Y,
    f"divf %a, %c : {V}, {V} -> {V}": lambda: divided(X, Y[::-1]),
    f"minf %a, %b : {V}, {V} -> {V}": lambda: np.minimum(X, Y),
    f"maxf %a, %b : {V}, {V} -> {V}": lambda: np.maximum(X, Y),
    f"negf %a : {V} -> {V}": lambda: -X,
    f"absf %a : {V} -> {V}": lambda: np.abs(X),
    f"broadcast %c2.5_f32 : f32 -> {V}": lambda: np.full(N, 2.5, "f4"),
    f'iota %c2.5_f32 {{order = "DESC"}} : f32 -> {V}': lambda: (2.5 - np.arange(N)).astype("f4"),
    f"group_iota %c2.0_f32 {{group = 50}} : f32 -> {V}": lambda: np.tile([2, 3], 50).astype("f4"),
}


@pytest.mark.parametrize("line", FLOAT)
def test_floats(line: str) -> None:
    before = image((0, X), (1024, Y), (2048, Y[::-1]))
    found = computed(LOADED.format(k="f32") + f"%r = pto.vmi.{line}" + stored("f32"), before, "f4", N)
    np.testing.assert_array_equal(found, FLOAT[line]())


SIGNED = I32.view("i4")
INTEGER: dict[str, Callable[[], Array]] = {
    f"vshls %a, %c3_i16, %m : {W}, i16, {Q} -> {W}": lambda: masked(I32 << np.uint32(3)),
    f"vshrs %a, %c3_i16, %m : {W}, i16, {Q} -> {W}": lambda: masked(I32 >> np.uint32(3)),
    f"vshl %a, %n, %m : {W}, {W}, {Q} -> {W}": lambda: masked(I32 << (J32 & 31)),
    f"vshr %a, %n, %m : {W}, {W}, {Q} -> {W}": lambda: masked(I32 >> (J32 & 31)),
    f"shli %a, %n : {W}, {W} -> {W}": lambda: I32 << (J32 & 31),
    f"shrui %a, %n : {W}, {W} -> {W}": lambda: I32 >> (J32 & 31),
    f"addi %a, %b : {W}, {W} -> {W}": lambda: I32 + J32,
    f"subi %a, %b : {W}, {W} -> {W}": lambda: I32 - J32,
    f"muli %a, %b : {W}, {W} -> {W}": lambda: I32 * J32,
    f"mini %a, %b : {W}, {W} -> {W}": lambda: np.minimum(I32, J32),
    f"maxi %a, %b : {W}, {W} -> {W}": lambda: np.maximum(I32, J32),
    f"andi %a, %b : {W}, {W} -> {W}": lambda: I32 & J32,
    f"ori %a, %b : {W}, {W} -> {W}": lambda: I32 | J32,
    f"xori %a, %b : {W}, {W} -> {W}": lambda: I32 ^ J32,
    f"not %a : {W} -> {W}": lambda: ~I32,
    f"negi %a : {W} -> {W}": lambda: -I32,
    f"vmula %a, %b, %n : {W}, {W}, {W} -> {W}": lambda: I32 + J32 * (J32 & 31),
}


@pytest.mark.parametrize("line", INTEGER)
def test_unsigned_integers(line: str) -> None:
    more = f"""%w31 = pto.vmi.vbrc %c31_i32 : i32 -> {W}
%n = pto.vmi.vand %b, %w31 : {W}, {W} -> {W}
"""
    body = LOADED.format(k="i32") + more + f"%r = pto.vmi.{line}" + stored("i32")
    np.testing.assert_array_equal(computed(body, image((0, I32), (1024, J32)), "u4", N), INTEGER[line]())


SIGNED_ONES: dict[str, Callable[[], Array]] = {
    f"vshrs %a, %c3_i16, %m : {S}, i16, {Q} -> {S}": lambda: masked(SIGNED >> 3),
    f"shrsi %a, %n : {S}, {S} -> {S}": lambda: SIGNED >> (J32 & 31).view("i4"),
    f"absi %a : {S} -> {S}": lambda: np.abs(SIGNED),
    f"vabs %a, %m : {S}, {Q} -> {S}": lambda: masked(np.abs(SIGNED)),
}


@pytest.mark.parametrize("line", SIGNED_ONES)
def test_signed_integers(line: str) -> None:
    loaded = LOADED.format(k="si32") + f"%n = pto.vmi.vload %ub3072_si32[%c0] : P<si32> -> {S}\n"
    body = loaded + f"%r = pto.vmi.{line}" + stored("si32")
    np.testing.assert_array_equal(computed(body, image((0, I32), (3072, J32 & 31)), "i4", N), SIGNED_ONES[line]())


# --- carries, products, exponentials ----------------------------------------------------------------------------------


def test_carries() -> None:
    body = (
        LOADED.format(k="ui32")
        + f"""
%s, %k = pto.vmi.vaddc %a, %b, %m : L<{N}xui32>, L<{N}xui32>, {Q} -> L<{N}xui32>, {Q}
%r, %k2 = pto.vmi.vaddcs %a, %b, %k, %all : L<{N}xui32>, L<{N}xui32>, {Q}, {Q} -> L<{N}xui32>, {Q}
%zero = pto.vmi.vsub %a, %a : L<{N}xui32>, L<{N}xui32> -> L<{N}xui32>
%one = pto.vmi.vload %ub3072_ui32[%c0] : P<ui32> -> L<{N}xui32>
%carry = pto.vmi.vsel %k2, %one, %zero : {Q}, L<{N}xui32>, L<{N}xui32> -> L<{N}xui32>
pto.vmi.vstore %carry, %ub40960_ui32[%c0] : L<{N}xui32>, P<ui32>
pto.vmi.vstore %s, %ub49152_ui32[%c0] : L<{N}xui32>, P<ui32>"""
        + stored("ui32")
    )
    memory = run_logical(body, image((0, I32), (1024, J32), (3072, np.ones(N, "u4"))))
    wide = I32.astype("u8") + J32
    first = np.where(HALF, wide >> np.uint64(32), 0)
    total = wide + first
    np.testing.assert_array_equal(at(memory, 49152, "u4", N), np.where(HALF, wide, 0).astype("u4"))
    np.testing.assert_array_equal(at(memory, OUT, "u4", N), total.astype("u4"))
    np.testing.assert_array_equal(at(memory, 40960, "u4", N), (total >> np.uint64(32)).astype("u4"))


@pytest.mark.parametrize("kind", ["i32", "ui32"])
def test_wide_products(kind: str) -> None:
    lanes, type_ = 128, f"L<128x{kind}>"
    a, b = (np.arange(lanes, dtype="u4") * np.uint32(k) for k in (0x9E3779B9, 0x85EBCA6B))
    body = f"""%a = pto.vmi.vload %ub_{kind}[%c0] : P<{kind}> -> {type_}
%b = pto.vmi.vload %ub1024_{kind}[%c0] : P<{kind}> -> {type_}
%m = pto.vmi.create_mask %c70 : index -> Q<128>
%r, %h = pto.vmi.vmull %a, %b, %m : {type_}, {type_}, Q<128> -> {type_}, {type_}
pto.vmi.vstore %h, %ub40960_{kind}[%c0] : {type_}, P<{kind}>""" + stored(kind, lanes)
    memory = run_logical(body, image((0, a), (1024, b)))
    product = a.view("i4").astype("i8") * b.view("i4") if kind == "i32" else (a.astype("u8") * b).view("i8")
    product = np.where(np.arange(lanes) < 70, product, 0)
    np.testing.assert_array_equal(at(memory, OUT, "u4", lanes), product.astype("u4"))
    np.testing.assert_array_equal(at(memory, 40960, "u4", lanes), (product >> 32).astype("u4"))


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_exponentials(kind: str) -> None:
    dtype = np.dtype("f2" if kind == "f16" else "f4")
    values, most = X.astype(dtype), np.full(N, 8, dtype)
    type_ = f"L<{N}x{kind}>"
    body = LOADED.format(k=kind) + f"%r = pto.vmi.vexpdif %a, %b, %m : {type_}, {type_}, {Q} -> {V}" + stored("f32")
    found = computed(body, image((0, values), (1024, most)), "f4", N)
    np.testing.assert_allclose(found, masked(np.exp(values.astype("f4") - 8)), rtol=1e-6)
    for name, formula in (("vexp", np.exp), ("vln", np.log), ("exp", np.exp), ("ln", np.log), ("sqrt", np.sqrt)):
        positive = (np.abs(X) / 8 + 0.5).astype(dtype)
        body = LOADED.format(k=kind) + f"%r = pto.vmi.{name} %a : {type_} -> {type_}" + stored(kind)
        found = computed(body, image((0, positive)), dtype, N)
        expected = formula(positive.astype("f8"))
        np.testing.assert_allclose(found.astype("f8"), expected, rtol=2e-3 if kind == "f16" else 1e-6)


# --- comparisons ------------------------------------------------------------------------------------------------------

ODD = np.array([0.0, -0.0, 1, np.nan, np.inf, -np.inf, np.nan, 2], "f4")
OTHER = np.array([-0.0, 0.0, 2, 1, np.inf, np.inf, np.nan, 1], "f4")


@pytest.mark.parametrize("word", ["eq", "ne", "lt", "le", "gt", "ge", "oeq", "one", "olt", "ole", "ogt", "oge"])
def test_a_nan_is_unequal_and_nothing_else(word: str) -> None:
    holds = {"eq": ODD == OTHER, "ne": ODD != OTHER, "lt": ODD < OTHER, "le": ODD <= OTHER}
    holds |= {"gt": ODD > OTHER, "ge": ODD >= OTHER}
    expected = holds[word[-2:]]
    for name in (
        f'vcmp %a, %b, %all {{cmp = "{word}"}} : L<8xf32>, L<8xf32>, Q<8>',
        f'cmpf "{word}", %a, %b : L<8xf32>, L<8xf32>',
    ):
        body = f"""%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<8xf32>
%b = pto.vmi.vload %ub1024_f32[%c0] : P<f32> -> L<8xf32>
%all = pto.vmi.pset "PAT_ALL" : Q<8>
%m = pto.vmi.{name} -> Q<8>
%one = pto.vmi.vbrc %c1.0_f32 : f32 -> L<8xf32>
%zero = pto.vmi.vbrc %c0.0_f32 : f32 -> L<8xf32>
%r = pto.vmi.vsel %m, %one, %zero : Q<8>, L<8xf32>, L<8xf32> -> L<8xf32>""" + stored("f32", 8)
        np.testing.assert_array_equal(computed(body, image((0, ODD), (1024, OTHER)), "f4", 8), expected)


COMPARED = {
    'vcmps %a, %c100_i32, %all {cmp = "gt"} : L<100xi32>, i32, Q<100>': I32 > 100,
    'cmpi "ult", %a, %b : L<100xi32>, L<100xi32>': I32 < J32,
    'cmpi "slt", %a, %b : L<100xi32>, L<100xi32>': I32.view("i4") < J32.view("i4"),
    'cmpi "sge", %a, %b : L<100xi32>, L<100xi32>': I32.view("i4") >= J32.view("i4"),
    'cmpi "ne", %a, %b : L<100xi32>, L<100xi32>': I32 != J32,
    'pge "PAT_VL13" :': np.arange(N) < 13,
    'pge "PAT_VL3" {group = 4} :': np.arange(N) % 25 < 3,
    "vnot %m : Q<100>": ~HALF,
    "mask_not %m : Q<100>": ~HALF,
    "mask_and %m, %p : Q<100>, Q<100>": HALF & (np.arange(N) % 25 < 3),
    "mask_or %m, %p : Q<100>, Q<100>": HALF | (np.arange(N) % 25 < 3),
    "mask_xor %m, %p : Q<100>, Q<100>": HALF ^ (np.arange(N) % 25 < 3),
    "create_group_mask %n {num_groups = 4, group_size = 25} : index": np.arange(N) % 25 < 5,
}


@pytest.mark.parametrize("line", COMPARED)
@pytest.mark.parametrize("kind", ["i32", "i16", "i8"])
def test_masks_in_every_width(line: str, kind: str) -> None:
    """A mask is made once, and selects lanes of any width."""
    dtype = {"i32": "u4", "i16": "u2", "i8": "u1"}[kind]
    arrow = "" if line.endswith(":") else " ->"
    if kind != "i32":
        kept = f"%x = pto.vmi.vload %ub3072_{kind}[%c0] : P<{kind}> -> L<100x{kind}>\n"
    else:
        kept = "%x = pto.vmi.vload %ub3072_i32[%c0] : P<i32> -> L<100xi32>\n"
    body = (
        LOADED.format(k="i32")
        + "%n = arith.addi %c2, %c3 : index\n"
        + '%p = pto.vmi.pge "PAT_VL3" {group = 4} : Q<100>\n'
        + kept
        + f"%k = pto.vmi.{line}{arrow} Q<100>\n"
        + f"pto.vmi.vstore %x, %ub{OUT}_{kind}[%c0], %k : L<100x{kind}>, P<{kind}>, Q<100>"
    )
    values = (np.arange(N) + 1).astype(dtype)
    found = computed(body, image((0, I32), (1024, J32), (3072, values)), dtype, N)
    np.testing.assert_array_equal(found, np.where(COMPARED[line], values, 0))


def test_tails_carry_what_remains() -> None:
    body = """%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<100xf32>
%n = arith.addi %c130_i32, %c0_i32 : i32
%m, %rest = pto.vmi.plt %n : i32 -> Q<100>, i32
pto.vmi.vstore %a, %ub32768_f32[%c0], %m : L<100xf32>, P<f32>, Q<100>
%m2, %rest2 = pto.vmi.plt %rest : i32 -> Q<100>, i32
pto.vmi.vstore %a, %ub40960_f32[%c0], %m2 : L<100xf32>, P<f32>, Q<100>
%m3, %rest3 = pto.vmi.plt %rest2 : i32 -> Q<100>, i32
pto.vmi.vstore %a, %ub49152_f32[%c0], %m3 : L<100xf32>, P<f32>, Q<100>
%m4, %rest4 = pto.vmi.plt %cm5_i32 : i32 -> Q<100>, i32
pto.vmi.vstore %a, %ub49152_f32[%c0], %m4 : L<100xf32>, P<f32>, Q<100>"""
    memory = run_logical(body, image((0, X)))
    np.testing.assert_array_equal(at(memory, 32768, "f4", N), X)
    np.testing.assert_array_equal(at(memory, 40960, "f4", N), np.where(np.arange(N) < 30, X, 0))
    assert not at(memory, 49152, "f4", N).any()


# --- conversions ------------------------------------------------------------------------------------------------------

ROUNDED = np.array(
    [0.5, 1.5, 2.5, -0.5, -1.5, 0.4, 0.6, -0.6, 300, -300, np.inf, -np.inf, np.nan, 70000, 0, -0.0], "f4"
)


def rounded(values: Array, mode: str) -> Array:
    away = np.sign(values) * np.floor(np.abs(values) + 0.5)
    return {"R": np.rint(values), "A": away, "F": np.floor(values), "C": np.ceil(values), "Z": np.trunc(values)}[mode]


@pytest.mark.parametrize("mode", "RAFCZ")
@pytest.mark.parametrize(
    "source, dest", [("f32", "si32"), ("f32", "si16"), ("f16", "si16"), ("f16", "si8"), ("f16", "ui8")]
)
def test_floats_to_integers(source: str, dest: str, mode: str) -> None:
    dtype, lanes = np.dtype({"s": "i", "u": "u"}[dest[0]] + str(int(dest[2:]) // 8)), len(ROUNDED)
    with np.errstate(all="ignore"):
        values = ROUNDED.astype("f4" if source == "f32" else "f2")
    for name in ("vcvt", "fptoui" if dest[0] == "u" else "fptosi"):
        body = f"""%a = pto.vmi.vload %ub_{source}[%c0] : P<{source}> -> L<{lanes}x{source}>
%r = pto.vmi.{name} %a {{rounding = "{mode}", saturate = "SAT"}} : L<{lanes}x{source}> -> L<{lanes}x{dest}>"""
        found = computed(body + stored(dest, lanes), image((0, values)), dtype, lanes)
        info = np.iinfo(dtype)
        whole = np.clip(rounded(np.nan_to_num(values.astype("f8"), nan=0.0), mode), info.min, info.max)
        np.testing.assert_array_equal(found, whole.astype(dtype))


LOW = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
}


@pytest.mark.parametrize("lanes", [1, 8, 64, 100, 128, 256, 300])
@pytest.mark.parametrize("dest", LOW)
def test_floats_of_every_width(dest: str, lanes: int) -> None:
    """Narrowed and widened again: nearest even, saturated."""
    values = (np.arange(lanes) * 0.37 - 9).astype("f4")
    values[-1:] = 1e9
    dtype = np.dtype(LOW[dest])
    body = f"""%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<{lanes}xf32>
%n = pto.vmi.truncf %a {{rounding = "R", saturate = "SAT"}} : L<{lanes}xf32> -> L<{lanes}x{dest}>
%r = pto.vmi.extf %n : L<{lanes}x{dest}> -> L<{lanes}xf32>
pto.vmi.vstore %n, %ub40960_{dest}[%c0] : L<{lanes}x{dest}>, P<{dest}>"""
    memory = run_logical(body + stored("f32", lanes), image((0, values)))
    most = float(ml_dtypes.finfo(dtype).max)
    expected = np.clip(values, -most, most).astype(dtype)
    np.testing.assert_array_equal(
        at(memory, 40960, dtype, lanes).view(f"u{dtype.itemsize}"), expected.view(f"u{dtype.itemsize}")
    )
    np.testing.assert_array_equal(at(memory, OUT, "f4", lanes), expected.astype("f4"))


@pytest.mark.parametrize(
    "source, dest, word",
    [
        *(("ui32", "ui16", word) for word in ("SAT", "NOSAT")),
        *(("i32", "i8", word) for word in ("SAT", "NOSAT")),
        *(("si32", dest, word) for dest in ("si16", "ui16", "ui8") for word in ("SAT", "NOSAT")),
        *(("ui16", "ui8", "SAT"), ("si16", "ui8", "SAT"), ("ui32", "si16", "SAT")),
        *(("si32", "si8", "NOSAT"), ("si16", "si8", "NOSAT"), ("ui32", "si8", "NOSAT")),
    ],
)
def test_integers_become_narrower(source: str, dest: str, word: str) -> None:
    one, other = (
        np.dtype(("i" if name[0] == "s" else "u") + str(int(name.lstrip("sui")) // 8)) for name in (source, dest)
    )
    values = np.concatenate([I32[:50], np.arange(50, dtype="u4") - 25]).view("i4").astype(one)
    body = f"""%a = pto.vmi.vload %ub_{source}[%c0] : P<{source}> -> L<{N}x{source}>
%r = pto.vmi.trunci %a {{saturate = "{word}"}} : L<{N}x{source}> -> L<{N}x{dest}>"""
    info = np.iinfo(other)
    clamped = np.clip(values.astype("i8"), info.min, info.max) if word == "SAT" else values
    np.testing.assert_array_equal(computed(body + stored(dest), image((0, values)), other, N), clamped.astype(other))


@pytest.mark.parametrize(
    "source, dest, name", [("ui8", "ui32", "extui"), ("si8", "si32", "extsi"), ("i16", "i32", "extui")]
)
def test_integers_become_wider(source: str, dest: str, name: str) -> None:
    one, other = (
        np.dtype(("i" if each[0] == "s" else "u") + str(int(each.lstrip("sui")) // 8)) for each in (source, dest)
    )
    values = I32.astype(one)
    body = f"""%a = pto.vmi.vload %ub_{source}[%c0] : P<{source}> -> L<{N}x{source}>
%r = pto.vmi.{name} %a : L<{N}x{source}> -> L<{N}x{dest}>"""
    np.testing.assert_array_equal(computed(body + stored(dest), image((0, values)), other, N), values.astype(other))


def test_integers_become_floats() -> None:
    body = LOADED.format(k="si32") + f"%r = pto.vmi.sitofp %a : {S} -> {V}" + stored("f32")
    np.testing.assert_array_equal(computed(body, image((0, I32)), "f4", N), SIGNED.astype("f4"))


@pytest.mark.parametrize("kind, dtype", [("f4E2M1x2", ml_dtypes.float4_e2m1fn)])
def test_pairs_of_four_bits(kind: str, dtype: Any) -> None:
    """The low nibble belongs to the low half."""
    lanes = 100
    values = np.tile(np.array([0, 0.5, -1, 1.5, 2, -3, 4, 6], "f4"), 25).astype(ml_dtypes.bfloat16)
    body = f"""%a = pto.vmi.vload %ub_bf16[%c0] : P<bf16> -> L<200xbf16>
%p = pto.vmi.bitcast %a : L<200xbf16> -> L<100xbf16x2>
%r = pto.vmi.vcvt %p {{rounding = "R"}} : L<100xbf16x2> -> L<100x{kind}>
%w = pto.vmi.vcvt %r : L<100x{kind}> -> L<100xbf16x2>
pto.vmi.vstore %w, %ub40960_bf16x2[%c0] : L<100xbf16x2>, P<bf16x2>"""
    memory = run_logical(body + stored(kind, lanes), image((0, values)))
    codes = values.astype(dtype).view("u1")
    np.testing.assert_array_equal(at(memory, OUT, "u1", lanes), codes[::2] | codes[1::2] << 4)
    np.testing.assert_array_equal(at(memory, 40960, "u2", 200), values.view("u2"))
