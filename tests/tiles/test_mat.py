"""Tiles in L1: loads in every layout, fills, and moves from UB, against the layout table of the instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptosim
from matrix_programs import DN, DTYPES, ND, NZ, ZN, Program, block, random
from ptosim.effects.names import Space
from tables import table

ELEMENTS = ("i8", "f16", "bf16", "f32", "i32", "f8E4M3FN")


def offsets(element: str, rows: int, cols: int, layout: str) -> Any:
    """The number of each element in a tile."""
    r, c = np.indices((rows, cols))
    wide = block(element)
    match layout:
        case _ if layout == NZ:
            return (c // wide * rows + r) * wide + c % wide
        case _ if layout == ZN:
            return (r // wide * cols + c) * wide + r % wide
        case _ if layout == DN:
            return c * rows + r
        case _:
            return r * cols + c


def elements(image: Any, element: str, rows: int, cols: int, layout: str) -> Any:
    dtype = np.dtype(DTYPES[element])
    data = image[: rows * cols * dtype.itemsize].copy().view(np.dtype(f"V{dtype.itemsize}"))
    return data[offsets(element, rows, cols, layout)].view(dtype)


def bits(x: Any) -> Any:
    return np.ascontiguousarray(x).view(np.uint8)


# --- loads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("layout", [NZ, ZN])
@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize(("rows", "cols"), [(64, 64), (50, 37), (1, 64), (64, 1)])
def test_a_load_into_fractals(element: str, layout: str, columns: bool, rows: int, cols: int):
    x = random(element, (rows, cols), 4)
    program = Program()
    program.view("x", element, (rows, cols), (1, rows + 2) if columns else (cols + 2, 1))
    program.tile("t", f"mat, 64x64x{element}, valid={rows}x{cols}", layout, addr=0)
    program.op("tload", ["x"], ["t"])
    held = np.zeros((cols, rows + 2) if columns else (rows, cols + 2), x.dtype)
    if columns:
        held[:, :rows] = x.T
    else:
        held[:, :cols] = x
    found = elements(program.images(held).of(Space.L1), element, 64, 64, layout)
    assert np.array_equal(bits(found[:rows, :cols]), bits(x))


def test_the_last_block_of_columns_ends_in_zeros_and_rows_below_keep_what_they_have():
    x = random("f16", (50, 37), 4)
    program = Program()
    program.view("x", "f16", (50, 37))
    program.tile("t", "mat, 64x64xf16, valid=50x37", NZ, addr=0)
    program.op("tload", ["x"], ["t"])
    found = elements(program.images(x).of(Space.L1), "f16", 64, 64, NZ)
    assert (found[:50, 37:48] == 0).all()
    assert (bits(found[50:]) == 0xEE).all()
    assert (bits(found[:, 48:]) == 0xEE).all()


def test_a_view_with_the_shape_of_the_transpose_is_cut_and_remarked():
    x = random("f16", (64, 32), 4)
    program = Program()
    program.view("x", "f16", (64, 32))
    program.tile("t", "mat, 32x64xf16", NZ, addr=0)
    program.op("tload", ["x"], ["t"])
    found = elements(program.images(x).of(Space.L1), "f16", 32, 64, NZ)
    assert np.array_equal(bits(found[:, :32]), bits(x[:32]))
    assert any("swap the strides, not the shape" in one.message for one in program.run(x).findings)


@pytest.mark.parametrize("element", ["i8", "f16", "f32", "i64"])
@pytest.mark.parametrize("layout", [ND, DN])
def test_a_load_that_keeps_rows_or_columns(element: str, layout: str):
    """Each row, or column, ends padded with zeros to 32 bytes."""
    rows, cols = (20, 37) if layout == ND else (37, 20)
    x = random(element, (rows, cols), 4)
    program = Program()
    program.view("x", element, (rows, cols), (1, rows) if layout == DN else None)
    program.tile("t", f"mat, 64x64x{element}, valid={rows}x{cols}", layout, addr=0)
    program.op("tload", ["x"], ["t"])
    found = elements(program.images(x.T.copy() if layout == DN else x).of(Space.L1), element, 64, 64, layout)
    assert np.array_equal(found[:rows, :cols], x)
    long = -(-37 // block(element)) * block(element)
    padded = found[:rows, cols:long] if layout == ND else found[rows:long, :cols]
    assert (bits(padded) == 0).all()


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
def test_a_load_of_fractals(element: str):
    rows, cols, wide = 32, 64, block(element)
    x = random(element, (rows, cols), 4)
    held = x.reshape(rows, cols // wide, wide).transpose(1, 0, 2).copy()
    program = Program()
    shape = (1, cols // wide, rows // 16, 16, wide)
    program.view("x", element, shape, (rows * cols, rows * wide, 16 * wide, wide, 1), layout="nz")
    program.tile("t", f"mat, 48x64x{element}, valid={rows}x{cols}", NZ, addr=0)
    program.op("tload", ["x"], ["t"])
    found = elements(program.images(held).of(Space.L1), element, 48, 64, NZ)
    assert np.array_equal(found[:rows], x)
    assert (bits(found[rows:]) == 0xEE).all()


def test_a_view_that_is_smaller_than_the_valid_region_is_remarked():
    program = Program()
    program.view("x", "f16", (16, 32))
    program.tile("t", "mat, 32x32xf16", NZ, addr=0)
    program.op("tload", ["x"], ["t"])
    report = program.run(np.zeros((16, 32), np.float16))
    assert any("rows of %t from a view of" in finding.message for finding in report.findings)


def test_rows_into_zn_are_remarked():
    program = Program()
    program.view("x", "f16", (32, 32))
    program.tile("t", "mat, 32x32xf16", ZN, addr=0)
    program.op("tload", ["x"], ["t"])
    report = program.run(np.zeros((32, 32), np.float16))
    assert any("laid out as ZN" in finding.message for finding in report.findings)


@pytest.mark.parametrize(("target", "remarks"), [("a5", 0), ("a2a3", 1)])
def test_columns_into_nz_are_remarked_on_a2a3(target: str, remarks: int):
    program = Program(target)
    program.view("x", "f16", (32, 64), (1, 32), layout="dn")
    program.tile("t", "mat, 32x64xf16", NZ, addr=0)
    program.op("tload", ["x"], ["t"])
    report = program.run(random("f16", (64, 32), 3))
    assert [finding.kind for finding in report.findings] == ["lint"] * remarks


def test_planes_do_not_fold_into_fractals():
    program = Program()
    program.view("x", "f16", (2, 16, 32))
    program.tile("t", "mat, 32x32xf16", NZ, addr=0)
    program.op("tload", ["x"], ["t"])
    with pytest.raises(ptosim.PTOError, match="two dimensions"):
        program.run(np.zeros((32, 32), np.float16))


@table(
    "element, layout, words",
    ("i64", NZ, "elements of 8 bytes cannot be brought into fractals"),
    ("f32", f"{NZ}, fractal=1024", "has 64"),
)
def test_what_no_load_brings_into_fractals(element: str, layout: str, words: str):
    program = Program()
    program.view("x", element, (16, 32))
    program.tile("t", f"mat, 16x32x{element}", layout, addr=0)
    program.op("tload", ["x"], ["t"])
    with pytest.raises(ptosim.PTOError, match=words) as raised:
        program.kernel()(np.zeros((16, 32), DTYPES[element]))
    assert [one.kind for one in raised.value.diagnostics] == ["invalid"]


@pytest.mark.parametrize(("room", "runs"), [(48, True), (47, False)])
def test_a_partition_beyond_its_view_is_remarked_and_runs_to_the_end_of_its_buffer(room: int, runs: bool):
    """Rows 32 to 47 of a view of 40."""
    program = Program(scalars={"row": "index"})
    program.view("x", "f16", (16, 32), (32, 1), ("%row", 0), tensor=(40, 32))
    program.tile("t", "mat, 16x32xf16", NZ, addr=0)
    program.op("tload", ["x"], ["t"])
    x = random("f16", (room, 32), 4)
    if runs:
        found = elements(program.images(x, 32).of(Space.L1), "f16", 16, 32, NZ)
        assert np.array_equal(found, x[32:])
        assert any("reaches beyond its view in dimension 0" in one.message for one in program.run(x, 32).findings)
    else:
        with pytest.raises(ptosim.PTOError, match="out-of-bounds"):
            program.kernel()(x, 32)


# --- fills ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("element", "value"), [("i8", -3), ("i16", 300), ("f16", 1.5), ("bf16", 2.5), ("f32", 0.1)])
@pytest.mark.parametrize("layout", [NZ, ZN, ND, DN])
def test_a_fill_with_a_scalar(element: str, value: float, layout: str):
    program = Program()
    program.view("x", element, (1, 1))
    program.lines.append(f"%s = arith.constant {value} : {element}")
    program.tile("t", f"mat, 64x64x{element}, valid=32x32", layout, addr=0)
    program.op("texpands", [f"%s {element}"], ["t"])
    x = np.zeros(1, DTYPES[element])
    found = elements(program.images(x).of(Space.L1), element, 64, 64, layout)
    assert (found[:32, :32] == np.array(value, DTYPES[element])).all()
    rest = np.ones((64, 64), bool)
    rest[:32, :32] = False
    assert (bits(found[rest]) == 0xEE).all()


@pytest.mark.parametrize(("element", "value"), [("ui8", 200), ("si8", -3)])
def test_a_fill_with_a_scalar_that_says_its_sign(element: str, value: int):
    """The text of what runs loads again."""
    program = Program(scalars={"s": element})
    program.tile("t", f"mat, 64x64x{element}", NZ, addr=0)
    program.op("texpands", [f"%s {element}"], ["t"])
    found = elements(program.images(value).of(Space.L1), element, 64, 64, NZ)
    assert (found == value).all()
    assert not ptosim.load(str(program), sync="written").lowered().warnings


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
@pytest.mark.parametrize("pad", [0, 1, 2])
@pytest.mark.parametrize("dest", ["s", "t"])
def test_a_pad_around_the_valid_region(element: str, pad: int, dest: str):
    """In place, by one name or by two; zeros, whatever pad the type has."""
    rows, cols = 20, 37
    x = random(element, (rows, cols), 4)
    program = Program()
    program.view("x", element, (rows, cols))
    for name in ("s", "t"):
        program.tile(name, f"mat, 64x96x{element}, valid={rows}x{cols}, pad={pad}", NZ, addr=0)
    program.op("tload", ["x"], ["s"])
    program.op("tfillpad", ["s"], [dest])
    found = elements(program.images(x).of(Space.L1), element, 64, 96, NZ)
    expected = np.zeros((64, 96), x.dtype)
    expected[:rows, :cols] = x
    assert np.array_equal(bits(found), bits(expected))
    program.run(x)


def test_a_pad_in_another_tile_copies_nothing():
    program = Program()
    for name, at in (("s", 0), ("t", 4096)):
        program.tile(name, "mat, 32x32xf16, valid=32x16", NZ, addr=at)
    program.op("tfillpad", ["s"], ["t"])
    image = program.images().of(Space.L1)
    assert (image[4096 : 4096 + 1024] == 0xEE).all() and (image[4096 + 1024 : 4096 + 2048] == 0).all()
    (found,) = ptosim.check(ptosim.load(str(program)).kernel()).findings
    assert (found.kind, found.message) == (
        "lint",
        "src and dst are two tiles: in mat dst is filled, and nothing is copied",
    )


# --- stores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i8", "bf16", "f32"])
@pytest.mark.parametrize("layout", [ND, DN, NZ])
@pytest.mark.parametrize(("rows", "cols"), [(32, 64), (20, 32), (1, 32)])
def test_a_store_on_a2a3_keeps_the_layout(element: str, layout: str, rows: int, cols: int):
    """Into the middle of a larger tensor; fractals into a tensor of fractals."""
    x = random(element, (rows, cols), 6)
    wide = block(element)
    program = Program("a2a3")
    if layout == NZ:
        shape, strides = (1, cols // wide, 2, 16, wide), (cols * 32, 32 * wide, 16 * wide, wide, 1)
        held, found = np.zeros((cols // wide, 32, wide), x.dtype), np.zeros((cols // wide, 32, wide), x.dtype)
        held[:, :rows] = x.reshape(rows, cols // wide, wide).transpose(1, 0, 2)
        for name in ("x", "y"):
            program.view(name, element, shape, strides, layout="nz")
    elif layout == DN:
        held, found = x.T.copy(), np.zeros((cols, rows + 5), x.dtype)
        program.view("x", element, (rows, cols), (1, rows), layout="dn")
        program.view("y", element, (rows, cols), (1, rows + 5), layout="dn")
    else:
        held, found = x, np.zeros((rows, cols + 5), x.dtype)
        program.view("x", element, (rows, cols))
        program.view("y", element, (rows, cols), (cols + 5, 1))
    program.tile("t", f"mat, 32x64x{element}, valid=?x?", layout, addr=0, valid=(rows, cols))
    program.op("tload", ["x"], ["t"])
    program.op("tstore", ["t"], ["y"])
    program.run(held, found)
    expected = np.zeros_like(found)
    if layout == NZ:
        expected[:, :rows] = held[:, :rows]
    else:
        expected[:, : held.shape[1]] = held
    assert np.array_equal(bits(found), bits(expected))


def test_a_store_of_fractals_to_rows_is_refused():
    program = Program("a2a3")
    program.view("x", "f16", (32, 64))
    program.tile("t", "mat, 32x64xf16", NZ, addr=0)
    program.op("tload", ["x"], ["t"])
    program.op("tstore", ["t"], ["x"])
    with pytest.raises(ptosim.PTOError, match="not a block of 16 elements"):
        program.run(np.zeros((32, 64), np.float16))


# --- gathers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
@pytest.mark.parametrize("beyond", ["undefined", "clamp", "wrap", "zero"])
@pytest.mark.parametrize("coalesce", ["row", "elem"])
def test_a_gather_to_l1(element: str, beyond: str, coalesce: str):
    rows, cols, height = 20, 32, 40
    table = random(element, (height, cols), 4)
    capacity = height if coalesce == "row" else height * cols
    rng = np.random.default_rng(7)
    high = capacity if beyond == "undefined" else 2 * capacity
    index = rng.integers(0, high, (rows, 1) if coalesce == "row" else (rows, cols)).astype(np.int32)
    if beyond != "undefined":
        index.ravel()[0] = -1
    program = Program()
    program.view("mem", element, (height, cols))
    program.view("idx", "i32", index.shape if coalesce == "elem" else (1, rows))
    program.view("work", element, (32, cols))
    program.tile("t", f"mat, 32x{cols}x{element}, valid={rows}x{cols}", NZ, addr=0)
    operands = ["mem", "idx", "work"] if coalesce == "elem" else ["mem", "idx"]
    words = f"coalesce = #pto<coalesce {coalesce}>, gatherOob = #pto<gather_oob {beyond}>"
    program.op("mgather", operands, ["t"], f"{{{words}}}")
    arguments = table, index, np.zeros((32, cols), table.dtype)
    found = elements(program.images(*arguments).of(Space.L1), element, 32, cols, NZ)[:rows]
    wide = index.astype(np.uint32).astype(np.int64)
    used = {"clamp": np.minimum(wide, capacity - 1), "wrap": wide % capacity}.get(beyond, wide)
    inside = used < capacity
    source = table if coalesce == "row" else table.ravel()
    taken = source[np.where(inside, used, 0)]
    if coalesce == "row":
        taken = taken[:, 0]
    assert np.array_equal(found, np.where(inside, taken, np.zeros_like(taken)))
    assert (bits(elements(program.images(*arguments).of(Space.L1), element, 32, cols, NZ)[rows:]) == 0xEE).all()


def test_an_index_beyond_the_table_is_an_error():
    program = Program()
    program.view("mem", "f16", (8, 32))
    program.view("idx", "i32", (1, 16))
    program.tile("t", "mat, 16x32xf16", NZ, addr=0)
    program.op("mgather", ["mem", "idx"], ["t"], "{coalesce = #pto<coalesce row>}")
    with pytest.raises(ptosim.PTOError, match="an index is beyond the table"):
        program.kernel()(np.zeros((8, 32), np.float16), np.full((1, 16), 8, np.int32))


# --- from UB ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
@pytest.mark.parametrize("layout", [NZ, ZN])
@pytest.mark.parametrize("name", ["tmov", "tinsert", "textract"])
def test_fractals_from_ub(element: str, layout: str, name: str):
    shape = {"tmov": (64, 64), "tinsert": (128, 128), "textract": (64, 64)}[name]
    source = (128, 128) if name == "textract" else (64, 64)
    x = random(element, source, 4)
    image = np.zeros(x.size, x.dtype)
    image[offsets(element, *source, layout)] = x
    program = Program()
    program.view("x", element, (1, x.size))
    program.tile("u", f"vec, 1x{x.size}x{element}", addr=0)
    program.tile("s", f"vec, {source[0]}x{source[1]}x{element}", layout, addr=0)
    program.tile("t", f"mat, {shape[0]}x{shape[1]}x{element}", layout, addr=0)
    program.op("tload", ["x"], ["u"])
    program.op(name, ["s"] if name == "tmov" else ["s", 32, 64], ["t"])
    program.vector, program.lines = program.lines, []
    found = elements(program.images(image).of(Space.L1, "aiv0"), element, *shape, layout)
    expected = x[32:96, 64:128] if name == "textract" else x
    inside = found[32:96, 64:128] if name == "tinsert" else found
    assert np.array_equal(inside, expected)


@pytest.mark.parametrize("mode", ["split2", "split4"])
def test_an_insertion_in_parts_inserts_the_same(mode: str):
    x = random("f16", (32, 32), 4)
    image = np.zeros(x.size, x.dtype)
    image[offsets("f16", 32, 32, NZ)] = x
    program = Program()
    program.view("x", "f16", (1, x.size))
    program.tile("u", f"vec, 1x{x.size}xf16", addr=0)
    program.tile("s", "vec, 32x32xf16, valid=20x30", NZ, addr=0)
    program.tile("t", "mat, 64x64xf16", NZ, addr=0)
    program.op("tload", ["x"], ["u"])
    program.op("tinsert", ["s", 16, 32], ["t"], f"{{tinsertMode = #pto.tinsert_mode<{mode}>}}")
    program.vector, program.lines = program.lines, []
    found = elements(program.images(image).of(Space.L1, "aiv0"), "f16", 64, 64, NZ)
    assert np.array_equal(found[16:36, 32:62], x[:20, :30])
    assert (bits(found[:16]) == 0xEE).all() and (bits(found[36:]) == 0xEE).all() and (bits(found[:, :32]) == 0xEE).all()


def test_rows_of_ub_are_copied_as_they_are():
    x = random("f16", (32, 32), 4)
    program = Program()
    program.view("x", "f16", (32, 32))
    program.tile("s", "vec, 32x32xf16", addr=0)
    program.tile("t", "mat, 32x32xf16", NZ, addr=0)
    program.op("tload", ["x"], ["s"])
    program.op("tmov", ["s"], ["t"])
    program.vector, program.lines = program.lines, []
    found = program.images(x).of(Space.L1, "aiv0")[: x.nbytes]
    assert np.array_equal(found, bits(x).ravel())
