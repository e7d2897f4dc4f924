"""Copies between GM and UB: rows, strides, loops, padding, atomic stores, and the sizes that they refuse."""

import ml_dtypes
import numpy as np
import pytest

from ptosim.api import check
from ptosim.api import load as api_load
from ptosim.diagnostics import PTOError
from small_kernels import SCHEDULES, Bytes, failure, line_of, lints, module, reports, run, some_bytes
from tables import table

WAIT = "pto.barrier #pto.pipe<PIPE_ALL>"


def legacy_load(rows: str, pad: str = "%c0_i64, %c0_i64, %no", element: str = "f16") -> str:
    """copy_gm_to_ubuf of `n, length, GM stride, UB stride`, from %x to UB 0."""
    n, length, gm_stride, ub_stride = (f"%c{value.strip()}_i64" for value in rows.split(","))
    return f"""%no = arith.constant false
      %yes = arith.constant true
      pto.copy_gm_to_ubuf %x, %ub_{element}, %c0_i64, {n}, {length}, {pad}, %c0_i64, {gm_stride}, {ub_stride}
        : G<{element}>, P<{element}>, i64, i64, i64, i64, i64, i1, i64, i64, i64"""


def legacy_store(rows: str, element: str = "f16", ub: str = "") -> str:
    """copy_ubuf_to_gm of `n, length, GM stride, UB stride`, from UB to %y."""
    n, length, gm_stride, ub_stride = (f"%c{value.strip()}_i64" for value in rows.split(","))
    return f"""pto.copy_ubuf_to_gm %ub{ub}_{element}, %y, %c0_i64, {n}, {length}, %c0_i64, {gm_stride}, {ub_stride}
      : P<{element}>, G<{element}>, i64, i64, i64, i64, i64, i64"""


def load(rows: str, clauses: str = "", types: str = "", element: str = "f32", ub: str = "") -> str:
    """mte_gm_ub of `n, length, GM stride, UB stride`."""
    n, length, gm_stride, ub_stride = (f"%c{value.strip()}_i64" for value in rows.split(","))
    return f"""pto.mte_gm_ub %x, %ub{ub}_{element}, %c0_i64, {length} nburst({n}, {gm_stride}, {ub_stride}) {clauses}
      : G<{element}>, P<{element}>, i64, i64, i64, i64, i64{types}"""


def store(rows: str, clauses: str = "", types: str = "", element: str = "f32", ub: str = "") -> str:
    """mte_ub_gm of `n, length, GM stride, UB stride`."""
    n, length, gm_stride, ub_stride = (f"%c{value.strip()}_i64" for value in rows.split(","))
    return f"""pto.mte_ub_gm %ub{ub}_{element}, %y, {length} nburst({n}, {ub_stride}, {gm_stride}) {clauses}
      : P<{element}>, G<{element}>, i64, i64, i64, i64{types}"""


def kernel(*instructions: str, element: str = "f32", target: str = "a5") -> str:
    """Instructions with a full barrier behind each, on %x and %y."""
    body = "\n".join(f"{instruction}\n{WAIT}" for instruction in instructions)
    return module(f"%x: G<{element}>, %y: G<{element}>", body, target)


def image(*instructions: str, x: object, element: str = "f32", before: int = 0xEE, size: int = 8192) -> Bytes:
    """UB after the instructions, having been filled with one byte."""
    given = np.frombuffer(np.ascontiguousarray(x).tobytes(), np.uint8)
    fill = np.full(size, before, np.uint8)
    text = module(
        f"%fill: G<ui8>, %x: G<{element}>, %out: G<ui8>",
        f"""pto.mte_gm_ub %fill, %ub_ui8, %c0_i64, %c{size}_i64 nburst(%c1_i64, %c{size}_i64, %c{size}_i64)
          : G<ui8>, P<ui8>, i64, i64, i64, i64, i64
        {WAIT}
        {WAIT.join(f"{instruction}{chr(10)}" for instruction in instructions)}
        {WAIT}
        pto.mte_ub_gm %ub_ui8, %out, %c{size}_i64 nburst(%c1_i64, %c{size}_i64, %c{size}_i64)
          : P<ui8>, G<ui8>, i64, i64, i64, i64""",
    )
    out = np.zeros(size, np.uint8)
    widths = {"f16": np.uint16, "bf16": np.uint16, "i16": np.uint16, "i8": np.uint8, "i64": np.uint64}
    run(text, fill, given.view(widths.get(element, np.uint32)).copy(), out)
    return out


# --- the worked examples ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_tile_of_32_by_32_there_and_back(schedule: str) -> None:
    x = np.random.default_rng(1).normal(size=(32, 32)).astype(np.float32)
    y = np.zeros_like(x)
    sizes = "pto.set_loop_size_{} %c1_i64, %c1_i64 : i64, i64\n"
    text = kernel(
        sizes.format("outtoub") + legacy_load("32, 128, 128, 128", element="f32"),
        sizes.format("ubtoout") + legacy_store("32, 128, 128, 128", element="f32"),
    )
    run(text, x, y, schedule=schedule)
    assert (x == y).all()


