"""The argument words of the command line: what they stand for, and what is said about those that stand for nothing."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptosim
from ptosim.argument_words import differing, dtype_of, save, value_of
from ptosim.arguments import Parameter
from ptosim.cli.command import launched_with
from ptosim.kernel_launch import RecordedLaunch

F32 = Parameter("x", "!pto.ptr<f32, gm>")
BF16 = Parameter("x", "!pto.ptr<bf16, gm>")
I8 = Parameter("x", "!pto.ptr<i8, gm>")
HIF8 = Parameter("x", "!pto.ptr<!pto.hif8, gm>")


@pytest.mark.parametrize(
    ("word", "parameter", "wanted"),
    [
        ("zeros:2x3", F32, np.zeros((2, 3), np.float32)),
        ("ones:4", I8, np.ones(4, np.int8)),
        ("ones:2", BF16, np.ones(2, ml_dtypes.bfloat16)),
        ("arange:2x3", F32, np.array([[0, 1, 2], [3, 4, 5]], np.float32)),
        ("arange:130", I8, np.array([*range(128), -128, -127], np.int8)),
        ("zeros:0", F32, np.zeros(0, np.float32)),
        ("zeros:5", HIF8, np.zeros(5, np.uint8)),
    ],
    ids=str,
)
def test_made_arrays(word: str, parameter: Parameter, wanted: np.ndarray) -> None:
    value = value_of(word, parameter)
    assert value.dtype == wanted.dtype
    np.testing.assert_array_equal(value, wanted)


def test_random_arrays_are_repeatable_and_bounded() -> None:
    first, again, other = (value_of(word, F32) for word in ("rand:8x8:7", "rand:8x8:7", "rand:8x8"))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert np.abs(first).max() <= 1 and first.min() < 0 < first.max()
    whole = value_of("rand:1000", I8)
    assert whole.min() >= 0 and whole.max() <= 99


def test_random_arguments_differ_unless_they_name_the_same_seed() -> None:
    kernel = SimpleNamespace(signature=(F32, F32, F32, F32), name="k")
    kernel.recorded = lambda values, grid: RecordedLaunch(kernel, values)
    first, second, third, fourth = launched_with(kernel, ["rand:64", "rand:64", "rand:64:1", "rand:64:0"], 1).values
    assert (first != second).any()
    np.testing.assert_array_equal(second, third)
    np.testing.assert_array_equal(first, fourth)


def test_arange_may_count_beyond_the_largest_float() -> None:
    assert np.isinf(value_of("arange:70000", Parameter("x", "!pto.ptr<f16, gm>"))[-1])


@pytest.mark.parametrize(
    ("word", "type_", "wanted"),
    [
        ("12", "i32", 12),
        ("-3", "i32", -3),
        ("0x10", "i64", 16),
        ("1_000", "index", 1000),
        ("1.5", "f32", 1.5),
        ("-inf", "f32", -np.inf),
        ("nan", "f16", np.nan),
        ("3", "f32", 3.0),
    ],
)
def test_numbers(word: str, type_: str, wanted: float) -> None:
    np.testing.assert_equal(value_of(word, Parameter("n", type_)), wanted)


@pytest.mark.parametrize(
    ("word", "parameter", "reason"),
    [
        ("24", F32, "expected an array, one of file.npy, file.bin, zeros:SHAPE"),
        ("nothing:3", F32, "expected an array, one of"),
        ("rnd:3x4", F32, "did you mean rand:3x4?"),
        ("zeros:", F32, "a shape is written as 24x128"),
        ("zeros:3x", F32, "a shape is written as 24x128"),
        ("zeros:-3", F32, "a shape is written as 24x128"),
        ("zeros:3.5", F32, "a shape is written as 24x128"),
        ("zeros:٣", F32, "a shape is written as 24x128"),
        ("zeros:" + "x".join("1" * 40), F32, "a shape is written as 24x128"),
        ("zeros:" + "9" * 5000, F32, "too many digits"),
        ("zeros:3:1", F32, "zeros takes no seed"),
        ("rand:3:x", F32, "a seed is a whole number"),
        ("rand:3:" + "9" * 5000, F32, "a seed is a whole number"),
        ("1.5", Parameter("n", "i32"), "expected a whole number"),
        ("nan", Parameter("n", "i32"), "expected a whole number"),
        ("9" * 5000, Parameter("n", "i32"), "expected a whole number"),
        ("", Parameter("n", "f32"), "expected a number"),
        ("one", Parameter("n", "f32"), "expected a number"),
        ("missing.npy", F32, "cannot read missing.npy for x: No such file"),
        ("missing.bin", F32, "cannot read missing.bin for x: No such file"),
        ("nul\0.npy", F32, "cannot read"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_words_that_stand_for_nothing(word: str, parameter: Parameter, reason: str) -> None:
    with pytest.raises(ptosim.PTOError) as caught:
        value_of(word, parameter)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.kind == "argument"
    assert reason in diagnostic.message
    assert len(diagnostic.message) < 300


@pytest.mark.parametrize("word", ["zeros:100000x100000", "rand:999999999999", "ones:4294967296x4294967296"])
def test_a_shape_beyond_all_memory(word: str) -> None:
    with pytest.raises(ptosim.PTOError, match=r"limit: .* more than 16 GiB"):
        value_of(word, F32)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.npy", "a.bin"])
@pytest.mark.parametrize("parameter", [F32, BF16, I8, HIF8], ids=lambda parameter: parameter.type)
def test_what_is_saved_can_be_read(tmp_path: Path, name: str, parameter: Parameter) -> None:
    value = value_of("arange:12", parameter)
    save(str(tmp_path / name), value)
    read = value_of(str(tmp_path / name), parameter)
    assert read.dtype == dtype_of(parameter.element)
    assert read.tobytes() == value.tobytes()
    assert read.flags.writeable and read.flags.c_contiguous


def test_a_fortran_file_becomes_contiguous(tmp_path: Path) -> None:
    wanted = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "a.npy", np.asfortranarray(wanted))
    read = value_of(str(tmp_path / "a.npy"), F32)
    assert read.flags.c_contiguous
    np.testing.assert_array_equal(read, wanted)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.npy", b"", "cannot read"),
        ("a.npy", b"no numpy file at all", "cannot read"),
        ("a.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': broken", "cannot read"),
        ("a.npy", b"PK\x03\x04" + bytes(40), "cannot read"),
        ("a.bin", b"12345", "has 5 bytes, which are no whole number of f32"),
    ],
)
def test_files_that_hold_no_array(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ptosim.PTOError) as caught:
        value_of(str(path), F32)
    assert reason in str(caught.value)


def test_a_truncated_array(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.zeros(100, np.float32))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ptosim.PTOError, match="cannot read"):
        value_of(str(path), F32)


def test_pickled_objects_are_not_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ptosim.PTOError, match="cannot read"):
        value_of(str(tmp_path / "a.npy"), F32)


def test_a_directory(tmp_path: Path) -> None:
    (tmp_path / "a.npy").mkdir()
    with pytest.raises(ptosim.PTOError, match="cannot read"):
        value_of(str(tmp_path / "a.npy"), F32)
    with pytest.raises(ptosim.PTOError, match="cannot write"):
        save(str(tmp_path), np.zeros(1))


# --- comparing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "wanted", "atol", "rtol", "different"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0, 0, [False, True]),
        ([1.0, 2.0], [1.0, 2.5], 0.5, 0, [False, False]),
        ([100.0, 2.0], [101.0, 2.5], 0, 0.01, [False, True]),
        ([np.nan, np.nan, np.inf], [np.nan, 0, -np.inf], 0, 0, [False, True, True]),
        ([np.nan, 1.0], [np.nan, np.nan], 1, 1, [False, True]),
        ([0.0], [-0.0], 0, 0, [False]),
    ],
)
def test_differing(found: Any, wanted: Any, atol: float, rtol: float, different: list[bool]) -> None:
    assert differing(np.array(found, np.float32), np.array(wanted, np.float32), atol, rtol).tolist() == different


def test_integers_are_compared_exactly() -> None:
    big = np.array([2**62, 2**62 + 1], np.int64)
    assert differing(big, np.array([2**62, 2**62]), 0, 0).tolist() == [False, True]
    assert not differing(big.astype(ml_dtypes.bfloat16), big.astype(ml_dtypes.bfloat16), 0, 0).any()
