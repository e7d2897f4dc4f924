"""Moves out of L1, against the formulas of L0A, L0B, scales, bias table and fixpipe buffer."""

import numpy as np
import pytest

import ptosim
from cube_programs import KIB, Text, observed, pointer_type, round_up, storage
from ptosim import PTOError
from ptosim.effects.names import Space
from tables import table

UNWRITTEN = 0xEE


def matrix(element: str, rows: int, columns: int, seed: int = 0) -> np.ndarray:
    width = np.dtype(storage(element)).itemsize
    data = np.random.default_rng(seed).integers(1, 200, (rows, columns * width), dtype=np.uint8)
    return data.view(storage(element))


def in_l0(x: int, k: int, tiles: int, width: int) -> int:
    """The byte address of A[x][k] in L0A and of B[k][x] in L0B; `tiles` fractals lie side by side for one step of k."""
    c0 = 32 // width
    return ((k // c0) * tiles + x // 16) * 512 + (x % 16) * 32 + (k % c0) * width


def values(image: np.ndarray, rows: int, depth: int, tiles: int, dtype: np.dtype) -> np.ndarray:
    """What L0 holds for each row and k."""
    found = np.empty((rows, depth), dtype)
    for x in range(rows):
        for k in range(depth):
            start = in_l0(x, k, tiles, dtype.itemsize)
            found[x, k] = image[start : start + dtype.itemsize].view(dtype)[0]
    return found


SHAPES = [(16, 16), (40, 50), (1, 32), (17, 65), (64, 24)]


# --- tiles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
@pytest.mark.parametrize(("m", "k"), SHAPES)
def test_a_row_major_left_operand(element: str, m: int, k: int) -> None:
    a = matrix(element, m, k)
    text = Text(a=pointer_type(element, "gm"))
    text.fractals("%a", 0, element, m, k, round_up(m, 16))
    text.load("mte_l1_l0a", 0, 512, element, m, k)
    image = observed(text.kernel(), a).of(Space.L0A)[512:]
    np.testing.assert_array_equal(values(image, m, k, -(-m // 16), a.dtype), a)


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
@pytest.mark.parametrize(("k", "n"), SHAPES)
def test_a_row_major_right_operand_is_transposed(element: str, k: int, n: int) -> None:
    b = matrix(element, k, n)
    granule = max(16, 32 // b.itemsize)
    text = Text(b=pointer_type(element, "gm"))
    text.fractals("%b", 0, element, k, n, round_up(k, granule))
    text.load("mte_l1_l0b", 0, 0, element, k, n, transpose=True)
    image = observed(text.kernel(), b).of(Space.L0B)
    # Bytes are widened to multiples of 32 columns: two fractals side by side, where mad expects one.
    tiles = round_up(n, granule) // 16
    np.testing.assert_array_equal(values(image, n, k, tiles, b.dtype), b.T)


@pytest.mark.parametrize(("element", "transpose"), [("f16", True), ("f16", False), ("f32", True), ("i8", True)])
def test_a_transposed_left_and_a_ready_right_operand(element: str, transpose: bool) -> None:
    """A stored as [k, m] needs transpose, B stored as [n, k] does not."""
    x = matrix(element, 32, 64)
    name, space = ("mte_l1_l0a", Space.L0A) if transpose else ("mte_l1_l0b", Space.L0B)
    text = Text(x=pointer_type(element, "gm"))
    text.fractals("%x", 0, element, 32, 64, 32)
    text.load(name, 0, 0, element, 64, 32, transpose=transpose)  # m, k of the left one; k, n of the right one
    image = observed(text.kernel(), x).of(space)
    across, depth = (64, 32) if transpose else (32, 64)
    found = values(image, across, depth, -(-across // 16), x.dtype)
    np.testing.assert_array_equal(found, x.T if transpose else x)


def fractals(image: np.ndarray, count: int) -> list[bytes]:
    return [image[512 * i : 512 * i + 512].tobytes() for i in range(count)]


def numbered(count: int) -> np.ndarray:
    """Fractals whose bytes all are their number."""
    return np.repeat(np.arange(count, dtype=np.uint8), 512).view(np.int8)


def test_the_eight_bit_trap() -> None:
    """n = 16, k = 64 of bytes: the load writes fractals 0, 1 | 2, 3 for k-blocks 0 and 1, mad reads 0 and 1."""
    b = matrix("i8", 64, 16)
    text = Text(b=pointer_type("i8", "gm"))
    text.fractals("%b", 0, "i8", 64, 16, 64)
    text.load("mte_l1_l0b", 0, 0, "i8", 64, 16, transpose=True)
    image = observed(text.kernel(), b).of(Space.L0B)
    first, padding, second, _ = (np.frombuffer(f, np.int8).reshape(16, 32) for f in fractals(image, 4))
    np.testing.assert_array_equal(first, b[:32].T)
    np.testing.assert_array_equal(second, b[32:].T)
    assert not padding.any()  # columns 16 to 31, which nd2nz filled with zeros


@pytest.mark.parametrize("name", ["mte_l1_l0a", "load_cbuf_to_ca", "load_cbuf_to_cb"])
def test_full_control(name: str) -> None:
    """m_start 1, k_start 2, 2 x 3 fractals, source stride 5, destination stride 4."""
    text = Text(x=pointer_type("i8", "gm"))
    text.plain("%x", 0, "i8", 64 * 512)
    text.load(name, 0, 0, "i8", 1, 2, 2, 3, 5, 4)
    images = observed(text.kernel(), numbered(64))
    found = fractals(images.of(Space.L0B if name.endswith("cb") else Space.L0A), 12)
    for a in range(3):
        for b in range(4):
            number = (2 + a) * 5 + 1 + b if b < 2 else UNWRITTEN
            assert found[a * 4 + b] == bytes([number]) * 512


def test_starts_count_fractals() -> None:
    """start_row 1, start_col 1 of a 32 x 32 f16 tile: strides are those of the shape."""
    text = Text(x=pointer_type("i8", "gm"))
    text.plain("%x", 0, "i8", 64 * 512)
    text.load("mte_l1_l0a", 0, 0, "f16", 32, 32, 1, 1)
    found = fractals(observed(text.kernel(), numbered(64)).of(Space.L0A), 4)
    assert found == [bytes([n]) * 512 for n in (3, 4, 5, 6)]  # (1 + a) * 2 + 1 + b


def test_padding_behind_the_end_of_l1_reads_as_zero() -> None:
    """A tile of 16 rows x 64 bytes whose second fractal lies half outside."""
    start = 512 * KIB - 768
    text = Text(x=pointer_type("i8", "gm"))
    text.plain("%x", start, "i8", 768)
    text.load("mte_l1_l0a", start, 0, "i8", 16, 64)
    found = fractals(observed(text.kernel(), np.full(768, 7, np.int8)).of(Space.L0A), 2)
    assert found == [bytes([7]) * 512, bytes([7]) * 256 + bytes(256)]


@table(
    "source, dest, kind",
    (512 * KIB, 0, "out-of-bounds"),
    (0, 64 * KIB - 512, "out-of-bounds"),
    (0, 256, "misaligned"),
    (8, 0, "misaligned"),
)
def test_tiles_outside_and_between(source: int, dest: int, kind: str) -> None:
    text = Text(x=pointer_type("f16", "gm"))
    text.load("mte_l1_l0b", source, dest, "f16", 16, 32)
    with pytest.raises(PTOError) as raised:
        text.kernel()(np.zeros(1, np.float16))
    assert raised.value.diagnostics[0].kind == kind


def test_fields_are_checked_when_they_are_known() -> None:
    text = Text(x=pointer_type("f16", "gm"), step="i64")
    ones = text.integers(0, 0, 1, 1, 1)
    operands = [text.pointer(0, "f16", "l1"), text.pointer(0, "f16", "l0a"), *ones[:2], "%step", *ones[2:]]
    text.op("mte_l1_l0a", operands, [pointer_type("f16", "l1"), pointer_type("f16", "l0a"), *["i64"] * 6])
    with pytest.raises(PTOError, match=r"m_step is 256; it must be 0\.\.255"):
        text.kernel()(np.zeros(1, np.float16), 256)


# --- 4-bit elements ---------------------------------------------------------------------------------------------------


def nibbles(packed: np.ndarray) -> np.ndarray:
    """One value per nibble, the low one first."""
    return np.stack((packed & 15, packed >> 4), -1).reshape(*packed.shape[:-1], -1)


@pytest.mark.parametrize(("k", "steps"), [(32, 1), (64, 1), (96, 2), (None, 3)])
def test_four_bit_tiles_count_values(k: int | None, steps: int) -> None:
    text = Text(x=pointer_type("i8", "gm"))
    text.plain("%x", 0, "i8", 64 * 512)
    if k is not None:
        text.load("mte_l1_l0a", 0, 0, "f4E2M1x2", 16, k)
    else:
        text.load("load_cbuf_to_ca_s4", 0, 0, "f4E2M1x2", 0, 0, 1, steps, 1, 1, 0)
    found = fractals(observed(text.kernel(), numbered(64)).of(Space.L0A), 4)
    assert found == [bytes([n if n < steps else UNWRITTEN]) * 512 for n in range(4)]


@pytest.mark.parametrize("name", ["mte_l1_l0b", "load_cbuf_to_cb_s4"])
def test_four_bit_tiles_are_transposed_by_nibbles(name: str) -> None:
    """B [64, 64] of values, row-major: 32 bytes a row; four fractals of 16 columns x 64 values of k."""
    b = np.random.default_rng(0).integers(0, 256, (64, 32), dtype=np.uint8)
    text = Text(b=pointer_type("f4E2M1x2", "gm"))
    text.fractals("%b", 0, "f4E2M1x2", 64, 32, 64)
    if name == "mte_l1_l0b":
        text.load(name, 0, 0, "f4E2M1x2", 64, 64, transpose=True)
    else:
        text.load(name, 0, 0, "f4E2M1x2", 0, 0, 4, 1, 4, 4, 1)
    image = observed(text.kernel(), b).of(Space.L0B)[: 4 * 512]
    np.testing.assert_array_equal(nibbles(image.reshape(64, 32)), nibbles(b).T)


# --- MX scales --------------------------------------------------------------------------------------------------------


def scales(rows: int, groups: int) -> np.ndarray:
    """Scales as L1 holds them: [rows / 16][groups / 2][16][2]."""
    return np.arange(rows * groups, dtype=np.uint16).astype(np.uint8).reshape(rows // 16, groups // 2, 16, 2)


@pytest.mark.parametrize(("name", "space"), [("mte_l1_l0a_mx", Space.SCALE_A), ("mte_l1_l0b_mx", Space.SCALE_B)])
@pytest.mark.parametrize("base", [0, 32768])
def test_scales_lie_at_the_address_of_the_data_divided_by_sixteen(name: str, space: Space, base: int) -> None:
    s = scales(32, 4)
    text = Text(s=pointer_type("f8E8M0", "gm"))
    text.plain("%s", 0, "f8E8M0", s.nbytes)
    fields = (32, 128) if name == "mte_l1_l0a_mx" else (128, 32)
    text.load(name, 0, base, "f8E8M0", *fields)
    image = observed(text.kernel(), s).of(space)
    for row in range(32):
        for group in range(4):
            address = base // 16 + ((row // 16) * 2 + group // 2) * 32 + (row % 16) * 2 + group % 2
            assert image[address] == s[row // 16, group // 2, row % 16, group % 2]
    assert (image[: base // 16] == UNWRITTEN).all()


def test_half_of_k_with_full_control() -> None:
    """256 rows of 8 groups in two halves: source stride 4, y_start 2, destination stride 2."""
    s = scales(256, 8)
    text = Text(s=pointer_type("f8E8M0", "gm"))
    text.plain("%s", 0, "f8E8M0", s.nbytes)
    text.load("mte_l1_l0a_mx", 0, 0, "f8E8M0", 0, 2, 16, 2, 4, 2)
    text.load("load_cbuf_to_ca_mx", 0, 2048, "f8E8M0", 0, 0, 16, 2, 4, 2)
    image = observed(text.kernel(), s).of(Space.SCALE_A)
    np.testing.assert_array_equal(image[:1024].reshape(16, 2, 16, 2), s[:, 2:])
    np.testing.assert_array_equal(image[2048:3072].reshape(16, 2, 16, 2), s[:, :2])  # the raw address is not divided


# --- bias table and fixpipe buffer ------------------------------------------------------------------------------------


def rows(text: Text, name: str, source: tuple[int, str], dest: tuple[int, str, str], length: int, *burst: int) -> None:
    """pto.mte_l1_bt or pto.mte_l1_fb."""
    pointers = [text.pointer(source[0], source[1], "l1"), text.pointer(*dest)]
    types = [pointer_type(source[1], "l1"), pointer_type(dest[1], dest[2]), *["i64"] * 4]
    nburst = f" nburst({', '.join(text.integers(*burst))})"
    text.op(name, [*pointers, text.number(length)], types, nburst)


BF16 = {0.5: 0x3F00, -2.0: 0xC000, 3.0: 0x4040}


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "i32"])
def test_bias_is_widened(element: str) -> None:
    numbers = [0.5, -2.0, 3.0] if element != "i32" else [5, -2, 3]
    codes = [BF16[x] for x in numbers] if element == "bf16" else numbers
    x = np.resize(np.array(codes, storage(element)), 64)
    target = "i32" if element == "i32" else "f32"
    text = Text(x=pointer_type(element, "gm"))
    text.plain("%x", 0, element, x.nbytes)
    rows(text, "mte_l1_bt", (0, element), (64, target, "bt"), x.nbytes // 32, 1, 0, 0)
    image = observed(text.kernel(), x).of(Space.BT)
    expected = np.resize(np.array(numbers, storage(target)), 64)
    np.testing.assert_array_equal(image[64 : 64 + 256].view(storage(target)), expected)
    assert image[63] == UNWRITTEN and image[64 + 256] == UNWRITTEN


def test_gaps_count_granules_of_the_source() -> None:
    """Two rows of 16 f16, a granule skipped in L1 and the place of 32 values in the table."""
    x = np.arange(48, dtype=np.float16)
    text = Text(x=pointer_type("f16", "gm"))
    text.plain("%x", 0, "f16", 96)
    rows(text, "mte_l1_bt", (0, "f16"), (0, "f32", "bt"), 1, 2, 1, 2)
    image = observed(text.kernel(), x).of(Space.BT)
    np.testing.assert_array_equal(image[:64].view(np.float32), np.arange(16))
    np.testing.assert_array_equal(image[192:256].view(np.float32), np.arange(32, 48))
    assert (image[64:192] == UNWRITTEN).all()


def test_rows_of_32_bits_may_be_32_bytes_apart() -> None:
    """Three rows of 8 values one behind the other, the first of them at a multiple of 64."""
    x = np.arange(24, dtype=np.int32)
    text = Text(x=pointer_type("i32", "gm"))
    text.plain("%x", 0, "i32", 96)
    rows(text, "mte_l1_bt", (0, "i32"), (64, "i32", "bt"), 1, 3, 0, 0)
    image = observed(text.kernel(), x).of(Space.BT)
    np.testing.assert_array_equal(image[64:160].view(np.int32), x)
    assert image[63] == UNWRITTEN and image[160] == UNWRITTEN


@pytest.mark.parametrize(("element", "convert", "widened"), [("f16", 1, True), ("f16", 0, False), ("bf16", 0, True)])
def test_the_raw_flag_widens_f16(element: str, convert: int, widened: bool) -> None:
    x = np.full(16, 0x4000, np.uint16)  # 2.0 in both formats
    text = Text(x=pointer_type(element, "gm"))
    text.plain("%x", 0, element, 32)
    pointers = [text.pointer(0, element, "l1"), text.pointer(0, "f32", "bt"), text.number(convert, "i1")]
    types = [pointer_type(element, "l1"), pointer_type("f32", "bt"), "i1", *["i64"] * 4]
    text.op("copy_cbuf_to_bt", [*pointers, *text.integers(1, 1, 0, 0)], types)
    image = observed(text.kernel(), x).of(Space.BT)
    expected = np.full(16, 2.0, np.float32).tobytes() if widened else x.tobytes() + bytes([UNWRITTEN]) * 32
    assert image[:64].tobytes() == expected


@pytest.mark.parametrize(("address", "space"), [(0x0080, Space.FB), (0x10040, Space.FB_RELU)])
@pytest.mark.parametrize("raw", [False, True])
def test_address_bits_select_the_segment(address: int, space: Space, raw: bool) -> None:
    """Two rows of 64 bytes, one unit skipped in L1, none in the buffer."""
    x = np.arange(48, dtype=np.uint32)
    text = Text(x=pointer_type("ui32", "gm"))
    text.plain("%x", 0, "ui32", 192)
    if raw:
        pointers = [text.pointer(0, "ui32", "l1"), text.pointer(address, "f32", "fb")]
        types = [pointer_type("ui32", "l1"), pointer_type("f32", "fb"), *["i64"] * 4]
        text.op("copy_cbuf_to_fbuf", [*pointers, *text.integers(2, 1, 1, 0)], types)
    else:
        rows(text, "mte_l1_fb", (0, "ui32"), (address, "f32", "fb"), 1, 2, 1, 0)
    image = observed(text.kernel(), x).of(space)
    start = address & 0xFFFF
    np.testing.assert_array_equal(image[start : start + 128].view(np.uint32), np.r_[0:16, 32:48])
    assert (np.delete(image, range(start, start + 128)) == UNWRITTEN).all()


def test_a_segment_has_four_kib() -> None:
    text = Text(x=pointer_type("ui32", "gm"))
    rows(text, "mte_l1_fb", (0, "ui32"), (0xFC0, "f32", "fb"), 2, 1, 0, 0)
    with pytest.raises(PTOError, match="of fb, which has 4096 bytes"):
        text.kernel()(np.zeros(1, np.uint32))


# --- remarks ----------------------------------------------------------------------------------------------------------


def remarks(text: Text, *arguments: object) -> list[str]:
    """What check remarks on loads and products, besides what they touch."""
    report = ptosim.check(text.kernel().kernel, *arguments)
    return [finding.message for finding in report.findings if finding.kind == "lint"]


@pytest.mark.parametrize(("n", "k", "doubtful"), [(16, 64, True), (48, 33, True), (32, 64, False), (16, 32, False)])
def test_transposed_bytes_are_doubted_when_their_shape_is_known(n: int, k: int, doubtful: bool) -> None:
    """Where ceil(n / 16) is odd and k > 32, load and product step differently."""
    text = Text(x=pointer_type("i8", "gm"), k="i64", n="i64")
    text.plain("%x", 0, "i8", 4096)
    text.line('pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]')
    text.line('pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]')
    text.load("mte_l1_l0b", 0, 0, "i8", "%k", "%n", transpose=True)
    said = [f"a transposed 8-bit tile with n = {n} and k = {k} is not what pto.mad reads"] if doubtful else []
    assert remarks(text, np.zeros(4096, np.int8), k, n) == said


@pytest.mark.parametrize(("start", "said"), [(0, []), (1, ["start_row counts fractals, not rows or columns"])])
@pytest.mark.parametrize("name", ["mte_l1_l0a", "mte_l1_l0a_mx"])
def test_starts_are_doubted_when_they_are_known(name: str, start: int, said: list[str]) -> None:
    text = Text(x=pointer_type("f8E8M0", "gm"), start="i64")
    text.plain("%x", 0, "f8E8M0", 4096)
    text.load(name, 0, 0, "f8E8M0", 16, 64, "%start", 0)
    assert remarks(text, np.zeros(4096, np.uint8), start) == said


def test_what_load_has_warned_of_is_not_said_again() -> None:
    text = Text(x=pointer_type("f16", "gm"))
    text.load("mte_l1_l0a", 0, 0, "f16", 16, 16, 1, 0)
    assert [warning.kind for warning in text.kernel().kernel.module.warnings] == ["lint"]
    assert remarks(text, np.zeros(1, np.float16)) == []