def test_a_tile_out_of_a_larger_matrix_and_into_another() -> None:
    """64 x 128 of 1024 x 512 halves; the destination stride comes first when storing."""
    x = np.arange(128 * 512, dtype=np.uint16).reshape(128, 512)
    y = np.zeros((128, 512), np.uint16)
    text = module(
        "%x0: G<f16>, %y0: G<f16>",
        f"""%at = arith.constant {10 * 512 + 128} : index
        %x = pto.addptr %x0, %at : G<f16> -> G<f16>
        %y = pto.addptr %y0, %at : G<f16> -> G<f16>
        {legacy_load("64, 256, 1024, 256")}
        {WAIT}
        {legacy_store("64, 256, 1024, 256")}""",
    )
    run(text, x, y)
    expected = np.zeros_like(y)
    expected[10:74, 128:256] = x[10:74, 128:256]
    assert (y == expected).all()


def test_rows_are_padded_up_to_the_stride() -> None:
    """100 columns of f16 into rows of 128."""
    x = np.arange(64 * 100, dtype=np.uint16)
    fill = "%v = arith.constant -1.5 : f16\npto.set_mov_pad_val %v : f16\n"
    found = image(fill + legacy_load("64, 200, 200, 256", "%c0_i64, %c0_i64, %yes"), x=x, element="f16", size=16384)
    rows = found.view(np.uint16).reshape(64, 128)
    assert (rows[:, :100] == x.reshape(64, 100)).all()
    assert (rows[:, 100:] == np.array(-1.5, np.float16).view(np.uint16)).all()


def test_a_batch_of_tiles_by_the_inner_loop() -> None:
    """Sizes (4, 1): the inner loop runs four times."""
    x = np.random.default_rng(2).integers(0, 1 << 16, (4, 8, 128)).astype(np.uint16)
    y = np.zeros_like(x)
    loops = """pto.set_loop_size_{0} %c4_i64, %c1_i64 : i64, i64
      pto.set_loop1_stride_{0} %c2048_i64, %c2048_i64 : i64, i64
      pto.set_loop2_stride_{0} %c0_i64, %c0_i64 : i64, i64
      """
    text = kernel(
        loops.format("outtoub") + legacy_load("8, 256, 256, 256"),
        loops.format("ubtoout") + legacy_store("8, 256, 256, 256"),
        element="f16",
    )
    run(text, x, y)
    assert (x == y).all()


def test_a_loop_clause_with_padding() -> None:
    """8 rows of 56 f32, one by one, with 1.0 in the last 8 columns."""
    x = np.random.default_rng(3).normal(size=(8, 56)).astype(np.float32)
    clauses = "loop(%c8_i64, %c224_i64, %c256_i64) pad(%one, %c0_i64, %c8_i64)"
    types = ", loop i64, i64, i64, pad f32, i64, i64"
    copy = f"%one = arith.constant 1.0 : f32\n{load('1, 224, 224, 256', clauses, types)}"
    rows = image(copy, x=x)[:2048].view(np.float32).reshape(8, 64)
    assert (rows[:, :56] == x).all()
    assert (rows[:, 56:] == 1.0).all()


def test_an_atomic_add() -> None:
    x, y = np.full(64, 3, np.int32), np.full(64, 10, np.int32)
    text = kernel(
        load("1, 256, 256, 256", element="i32"),
        f"pto.set_atomic_s32\npto.set_atomic_add\n{store('1, 256, 256, 256', element='i32')}\npto.set_atomic_none",
        element="i32",
    )
    run(text, x, y)
    assert (y == 13).all()


# --- rows and loops ---------------------------------------------------------------------------------------------------


def test_both_hardware_loops() -> None:
    """The outer loop advances by its own strides: [outer][inner][row]."""
    x = some_bytes(2 * 3 * 2 * 64)
    registers = """pto.set_loop_size_outtoub %c3_i64, %c2_i64 : i64, i64
      pto.set_loop1_stride_outtoub %c128_i64, %c64_i64 : i64, i64
      pto.set_loop2_stride_outtoub %c384_i64, %c1024_i64 : i64, i64
      """
    found = image(registers + legacy_load("2, 32, 64, 32", element="i8"), x=x, element="i8")
    expected = np.full(8192, 0xEE, np.uint8)
    source = x.reshape(2, 3, 2, 64)
    for outer in range(2):
        for inner in range(3):
            for row in range(2):
                start = 1024 * outer + 64 * inner + 32 * row
                expected[start : start + 32] = source[outer, inner, row, :32]
    assert (found == expected).all()


