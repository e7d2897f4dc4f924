"""Fixpipe stores: layouts against their index formulas, the numeric steps against numbers worked out by hand."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest

from cube_programs import KIB, Text, observed, pointer_type, round_up, storage
from ptosim import PTOError
from ptosim.effects.names import Space

INF, NAN = float("inf"), float("nan")
BUFFER, BIAS, IDENTITY = 64 * KIB, 96 * KIB, 128 * KIB
"""Where parameter words, the bias row and the identity lie in L1."""


# --- accumulators with known contents ---------------------------------------------------------------------------------


def matrix_in_l0c(text: Text, m: int, n: int, at: int = 0) -> None:
    """%x, an f32 matrix [m, n], as accumulators: its product with the identity."""
    depth = round_up(n, 16)
    text.fractals("%x", 0, "f32", m, n, round_up(m, 16))
    text.fractals("%one", IDENTITY, "f32", n, n, depth)
    text.load("mte_l1_l0a", 0, 0, "f32", m, n)
    text.load("mte_l1_l0b", IDENTITY, 0, "f32", n, n, transpose=True)
    text.mad("mad", ("f32", "f32", "f32"), m, n, n, at=(0, 0, at))


def row_in_l0c(text: Text, n: int, source: str, m: int = 1) -> None:
    """%x, a row of n numbers, in every one of m rows of accumulators: the bias of a product of zeros."""
    element = "f32" if source == "f32" else "i8"
    text.plain("%x", BIAS, source, round_up(n * 4, 64))
    pointers = [text.pointer(BIAS, source, "l1"), text.pointer(0, source, "bt")]
    types = [pointer_type(source, "l1"), pointer_type(source, "bt"), *["i64"] * 4]
    nburst = f" nburst({', '.join(text.integers(1, 0, 0))})"
    text.op("mte_l1_bt", [*pointers, text.number(round_up(n * 4, 64) // 32)], types, nburst)
    text.mad("mad_bias", (element, element, source), m, n, 8, bias=0)


def padded(values: Sequence[float], dtype: type) -> np.ndarray:
    row = np.zeros(round_up(len(values), 16), dtype)
    row[: len(values)] = values
    return row


def stored(
    values: Sequence[float],
    dest: str,
    clauses: str,
    operands: tuple[tuple[float, str], ...] = (),
    source: str = "f32",
    words: Sequence[int] = (),
    slopes: Sequence[int] = (),
    ctrl: int | None = None,
) -> np.ndarray:
    """A row through the fixpipe. `{}` in the clauses stand for the operands; words and slopes fill the buffer."""
    n = len(values)
    text = Text(
        x=pointer_type(source, "gm"), w=pointer_type("ui64", "gm"), s=pointer_type("ui32", "gm"),
        y=pointer_type(dest, "gm"),
    )  # fmt: skip
    row_in_l0c(text, n, source)
    pointers: list[str] = []
    types: list[str] = []
    for given, address, element, width in ((words, 0x80, "ui64", 8), (slopes, 0x10040, "ui32", 4)):
        if len(given):
            size = round_up(n * width, 64)
            text.plain("%w" if width == 8 else "%s", BUFFER, element, size)
            ends = [text.pointer(BUFFER, element, "l1"), text.pointer(address, "f32", "fb"), text.number(size // 64)]
            nburst = f" nburst({', '.join(text.integers(1, 0, 0))})"
            listed = [pointer_type(element, "l1"), pointer_type("f32", "fb"), *["i64"] * 4]
            text.op("mte_l1_fb", ends, listed, nburst)
            pointers.append(text.pointer(address, "f32", "fb"))
            types.append(pointer_type("f32", "fb"))
    scalars = [text.number(value, type_) for value, type_ in operands]
    if ctrl is not None:
        text.line(f"pto.set_ctrl {text.number(ctrl)} : i64")
    names = iter([*pointers, *scalars])
    filled = "".join(part if part != "{}" else next(names) for part in _split(clauses))
    text.store("%y", dest, 1, n, n, filled, source, types=(*types, *(type_ for _, type_ in operands)))
    y = np.zeros((n + 1) // 2 if dest.endswith("i4") else n, storage(dest))
    x = padded(values, storage(source))
    text.kernel()(x, padded(words, np.uint64), padded(slopes, np.uint32), y)
    return y


def _split(clauses: str) -> list[str]:
    parts = clauses.split("{}")
    return [piece for part in parts[:-1] for piece in (part, "{}")] + [parts[-1]]


def quant(mode: str) -> str:
    return f"pre_quant({{}}, mode = {mode})"


def word(scale: float, shift: int = 0, offset: int = 0, signed: bool = False) -> int:
    """A quantisation word: scale in bits 31:13, shift in 36:32, offset in 45:37, sign in 46."""
    bits = int(np.float32(scale).view(np.uint32)) & 0xFFFFE000
    return bits | shift << 32 | (offset & 0x1FF) << 37 | int(signed) << 46


def slope(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


# --- addresses --------------------------------------------------------------------------------------------------------


def tile(m: int, n: int) -> np.ndarray:
    return np.random.default_rng(m * n).integers(-1000, 1000, (m, n)).astype(np.float32)


def layout_text(m: int, n: int) -> Text:
    text = Text(x=pointer_type("f32", "gm"), one=pointer_type("f32", "gm"), y=pointer_type("f32", "gm"))
    matrix_in_l0c(text, m, n)
    return text


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


def test_l1_takes_the_same_layouts() -> None:
    x = tile(20, 30)
    text = Text(x=pointer_type("f32", "gm"), one=pointer_type("f32", "gm"))
    matrix_in_l0c(text, 20, 30)
    pointers = [text.pointer(0, "f32", "l0c"), text.pointer(256 * KIB, "f32", "l1")]
    types = [pointer_type("f32", "l0c"), pointer_type("f32", "l1"), *["i64"] * 4]
    text.op("mte_l0c_l1", [*pointers, *text.integers(20, 30, 32, 40)], types, ", nz2nd")
    image = observed(text.kernel(), x, np.eye(30, dtype=np.float32)).of(Space.L1)
    rows = image[256 * KIB : 256 * KIB + 20 * 160].reshape(20, 160)
    np.testing.assert_array_equal(rows[:, :120].copy().view(np.float32), x)
    assert (rows[:, 120:] == 0xEE).all()


# --- steps ------------------------------------------------------------------------------------------------------------


def test_scale_comes_before_relu() -> None:
    """-3 * -1 = 3 is positive; relu first would give 0."""
    clauses = f"{quant('qf322f16_pre_scalar')}, pre_relu(mode = normal_relu)"
    np.testing.assert_array_equal(stored([-3, 3], "f16", clauses, ((-1.0, "f32"),)), [3, 0])


def test_relu_comes_before_narrowing() -> None:
    """-(1 + 2^-11) * 3 = -(3 + 0.75 * 2^-9) rounds to -(3 + 2^-9); narrowed to -1 first it would be -3."""
    clauses = f"{quant('f32_f16')}, pre_relu({{}}, mode = scalar_relu)"
    found = stored([-(1 + 2.0**-11)], "f16", clauses, ((0.0, "f32"), (3.0, "f32")))
    assert found[0] == -(3 + 2.0**-9)


def test_clip_comes_last() -> None:
    """7.999 in f16 is 8 (spacing 2^-8 below 8); 20 and inf are cut off, -20 is not."""
    clauses = f"{quant('qf322f16_pre_scalar')}, pre_relu(mode = no_relu, clip = {{}})"
    found = stored([1.9998, 5, INF, -5], "f16", clauses, ((4.0, "f32"), (8.0, "f16")))
    np.testing.assert_array_equal(found, np.array([8, 8, 8, -20], np.float16))


def test_normal_relu() -> None:
    np.testing.assert_array_equal(stored([-1, 0, 2, -0.0], "f32", "pre_relu(mode = normal_relu)"), [0, 0, 2, 0])
    assert np.isnan(stored([NAN], "f32", "pre_relu(mode = normal_relu), nosat")[0])
    assert stored([NAN], "f32", "pre_relu(mode = normal_relu), sat")[0] == 0


def test_scalar_relu() -> None:
    found = stored([-4, 4, NAN], "f32", "pre_relu({}, mode = scalar_relu)", ((0.25, "f16"),))
    np.testing.assert_array_equal(found, [-1, 4, NAN])


def test_vector_relu() -> None:
    found = stored([-4, -4, 4], "f32", "pre_relu({}, mode = vector_relu)", slopes=[slope(0.5), slope(2), slope(9)])
    np.testing.assert_array_equal(found, [-2, -8, 4])


def test_vector_words_of_both_kinds() -> None:
    clauses = f"{quant('qf322f16_pre_vec')}, pre_relu({{}}, mode = vector_relu), nz2nd"
    found = stored([1, -1, -1], "f16", clauses, words=[word(2), word(3), word(-4)], slopes=[slope(0.5)] * 3)
    np.testing.assert_array_equal(found, [2, -1.5, 4])


def test_words_keep_ten_fraction_bits() -> None:
    """Bits 12:0 do not belong to a scale or slope, whether it is a word or a scalar."""
    mode = quant("qf322f32_pre_scalar")
    assert stored([1], "f32", mode, ((1 + 2.0**-10, "f32"),))[0] == 1 + 2.0**-10
    assert stored([1], "f32", mode, ((1 + 2.0**-10 + 2.0**-11, "f32"),))[0] == 1 + 2.0**-10
    assert stored([1], "f32", quant("qf322f32_pre_vec"), words=[slope(1 + 2.0**-11)])[0] == 1
    assert stored([-1], "f32", "pre_relu({}, mode = vector_relu)", slopes=[slope(1 + 2.0**-11)])[0] == -1


@pytest.mark.parametrize(("type_", "scale"), [("f16", 1.5), ("bf16", 1.5), ("f32", 1.5)])
def test_payloads_are_widened(type_: str, scale: float) -> None:
    assert stored([4], "f32", quant("qf322f32_pre_scalar"), ((scale, type_),))[0] == 6


# --- conversions ------------------------------------------------------------------------------------------------------

EXTREMES = [INF, -INF, NAN, 1e30, -1e30, 1.0]


@pytest.mark.parametrize(
    ("dest", "mode", "largest", "dtype"),
    [
        ("f16", "f32_f16", 65504.0, np.float16),
        ("bf16", "qf322bf16_pre_scalar", None, ml_dtypes.bfloat16),
        ("f8E4M3FN", "qf322fp8_pre_scalar", 448.0, ml_dtypes.float8_e4m3fn),
        ("f8E5M2", "qf322fp8_pre_scalar", 57344.0, ml_dtypes.float8_e5m2),
    ],
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


def test_hif8() -> None:
    """16 is 0x40, -1 is 0x88; beyond the largest number 2^15 (0x6E) lies infinity (0x6F), NaN is 0x80."""
    values = [16, -1, 1e9, INF, NAN]
    one = ((1.0, "f32"),)
    for mode in ("qf322hif8_pre_scalar", "qf322hif8_pre_hybrid_scalar"):
        np.testing.assert_array_equal(stored(values, "hif8", f"{quant(mode)}, sat", one), [0x40, 0x88, 0x6E, 0x6E, 0])
        np.testing.assert_array_equal(
            stored(values, "hif8", f"{quant(mode)}, nosat", one), [0x40, 0x88, 0x6F, 0x6F, 0x80]
        )


@pytest.mark.parametrize(("bits", "expected"), [((48,), INF), ((), 65504.0), ((50,), 65504.0)])
def test_ctrl_decides_where_no_clause_does(bits: tuple[int, ...], expected: float) -> None:
    ctrl = sum(1 << bit for bit in bits)
    found = stored([INF, NAN], "f16", quant("f32_f16"), ((1.0, "f32"),), ctrl=ctrl)
    assert found[0] == expected
    assert np.isnan(found[1]) == (bits != ())
    assert stored([INF], "f16", f"{quant('f32_f16')}, nosat", ((1.0, "f32"),), ctrl=ctrl)[0] == INF


def test_f32_is_never_changed() -> None:
    np.testing.assert_array_equal(stored([INF, NAN, 3], "f32", "nz2nd, sat"), [INF, NAN, 3])


def test_scaled_to_f32() -> None:
    np.testing.assert_array_equal(stored([3, -1.5], "f32", quant("qf322f32_pre_scalar"), ((0.5, "f32"),)), [1.5, -0.75])


def test_f16_rounds_to_even() -> None:
    found = stored([1 + 2.0**-11, 1 + 3 * 2.0**-11], "f16", quant("f32_f16"), ((9.0, "f32"),))
    np.testing.assert_array_equal(found, np.array([1, 1 + 2.0**-9], np.float16))


# --- integers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["qf322b8_pre", "req8", "qf162b8_pre"])
def test_eight_bits_by_destination(mode: str) -> None:
    """A scalar has no sign bit: the destination says what to clamp to. Halves go to the even neighbour."""
    source = "i32" if mode == "req8" else "f32"
    values = [5, 7, -600, 600, 3]
    half = ((0.5, "f32"),)
    signed = stored(values, "i8", quant(f"{mode}_scalar"), half, source)
    np.testing.assert_array_equal(signed, [2, 4, -128, 127, 2])
    unsigned = stored(values, "ui8", quant(f"{mode}_scalar"), half, source)
    np.testing.assert_array_equal(unsigned, [2, 4, 0, 255, 2])


def test_eight_bits_by_word() -> None:
    """Scale, offset and sign of each channel; the offset has nine bits and a sign."""
    words = [
        word(1, signed=True),
        word(1, signed=False),
        word(0.5, offset=10),
        word(1, offset=-200),
        word(1, offset=255),
    ]
    found = stored([-300, -300, 5, 210, 0], "ui8", quant("req8_vec"), source="i32", words=words)
    # -300 clamped to -128 (0x80); to 0; 2.5 + 10 = 12.5 to even 12; 210 - 200; 0 + 255
    np.testing.assert_array_equal(found, [0x80, 0, 12, 10, 255])


def test_relu_comes_before_the_clamp_of_integers() -> None:
    clauses = f"{quant('req8_scalar')}, pre_relu(mode = normal_relu)"
    np.testing.assert_array_equal(stored([-50, 50], "i8", clauses, ((1.0, "f32"),), "i32"), [0, 50])


def test_through_f16() -> None:
    """2049 is no f16: it becomes 2048 (to even) before it is scaled. 100000 becomes an infinity."""
    found = stored([2049, 100000], "i16", quant("qf162s16_pre_scalar"), ((1.0, "f32"),), "i32")
    np.testing.assert_array_equal(found, [2048, 32767])
    assert stored([2049], "i8", quant("qf162b8_pre_scalar"), ((1 / 32, "f32"),))[0] == 64
    assert stored([2049 + 31], "i8", quant("qf322b8_pre_scalar"), ((1 / 32, "f32"),))[0] == 65


@pytest.mark.parametrize(("mode", "source"), [("qf322s4_pre", "f32"), ("qf162s4_pre", "f32"), ("req4", "i32")])
@pytest.mark.parametrize("dest", ["i4", "si4"])
def test_four_bits_lie_two_to_a_byte(mode: str, source: str, dest: str) -> None:
    """-8..7, the first in the low nibble; an odd last one stands alone."""
    found = stored([1, -1, 100, -100, 3], dest, quant(f"{mode}_scalar"), ((1.0, "f32"),), source)
    np.testing.assert_array_equal(found, [0xF1, 0x87, 0x03])


def test_dequantised_to_f16() -> None:
    """Clamped whatever the clause says; f32 holds the product."""
    for clause in ("sat", "nosat"):
        found = stored([3, -1000000, 7], "f16", f"{quant('deqf16_scalar')}, {clause}", ((0.25, "f32"),), "i32")
        np.testing.assert_array_equal(found, np.array([0.75, -65504, 1.75], np.float16))


def test_dequantised_to_bf16() -> None:
    found = stored([3, 257], "bf16", quant("qs322bf16_pre_scalar"), ((1.0, "f32"),), "i32")
    np.testing.assert_array_equal(found.view(ml_dtypes.bfloat16).astype(float), [3, 256])  # 8 bits of precision


def test_thirty_two_bits_are_exact() -> None:
    found = stored([2**31 - 1, -5, 5], "i32", quant("deqs32_int_scalar"), ((1.0, "f32"),), "i32")
    np.testing.assert_array_equal(found, [2**31 - 1, -5, 5])
    np.testing.assert_array_equal(stored([5, 7], "i32", quant("deqs32_int_scalar"), ((0.5, "f32"),), "i32"), [2, 4])


def test_shifts_are_one_more_than_written() -> None:
    """Arithmetic: -5 >> 1 = -3. The field has four bits of a wider one."""
    words = [word(1, shift=0), word(1, shift=3), word(1, shift=0)]
    found = stored([-5, 1000, 2**30], "i16", quant("deqs16_vec"), source="i32", words=words)
    np.testing.assert_array_equal(found, [-3, 62, 32767])


def test_plain_integers() -> None:
    np.testing.assert_array_equal(stored([2**31 - 1, -7], "i32", "nz2nd", source="i32"), [2**31 - 1, -7])
    np.testing.assert_array_equal(
        stored([2**31 - 1, -7], "i32", "pre_relu(mode = normal_relu)", source="i32"), [2**31 - 1, 0]
    )


@pytest.mark.parametrize(
    ("dest", "limit", "expected"),
    [("i8", (-3, "i8"), [-3, -100]), ("ui8", (200, "i16"), [200, 0]), ("i16", (7, "i16"), [7, -100])],
)
def test_integer_clip(dest: str, limit: tuple[int, str], expected: list[int]) -> None:
    mode = "qf162s16_pre_scalar" if dest == "i16" else "req8_scalar"
    clauses = f"{quant(mode)}, pre_relu(mode = no_relu, clip = {{}})"
    found = stored([1000, -100], dest, clauses, ((1.0, "f32"), limit), "i32")
    np.testing.assert_array_equal(found, np.array(expected))


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


# --- the raw words ----------------------------------------------------------------------------------------------------


def signed64(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def raw_store(
    text: Text, dest: str, element: str, config0: int, config1: int, name: str = "gm", source: str = "f32"
) -> None:
    space = {"gm": "gm", "cbuf": "l1", "ub": "ub"}[name]
    types = [pointer_type(source, "l0c"), pointer_type(element, space), "i64", "i64"]
    words = text.integers(signed64(config0), signed64(config1))
    text.op(f"copy_matrix_cc_to_{name}", [text.pointer(0, source, "l0c"), dest, *words], types)


def sizes(m: int, n: int, stride: int) -> int:
    return n << 4 | m << 16 | stride << 32


def test_raw_row_major() -> None:
    x, y = tile(20, 30), np.full((20, 40), 7.5, np.float32)
    text = layout_text(20, 30)
    raw_store(text, "%y", "f32", sizes(20, 30, 40), 32 | 1 << 43)
    text.kernel()(x, np.eye(30, dtype=np.float32), y)
    np.testing.assert_array_equal(y[:, :30], x)
    assert (y[:, 30:] == 7.5).all()


def test_raw_column_major_takes_its_row_step_from_the_channel_register() -> None:
    x, y = tile(16, 20), np.zeros((20, 8), np.float32)
    text = layout_text(16, 20)
    text.op("set_channel_para", text.integers(0, 2 << 8), ["i64", "i64"])  # bits 63:48 of the word
    raw_store(text, "%y", "f32", sizes(8, 20, 8), 16 | 1 << 62)
    text.kernel()(x, np.eye(20, dtype=np.float32), y)
    np.testing.assert_array_equal(y, x[::2].T)


@pytest.mark.parametrize(("split", "columns"), [(0, 16), (1, 8)])
def test_raw_fractals(split: int, columns: int) -> None:
    x, y = tile(16, 32), np.zeros(512, np.float32)
    text = layout_text(16, 32)
    raw_store(text, "%y", "f32", sizes(16, 32, 16 * columns), 16 | split << 42)
    text.kernel()(x, np.eye(32, dtype=np.float32), y)
    np.testing.assert_array_equal(y.reshape(-1, 16, columns), x.reshape(16, -1, columns).transpose(1, 0, 2))


def test_raw_narrow_fractals_are_32_bytes_wide() -> None:
    x, y = tile(16, 32), np.zeros(512, np.float16)
    text = Text(x=pointer_type("f32", "gm"), one=pointer_type("f32", "gm"), y=pointer_type("f16", "gm"))
    matrix_in_l0c(text, 16, 32)
    raw_store(text, "%y", "f16", sizes(16, 32, 256), 16 | 1 << 34)  # code 1: f32_f16
    text.kernel()(x, np.eye(32, dtype=np.float32), y)
    np.testing.assert_array_equal(y.reshape(2, 16, 16), x.reshape(16, 2, 16).transpose(1, 0, 2).astype(np.float16))


def test_raw_repeats() -> None:
    x, y = tile(16, 6), np.zeros((3, 40), np.float32)
    text = layout_text(16, 6)
    loop3 = 3 | 5 << 16 | 40 << 32
    text.op("set_loop3_para", text.integers(loop3 & ((1 << 40) - 1), loop3 >> 40), ["i64", "i64"])
    raw_store(text, "%y", "f32", sizes(4, 6, 8), 16 | 1 << 43)
    text.kernel()(x, np.eye(6, dtype=np.float32), y)
    for repeat in range(3):
        np.testing.assert_array_equal(y[repeat, :32].reshape(4, 8)[:, :6], x[5 * repeat : 5 * repeat + 4])


def test_raw_parameters_come_from_registers() -> None:
    """qf322f16_pre_scalar is code 32: its sixth bit stands apart. Slope, clip and scale are sticky."""
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f16", "gm"))
    row_in_l0c(text, 3, "f32")
    for register, value in (("quant_pre", word(2)), ("relu_alpha", slope(0.5)), ("fix_clip_relu", 0x4800)):
        text.op(f"set_{register}", text.integers(value), ["i64"])
    raw_store(text, "%y", "f16", sizes(1, 3, 3), 16 | 1 << 43 | 1 << 29 | 2 << 39 | 1 << 30)
    y = np.zeros(3, np.float16)
    text.kernel()(padded([-3, 3, 30], np.float32), y)
    np.testing.assert_array_equal(y, [-3, 6, 8])  # 0x4800 is 8.0


def test_raw_rows_of_the_buffer() -> None:
    """req8_vec is code 8; set_fpc names row 1 of the quantisation words (128 bytes) and row 2 of the relu words."""
    text = Text(
        x=pointer_type("i32", "gm"),
        w=pointer_type("ui64", "gm"),
        s=pointer_type("ui32", "gm"),
        y=pointer_type("i8", "gm"),
    )
    row_in_l0c(text, 3, "i32")
    for name, element, address in (("%w", "ui64", 128), ("%s", "ui32", 0x10080)):
        text.plain(name, BUFFER, element, 64)
        ends = [text.pointer(BUFFER, element, "l1"), text.pointer(address, "f32", "fb"), text.number(1)]
        nburst = f" nburst({', '.join(text.integers(1, 0, 0))})"
        text.op("mte_l1_fb", ends, [pointer_type(element, "l1"), pointer_type("f32", "fb"), *["i64"] * 4], nburst)
    text.op("set_fpc", text.integers(1 << 8 | 2), ["i64"])
    raw_store(text, "%y", "i8", sizes(1, 3, 3), 16 | 1 << 43 | 8 << 34 | 3 << 39, source="i32")
    y = np.zeros(3, np.int8)
    words = [word(1, signed=True), word(2, signed=True), word(3, signed=True)]
    text.kernel()(padded([10, -10, 5], np.int32), padded(words, np.uint64)[:8], padded([slope(0.5)] * 3, np.uint32), y)
    np.testing.assert_array_equal(y, [10, -10, 15])


def test_clauses_leave_the_registers_alone() -> None:
    """The same store with clauses, while the registers hold other values."""
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f32", "gm"))
    row_in_l0c(text, 3, "f32")
    text.op("set_quant_pre", text.integers(word(5)), ["i64"])
    text.op("set_loop3_para", text.integers(9, 0), ["i64", "i64"])
    text.store(
        "%y", "f32", 1, 3, 3, f"pre_quant({text.number(2.0, 'f32')}, mode = qf322f32_pre_scalar)", types=("f32",)
    )
    raw_store(text, "%y", "f32", sizes(1, 1, 1), 16 | 1 << 43 | 15 << 34)
    y = np.zeros(3, np.float32)
    text.kernel()(padded([1, 2, 3], np.float32), y)
    np.testing.assert_array_equal(y, [5, 4, 6])  # the raw store repeated 9 times at no distance


@pytest.mark.parametrize(
    ("config1", "said"),
    [
        (8 << 34, "req8_vec does not lead from f32 to f16"),
        (1 << 29 | 31 << 34, "there is no quantisation mode 63"),
        (1 << 34 | 5 << 39, "there is no relu mode 5"),
        (0, "no_convert does not lead from f32 to f16"),
    ],
)
def test_raw_words_must_fit_the_types(config1: int, said: str) -> None:
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f16", "gm"))
    raw_store(text, "%y", "f16", sizes(1, 3, 3), 16 | 1 << 43 | config1)
    with pytest.raises(PTOError, match=said) as raised:
        text.kernel()(padded([1], np.float32), np.zeros(3, np.float16))
    assert raised.value.diagnostics[0].kind == "invalid"


def test_raw_clip_needs_a_narrow_destination() -> None:
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f32", "gm"))
    raw_store(text, "%y", "f32", sizes(1, 3, 3), 16 | 1 << 43 | 1 << 30)
    assert kind_of(text, padded([1], np.float32), np.zeros(3, np.float32)) == "invalid"


# --- what cannot be stored --------------------------------------------------------------------------------------------


def kind_of(text: Text, *arguments: object) -> str:
    with pytest.raises(PTOError) as raised:
        text.kernel()(*arguments)
    return raised.value.diagnostics[0].kind


def test_without_quantisation_the_types_agree() -> None:
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f16", "gm"))
    row_in_l0c(text, 3, "f32")
    text.store("%y", "f16", 1, 3, 3)
    assert kind_of(text, padded([1], np.float32), np.zeros(3, np.float16)) == "invalid"


def test_a_cube_kernel_has_no_ub() -> None:
    text = Text(x=pointer_type("f32", "gm"))
    pointers = [text.pointer(0, "f32", "l0c"), text.pointer(0, "f32", "ub"), *text.integers(16, 16, 16, 16)]
    types = [pointer_type("f32", "l0c"), pointer_type("f32", "ub"), *["i64"] * 5]
    text.op("mte_l0c_ub", pointers, types, f", dst_mode({text.number(0)})")
    assert kind_of(text, np.zeros(1, np.float32)) == "unsupported"


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
