"""Fixpipe stores in the raw spelling: the fields of the two words, and what comes from registers."""

import numpy as np
import pytest

from cube_programs import Text, pointer_type
from fixpipe_programs import (
    BUFFER,
    kind_of,
    layout_text,
    matrix_in_l0c,
    padded,
    row_in_l0c,
    slope,
    tile,
    word,
)
from ptosim import PTOError
from tables import table


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
    """qf322f16_pre_scalar is code 32: its sixth bit stands apart. Slope, clip and scale stay until they are written."""
    text = Text(x=pointer_type("f32", "gm"), y=pointer_type("f16", "gm"), z=pointer_type("f16", "gm"))
    row_in_l0c(text, 3, "f32")
    for register, value in (("quant_pre", word(2)), ("relu_alpha", slope(0.5)), ("fix_clip_relu", 0x4800)):
        text.op(f"set_{register}", text.integers(value), ["i64"])
    raw_store(text, "%y", "f16", sizes(1, 3, 3), 16 | 1 << 43 | 1 << 29 | 2 << 39 | 1 << 30)
    text.op("set_relu_alpha", text.integers(slope(0.25)), ["i64"])
    raw_store(text, "%z", "f16", sizes(1, 3, 3), 16 | 1 << 43 | 1 << 29 | 2 << 39 | 1 << 30)
    y, z = np.zeros(3, np.float16), np.zeros(3, np.float16)
    text.kernel()(padded([-3, 3, 30], np.float32), y, z)
    np.testing.assert_array_equal(y, [-3, 6, 8])  # 0x4800 is 8.0
    np.testing.assert_array_equal(z, [-1.5, 6, 8])


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


@table(
    "config1, said",
    (8 << 34, "req8_vec does not lead from f32 to f16"),
    (1 << 29 | 31 << 34, "there is no quantisation mode 63"),
    (1 << 34 | 5 << 39, "there is no relu mode 5"),
    (0, "no_convert does not lead from f32 to f16"),
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