def test_clauses_make_a_product_of_all_loops() -> None:
    """Three loop clauses, whatever they are called; the order decides, and byte addresses add up."""
    x = some_bytes(2 * 2 * 2 * 2 * 32)
    clauses = "loop2(%c2_i64, %c64_i64, %c1024_i64) loop(%c2_i64, %c128_i64, %c2048_i64)"
    clauses += " loop1(%c2_i64, %c256_i64, %c4096_i64)"
    types = ", loop2 i64, i64, i64, loop i64, i64, i64, loop1 i64, i64, i64"
    found = image(load("2, 32, 32, 64", clauses, types, "i8"), x=x, element="i8")
    expected = np.full(8192, 0xEE, np.uint8)
    for number, row in enumerate(x.reshape(16, 32)):
        bits = [number >> bit & 1 for bit in range(4)]
        start = 64 * bits[0] + 1024 * bits[1] + 2048 * bits[2] + 4096 * bits[3]
        expected[start : start + 32] = row
    assert (found == expected).all()


def test_registers_stay_until_they_are_written() -> None:
    """And a copy captures them when it is issued."""
    x = some_bytes(512)
    copies = f"""pto.set_loop_size_outtoub %c2_i64, %c1_i64 : i64, i64
      pto.set_loop1_stride_outtoub %c64_i64, %c64_i64 : i64, i64
      {legacy_load("1, 32, 32, 32", element="i8")}
      pto.set_loop1_stride_outtoub %c32_i64, %c1024_i64 : i64, i64
      pto.set_loop_size_outtoub %c3_i64, %c1_i64 : i64, i64
      {legacy_load("1, 32, 32, 32", element="i8").replace("%ub_", "%ub2048_").partition("true")[2]}"""
    found = image(copies, x=x, element="i8")
    assert (found[:32] == x[:32]).all() and (found[64:96] == x[64:96]).all()
    for step in range(3):
        start = 2048 + 1024 * step
        assert (found[start : start + 32] == x[32 * step : 32 * step + 32]).all()
    assert (found[96:128] == 0xEE).all()


def test_clauses_neither_read_nor_write_the_registers() -> None:
    x = some_bytes(256)
    copies = f"""pto.set_loop_size_outtoub %c2_i64, %c1_i64 : i64, i64
      pto.set_loop1_stride_outtoub %c64_i64, %c64_i64 : i64, i64
      {load("1, 32, 32, 32", element="i8", ub="4096")}
      {legacy_load("1, 32, 32, 32", element="i8")}"""
    found = image(copies, x=x, element="i8")
    assert (found[4096:4128] == x[:32]).all() and (found[4128:4224] == 0xEE).all()
    assert (found[:32] == x[:32]).all() and (found[64:96] == x[64:96]).all()


def test_registers_of_one_direction_leave_the_other_alone() -> None:
    x, y = some_bytes(128), np.zeros(128, np.uint8)
    loops = "pto.set_loop_size_ubtoout {0} : i64, i64\npto.set_loop1_stride_ubtoout %c32_i64, %c32_i64 : i64, i64\n"
    copy, back = legacy_load("1, 64, 64, 64", element="i8"), legacy_store("1, 64, 64, 64", "i8")
    text = kernel(loops.format("%c3_i64, %c2_i64") + copy, loops.format("%c1_i64, %c1_i64") + back, element="i8")
    run(text, x, y)
    assert (y == [*x[:64], *[0] * 64]).all()


def test_a_store_with_a_loop_and_a_cache_hint() -> None:
    x, y = some_bytes(128), np.full(256, 2, np.uint8)
    looped = store(
        "1, 48, 64, 64", "l2_cache_ctl(%c1_i64) loop(%c2_i64, %c64_i64, %c160_i64)", ", i64, loop i64, i64, i64", "i8"
    )
    run(kernel(load("1, 128, 128, 128", element="i8"), looped, element="i8"), x, y)
    expected = np.full(256, 2, np.uint8)
    expected[:48], expected[160:208] = x[:48], x[64:112]
    assert (y == expected).all()


def test_rows_that_overlap_are_written_in_order() -> None:
    """Three rows of 64 bytes every 32: each loses its second half to the next."""
    x = some_bytes(192)
    found = image(load("3, 64, 64, 32", element="i8"), x=x, element="i8")
    assert (found[:128] == np.concatenate((x[:32], x[64:96], x[128:192]))).all()
    assert (found[128:160] == 0xEE).all()


def test_large_copies_of_rows_at_uneven_distances() -> None:
    """More than a megabyte, out of GM by three loops into rows that overlap: the last one stays."""
    x, y = some_bytes(1 << 21), np.zeros(1 << 12, np.uint8)
    clauses = "loop(%c8_i64, %c65536_i64, %c0_i64) loop(%c2_i64, %c1048576_i64, %c0_i64)"
    text = kernel(
        load("33, 4096, 1024, 0", clauses, ", loop i64, i64, i64, loop i64, i64, i64", "i8"),
        store("1, 4096, 0, 0", element="i8"),
        element="i8",
    )
    run(text, x, y)
    start = 32 * 1024 + 7 * 65536 + 1048576
    assert (y == x[start : start + 4096]).all()


def test_a_row_may_be_repeated() -> None:
    """A stride of 0 stores one row to many places."""
    x, y = some_bytes(32), np.zeros(320, np.uint8)
    text = kernel(load("1, 32, 32, 32", element="i8"), store("10, 32, 32, 0", element="i8"), element="i8")
    run(text, x, y)
    assert (y.reshape(10, 32) == x).all()


