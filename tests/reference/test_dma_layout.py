"""Layout-converting copies into L1, against the formulas of the NZ order; the filling of L1."""

import numpy as np
import pytest

from cube_programs import Text, observed, pointer_type, storage
from ptosim import PTOError
from ptosim.effects.names import Space

ELEMENTS = ["i8", "f16", "f32"]
UNWRITTEN = 0xEE


def matrix(element: str, rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Random bytes, without 0xEE, so that every byte of the result tells where it comes from."""
    width = np.dtype(storage(element)).itemsize
    data = np.random.default_rng(seed).integers(1, 200, (rows, columns * width), dtype=np.uint8)
    return data.view(storage(element))


def nz(row: int, column: int, rows: int, width: int) -> int:
    """The byte address of an element: groups of 32 bytes of columns, all rows of a group together."""
    c0 = 32 // width
    return (column // c0) * rows * 32 + row * 32 + (column % c0) * width


def in_l1(image: np.ndarray, address: int, width: int) -> bytes:
    return image[address : address + width].tobytes()


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("rows", "columns", "padded"), [(16, 16, 16), (40, 50, 48), (1, 7, 16), (33, 64, 64)])
@pytest.mark.parametrize("layout", ["nd2nz", "dn2nz"])
def test_nz_order(element: str, rows: int, columns: int, padded: int, layout: str) -> None:
    text = Text(x=pointer_type(element, "gm"))
    text.fractals("%x", 64, element, rows, columns, padded, layout)
    x = matrix(element, rows, columns)
    given = x if layout == "nd2nz" else np.ascontiguousarray(x.T)
    image = observed(text.kernel(), given).of(Space.L1)
    expected = np.full_like(image, UNWRITTEN)
    for row in range(rows):
        for column in range(-(-columns * x.itemsize // 32) * 32 // x.itemsize):
            start = 64 + nz(row, column, padded, x.itemsize)
            value = x[row, column].tobytes() if column < columns else bytes(x.itemsize)
            expected[start : start + x.itemsize] = np.frombuffer(value, np.uint8)
    np.testing.assert_array_equal(image, expected)


def test_groups_and_strides() -> None:
    """Two groups of 3 x 20 f16 out of rows of 40 elements, the second 4 rows further down."""
    x = matrix("f16", 8, 40)
    text = Text(x=pointer_type("f16", "gm"))
    text.frac("%x", 0, "f16", "nd2nz", 3, 20, (80, 4 * 80), (2, 2, 8, 32))
    image = observed(text.kernel(), x).of(Space.L1)
    for group in range(2):
        for row in range(3):
            for column in range(20):
                address = (group * 32 + column // 16 * 8 + row * 2) * 32 + column % 16 * 2
                assert in_l1(image, address, 2) == x[4 * group + row, column].tobytes()
    assert in_l1(image, 32, 32) == bytes([UNWRITTEN]) * 32  # between rows, because of the row stride


def test_without_an_outer_stride_groups_repeat() -> None:
    x = matrix("f16", 2, 16)
    text = Text(x=pointer_type("f16", "gm"))
    text.frac("%x", 0, "f16", "nd2nz", 2, 16, (32,), (3, 1, 2, 4))
    image = observed(text.kernel(), x).of(Space.L1)
    for group in range(3):
        assert in_l1(image, group * 128, 64) == x.tobytes()


def test_small_rows_are_packed() -> None:
    """5 rows of 3 f16: four elements a row, the end filled up to 32 bytes, groups l4 granules apart."""
    x = matrix("f16", 10, 3)
    text = Text(x=pointer_type("f16", "gm"))
    text.frac("%x", 0, "f16", "nd2nz", 5, 3, (6, 30), (2, 9, 9, 3), small=True)
    image = observed(text.kernel(), x).of(Space.L1)
    for group in range(2):
        rows = np.zeros((5, 4), np.float16)
        rows[:, :3] = x[5 * group : 5 * group + 5]
        assert in_l1(image, group * 96, 64) == rows.tobytes() + bytes(24)


def test_small_rows_have_four_elements() -> None:
    text = Text(x=pointer_type("f16", "gm"), d="i64")
    small, zero = text.number(1, "i1"), text.number(0)
    group = ", ".join(text.integers(1, 1, 1, 1))
    text.line(
        f"pto.mte_gm_l1_frac %x, {text.pointer(0, 'f16', 'l1')}, nd2nz, shape({text.number(1)}, %d), "
        f"src_layout({zero}), dst_group({group}), ctrl({zero}, {small}) : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, nd2nz, "
        "shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1"
    )
    with pytest.raises(PTOError, match=r"d is 5; with small_c0 it must be at most 4") as raised:
        text.kernel()(matrix("f16", 1, 8), 5)
    assert raised.value.diagnostics[0].kind == "invalid"


@pytest.mark.parametrize("layout", ["nd2nz", "dn2nz"])
def test_the_older_spelling_takes_its_groups_from_a_register(layout: str) -> None:
    x = matrix("f16", 12, 20)
    current = Text(x=pointer_type("f16", "gm"))
    current.frac("%x", 0, "f16", layout, 5, 9, (40, 80), (2, 1, 16, 64))
    older = Text(x=pointer_type("f16", "gm"))
    older.op("set_mte2_nz_para", [older.number(2 | 1 << 16 | 16 << 32 | 64 << 48)], ["i64"])
    fields = [*older.integers(0, 40, 0, 5, 9, 80), older.number(0, "i1")]
    types = [pointer_type("f16", "gm"), pointer_type("f16", "l1"), *["i64"] * 6, "i1"]
    older.op(f"copy_gm_to_cbuf_multi_{layout}", ["%x", older.pointer(0, "f16", "l1"), *fields], types)
    expected = observed(current.kernel(), x).of(Space.L1)
    assert (expected != UNWRITTEN).any()
    np.testing.assert_array_equal(observed(older.kernel(), x).of(Space.L1), expected)


def test_what_does_not_fit_l1() -> None:
    text = Text(x=pointer_type("f16", "gm"))
    text.frac("%x", 512 * 1024 - 64, "f16", "nd2nz", 3, 16, (32,), (1, 1, 16, 0))
    with pytest.raises(PTOError, match="writes bytes 524224 to 524319 of l1"):
        text.kernel()(matrix("f16", 3, 16))


def test_a_source_outside_its_array() -> None:
    text = Text(x=pointer_type("f16", "gm"))
    text.fractals("%x", 0, "f16", 16, 16, 16)
    with pytest.raises(PTOError, match="argument 0") as raised:
        text.kernel()(matrix("f16", 15, 16))
    assert raised.value.diagnostics[0].kind == "out-of-bounds"


# --- filling ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "word"), [(16, 0x1234), (32, 0x12345678)])
@pytest.mark.parametrize("name", ["raw_fill_l1", "create_cbuf_matrix"])
def test_fill(bits: int, word: int, name: str) -> None:
    """3 runs of 2 granules with a gap of 1."""
    element = f"ui{bits}"
    text = Text(x=pointer_type("f16", "gm"))
    offset = text.integers(96) if name == "raw_fill_l1" else []
    start = 32 if name == "raw_fill_l1" else 128
    operands = [text.pointer(start, element, "l1"), *offset, text.number(word, "i32"), *text.integers(3, 2, 1)]
    types = [pointer_type(element, "l1"), *["i64"] * len(offset), "i32", "i64", "i64", "i64"]
    text.op(name, operands, types, attributes=f"{{fill_word_bits = {bits} : i64}}")
    image = observed(text.kernel(), np.zeros(1, np.float16)).of(Space.L1)
    run = word.to_bytes(bits // 8, "little") * (64 * 8 // bits)
    gap = bytes([UNWRITTEN]) * 32
    assert in_l1(image, 96, 320) == gap + run + gap + run + gap + run + gap
