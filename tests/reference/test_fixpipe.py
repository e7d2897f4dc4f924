"""Fixpipe stores: layouts against their index formulas, the numeric steps against numbers worked out by hand."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptosim
from cube_programs import KIB, Text, observed, pointer_type
from fixpipe_programs import (
    kind_of,
    layout_text,
    matrix_in_l0c,
    padded,
    quant,
    row_in_l0c,
    slope,
    stored,
    tile,
    word,
)
from ptosim.effects.names import Space
from tables import table

INF, NAN = float("inf"), float("nan")


# --- addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n", "stride"), [(16, 16, 16), (40, 60, 64), (3, 17, 20), (33, 5, 5)])
@pytest.mark.parametrize("clause", ["nz2nd", "unit_flag(check_only)"])
def test_row_major(m: int, n: int, stride: int, clause: str) -> None:
    """dst[m * ds + n]; without a layout clause too. What lies between rows stays."""
    x, y = tile(m, n), np.full((m, stride), 7.5, np.float32)
    text = layout_text(m, n)
    text.store("%y", "f32", m, n, stride, clause)
    text.kernel()(x, np.eye(n, dtype=np.float32), y)
    np.testing.assert_array_equal(y[:, :n], x)
    assert (y[:, n:] == 7.5).all()


@pytest.mark.parametrize(("m", "n", "stride"), [(16, 16, 32), (16, 16, 48), (20, 33, 24)])
def test_column_major(m: int, n: int, stride: int) -> None:
    """dst[n * ds + m]."""
    x, y = tile(m, n), np.full((n, stride), 7.5, np.float32)
    text = layout_text(m, n)
    text.store("%y", "f32", m, n, stride, f"nz2dn({text.number(1)})", types=("i64",))
    text.kernel()(x, np.eye(n, dtype=np.float32), y)
    np.testing.assert_array_equal(y[:, :m], x.T)
    assert (y[:, m:] == 7.5).all()


def test_column_major_every_second_row() -> None:
    x, y = tile(16, 20), np.zeros((20, 8), np.float32)
    text = layout_text(16, 20)
    text.store("%y", "f32", 8, 20, 8, f"nz2dn({text.number(2)})", types=("i64",), source_stride=16)
    text.kernel()(x, np.eye(20, dtype=np.float32), y)
    np.testing.assert_array_equal(y, x[::2].T)


@pytest.mark.parametrize(("clause", "columns"), [("nz2nz", 16), ("nz2nz({})", 8)])
@pytest.mark.parametrize(("m", "n"), [(16, 32), (20, 41)])
def test_fractals(clause: str, columns: int, m: int, n: int) -> None:
    """dst[(n / W) * ds + m * W + n % W]."""
    stride = m * columns + 3
    x, y = tile(m, n), np.full(-(-n // columns) * stride, 7.5, np.float32)
    text = layout_text(m, n)
    split = "{}" in clause
    text.store("%y", "f32", m, n, stride, clause.format(text.number(1)), types=("i64",) if split else ())
    text.kernel()(x, np.eye(n, dtype=np.float32), y)
    expected = np.full_like(y, 7.5)
    for i in range(m):
        for j in range(n):
            expected[(j // columns) * stride + i * columns + j % columns] = x[i, j]
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("layout", ["nz2nd", "nz2dn"])
def test_repeats(layout: str) -> None:
    """Three tiles of 4 x 6 out of one: 5 rows apart in L0C, 48 elements in the destination."""
    x, y = tile(16, 6), np.full(144, 7.5, np.float32)
    text = layout_text(16, 6)
    loop3 = f"loop3({', '.join(text.integers(3, 5, 48))})"
    first = "nz2nd" if layout == "nz2nd" else f"nz2dn({text.number(1)})"
    types = ("i64",) * (3 if layout == "nz2nd" else 4)
    text.store("%y", "f32", 4, 6, 8, f"{first}, {loop3}", types=types, source_stride=16)
    text.kernel()(x, np.eye(6, dtype=np.float32), y)
    expected = np.full_like(y, 7.5)
    for repeat in range(3):
        for i in range(4):
            for j in range(6):
                place = i * 8 + j if layout == "nz2nd" else j * 8 + i
                expected[repeat * 48 + place] = x[5 * repeat + i, j]
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("raw", [False, True])
def test_l1_takes_the_same_layouts(raw: bool) -> None:
    x = tile(20, 30)
    text = Text(x=pointer_type("f32", "gm"), one=pointer_type("f32", "gm"))
    matrix_in_l0c(text, 20, 30)
    numbers = (30 << 4 | 20 << 16 | 40 << 32, 32 | 1 << 43) if raw else (20, 30, 32, 40)
    pointers = [text.pointer(0, "f32", "l0c"), text.pointer(256 * KIB, "f32", "l1")]
    types = [pointer_type("f32", "l0c"), pointer_type("f32", "l1"), *["i64"] * len(numbers)]
    name, rest = ("copy_matrix_cc_to_cbuf", "") if raw else ("mte_l0c_l1", ", nz2nd")
    text.op(name, [*pointers, *text.integers(*numbers)], types, rest)
    image = observed(text.kernel(), x, np.eye(30, dtype=np.float32)).of(Space.L1)
    rows = image[256 * KIB : 256 * KIB + 20 * 160].reshape(20, 160)
    np.testing.assert_array_equal(rows[:, :120].copy().view(np.float32), x)
    assert (rows[:, 120:] == 0xEE).all()


# --- steps ------------------------------------------------------------------------------------------------------------


def row(
    fact: str, values: list[float], dest: str, clauses: str, wanted: list[float], *operands: Any, **rest: Any
) -> Any:
    """What becomes of values: the operands stand in the clauses, in their order."""
    return fact, values, dest, clauses, wanted, operands, rest


RELU = "pre_relu(mode = normal_relu)"
SLOPE, SLOPES = (f"pre_relu({{}}, mode = {kind}_relu)" for kind in ("scalar", "vector"))
CLIP, ONE, HALF, I32 = "pre_relu(mode = no_relu, clip = {})", (1.0, "f32"), (0.5, "f32"), {"source": "i32"}
F16, F32, HIF8 = quant("qf322f16_pre_scalar"), quant("qf322f32_pre_scalar"), quant("qf322hif8_pre_scalar")
STORED = [
    row("relu behind the scale: -3 * -1 = 3", [-3, 3], "f16", f"{F16}, {RELU}", [3, 0], (-1.0, "f32")),
    # -(1 + 2^-11) * 3 rounds to -(3 + 2^-9); narrowed to -1 first it would be -3
    row("relu before narrowing", [-(1 + 2.0**-11)], "f16", f"{quant('f32_f16')}, {SLOPE}", [-(3 + 2.0**-9)],
        (0.0, "f32"), (3.0, "f32")),
    # 7.999 in f16 is 8 (spacing 2^-8 below 8); 20 and inf are cut off, -20 is not
    row("clip at last", [1.9998, 5, INF, -5], "f16", f"{F16}, {CLIP}", [8, 8, 8, -20], (4.0, "f32"), (8.0, "f16")),
    row("plain relu", [-1, 0, 2, -0.0], "f32", RELU, [0, 0, 2, 0]),
    row("relu keeps NaN", [NAN], "f32", f"{RELU}, nosat", [NAN]),
    row("relu of NaN that saturates", [NAN], "f32", f"{RELU}, sat", [0]),
    row("a slope for all", [-4, 4, NAN], "f32", SLOPE, [-1, 4, NAN], (0.25, "f16")),
    row("a slope for each", [-4, -4, 4], "f32", SLOPES, [-2, -8, 4], slopes=[slope(0.5), slope(2), slope(9)]),
    row("words of both kinds", [1, -1, -1], "f16", f"{quant('qf322f16_pre_vec')}, {SLOPES}, nz2nd", [2, -1.5, 4],
        words=[word(2), word(3), word(-4)], slopes=[slope(0.5)] * 3),
    # bits 12:0 do not belong to a scale or slope, whether it is a word or a scalar
    row("ten bits of a scalar", [1], "f32", F32, [1 + 2.0**-10], (1 + 2.0**-10, "f32")),
    row("no eleventh bit of a scalar", [1], "f32", F32, [1 + 2.0**-10], (1 + 2.0**-10 + 2.0**-11, "f32")),
    row("no eleventh bit of a word", [1], "f32", quant("qf322f32_pre_vec"), [1], words=[slope(1 + 2.0**-11)]),
    row("no eleventh bit of a slope", [-1], "f32", SLOPES, [-1], slopes=[slope(1 + 2.0**-11)]),
    *(row(f"a scale of {type_}", [4], "f32", F32, [6], (1.5, type_)) for type_ in ("f16", "bf16", "f32")),
    # hif8: 16 is 0x40, -1 is 0x88; beyond the largest number 2^15 (0x6E) lies infinity (0x6F), NaN is 0x80
    row("hif8 that saturates", [16, -1, 1e9, INF, NAN], "hif8", f"{HIF8}, sat", [0x40, 0x88, 0x6E, 0x6E, 0], ONE),
    row("hif8", [16, -1, 1e9, INF, NAN], "hif8", f"{HIF8}, nosat", [0x40, 0x88, 0x6F, 0x6F, 0x80], ONE),
    row("f32 is never changed", [INF, NAN, 3], "f32", "nz2nd, sat", [INF, NAN, 3]),
    row("f16 rounds to even", [1 + 2.0**-11, 1 + 3 * 2.0**-11], "f16", quant("f32_f16"), [1, 1 + 2.0**-9], ONE),
    row("relu before the clamp of integers", [-50, 50], "i8", f"{quant('req8_scalar')}, {RELU}", [0, 50], ONE, **I32),
    # 2049 is no f16: it becomes 2048 (to even) before it is scaled; 100000 becomes an infinity
    row("through f16", [2049, 100000], "i16", quant("qf162s16_pre_scalar"), [2048, 32767], ONE, **I32),
    row("four bits, two to a byte", [1, -1, 100, -100, 3], "si4", quant("req4_scalar"), [0xF1, 0x87, 0x03], ONE, **I32),
    *(row(f"f16 of integers is clamped behind {clause}", [3, -1000000, 7], "f16", f"{quant('deqf16_scalar')}, {clause}",
          [0.75, -65504, 1.75], (0.25, "f32"), **I32) for clause in ("sat", "nosat")),
    row("32 bits are exact", [2**31 - 1, -5], "i32", quant("deqs32_int_scalar"), [2**31 - 1, -5], ONE, **I32),
    row("halves of 32 bits go to even", [5, 7], "i32", quant("deqs32_int_scalar"), [2, 4], HALF, **I32),
    # arithmetic, by one more than written: -5 >> 1 = -3
    row("shifts", [-5, 1000, 2**30], "i16", quant("deqs16_vec"), [-3, 62, 32767],
        words=[word(1, shift=n) for n in (0, 3, 0)], **I32),
    row("plain integers", [2**31 - 1, -7], "i32", "nz2nd", [2**31 - 1, -7], **I32),
    row("relu of integers", [2**31 - 1, -7], "i32", RELU, [2**31 - 1, 0], **I32),
    row("clip of i8", [1000, -100], "i8", f"{quant('req8_scalar')}, {CLIP}", [-3, -100], ONE, (-3, "i8"), **I32),
    row("clip of ui8", [1000, -100], "ui8", f"{quant('req8_scalar')}, {CLIP}", [200, 0], ONE, (200, "i16"), **I32),
    row("clip of i16", [1000, -100], "i16", f"{quant('qf162s16_pre_scalar')}, {CLIP}", [7, -100], ONE, (7, "i16"),
        **I32),
]  # fmt: skip


def test_what_is_stored() -> None:
    for fact, values, dest, clauses, wanted, operands, rest in STORED:
        found = stored(values, dest, clauses, operands, **rest)
        np.testing.assert_array_equal(found, np.array(wanted).astype(found.dtype), fact)


# --- conversions ------------------------------------------------------------------------------------------------------

EXTREMES = [INF, -INF, NAN, 1e30, -1e30, 1.0]


@table(
    "dest, mode, largest, dtype",
    ("f16", "f32_f16", 65504.0, np.float16),
    ("bf16", "qf322bf16_pre_scalar", None, ml_dtypes.bfloat16),
    ("f8E4M3FN", "qf322fp8_pre_scalar", 448.0, ml_dtypes.float8_e4m3fn),
    ("f8E5M2", "qf322fp8_pre_scalar", 57344.0, ml_dtypes.float8_e5m2),
)
def test_saturation(dest: str, mode: str, largest: float | None, dtype: type) -> None:
    big = float(ml_dtypes.finfo(ml_dtypes.bfloat16).max) if largest is None else largest
    beyond = 1e30 if largest is None else big  # bf16 holds 1e30
    near = float(np.array(beyond, dtype))
    one = ((1.0, "f32"),)

    def rows(clause: str) -> list[float]:
        return stored(EXTREMES, dest, f"{quant(mode)}, {clause}", one).view(dtype).astype(np.float64).tolist()

    np.testing.assert_array_equal(rows("sat"), [big, -big, 0, near, -near, 1])
    np.testing.assert_array_equal(rows("sat(preserve_nan)"), [big, -big, NAN, near, -near, 1])
    kept = NAN if dest == "f8E4M3FN" else INF
    far = near if largest is None else kept
    np.testing.assert_array_equal(rows("nosat"), [kept, -kept, NAN, far, -far, 1])


@pytest.mark.parametrize(("bits", "expected"), [((48,), INF), ((), 65504.0), ((50,), 65504.0)])
def test_ctrl_decides_where_no_clause_does(bits: tuple[int, ...], expected: float) -> None:
    ctrl = sum(1 << bit for bit in bits)
    found = stored([INF, NAN], "f16", quant("f32_f16"), ((1.0, "f32"),), ctrl=ctrl)
    assert found[0] == expected
    assert np.isnan(found[1]) == (bits != ())
    assert stored([INF], "f16", f"{quant('f32_f16')}, nosat", ((1.0, "f32"),), ctrl=ctrl)[0] == INF


# --- atomic stores ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("operation", "expected"), [("add", [11, 22, -3]), ("max", [10, 20, 2]), ("min", [1, 2, -5])])
@pytest.mark.parametrize("by_ctrl", [False, True])
def test_atomic(operation: str, expected: list[float], by_ctrl: bool) -> None:
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f32", "gm"))
    row_in_l0c(text, 3, "f32")
    if by_ctrl:
        text.line(f"pto.set_atomic_{operation}")
        text.line("pto.set_atomic_f32")
    text.store("%y", "f32", 1, 3, 3, "nz2nd" if by_ctrl else f"nz2nd, atomic(type = f32, op = {operation})")
    y = np.array([10, 20, 2], np.float32)
    text.kernel()(padded([1, 2, -5], np.float32), y)
    np.testing.assert_array_equal(y, expected)


def test_a_clause_is_for_its_own_store() -> None:
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f32", "gm"))
    row_in_l0c(text, 2, "f32")
    text.store("%y", "f32", 1, 2, 2, "nz2nd, atomic(type = f32, op = add)")
    text.store("%y", "f32", 1, 2, 2, "nz2nd")
    y = np.array([10, 20], np.float32)
    text.kernel()(padded([1, 2], np.float32), y)
    np.testing.assert_array_equal(y, [1, 2])


def test_atomic_in_the_narrow_type() -> None:
    """f16: 2048 + 1 rounds to 2048."""
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f16", "gm"))
    row_in_l0c(text, 2, "f32")
    clauses = f"pre_quant({text.number(1.0, 'f32')}, mode = f32_f16), nz2nd, atomic(type = f16, op = add)"
    text.store("%y", "f16", 1, 2, 2, clauses, types=("f32",))
    y = np.array([2048, 20], np.float16)
    text.kernel()(padded([1, 2], np.float32), y)
    np.testing.assert_array_equal(y, np.array([2048, 22], np.float16))


# --- what cannot be stored --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dest", ["f16", "i32", "ui32"])
@pytest.mark.parametrize("clauses", ["nz2nd", "pre_quant({}, mode = no_convert)"])
def test_without_quantisation_the_types_agree(clauses: str, dest: str) -> None:
    """Also where one is as wide as the other."""
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type(dest, "gm"))
    row_in_l0c(text, 3, "f32")
    types = ("f32",) if "{}" in clauses else ()
    text.store("%y", dest, 1, 3, 3, clauses.format(text.number(1.0, "f32")), types=types)
    y = np.zeros(3, np.float16 if dest == "f16" else np.int32)
    assert kind_of(text, padded([1], np.float32), y) == "invalid"


@pytest.mark.parametrize(("dest", "kind"), [("i32", None), ("si32", None), ("ui32", None), ("f32", "invalid")])
def test_an_integer_keeps_its_bits_whatever_its_sign(dest: str, kind: str | None) -> None:
    text = Text(x=pointer_type("i32", "gm"), y=pointer_type(dest, "gm"))
    row_in_l0c(text, 3, "i32")
    text.store("%y", dest, 1, 3, 3, source="i32")
    kernel, y = text.kernel(), np.zeros(3, np.float32 if dest == "f32" else np.int32)
    if kind is not None:
        assert kind_of(text, padded([5, -6, 7], np.int32), y) == kind
        return
    kernel(padded([5, -6, 7], np.int32), y)
    np.testing.assert_array_equal(y, [5, -6, 7])


def test_too_many_accumulators() -> None:
    text = Text(x=pointer_type("f32", "gm"))
    text.store("%x", "f32", 4096, 64, 64)
    assert kind_of(text, np.zeros(1, np.float32)) == "out-of-bounds"


def test_a_store_outside_its_array() -> None:
    text = layout_text(16, 16)
    text.store("%y", "f32", 16, 16, 16)
    assert kind_of(text, tile(16, 16), np.eye(16, dtype=np.float32), np.zeros(255, np.float32)) == "out-of-bounds"


def test_words_outside_the_buffer() -> None:
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f16", "gm"))
    clauses = f"pre_quant({text.pointer(0xF80, 'f32', 'fb')}, mode = qf322f16_pre_vec)"
    text.store("%y", "f16", 1, 17, 17, clauses, types=(pointer_type("f32", "fb"),))
    assert kind_of(text, np.zeros(1, np.float32), np.zeros(17, np.float16)) == "out-of-bounds"


def test_repeats_reach_no_other_argument() -> None:
    """As integers, pointers of two arguments are 2^48 apart; a store that goes so far is still outside of its own."""
    text = Text(x=pointer_type("f32", "gm"), z=pointer_type("f32", "gm"))
    row_in_l0c(text, 1, "f32")
    loop3 = f"loop3({', '.join(text.integers(32769, 0, 1 << 31))})"  # the last repeat lies 2^15 * 2^31 * 4 bytes away
    text.store("%x", "f32", 1, 1, 1, f"nz2nd, {loop3}", types=("i64",) * 3)
    kernel = text.kernel()
    x, z = np.full(16, 3, np.float32), np.full(16, 5, np.float32)
    kernel(x, z, oob="drop")
    assert (x == 3).all() and (z == 5).all()
    said = "writes bytes 0 to 281474976710659 of argument 0"
    with pytest.raises(ptosim.PTOError, match=said):
        kernel(x, z)
    (outside,) = (found for found in ptosim.check(kernel.kernel, x, z).findings if found.kind == "out-of-bounds")
    assert outside.message.startswith(said) and outside.count == 1


def test_values_outside_are_dropped_and_the_others_stored() -> None:
    """Rows of 4 values, 6 apart, from 2 rows before the array on: what lies inside of it is stored, byte by byte."""
    text = Text(y=pointer_type("f32", "gm"), x=pointer_type("f32", "gm"))
    row_in_l0c(text, 4, "f32", m=4)
    text.line(f"%before = pto.addptr %y, %back : {pointer_type('f32', 'gm')} -> {pointer_type('f32', 'gm')}")
    text.lines.insert(0, "%back = arith.constant -8 : index")
    text.store("%before", "f32", 4, 4, 6)
    y = np.full(7, 9, np.float32)
    text.kernel()(y, padded([1, 2, 3, 4], np.float32), oob="drop")
    np.testing.assert_array_equal(y, [3, 4, 9, 9, 1, 2, 3])


def test_a_store_of_more_values_than_can_be_held() -> None:
    text = Text(y=pointer_type("f32", "gm"))
    loop3 = f"loop3({', '.join(text.integers(65535, 0, 0))})"
    text.store("%y", "f32", 64, 1024, 1024, f"nz2nd, {loop3}", types=("i64",) * 3)
    assert kind_of(text, np.zeros(1, np.float32)) == "limit"