@pytest.mark.parametrize("length", [1, 31, 33, 100])
def test_exactly_the_length_is_copied(length: int) -> None:
    """Behind the data UB and GM keep what they had."""
    x, y = some_bytes(400), np.full(400, 7, np.uint8)
    found = image(load(f"2, {length}, {length}, 128", element="i8"), x=x, element="i8")
    for row in range(2):
        assert (found[128 * row : 128 * row + length] == x[length * row : length * row + length]).all()
        assert (found[128 * row + length : 128 * row + 128] == 0xEE).all()
    text = kernel(load("1, 256, 256, 256", element="i8"), store(f"2, {length}, 150, 128", element="i8"), element="i8")
    run(text, x, y)
    assert (y[:length] == x[:length]).all() and (y[length:150] == 7).all()
    assert (y[150 : 150 + length] == x[128 : 128 + length]).all()


@pytest.mark.parametrize("rows", ["0, 32, 32, 32", "3, 0, 32, 32"])
def test_a_copy_of_nothing_does_nothing(rows: str) -> None:
    assert (image(load(rows, element="i8"), x=some_bytes(96), element="i8") == 0xEE).all()
    text = kernel(load(rows, element="i8"), element="i8")
    x = some_bytes(96)
    assert lints(text, x, x.copy()) == ["this copy does nothing: its length or a count is 0"]


def test_older_kernels_have_two_more_operands_which_mean_nothing() -> None:
    x, y = some_bytes(1024), np.zeros(1024, np.uint8)
    extra = "%c9_i64, %c9_i64, %c0_i64"
    text = kernel(
        legacy_load("4, 256, 256, 256", element="i8")
        .replace("%ub_i8, %c0_i64", f"%ub_i8, {extra}")
        .replace("P<i8>, i64", "P<i8>, i64, i64, i64"),
        legacy_store("4, 256, 256, 256", "i8")
        .replace("%y, %c0_i64", f"%y, {extra}")
        .replace("G<i8>, i64", "G<i8>, i64, i64, i64"),
        element="i8",
    )
    run(text, x, y)
    assert (x == y).all()


# --- padding ----------------------------------------------------------------------------------------------------------


def padded(length: int, left: int, right: int, stride: int, element: str, value: str) -> Bytes:
    """One row of bytes 1, 2, 3 ... with padding around it."""
    clause = f"pad(%v, %c{left}_i64, %c{right}_i64)"
    copy = f"%v = arith.constant {value} : {element}\n"
    copy += load(f"1, {length}, {length}, {stride}", clause, f", pad {element}, i64, i64", element)
    data = np.arange(1, 129, dtype=np.uint8)
    return image(copy, x=data, element=element)[:256]


@table(
    "length, left, right, stride, end",
    (8, 0, 0, 64, 64),  # up to the stride
    (8, 2, 0, 64, 64),  # left padding shifts the data
    (8, 0, 16, 64, 72),  # right padding may reach further
    (8, 0, 2, 0, 32),  # a stride that is shorter than the data: up to a whole granule
    (40, 0, 1, 0, 64),
    (40, 1, 20, 32, 124),
)
def test_the_extent_of_padding(length: int, left: int, right: int, stride: int, end: int) -> None:
    """Left and right count elements, of 4 bytes here; the pattern begins anew behind the data."""
    found = padded(length, left, right, stride, "i32", "0x04030201")
    pattern = [1, 2, 3, 4]
    before = 4 * left
    expected = pattern * left + list(range(1, length + 1)) + (pattern * 64)[: end - before - length]
    assert found[:end].tolist() == expected
    assert (found[end:] == 0xEE).all()


@table("element, value, pattern", ("i8", "7", [7]), ("i16", "0x0201", [1, 2]), ("bf16", "1.0", [128, 63]))
def test_the_pattern_has_the_width_of_the_elements(element: str, value: str, pattern: list[int]) -> None:
    found = padded(6, 1, 0, 32, element, value)
    width = len(pattern)
    assert found[:width].tolist() == pattern
    assert found[width : width + 6].tolist() == [1, 2, 3, 4, 5, 6]
    assert found[width + 6 : 32].tolist() == (pattern * 32)[: 26 - width]


def test_the_phase_of_the_pattern_counts_from_the_end_of_the_data() -> None:
    found = padded(7, 0, 0, 32, "i32", "0x04030201")
    assert found[7:32].tolist() == ([1, 2, 3, 4] * 7)[:25]


def test_the_pad_register_is_zero_at_the_start_and_keeps_bits() -> None:
    x = some_bytes(40)
    zero = legacy_load("1, 40, 40, 64", "%c0_i64, %c0_i64, %yes", "f32")
    assert (image(zero, x=x)[40:64] == 0).all()
    narrow = "%v = arith.constant -1 : i8\npto.set_mov_pad_val %v : i8\n" + zero
    assert image(narrow, x=x)[40:64].tolist() == [255, 0, 0, 0] * 6


