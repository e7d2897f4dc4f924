"""Matrix products against NumPy and against numbers worked out by hand."""

from functools import cache

import ml_dtypes
import numpy as np
import pytest

import ptosim
from both_engines import BothEngines
from cube_programs import KIB, Text, pointer_type, round_up, storage
from ptosim import PTOError
from tables import table

# Values that every type represents, whose sums of products are exact in f32: any order gives the same bits.
E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
E1M2 = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]
HIF8 = {0x00: 0.0, 0x08: 1.0, 0x88: -1.0, 0x0C: 1.5, 0x40: 16.0, 0xC0: -16.0, 0x10: 2.0, 0x18: 0.5, 0x24: 6.0}
"""Sign; prefix 0001 (exponent 0), 001 (exponent sign), 01 (sign and one bit), 10 (sign and two bits); fraction."""

ML = {"bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}


def random(element: str, shape: tuple[int, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """An array as GM holds it, and the numbers that it stands for."""
    rng = np.random.default_rng(seed)
    if element == "i8":
        codes = rng.integers(-128, 128, shape).astype(np.int8)
        return codes, codes.astype(np.float64)
    if element == "hif8":
        codes = rng.choice(list(HIF8), shape).astype(np.uint8)
        return codes, np.vectorize(HIF8.__getitem__)(codes)
    numbers = rng.integers(-8, 9, shape) / 4
    if element in ML:
        codes = numbers.astype(ML[element])
        return codes.view(storage(element)), codes.astype(np.float64)
    return numbers.astype(storage(element)), numbers


def product(
    elements: tuple[str, str],
    m: int,
    n: int,
    k: int,
    clauses: str = "",
    accumulator: str = "f32",
    before: str = "",
) -> Text:
    """%c = %a x %b, both row-major."""
    a, b = elements
    text = Text(a=pointer_type(a, "gm"), b=pointer_type(b, "gm"), c=pointer_type(accumulator, "gm"))
    if before:
        text.line(before)
    operands(text, a, b, m, n, k)
    text.mad("mad", (a, b, accumulator), m, n, k, clauses)
    text.store("%c", accumulator, m, n, n, source=accumulator)
    return text


SIZES = ("m", "n", "k", "m_padded", "k_padded", "a_row", "b_row")


@cache
def any_product(elements: tuple[str, str], row: bool, clauses: str, accumulator: str, before: str) -> BothEngines:
    """The same for extents that are parameters; `row`: A is a plain row."""
    a, b = elements
    pointers = {"a": a, "b": b, "c": accumulator}
    kinds = {name: pointer_type(kind, "gm") for name, kind in pointers.items()}
    text = Text(**kinds, **dict.fromkeys(SIZES, "i64"))
    if before:
        text.line(before)
    if row:
        text.plain("%a", 0, a, "%a_row")
    else:
        text.frac("%a", 0, a, "nd2nz", "%m", "%k", ("%a_row",), (1, 1, "%m_padded", 0))
    text.frac("%b", 256 * KIB, b, "nd2nz", "%k", "%n", ("%b_row",), (1, 1, "%k_padded", 0))
    text.load("mte_l1_l0a", 0, 0, a, "%m", "%k")
    text.load("mte_l1_l0b", 256 * KIB, 0, b, "%k", "%n", transpose=True)
    text.mad("mad", (a, b, accumulator), "%m", "%n", "%k", clauses)
    text.store("%c", accumulator, "%m", "%n", "%n", source=accumulator, source_stride="%m_padded")
    return text.kernel()


def multiply(
    elements: tuple[str, str],
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    clauses: str = "",
    accumulator: str = "f32",
    before: str = "",
) -> None:
    (m, k), n = a.shape, b.shape[1]
    padded = round_up(m, 16), round_up(k, max(16, 32 // b.itemsize))
    kernel = any_product(elements, m == 1, clauses, accumulator, before)
    kernel(a, b, c, m, n, k, *padded, k * a.itemsize, n * b.itemsize)


def operands(text: Text, a: str, b: str, m: int, n: int, k: int) -> None:
    granule = max(16, 32 // np.dtype(storage(b)).itemsize)
    if m == 1:
        text.plain("%a", 0, a, k * np.dtype(storage(a)).itemsize)
    else:
        text.fractals("%a", 0, a, m, k, round_up(m, 16))
    text.fractals("%b", 256 * KIB, b, k, n, round_up(k, granule))
    text.load("mte_l1_l0a", 0, 0, a, m, k)
    text.load("mte_l1_l0b", 256 * KIB, 0, b, k, n, transpose=True)


WIDE = [("f16", "f16"), ("bf16", "bf16"), ("f32", "f32")]
BYTES = [
    ("f8E4M3FN", "f8E4M3FN"),
    ("f8E4M3FN", "f8E5M2"),
    ("f8E5M2", "f8E4M3FN"),
    ("f8E5M2", "f8E5M2"),
    ("hif8", "hif8"),
]
SHAPES = [(16, 16, 16), (40, 60, 50), (1, 16, 32), (17, 33, 65), (128, 32, 24), (3, 5, 7), (64, 128, 100)]
BYTE_SHAPES = [(16, 32, 32), (40, 60, 50), (1, 32, 64), (17, 64, 65), (5, 7, 9), (16, 16, 32), (64, 128, 100)]


@pytest.mark.parametrize(("elements", "m", "n", "k"), [(e, *s) for e in WIDE for s in SHAPES])
def test_wide_floats(elements: tuple[str, str], m: int, n: int, k: int) -> None:
    check_product(elements, m, n, k)


@pytest.mark.parametrize(("elements", "m", "n", "k"), [(e, *s) for e in BYTES for s in BYTE_SHAPES])
def test_eight_bit_floats(elements: tuple[str, str], m: int, n: int, k: int) -> None:
    check_product(elements, m, n, k)


def check_product(elements: tuple[str, str], m: int, n: int, k: int) -> None:
    (a, left), (b, right) = random(elements[0], (m, k), 1), random(elements[1], (k, n), 2)
    c = np.full((m, n), np.nan, np.float32)
    multiply(elements, a, b, c)
    np.testing.assert_array_equal(c, (left @ right).astype(np.float32))


@pytest.mark.parametrize(("m", "n", "k"), BYTE_SHAPES)
def test_integers(m: int, n: int, k: int) -> None:
    (a, left), (b, right) = random("i8", (m, k), 1), random("i8", (k, n), 2)
    c = np.zeros((m, n), np.int32)
    multiply(("i8", "i8"), a, b, c, accumulator="i32")
    np.testing.assert_array_equal(c, (left @ right).astype(np.int32))


def test_integers_wrap() -> None:
    """An accumulator of 2^31 - 1 and a product of 2."""
    text = Text(
        a=pointer_type("i8", "gm"), b=pointer_type("i8", "gm"), x=pointer_type("i32", "gm"), c=pointer_type("i32", "gm")
    )
    operands(text, "i8", "i8", 16, 32, 32)
    text.plain("%x", 128 * KIB, "i32", 128)
    bias(text, 128 * KIB, "i32", "i32", 4)
    text.mad("mad_bias", ("i8", "i8", "i32"), 16, 32, 32, bias=0)
    text.store("%c", "i32", 16, 32, 32, source="i32")
    a, b = np.zeros((16, 32), np.int8), np.zeros((32, 32), np.int8)
    a[:, 0], b[0] = 1, 2
    c = np.zeros((16, 32), np.int32)
    text.kernel()(a, b, np.full(32, 2**31 - 1, np.int32), c)
    assert (c == -(2**31) + 1).all()


@pytest.mark.parametrize("clauses", ["", "disable_gemv"])
def test_one_row(clauses: str) -> None:
    """m = 1: A is a plain row, or with disable_gemv the first row of fractals."""
    (a, left), (b, right) = random("f16", (1, 40), 1), random("f16", (40, 16), 2)
    text = Text(a=pointer_type("f16", "gm"), b=pointer_type("f16", "gm"), c=pointer_type("f32", "gm"))
    operands(text, "f16", "f16", 1, 16, 40)
    if clauses:
        text.fractals("%a", 0, "f16", 1, 40, 16)
        text.load("mte_l1_l0a", 0, 0, "f16", 1, 40)
    text.mad("mad", ("f16", "f16", "f32"), 1, 16, 40, clauses)
    text.store("%c", "f32", 1, 16, 16)
    c = np.zeros((1, 16), np.float32)
    text.kernel()(a, b, c)
    np.testing.assert_array_equal(c, left @ right)


def test_eight_bit_columns_that_miss_their_place() -> None:
    """n = 16, k = 64: for k-block 1 mad takes what the load put into columns 16 to 31 of k-block 0, which is zero."""
    (a, left), (b, right) = random("i8", (16, 64), 1), random("i8", (64, 16), 2)
    c = np.zeros((16, 16), np.int32)
    product(("i8", "i8"), 16, 16, 64, accumulator="i32").kernel()(a, b, c)
    np.testing.assert_array_equal(c, (left[:, :32] @ right[:32]).astype(np.int32))


def test_tiles_that_are_fractals_already() -> None:
    """16 x 16 of f16 row by row is one fractal: plain copies bring it into L1."""
    (a, left), (b, right) = random("f16", (16, 16), 1), random("f16", (16, 16), 2)
    text = Text(a=pointer_type("f16", "gm"), b=pointer_type("f16", "gm"), c=pointer_type("f32", "gm"))
    text.plain("%a", 0, "f16", 512)
    text.plain("%b", 512, "f16", 512)
    text.load("mte_l1_l0a", 0, 0, "f16", 16, 16)
    text.load("mte_l1_l0b", 512, 0, "f16", 16, 16, transpose=True)
    text.mad("mad", ("f16", "f16", "f32"), 16, 16, 16)
    text.store("%c", "f32", 16, 16, 16)
    c = np.zeros((16, 16), np.float32)
    text.kernel()(a, b, c)
    np.testing.assert_array_equal(c, left @ right)


def test_bytes_copied_row_by_row_when_b_is_constant_along_k() -> None:
    """n = 16, k = 64 of bytes, L1 filled without a change of layout: fractals 0 and 1 are read as k-blocks 0 and 1."""
    (a, left), row = random("i8", (16, 64), 1), np.arange(-8, 8, dtype=np.int8)
    b = np.tile(row, (64, 1))
    text = Text(a=pointer_type("i8", "gm"), b=pointer_type("i8", "gm"), c=pointer_type("i32", "gm"))
    text.fractals("%a", 0, "i8", 16, 64, 16)
    text.plain("%b", 64 * KIB, "i8", 1024)
    text.load("mte_l1_l0a", 0, 0, "i8", 16, 64)
    text.load("mte_l1_l0b", 64 * KIB, 0, "i8", 64, 16, transpose=True)
    text.mad("mad", ("i8", "i8", "i32"), 16, 16, 64)
    text.store("%c", "i32", 16, 16, 16, source="i32")
    c = np.zeros((16, 16), np.int32)
    text.kernel()(a, b, c)
    np.testing.assert_array_equal(c, (left.sum(axis=1, keepdims=True) * row).astype(np.int32))


def test_only_the_extent_is_written() -> None:
    """3 x 5 accumulators of a product, in fractals that an earlier product filled."""
    (a, left), (b, right) = random("f16", (16, 16), 1), random("f16", (16, 16), 2)
    text = Text(a=pointer_type("f16", "gm"), b=pointer_type("f16", "gm"), c=pointer_type("f32", "gm"))
    operands(text, "f16", "f16", 16, 16, 16)
    text.mad("mad", ("f16", "f16", "f32"), 16, 16, 16)
    text.mad("mad_acc", ("f16", "f16", "f32"), 3, 5, 16)
    text.store("%c", "f32", 16, 16, 16)
    c = np.zeros((16, 16), np.float32)
    text.kernel()(a, b, c)
    expected = left @ right
    expected[:3, :5] *= 2
    np.testing.assert_array_equal(c, expected)


# --- order, rounding, saturation --------------------------------------------------------------------------------------


def scalar_product(
    a: list[float], b: list[float], element: str = "f32", clauses: str = "", before: str = ""
) -> np.float32:
    """A product of one row and one column, through 16 x 16 tiles."""
    k = len(a)
    left, right = np.zeros((16, k), storage(element)), np.zeros((k, 16), storage(element))
    left[0], right[:, 0] = a, b
    c = np.full((16, 16), 7, np.float32)
    multiply((element, element), left, right, c, clauses, before=before)
    return c[0, 0]


BIG = 2.0**30


def test_products_are_added_in_ascending_k() -> None:
    """In double 2^60 + 1 is 2^60: the one is lost when it comes second, kept when it comes last."""
    assert scalar_product([BIG, 1, -BIG], [BIG, 1, BIG]) == 0
    assert scalar_product([BIG, -BIG, 1], [BIG, BIG, 1]) == 1


def test_one_rounding_at_the_end() -> None:
    """1 + 2^-24 + 2^-24 rounds to 1 + 2^-23; rounded after every step it would stay 1."""
    assert scalar_product([1, 2.0**-24, 2.0**-24], [1, 1, 1]) == np.float32(1 + 2.0**-23)


def test_products_beyond_f32_come_back() -> None:
    """3e38 * 2 is more than an f32 holds, the sum is not."""
    assert scalar_product([3e38, 3e38], [2, -2]) == 0


def test_a_sum_of_negative_zeros_is_positive() -> None:
    assert not np.signbit(scalar_product([-0.0], [1.0]))


LARGEST = np.finfo(np.float32).max
INF, NAN = float("inf"), float("nan")


@table(
    "a, b, clause, expected",
    ([3e38], [2.0], "sat", LARGEST),
    ([3e38], [2.0], "nosat", INF),
    ([3e38], [-2.0], "sat", -LARGEST),
    ([INF], [0.5], "sat", LARGEST / 2),
    ([INF], [0.5], "nosat", INF),
    ([-INF], [1.0], "sat", -LARGEST),
    ([INF, -INF], [1.0, 1.0], "sat", 0.0),
    ([INF, -INF], [1.0, 1.0], "nosat", NAN),
    ([NAN, 3.0], [1.0, 1.0], "sat", 3.0),
    ([NAN, 3.0], [1.0, 1.0], "nosat", NAN),
    ([3e38], [2.0], "", INF),
)
def test_saturation(a: list[float], b: list[float], clause: str, expected: float) -> None:
    np.testing.assert_array_equal(scalar_product(a, b, clauses=clause), np.float32(expected))


def test_saturated_f16_operands_become_their_largest_number() -> None:
    assert scalar_product([INF], [1.0], "f16", "sat") == 65504
    assert scalar_product([INF], [1.0], "f16", "nosat") == INF


CLEAR_48 = "%ctrl = arith.constant 0 : i64\npto.set_ctrl %ctrl : i64"


def test_ctrl_decides_where_no_clause_does() -> None:
    assert scalar_product([3e38], [2.0], before=CLEAR_48) == LARGEST
    assert scalar_product([3e38], [2.0], clauses="nosat", before=CLEAR_48) == INF


def test_a_nan_is_canonical() -> None:
    bits = scalar_product([NAN], [1.0]).view(np.uint32)
    assert bits == 0x7FC00000


# 1 + 2^-11 lies halfway between 1 and 1 + 2^-10, tf32's next number; 1 + 3 * 2^-11 between 1 + 2^-10 and 1 + 2^-9.
@table(
    "value, rounding, expected",
    (1 + 2.0**-11, "round_even", 1.0),
    (1 + 2.0**-11, "round_away", 1 + 2.0**-10),
    (1 + 3 * 2.0**-11, "round_even", 1 + 2.0**-9),
    (-1 - 2.0**-11, "round_away", -1 - 2.0**-10),
    (1 + 2.0**-11 + 2.0**-20, "round_even", 1 + 2.0**-10),
    (1 + 2.0**-12, "round_away", 1.0),
    (INF, "round_even", INF),
)
def test_tf32(value: float, rounding: str, expected: float) -> None:
    assert scalar_product([value], [1.0], clauses=f"tf32_mode({rounding})") == np.float32(expected)
    assert scalar_product([1.0], [value], clauses=f"tf32_mode({rounding})") == np.float32(expected)


def test_without_the_clause_f32_keeps_its_bits() -> None:
    value = np.float32(1 + 2.0**-23)
    assert scalar_product([value], [1.0]) == value
    tf32 = f"%ctrl = arith.constant {1 << 46 | 1 << 48} : i64\npto.set_ctrl %ctrl : i64"
    assert scalar_product([value], [1.0], before=tf32) == value  # the clause, not CTRL, decides


# --- accumulators and bias --------------------------------------------------------------------------------------------


def bias(text: Text, source: int, element: str, target: str, blocks: int) -> None:
    pointers = [text.pointer(source, element, "l1"), text.pointer(0, target, "bt")]
    types = [pointer_type(element, "l1"), pointer_type(target, "bt"), *["i64"] * 4]
    nburst = f" nburst({', '.join(text.integers(1, 0, 0))})"
    text.op("mte_l1_bt", [*pointers, text.number(blocks)], types, nburst)


def test_accumulate() -> None:
    (a, left), (b, right) = random("f16", (40, 48), 1), random("f16", (48, 30), 2)
    text = product(("f16", "f16"), 40, 30, 48)
    text.lines.pop()
    text.mad("mad_acc", ("f16", "f16", "f32"), 40, 30, 48)
    text.mad("mad_acc", ("f16", "f16", "f32"), 40, 30, 48)
    text.store("%c", "f32", 40, 30, 30)
    c = np.zeros((40, 30), np.float32)
    text.kernel()(a, b, c)
    np.testing.assert_array_equal(c, 3 * (left @ right))


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_bias(element: str) -> None:
    (a, left), (b, right) = random("f16", (20, 48), 1), random("f16", (48, 30), 2)
    text = Text(
        a=pointer_type("f16", "gm"),
        b=pointer_type("f16", "gm"),
        x=pointer_type(element, "gm"),
        c=pointer_type("f32", "gm"),
    )
    operands(text, "f16", "f16", 20, 30, 48)
    text.plain("%x", 128 * KIB, element, 32 * np.dtype(storage(element)).itemsize)
    bias(text, 128 * KIB, element, "f32", 32 * np.dtype(storage(element)).itemsize // 32)
    text.mad("mad_bias", ("f16", "f16", "f32"), 20, 30, 48, bias=0)
    text.store("%c", "f32", 20, 30, 30)
    c, row = np.zeros((20, 30), np.float32), (np.arange(32) / 4).astype(storage(element))
    text.kernel()(a, b, row, c)
    np.testing.assert_array_equal(c, left @ right + np.arange(30) / 4)


def test_the_old_sum_is_added_after_the_products() -> None:
    """C = 1; then -2^60 + 2^60 are added to each other first: 1 is left. In any other order it would be lost."""
    text = Text(a=pointer_type("f32", "gm"), b=pointer_type("f32", "gm"), c=pointer_type("f32", "gm"))
    text.fractals("%a", 0, "f32", 32, 8, 32)
    text.fractals("%b", 256 * KIB, "f32", 8, 16, 16)
    text.load("mte_l1_l0b", 256 * KIB, 0, "f32", 8, 16, transpose=True)
    for index, name in enumerate(("mad", "mad_acc")):
        text.load("mte_l1_l0a", 0, 0, "f32", index, 0, 1, 1, 2, 1)  # rows 16 * index of A
        text.mad(name, ("f32", "f32", "f32"), 16, 16, 8)
    text.store("%c", "f32", 16, 16, 16)
    a, b, c = np.zeros((32, 8), np.float32), np.zeros((8, 16), np.float32), np.zeros((16, 16), np.float32)
    a[0, 0], a[16, 1], a[16, 2] = 1, -BIG, BIG
    b[0, 0], b[1, 0], b[2, 0] = 1, BIG, BIG
    text.kernel()(a, b, c)
    assert c[0, 0] == 1


# --- MX ---------------------------------------------------------------------------------------------------------------

MX_ELEMENTS = ["f8E4M3FN", "f8E5M2", "f4E2M1x2", "f4E1M2x2"]


def mx_operand(element: str, rows: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of k values as bytes, and the numbers."""
    rng = np.random.default_rng(seed)
    if element.startswith("f8"):
        return random(element, (rows, k), seed)
    codes = rng.integers(0, 16, (rows, k), dtype=np.uint8)
    table = np.array(E2M1 if element == "f4E2M1x2" else E1M2)
    numbers = np.where(codes & 8, -1, 1) * table[codes & 7]
    return codes[:, ::2] | codes[:, 1::2] << 4, numbers


def scaled_numbers(numbers: np.ndarray, scales: np.ndarray) -> np.ndarray:
    return numbers * np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=1)


def in_fragments(scales: np.ndarray) -> np.ndarray:
    """Scales [rows][groups] as L1 has to hold them."""
    rows, groups = scales.shape
    return np.ascontiguousarray(scales.reshape(rows // 16, 16, groups // 2, 2).transpose(0, 2, 1, 3))


def mx_text(a: str, b: str, m: int, n: int, k: int, base: int = 0) -> Text:
    """Operands stored [m, k] and [n, k], so that neither load transposes; `base` is where the tiles lie in L0."""
    text = Text(
        a=pointer_type(a, "gm"), b=pointer_type(b, "gm"), sa=pointer_type("f8E8M0", "gm"),
        sb=pointer_type("f8E8M0", "gm"), c=pointer_type("f32", "gm"),
    )  # fmt: skip
    for name, element, rows, address in (("a", a, m, 0), ("b", b, n, 128 * KIB)):
        text.fractals(f"%{name}", address, element, rows, k // 2 if element.startswith("f4") else k, rows)
        text.plain(f"%s{name}", address + 64 * KIB, "f8E8M0", rows * k // 32)
    text.load("mte_l1_l0a", 0, base, a, m, k)
    text.load("mte_l1_l0b", 128 * KIB, base, b, k, n)
    text.load("mte_l1_l0a_mx", 64 * KIB, base, "f8E8M0", m, k)
    text.load("mte_l1_l0b_mx", 192 * KIB, base, "f8E8M0", k, n)
    return text


PAIRS = [*((a, b, 0) for a in MX_ELEMENTS for b in MX_ELEMENTS), *((a, a, 32768) for a in MX_ELEMENTS)]


@pytest.mark.parametrize(("a", "b", "base"), PAIRS)
def test_mx(a: str, b: str, base: int) -> None:
    m, n, k = 16, 32, 128
    (left, x), (right, y) = mx_operand(a, m, k, 1), mx_operand(b, n, k, 2)
    rng = np.random.default_rng(3)
    sa, sb = (rng.integers(125, 130, (rows, k // 32), dtype=np.uint8) for rows in (m, n))
    text = mx_text(a, b, m, n, k, base)
    text.mad("mad_mx", (a, b, "f32"), m, n, k, at=(base, base, 0))
    text.mad("mad_mx_acc", (a, b, "f32"), m, n, k, at=(base, base, 0))
    text.store("%c", "f32", m, n, n)
    c = np.zeros((m, n), np.float32)
    text.kernel()(left, right, in_fragments(sa), in_fragments(sb), c)
    np.testing.assert_array_equal(c, 2 * (scaled_numbers(x, sa) @ scaled_numbers(y, sb).T))


@pytest.mark.parametrize("names", [("mad_mx_bias",), ("mad_mx_raw", "mad_mx_bias_raw")])
def test_mx_with_bias_and_in_one_word(names: tuple[str, ...]) -> None:
    """A row of 5 is added; in the raw forms to what a product left."""
    m, n, k = 16, 32, 64
    (left, x), (right, y) = mx_operand("f8E4M3FN", m, k, 1), mx_operand("f8E4M3FN", n, k, 2)
    sa, sb = np.full((m, 2), 128, np.uint8), np.full((n, 2), 127, np.uint8)
    text = mx_text("f8E4M3FN", "f8E4M3FN", m, n, k)
    kinds = ("f8E4M3FN", "f8E4M3FN", "f32")
    text.parameters["x"] = pointer_type("f32", "gm")
    text.plain("%x", 256 * KIB, "f32", 128)
    bias(text, 256 * KIB, "f32", "f32", 4)
    if len(names) == 1:
        text.mad(names[0], kinds, m, n, k, bias=0)
    else:
        raw(text, names[0], kinds, raw_word(m, n, k, 63))
        raw(text, names[1], kinds, raw_word(m, n, k, 62), bias_at=0)
        raw(text, names[0], kinds, raw_word(m, n, k))
    text.store("%c", "f32", m, n, n)
    c = np.zeros((m, n), np.float32)
    text.kernel()(left, right, in_fragments(sa), in_fragments(sb), c, np.full(32, 5, np.float32))
    np.testing.assert_array_equal(c, 2 * len(names) * (x @ y.T) + 5)


def test_a_word_cannot_ask_for_a_bias_that_is_not_there() -> None:
    text = Text(x=pointer_type("f16", "gm"))
    raw(text, "mad_raw", ("f16", "f16", "f32"), raw_word(16, 16, 16, 62))
    with pytest.raises(PTOError, match="bit 62") as raised:
        text.kernel()(np.zeros(1, np.float16))
    assert raised.value.diagnostics[0].kind == "invalid"


def test_integer_products_do_not_saturate() -> None:
    """Whatever CTRL says of infinities and NaN."""
    (a, left), (b, right) = random("i8", (16, 32), 1), random("i8", (32, 32), 2)
    c = np.zeros((16, 32), np.int32)
    multiply(("i8", "i8"), a, b, c, accumulator="i32", before=CLEAR_48)
    np.testing.assert_array_equal(c, (left @ right).astype(np.int32))


def test_mx_groups_beyond_k_are_absent() -> None:
    """k = 40: the second group counts with 8 values, whatever the scale of the padding says."""
    m, n, k = 16, 16, 64
    (left, x), (right, y) = mx_operand("f8E4M3FN", m, k, 1), mx_operand("f8E4M3FN", n, k, 2)
    sa, sb = np.full((m, 2), 128, np.uint8), np.full((n, 2), 127, np.uint8)
    text = mx_text("f8E4M3FN", "f8E4M3FN", m, n, k)
    text.mad("mad_mx", ("f8E4M3FN", "f8E4M3FN", "f32"), m, n, 40)
    text.store("%c", "f32", m, n, n)
    c = np.zeros((m, n), np.float32)
    text.kernel()(left, right, in_fragments(sa), in_fragments(sb), c)
    np.testing.assert_array_equal(c, 2 * (x[:, :40] @ y[:, :40].T))


@table("k, said", (64, []), (40, ["k is 40; the hardware multiplies scaled operands in steps of 64"]))
def test_a_rest_of_k_is_doubted_when_it_is_known(k: int, said: list[str]) -> None:
    text = mx_text("f8E4M3FN", "f8E4M3FN", 16, 16, 64)
    text.parameters["k"] = "i64"
    text.mad("mad_mx", ("f8E4M3FN", "f8E4M3FN", "f32"), 16, 16, "%k")
    tiles, scales = np.zeros((16, 64), np.uint8), np.full((16, 2), 127, np.uint8)
    report = ptosim.check(text.kernel().kernel, tiles, tiles, scales, scales, np.zeros(1, np.float32), k)
    assert [finding.message for finding in report.findings if finding.kind == "lint"] == said


def test_the_scale_255_is_nan() -> None:
    text = mx_text("f8E4M3FN", "f8E4M3FN", 16, 16, 64)
    text.mad("mad_mx", ("f8E4M3FN", "f8E4M3FN", "f32"), 16, 16, 64)
    text.store("%c", "f32", 16, 16, 16)
    sa, sb = np.full((16, 2), 127, np.uint8), np.full((16, 2), 127, np.uint8)
    sa[3, 1] = 255
    c = np.zeros((16, 16), np.float32)
    text.kernel()(np.zeros((16, 64), np.uint8), np.zeros((16, 64), np.uint8), in_fragments(sa), in_fragments(sb), c)
    assert np.isnan(c[3]).all() and not np.isnan(np.delete(c, 3, axis=0)).any()


# --- the same bytes in two formats, and the raw word ------------------------------------------------------------------


@pytest.mark.parametrize(("element", "value"), [("hif8", 16.0), ("f8E4M3FN", 2.0)])
def test_one_byte_two_meanings(element: str, value: float) -> None:
    a, b = np.full((16, 32), 0x40, np.uint8), np.full((32, 32), 0xC0, np.uint8)
    c = np.zeros((16, 32), np.float32)
    product((element, element), 16, 32, 32).kernel()(a, b, c)
    assert (c == -32 * value * value).all()


def raw_word(m: int, n: int, k: int, *bits: int) -> int:
    word = m | k << 12 | n << 24 | sum(1 << bit for bit in bits)
    return word - (1 << 64) if word >> 63 else word


def raw(text: Text, name: str, elements: tuple[str, str, str], word: int, bias_at: int | None = None) -> None:
    spaces = ("l0a", "l0b", "l0c")
    pointers = [text.pointer(0, e, s) for e, s in zip(elements, spaces, strict=True)]
    types = [pointer_type(e, s) for e, s in zip(elements, spaces, strict=True)]
    if bias_at is not None:
        pointers.append(text.pointer(bias_at, "f32", "bt"))
        types.append(pointer_type("f32", "bt"))
    text.op(name, [*pointers, text.number(word)], [*types, "i64"])


def test_the_raw_word() -> None:
    """Zero, then accumulate, then start from the bias of 5."""
    (a, left), (b, right) = random("f16", (20, 48), 1), random("f16", (48, 30), 2)
    text = Text(
        a=pointer_type("f16", "gm"),
        b=pointer_type("f16", "gm"),
        x=pointer_type("f32", "gm"),
        c=pointer_type("f32", "gm"),
    )
    operands(text, "f16", "f16", 20, 30, 48)
    text.plain("%x", 128 * KIB, "f32", 128)
    bias(text, 128 * KIB, "f32", "f32", 4)
    kinds = ("f16", "f16", "f32")
    raw(text, "mad_raw", kinds, raw_word(20, 30, 48, 63))
    raw(text, "mad_raw", kinds, raw_word(20, 30, 48))
    text.store("%c", "f32", 20, 30, 30)
    raw(text, "mad_bias_raw", kinds, raw_word(20, 30, 48, 62), bias_at=0)
    text.line(f"%d = pto.addptr %c, %rest : {pointer_type('f32', 'gm')} -> {pointer_type('f32', 'gm')}")
    text.lines.insert(0, "%rest = arith.constant 600 : index")
    text.store("%d", "f32", 20, 30, 30)
    c = np.zeros((2, 20, 30), np.float32)
    text.kernel()(a, b, np.full(32, 5, np.float32), c)
    np.testing.assert_array_equal(c[0], 2 * (left @ right))
    np.testing.assert_array_equal(c[1], left @ right + 5)


@pytest.mark.parametrize(("bits", "value"), [((), 2.0), ((45,), 16.0)])
def test_ctrl_says_whether_raw_bytes_are_hif8(bits: tuple[int, ...], value: float) -> None:
    word = sum(1 << bit for bit in (*bits, 48))
    text = product(("f8E4M3FN", "f8E4M3FN"), 16, 32, 32, before=f"%w = arith.constant {word} : i64")
    store = text.lines.pop()
    text.lines.pop()
    text.line("pto.set_ctrl %w : i64")
    raw(text, "mad_raw", ("f8E4M3FN", "f8E4M3FN", "f32"), raw_word(16, 32, 32, 63))
    text.line(store)
    c = np.zeros((16, 32), np.float32)
    text.kernel()(np.full((16, 32), 0x40, np.uint8), np.full((32, 32), 0x40, np.uint8), c)
    assert (c == 32 * value * value).all()


def test_ctrl_rounds_raw_operands_to_tf32() -> None:
    text = product(("f32", "f32"), 16, 16, 8, before=f"%w = arith.constant {1 << 46 | 1 << 47 | 1 << 48} : i64")
    store = text.lines.pop()
    text.lines.pop()
    text.line("pto.set_ctrl %w : i64")
    raw(text, "mad_raw", ("f32", "f32", "f32"), raw_word(16, 16, 8, 63))
    text.line(store)
    a, b, c = np.zeros((16, 8), np.float32), np.ones((8, 16), np.float32), np.zeros((16, 16), np.float32)
    a[:, 0] = 1 + 2.0**-11
    text.kernel()(a, b, c)
    assert (c == np.float32(1 + 2.0**-10)).all()


# --- what cannot be multiplied ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "kind"), [(0, "invalid"), (4096, "invalid"), (4095, "out-of-bounds")])
def test_extents_known_when_run(m: int, kind: str) -> None:
    text = Text(x=pointer_type("f16", "gm"), m="i64")
    pointers = [text.pointer(0, "f16", "l0a"), text.pointer(0, "f16", "l0b"), text.pointer(0, "f32", "l0c"), "%m"]
    types = [pointer_type("f16", "l0a"), pointer_type("f16", "l0b"), pointer_type("f32", "l0c"), *["i64"] * 3]
    text.op("mad", [*pointers, *text.integers(16, 16)], types)
    with pytest.raises(PTOError) as raised:
        text.kernel()(np.zeros(1, np.float16), m)
    assert raised.value.diagnostics[0].kind == kind


@pytest.mark.parametrize("at", [(256, 0, 0), (0, 256, 0), (0, 0, 512)])
def test_tiles_begin_at_fractals(at: tuple[int, int, int]) -> None:
    text = Text(x=pointer_type("f16", "gm"))
    text.mad("mad", ("f16", "f16", "f32"), 16, 16, 16, at=at)
    with pytest.raises(PTOError, match="not a multiple of") as raised:
        text.kernel()(np.zeros(1, np.float16))
    assert raised.value.diagnostics[0].kind == "misaligned"