def test_padding_counts_are_ignored_where_padding_is_off() -> None:
    x = some_bytes(40)
    found = image(legacy_load("1, 40, 40, 64", "%c3_i64, %c3_i64, %no", "f32"), x=x)
    assert (found[:40] == x).all() and (found[40:] == 0xEE).all()


def test_padded_rows_of_elements_of_64_bits() -> None:
    """The pattern has at most 4 bytes, and so has the unit of left and right."""
    x = np.arange(2, dtype=np.uint64)
    copy = f"""%v = arith.constant 5 : i32
      pto.set_mov_pad_val %v : i32
      {legacy_load("1, 16, 16, 32", "%c1_i64, %c0_i64, %yes", "i64")}"""
    found = image(copy, x=x, element="i64")[:32]
    assert found.view(np.uint32).tolist() == [5, 0, 0, 1, 0, 5, 5, 5]


# --- atomic stores ----------------------------------------------------------------------------------------------------

ATOMIC = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "s32": np.int32,
    "s16": np.int16,
    "s8": np.int8,
}


def atomically(kind: str, operation: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    element = kind.replace("s", "i")
    size = x.nbytes
    text = kernel(
        load(f"1, {size}, {size}, {size}", element=element),
        f"pto.set_atomic_{operation}\npto.set_atomic_{kind}\n{store(f'1, {size}, {size}, {size}', element=element)}",
        element=element,
    )
    result = y.copy()
    run(text, x, result)
    return result


@pytest.mark.parametrize("kind", ["s32", "s16", "s8"])
def test_atomic_integers(kind: str) -> None:
    """Sums wrap."""
    dtype = ATOMIC[kind]
    limits = np.iinfo(dtype)
    values = np.array([0, 1, -1, 5, limits.max, limits.min, limits.max - 1, 17], dtype)
    x, y = np.repeat(values, 8), np.tile(values, 8)
    wide = x.astype(np.int64) + y
    assert (atomically(kind, "add", x, y) == wide.astype(dtype)).all()
    assert (atomically(kind, "max", x, y) == np.maximum(x, y)).all()
    assert (atomically(kind, "min", x, y) == np.minimum(x, y)).all()


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_atomic_floats(kind: str) -> None:
    """Sums are rounded to nearest even in the type; a NaN wins; +0 is larger than -0."""
    dtype = ATOMIC[kind]
    values = np.array([0.0, -0.0, 1.0, -2.5, 1e-3, 60000.0, np.inf, np.nan], np.float32).astype(dtype)
    x, y = np.repeat(values, 8), np.tile(values, 8)
    with np.errstate(all="ignore"):
        total = (x.astype(np.float64) + y.astype(np.float64)).astype(dtype)
    assert np.array_equal(atomically(kind, "add", x, y), total, equal_nan=True)
    for operation, ufunc, sign in (("max", np.maximum, np.logical_and), ("min", np.minimum, np.logical_or)):
        picked = ufunc(x.astype(np.float32), y.astype(np.float32)).astype(dtype)
        zeros = (x == 0) & (y == 0)
        found = atomically(kind, operation, x, y)
        assert np.array_equal(found, picked, equal_nan=True)
        assert (np.signbit(found[zeros]) == sign(np.signbit(x), np.signbit(y))[zeros]).all()


def test_a_sum_is_rounded_once() -> None:
    """2048 + 1 lies half way between two f16 numbers: to even. 2048 + 3 likewise."""
    x, y = np.array([1, 3] * 8, np.float16), np.full(16, 2048, np.float16)
    assert atomically("f16", "add", x, y).tolist() == [2048, 2052] * 8


def test_atomic_rows_that_meet_add_up_in_order() -> None:
    """Four rows to the same place."""
    x, y = np.arange(32, dtype=np.int32), np.zeros(8, np.int32)
    text = kernel(
        load("1, 128, 128, 128", element="i32"),
        f"pto.set_atomic_s32\n{store('4, 32, 0, 32', element='i32')}",
        element="i32",
    )
    run(text, x, y)
    assert (y == x.reshape(4, 8).sum(axis=0)).all()


def test_the_mode_is_captured_when_the_store_is_issued() -> None:
    """Under any schedule; and operation and type are set independently."""
    x, y = np.full(8, 3, np.int32), np.full(16, 10, np.int32)
    text = module(
        "%x: G<i32>, %y0: G<i32>",
        f"""{load("1, 32, 32, 32", element="i32")}
        {WAIT}
        pto.set_atomic_max
        pto.set_atomic_s32
        pto.set_atomic_add
        %y = pto.addptr %y0, %c0 : G<i32> -> G<i32>
        {store("1, 32, 32, 32", element="i32")}
        pto.set_atomic_none
        %z = pto.addptr %y0, %c8 : G<i32> -> G<i32>
        {store("1, 32, 32, 32", element="i32").replace("%y", "%z")}""",
    )
    for schedule in SCHEDULES:
        result = y.copy()
        run(text, x, result, schedule=schedule)
        assert result.tolist() == [13] * 8 + [3] * 8


def test_an_atomic_store_is_a_whole_number_of_elements() -> None:
    text = kernel(load("1, 32, 32, 32"), f"pto.set_atomic_f32\n{store('1, 6, 6, 32')}")
    found = failure(text, np.zeros(8, np.float32), np.zeros(8, np.float32))
    assert found.kind == "misaligned"
    assert found.line == line_of(text, "pto.mte_ub_gm")


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_reading_outside_of_an_argument() -> None:
    text = kernel(load("3, 32, 40, 32"))
    found = failure(text, np.zeros(20, np.float32), np.zeros(1, np.float32))
    assert found.kind == "out-of-bounds"
    assert found.message == (
        "reads bytes 0 to 111 of argument 0 (%x), which has 80 bytes: the first byte outside is 80"
    )
    assert (found.line, found.core, found.pipe, found.block) == (line_of(text, "mte_gm_ub"), "b0.aiv0", "MTE2", 0)


def test_writing_before_an_argument() -> None:
    text = module(
        "%x: G<f32>, %y0: G<f32>",
        f"""%y = pto.addptr %y0, %cm2 : G<f32> -> G<f32>
        {store("1, 32, 32, 32")}""",
    )
    found = failure(text, np.zeros(8, np.float32), np.zeros(8, np.float32))
    assert found.message == (
        "writes bytes -8 to 23 of argument 1 (%y0), which has 32 bytes: the first byte outside is -8"
    )


def test_a_pointer_that_comes_from_no_argument() -> None:
    text = module("%y0: G<f32>", f"%y = pto.castptr %c64_i64 : i64 -> G<f32>\n{store('1, 32, 32, 32')}")
    assert failure(text, np.zeros(8, np.float32)).kind == "out-of-bounds"


def test_with_oob_drop_bytes_outside_are_zero_or_dropped() -> None:
    """Byte by byte: the part of a row that lies inside is copied."""
    x = some_bytes(70)
    y = np.full(70, 9, np.uint8)
    text = kernel(load("3, 32, 32, 32", element="i8"), store("3, 32, 32, 32", element="i8"), element="i8")
    with pytest.raises(PTOError):
        run(text, x.copy(), y.copy())
    big = np.full(96, 9, np.uint8)
    run(text, x, big, oob="drop")
    assert (big[:70] == x).all() and (big[70:] == 0).all()
    run(text, x, y, oob="drop")
    assert (y == x).all()


def test_an_atomic_element_may_lie_half_outside() -> None:
    """Outside it reads as zero, and only the bytes inside are written."""
    x = np.full(8, 0x01010101, np.uint32)
    y = np.full(30, 1, np.uint8)
    text = module(
        "%x: G<i32>, %y0: G<i8>",
        f"""%y = pto.castptr %y0 : G<i8> -> G<i32>
        {load("1, 32, 32, 32", element="i32")}
        {WAIT}
        pto.set_atomic_s32
        {store("1, 32, 32, 32", element="i32")}""",
    )
    run(text, x, y, oob="drop")
    assert (y == 2).all()


def test_ub_has_no_outside() -> None:
    """oob="drop" is about GM alone."""
    text = kernel(load("1, 64, 64, 64", element="i8", ub=str(256 * 1024 - 32)), element="i8")
    x = some_bytes(64)
    found = failure(text, x, x.copy(), oob="drop")
    assert found.message.startswith("writes bytes 262112 to 262175 of ub, which has 262144 bytes")


def test_rows_beyond_the_last_address_are_outside() -> None:
    """The second row would begin where 64 bits end."""
    text = kernel(load("2, 32, 32, 64", element="i8", ub=str(2**63 - 32)), element="i8")
    x = some_bytes(64)
    said = "writes bytes far behind the end of ub, which has 262144 bytes"
    assert failure(text, x, x).message == said
    (found,) = check(api_load(text).kernel(), x, x).findings
    assert (found.kind, found.message) == ("out-of-bounds", said)


def test_padding_counts_as_written() -> None:
    near_the_end = load("1, 32, 32, 64", "pad(%c1_i8)", ", pad i8", element="i8", ub=str(256 * 1024 - 32))
    found = failure(kernel(near_the_end, element="i8"), some_bytes(64), some_bytes(64))
    assert (found.kind, found.bytes) == ("out-of-bounds", (262112, 262176))


# --- alignment and sizes ----------------------------------------------------------------------------------------------


@table(
    "copy, place",
    (load("1, 32, 32, 32", element="i8", ub="16"), "writes ub at 16"),
    (store("1, 32, 32, 32", element="i8", ub="16"), "reads ub at 16"),
    (load("2, 32, 32, 40", element="i8"), "a stride of 40 bytes in ub"),
    (store("2, 32, 32, 40", element="i8"), "a stride of 40 bytes in ub"),
    (
        load("1, 32, 32, 32", "loop(%c2_i64, %c32_i64, %c48_i64)", ", loop i64, i64, i64", "i8"),
        "a stride of 48 bytes in ub",
    ),
)
def test_ub_addresses_and_strides_are_whole_granules(copy: str, place: str) -> None:
    x = some_bytes(128)
    found = failure(kernel(copy, element="i8"), x, x.copy())
    assert found.kind == "misaligned"
    assert found.message.startswith(place)


def test_a_stride_that_is_not_used_may_be_anything() -> None:
    x, y = some_bytes(33), np.zeros(33, np.uint8)
    run(kernel(load("1, 33, 5, 7", element="i8"), store("1, 33, 1, 3", element="i8"), element="i8"), x, y)
    assert (x == y).all()


def test_gm_may_be_addressed_at_any_byte() -> None:
    x, y = some_bytes(100), np.zeros(100, np.uint8)
    text = module(
        "%x0: G<i8>, %y0: G<i8>",
        f"""%x = pto.addptr %x0, %c3 : G<i8> -> G<i8>
        %y = pto.addptr %y0, %c5 : G<i8> -> G<i8>
        {load("2, 17, 19, 32", element="i8")}
        {WAIT}
        {store("2, 17, 23, 32", element="i8")}""",
    )
    run(text, x, y)
    expected = np.zeros(100, np.uint8)
    expected[5:22], expected[28:45] = x[3:20], x[22:39]
    assert (y == expected).all()


@table(
    "copy, message",
    ("%n, 32, 32, 32", "n_burst is -1; it must be 0..2097151"),
    ("1, %n, 32, 32", "len_burst is -1; it must be 0..2097151"),
    ("1, 32, %n, 32", "source_stride is -1; it must be 0..1099511627775"),
    ("1, 32, 32, %n", "dest_stride is -1; it must be 0..2097151"),
)
def test_sizes_that_their_fields_cannot_hold(copy: str, message: str) -> None:
    """Only known when the kernel runs: what a constant breaks is found at load."""
    n, length, gm_stride, ub_stride = (
        value.strip() if "%" in value else f"%c{value.strip()}_i64" for value in copy.split(",")
    )
    text = module(
        "%x: G<i8>, %n: i64",
        f"""pto.mte_gm_ub %x, %ub_i8, %c0_i64, {length} nburst({n}, {gm_stride}, {ub_stride})
          : G<i8>, P<i8>, i64, i64, i64, i64, i64""",
    )
    found = failure(text, some_bytes(64), -1)
    assert (found.kind, found.message) == ("invalid", message)
    assert found.line == line_of(text, "mte_gm_ub")


@table(
    "instruction, value, message",
    ("pto.set_loop_size_outtoub %n, %c1_i64 : i64, i64", 0, "loop1 is 0; it must be 1..2097151"),
    ("pto.set_loop_size_ubtoout %c1_i64, %n : i64, i64", 1 << 21, "loop2 is 2097152; it must be 1..2097151"),
    (
        "pto.set_loop1_stride_outtoub %n, %c0_i64 : i64, i64",
        1 << 40,
        "source_stride is 1099511627776; it must be 0..1099511627775",
    ),
    (
        "pto.set_loop2_stride_ubtoout %n, %c0_i64 : i64, i64",
        1 << 21,
        "source_stride is 2097152; it must be 0..2097151",
    ),
)
def test_registers_refuse_what_they_cannot_hold(instruction: str, value: int, message: str) -> None:
    found = failure(module("%n: i64", instruction), value)
    assert (found.kind, found.message) == ("invalid", message)


def test_a_copy_is_limited_in_size() -> None:
    """Rows without distance could otherwise be repeated without end."""
    text = kernel(load("2000000, 32, 0, 0", "loop(%c2000000_i64, %c0_i64, %c0_i64)", ", loop i64, i64, i64"))
    found = failure(text, np.zeros(8, np.float32), np.zeros(8, np.float32))
    assert found.kind == "limit"


def test_a_copy_that_reaches_far_away_is_out_of_bounds() -> None:
    """Even where bytes outside are dropped: a pointer cannot say how far that is."""
    text = kernel(load("2000000, 32, 1000000000000, 32"))
    found = failure(text, np.zeros(8, np.float32), np.zeros(8, np.float32), oob="drop")
    assert found.kind == "out-of-bounds"


def test_on_a2a3_unpadded_copies_are_whole_granules() -> None:
    """In the older spelling; mte_gm_ub takes any length there."""
    grouped = """pto.mte_gm_ub %x, %ub_i8, %c0_i64, %n nburst(%c1_i64, %c32_i64, %c32_i64)
          : G<i8>, P<i8>, i64, i64, i64, i64, i64"""
    run(module("%x: G<i8>, %n: i64", grouped, "a2a3"), some_bytes(96), 33)
    text = module(
        "%x: G<i8>, %n: i64",
        """%plain = arith.constant false
        pto.copy_gm_to_ubuf %x, %ub_i8, %c0_i64, %c1_i64, %n, %c0_i64, %c0_i64, %plain, %c0_i64, %c32_i64, %c32_i64
          : G<i8>, P<i8>, i64, i64, i64, i64, i64, i1, i64, i64, i64""",
        "a2a3",
    )
    run(text, some_bytes(96), 96)
    found = failure(text, some_bytes(96), 33)
    assert (found.kind, found.message) == (
        "misaligned",
        "len_burst is 33; without padding it must be a multiple of 32 on a2a3",
    )
    run(text.replace("a2a3", "a5"), some_bytes(96), 33)


def test_on_a2a3_copies_into_l1_are_whole_granules_too() -> None:
    text = module(
        "%x: G<i8>, %n: i64",
        """%two = arith.constant 2 : i64
        %l1 = pto.castptr %c0_i64 : i64 -> !pto.ptr<i8, l1>
        pto.copy_gm_to_cbuf %x, %l1, %two, %c32_i64, %n, %c32_i64 : G<i8>, !pto.ptr<i8, l1>, i64, i64, i64, i64""",
        "a2a3",
    )
    run(text, some_bytes(96), 64)
    found = failure(text, some_bytes(96), 33)
    assert (found.kind, found.message) == (
        "misaligned",
        "source_stride is 33; without padding it must be a multiple of 32 on a2a3",
    )
    run(text.replace("a2a3", "a5"), some_bytes(96), 33)


# --- what a check hears -----------------------------------------------------------------------------------------------


def test_rows_that_overlap_are_reported() -> None:
    text = kernel(load("2, 64, 64, 32", element="i8"), element="i8")
    assert lints(text, some_bytes(128), some_bytes(8), kind="overlap") == [
        "rows of 64 bytes overlap in ub: they start every 32 bytes"
    ]


def test_loop_sizes_that_were_forgotten_are_reported() -> None:
    x = some_bytes(256)
    sizes = "pto.set_loop_size_outtoub %c2_i64, %c1_i64 : i64, i64\n"
    copy = legacy_load("1, 32, 32, 32", element="i8")
    again = copy.partition("true")[2].strip()
    strides = "pto.set_loop1_stride_outtoub %c32_i64, %c32_i64 : i64, i64\n"
    restored = "\npto.set_loop_size_outtoub %c1_i64, %c1_i64 : i64, i64\n"
    assert lints(kernel(strides + sizes + copy, sizes + again + restored, element="i8"), x, x.copy()) == []
    (message,) = lints(kernel(strides + sizes + copy, again + restored, element="i8"), x, x.copy())
    assert message.startswith("the loop sizes (2, 1) were not written since the last copy")
    grouped = load("1, 32, 32, 32", element="i8", ub="1024")
    (message,) = lints(kernel(strides + sizes + grouped, copy + restored, element="i8"), x, x.copy())
    assert message.startswith("the loop sizes (2, 1) were not written since the last copy")


def test_registers_that_a_copy_with_clauses_overwrites_on_hardware_are_reported() -> None:
    """Here they keep what they hold; a kernel that relies on it would find other values on hardware."""
    x = some_bytes(256)
    pad = "pto.set_mov_pad_val %c7_i8 : i8\n"
    padded = legacy_load("1, 20, 32, 32", "%c0_i64, %c0_i64, %yes", element="i8")
    grouped = load("1, 20, 32, 32", "pad(%c9_i8)", ", pad i8", element="i8", ub="1024")
    plain = load("1, 32, 32, 32", element="i8", ub="1024")
    said = "on hardware an earlier copy with clauses has written the register of pto.set_{}: set it again"
    for first, found in ((grouped, [said.format("mov_pad_val")]), (plain, [])):
        assert lints(kernel(pad + first, padded, element="i8"), x, x.copy()) == found
        assert lints(kernel(first, padded, element="i8"), x, x.copy()) == found  # the 0 of a reset is gone as well
        assert lints(kernel(first, pad + padded, element="i8"), x, x.copy()) == []
    unpadded = legacy_load("1, 32, 32, 32", element="i8")
    assert lints(kernel(pad + grouped, unpadded, element="i8"), x, x.copy()) == []

    strides = "".join(f"pto.set_loop{n}_stride_outtoub %c32_i64, %c32_i64 : i64, i64\n" for n in (1, 2))
    sizes = "pto.set_loop_size_outtoub %c{}_i64, %c{}_i64 : i64, i64\n"
    restored = "\n" + sizes.format(1, 1)
    clause, types = "loop(%c2_i64, %c32_i64, %c32_i64)", ", loop i64, i64, i64"
    for loops, counts, found in (
        (1, (2, 1), ["loop1_stride_outtoub"]),
        (1, (1, 2), []),
        (2, (1, 2), ["loop2_stride_outtoub"]),
        (0, (2, 2), []),
    ):
        looped = load("1, 32, 32, 32", clause * loops, types * loops, element="i8", ub="1024")
        legacy = sizes.format(*counts) + unpadded + restored
        text = kernel(strides + looped, legacy, element="i8")
        assert lints(text, x, x.copy()) == [said.format(register) for register in found]
        assert lints(kernel(looped, strides + legacy, element="i8"), x, x.copy()) == []


def test_a_check_goes_on_behind_an_access_outside() -> None:
    x = some_bytes(40)
    text = kernel(load("2, 32, 32, 32", element="i8"), element="i8")
    (found,) = reports(text, x, x.copy())
    assert (found.kind, found.severity) == ("out-of-bounds", "error")
