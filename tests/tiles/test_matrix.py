"""Products of tiles from global memory to global memory, against NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ptosim
from matrix_programs import ACC, DTYPES, NZ, ZN, Program, block, product, random, up
from tables import table

ELEMENTS = ("f16", "bf16", "f32", "i8")
SHAPES = ((16, 32, 32), (50, 40, 70), (1, 17, 33), (33, 100, 64), (64, 16, 96), (16, 48, 64))
"""m, n, k."""


def accumulator(element: str) -> str:
    return "i32" if element == "i8" else "f32"


def multiplied(
    element: str, m: int, n: int, k: int, target: str = "a5", layouts: tuple[str, str] = (NZ, NZ), name: str = "tmatmul"
) -> Program:
    """Load, move, multiply and store. An operand laid out as ZN comes from a view by columns."""
    unit, program = max(16, block(element)), Program(target)
    program.loaded((element,) * 2, (m, n, k), (up(m, unit), up(n, unit), up(k, unit)), accumulator(element), layouts)
    program.view("c", accumulator(element), (m, n))
    program.op(name, ["la", "rb"], ["ac"])
    return program


def stored(program: Program, held: list[Any], m: int, n: int, acc: str, *more: Any) -> Any:
    """What comes to GM when the accumulators are stored at last."""
    c = np.zeros((m, n), DTYPES[acc])
    program.op("tstore", ["ac"], ["c"])
    program.run(*held, c, *more)
    return c


def operands(element: str, m: int, n: int, k: int, layouts: tuple[str, str] = (NZ, NZ)) -> tuple[Any, Any, Any, Any]:
    """The matrices, and the arrays that hold them in GM."""
    a, b = random(element, (m, k), 1), random(element, (k, n), 2)
    held = [x.T.copy() if layout == ZN else x for x, layout in ((a, layouts[0]), (b, layouts[1]))]
    return a, b, *held


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_a_product_from_gm_to_gm(element: str, m: int, n: int, k: int):
    a, b, *held = operands(element, m, n, k)
    found = stored(multiplied(element, m, n, k), held, m, n, accumulator(element))
    assert np.array_equal(found, product(a, b))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("layouts", [(NZ, ZN), (ZN, NZ), (ZN, ZN)])
def test_operands_of_either_layout(element: str, layouts: tuple[str, str]):
    m, n, k = 40, 17, 70
    a, b, *held = operands(element, m, n, k, layouts)
    found = stored(multiplied(element, m, n, k, layouts=layouts), held, m, n, accumulator(element))
    assert np.array_equal(found, product(a, b))


def test_a2a3_has_the_same_products():
    m, n, k = 40, 20, 50
    a, b, *held = operands("f16", m, n, k)
    assert np.array_equal(stored(multiplied("f16", m, n, k, "a2a3"), held, m, n, "f32"), product(a, b))


# --- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_product_is_added_to_its_accumulator(element: str):
    m, n, k = 20, 33, 40
    a, b, *held = operands(element, m, n, k)
    program = multiplied(element, m, n, k)
    program.op("tmatmul.acc", ["ac", "la", "rb"], ["ac"])
    c = stored(program, held, m, n, accumulator(element))
    once = product(a, b)
    exact = a.astype(np.float64) @ b.astype(np.float64) + once
    assert np.array_equal(c, once * 2 if element == "i8" else exact.astype(np.float32))


def test_an_accumulator_elsewhere_is_refused():
    program = multiplied("f16", 16, 32, 32)
    program.tile("other", "acc, 16x32xf32", ACC)
    program.op("tmatmul.acc", ["other", "la", "rb"], ["ac"])
    with pytest.raises(ptosim.PTOError, match="acc and dst must be the same tile"):
        program.run(*operands("f16", 16, 32, 32)[2:], np.zeros((16, 32), np.float32))


@table("element, bias", ("f16", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("f32", "f32"), ("i8", "i32"))
def test_a_bias_is_added_to_every_row(element: str, bias: str):
    m, n, k = 20, 48, 40
    a, b, *held = operands(element, m, n, k)
    row = random(bias, (1, n), 3)
    acc = accumulator(element)
    program = multiplied(element, m, n, k)
    cols = up(n, max(16, block(element)))
    program.view("row", bias, (1, n))
    program.tile("mr", f"mat, 1x{cols}x{bias}, valid=1x{n}")
    program.tile("br", f"bias, 1x{cols}x{acc}, valid=1x{n}")
    program.op("tload", ["row"], ["mr"])
    program.op("tmov", ["mr"], ["br"])
    program.op("tmatmul.bias", ["la", "rb", "br"], ["ac"])
    c = stored(program, held, m, n, acc, row)
    exact = a.astype(np.float64) @ b.astype(np.float64) + row.astype(np.float64)
    assert np.array_equal(c, exact.astype(DTYPES[acc]))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("k", "n"), [(64, 32), (200, 17), (300, 30)])
@pytest.mark.parametrize("layout", [NZ, ""])
def test_a_row_times_a_matrix(element: str, k: int, n: int, layout: str):
    a, b, *_ = operands(element, 1, n, k)
    depth, cols, acc = up(k, 16 * block(element)), up(n, max(16, block(element))), accumulator(element)
    program = Program()
    program.loaded((element,) * 2, (1, n, k), (1, cols, depth), acc, (layout, NZ), acc_rows=16)
    program.view("c", acc, (1, n))
    program.op("tgemv", ["la", "rb"], ["ac"])
    assert np.array_equal(stored(program, [a, b], 1, n, acc), product(a, b))


def test_a_row_times_a_matrix_is_added_to_an_accumulator_or_a_bias():
    """pto.tgemv.bias, then pto.tgemv.acc."""
    k, n = 64, 32
    a, b, *_ = operands("f16", 1, n, k)
    row = random("f32", (1, n), 3)
    program = Program()
    program.loaded(("f16", "f16"), (1, n, k), (1, n, 256), layouts=("", NZ), acc_rows=16)
    program.view("c", "f32", (1, n))
    program.view("row", "f32", (1, n))
    program.tile("mr", f"mat, 1x{n}xf32")
    program.tile("br", f"bias, 1x{n}xf32")
    program.op("tload", ["row"], ["mr"])
    program.op("tmov", ["mr"], ["br"])
    program.op("tgemv.bias", ["la", "rb", "br"], ["ac"])
    program.op("tgemv.acc", ["ac", "la", "rb"], ["ac"])
    c = stored(program, [a, b], 1, n, "f32", row)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    once = (exact + row.astype(np.float64)).astype(np.float32)
    assert np.array_equal(c, (exact + once).astype(np.float32))


def test_hif8():
    """0x40 is 16, 0xC0 is -16, 0x08 is 1."""
    m, n, k = 16, 32, 64
    codes, meaning = np.array([0x40, 0xC0, 0x08, 0x00], np.uint8), np.array([16.0, -16.0, 1.0, 0.0])
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 4, (m, k)), rng.integers(0, 4, (k, n))
    c = stored(multiplied("!pto.hif8", m, n, k), [codes[a], codes[b]], m, n, "f32")
    assert np.array_equal(c, (meaning[a] @ meaning[b]).astype(np.float32))


@pytest.mark.parametrize("elements", [("f8E4M3FN", "f8E4M3FN"), ("f8E4M3FN", "f8E5M2"), ("f8E5M2", "f8E4M3FN")])
def test_eight_bit_floats(elements: tuple[str, str]):
    m, n, k = 20, 40, 70
    a, b = random(elements[0], (m, k), 1), random(elements[1], (k, n), 2)
    program = Program()
    program.loaded(elements, (m, n, k), (32, 64, 96))
    program.view("c", "f32", (m, n))
    program.op("tmatmul", ["la", "rb"], ["ac"])
    assert np.array_equal(stored(program, [a, b], m, n, "f32"), product(a, b))


# --- windows and sizes that only the run knows ------------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("layouts", [(NZ, NZ), (ZN, NZ), (NZ, ZN), (ZN, ZN)])
@pytest.mark.parametrize("known", [True, False])
def test_products_of_windows(element: str, layouts: tuple[str, str], known: bool):
    """Rows 32 on and values of k from 64 on of a, these values of k and columns 32 on of b."""
    m, n, k = 40, 48, 64
    a, b = random(element, (96, 128), 1), random(element, (128, 96), 2)
    held = [x.T.copy() if layout == ZN else x for x, layout in ((a, layouts[0]), (b, layouts[1]))]
    acc = accumulator(element)
    c = np.zeros((m, n), DTYPES[acc])
    program = Program(scalars={} if known else {"row": "index", "mid": "index", "col": "index"})
    row, mid, col = (32, 64, 32) if known else ("%row", "%mid", "%col")
    program.view("a", element, (96, 128), (1, 96) if layouts[0] == ZN else None)
    program.view("b", element, (128, 96), (1, 128) if layouts[1] == ZN else None)
    program.view("c", acc, (m, n))
    program.tile("ma", f"mat, 96x128x{element}", layouts[0])
    program.tile("mb", f"mat, 128x96x{element}", layouts[1])
    program.tile("la", f"left, 64x64x{element}, valid={m}x{k}", NZ)
    program.tile("rb", f"right, 64x64x{element}, valid={k}x{n}", ZN)
    program.tile("ac", f"acc, 64x64x{acc}, valid={m}x{n}", ACC)
    program.op("tload", ["a"], ["ma"])
    program.op("tload", ["b"], ["mb"])
    program.op("textract", ["ma", row, mid], ["la"])
    program.op("textract", ["mb", mid, col], ["rb"])
    program.op("tmatmul", ["la", "rb"], ["ac"])
    program.op("tstore", ["ac"], ["c"])
    program.run(*held, c, *(() if known else (32, 64, 32)))
    assert np.array_equal(c, product(a[32 : 32 + m, 64 : 64 + k], b[64 : 64 + k, 32 : 32 + n]))


def test_a_window_that_begins_inside_of_a_fractal_is_an_error():
    program = multiplied("f16", 16, 32, 32)
    program.tile("ml", "mat, 64x64xf16", NZ)
    program.op("textract", ["ml", 8, 0], ["la"])
    with pytest.raises(ptosim.PTOError, match="multiple of 16, not 8"):
        program.run(*operands("f16", 16, 32, 32)[2:], np.zeros((16, 32), np.float32))


def dynamic(element: str = "f16") -> Program:
    """A product of up to 64 x 64 x 64 whose sizes are arguments."""
    acc = accumulator(element)
    program = Program(scalars={"m": "index", "n": "index", "k": "index"})
    program.view("a", element, ("%m", "%k"), ("%k", 1))
    program.view("b", element, ("%k", "%n"), ("%n", 1))
    program.view("c", acc, ("%m", "%n"), ("%n", 1))
    for name, loc, layout, valid in (
        *(("ma", "mat", NZ, "mk"), ("mb", "mat", NZ, "kn")),
        *(("la", "left", NZ, "mk"), ("rb", "right", ZN, "kn")),
    ):
        sizes = tuple(f"%{letter}" for letter in valid)
        program.tile(name, f"{loc}, 64x64x{element}, valid=?x?", layout, valid=sizes)
    program.tile("ac", f"acc, 64x64x{acc}, valid=?x?", ACC, valid=("%m", "%n"))
    program.op("tload", ["a"], ["ma"])
    program.op("tload", ["b"], ["mb"])
    program.op("tmov", ["ma"], ["la"])
    program.op("tmov", ["mb"], ["rb"])
    program.op("tmatmul", ["la", "rb"], ["ac"])
    program.op("tstore", ["ac"], ["c"])
    return program


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (17, 40, 33), (1, 1, 1), (0, 5, 3), (5, 0, 3)])
@pytest.mark.parametrize("element", ["f16", "i8"])
def test_sizes_that_only_the_run_knows(element: str, m: int, n: int, k: int):
    a, b, *_ = operands(element, m, n, k)
    c = np.full((64, 64), 7, DTYPES[accumulator(element)])
    program = dynamic(element)
    padded = [np.resize(x, max(x.size, 1)) if x.size else np.zeros(1, x.dtype) for x in (a, b)]
    program.run(*padded, c, m, n, k)
    assert np.array_equal(c.ravel()[: m * n].reshape(m, n), product(a, b))
    assert (c.ravel()[m * n :] == 7).all()


@pytest.mark.parametrize("element", ["f16", "i8"])
def test_a_product_of_no_values(element: str):
    """Zero, or the bias, or what was there before."""
    m, n, acc = 20, 40, accumulator(element)
    row = random(acc, (1, n), 3)
    zero, once, twice = (np.full((m, n), 7, DTYPES[acc]) for _ in range(3))
    program = dynamic(element)
    program.view("row", acc, (1, n))
    program.view("d", acc, (m, n))
    program.view("e", acc, (m, n))
    program.tile("mr", f"mat, 1x64x{acc}, valid=1x{n}")
    program.tile("br", f"bias, 1x64x{acc}, valid=1x{n}")
    program.op("tload", ["row"], ["mr"])
    program.op("tmov", ["mr"], ["br"])
    program.op("tmatmul.bias", ["la", "rb", "br"], ["ac"])
    program.op("tstore", ["ac"], ["d"])
    program.op("tmatmul.acc", ["ac", "la", "rb"], ["ac"])
    program.op("tstore", ["ac"], ["e"])
    operand = np.zeros(1, DTYPES[element])
    report = program.run(operand, operand, zero, row, once, twice, m, n, 0)
    assert (zero == 0).all()
    assert np.array_equal(once, np.broadcast_to(row, (m, n)))
    assert np.array_equal(twice, once)
    assert any("k is 0" in finding.message for finding in report.findings)


# --- the distance between groups of columns ---------------------------------------------------------------------------


def test_an_accumulator_is_read_as_it_was_written():
    """Groups of 16 columns of a product of 20 rows lie 32 rows apart, also in an accumulator of 64."""
    m, n, k = 20, 40, 32
    a, b, *held = operands("f16", m, n, k)
    program = Program()
    program.loaded(("f16", "f16"), (m, n, k), (64, 48, 32))
    program.view("c", "f32", (m, n))
    program.op("tmatmul", ["la", "rb"], ["ac"])
    assert np.array_equal(stored(program, held, m, n, "f32"), product(a, b))


def test_a_product_of_other_rows_than_its_accumulator_is_reported():
    """The accumulator says 64 valid rows; the run multiplies 20."""
    program = Program(scalars={"m": "index"})
    program.view("a", "f16", ("%m", 32), (32, 1))
    program.view("b", "f16", (32, 48))
    program.tile("ma", "mat, 64x32xf16, valid=?x?", NZ, valid=("%m", 32))
    program.tile("mb", "mat, 32x48xf16", NZ)
    program.tile("la", "left, 64x32xf16, valid=?x?", NZ, valid=("%m", 32))
    program.tile("rb", "right, 32x48xf16", ZN)
    program.tile("ac", "acc, 64x48xf32", ACC)
    for name, source, dest in (("tload", "a", "ma"), ("tload", "b", "mb"), ("tmov", "ma", "la"), ("tmov", "mb", "rb")):
        program.op(name, [source], [dest])
    program.op("tmatmul", ["la", "rb"], ["ac"])
    arguments = np.zeros((64, 32), np.float16), np.zeros((32, 48), np.float16)
    report = program.run(*arguments, 20, ok=False)
    assert [finding.kind for finding in report.findings if finding.severity == "error"] == ["invalid"]
    program.run(*arguments, 60)


@pytest.mark.parametrize(("m", "n", "said"), [(20, 40, []), (18, 40, ["rows"]), (20, 48, ["columns"])])
def test_an_accumulator_with_another_valid_region_is_remarked(m: int, n: int, said: list[str]):
    """The product has 20 rows and 40 columns."""
    program = Program()
    program.tile("la", "left, 32x32xf16, valid=20x32", NZ)
    program.tile("rb", "right, 32x48xf16, valid=32x40", ZN)
    program.tile("ac", f"acc, 32x48xf32, valid={m}x{n}", ACC)
    program.op("tmatmul", ["la", "rb"], ["ac"])
    found = ptosim.check(ptosim.load(str(program), sync="written").kernel()).findings
    words = [finding.message for finding in found if finding.kind == "lint"]
    assert words == [f"the product has other {side} than are valid in its accumulator" for side in said]


# --- operands in L1, TF32 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("layouts", [(NZ, NZ), (NZ, ZN)])
def test_operands_in_l1_are_read_as_if_they_were_moved(element: str, layouts: tuple[str, str]):
    m, n, k = 40, 17, 70
    a, b, *held = operands(element, m, n, k, layouts)
    c = np.zeros((m, n), DTYPES[accumulator(element)])
    program = multiplied(element, m, n, k, layouts=layouts)
    program.lines = [line for line in program.lines if not line.startswith(("pto.tmov", "pto.tmatmul"))]
    program.op("tmatmul", ["ma", "mb"], ["ac"])
    program.op("tstore", ["ac"], ["c"])
    report = program.run(*held, c)
    assert np.array_equal(c, product(a, b))
    assert all("is in mat" in finding.message for finding in report.findings), report


def tf32(x: Any) -> Any:
    """f32 rounded to 10 fraction bits, ties to even."""
    bits = x.view(np.uint32)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize(("enable", "target"), [(True, "a5"), (False, "a5"), (True, "a2a3")])
def test_products_round_to_tf32_behind_the_mode(enable: bool, target: str):
    """On a2a3 the mode changes nothing."""
    m, n, k = 16, 32, 40
    a, b, *held = operands("f32", m, n, k)
    program = multiplied("f32", m, n, k, target)
    at = next(index for index, line in enumerate(program.lines) if "tmatmul" in line)
    program.lines.insert(at, f"pto.settf32mode {{enable = {str(enable).lower()}}}")
    c = stored(program, held, m, n, "f32")
    assert np.array_equal(c, product(tf32(a), tf32(b)) if enable and target == "a5" else product(a, b))


# --- parts of tiles, and the text -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("element", ["f16", "f32", "i8"])
def test_products_of_parts_of_operands(target: str, element: str):
    """Along k in two steps: columns of the left tile, rows of the right one; half of the accumulator is stored."""
    m, n, k = 32, 64, 64
    a, b = random(element, (m, k), 1), random(element, (k, n), 2)
    acc = accumulator(element)
    program = Program(target)
    program.loaded((element,) * 2, (m, n, k), (m, n, k), acc)
    program.view("c", acc, (m, 32))

    def part(name: str, source: str, row: int, col: int, rows: int, cols: int) -> str:
        type_ = program.types[source]
        program.types[name] = re.sub(r"\d+x\d+", f"{rows}x{cols}", type_)
        place = f"%{source}[{program.number(row)}, {program.number(col)}] sizes [{rows}, {cols}]"
        program.lines.append(f"%{name} = pto.subview {place} : {type_} -> {program.types[name]}")
        return name

    for step in (0, 32):
        operands_ = [part(f"l{step}", "la", 0, step, m, 32), part(f"r{step}", "rb", step, 0, 32, n)]
        program.op("tmatmul.acc" if step else "tmatmul", [*(["ac"] if step else []), *operands_], ["ac"])
    program.op("tstore", [part("half", "ac", 0, 32, m, 32)], ["c"])
    c = np.zeros((m, 32), DTYPES[acc])
    program.run(a, b, c)
    assert np.array_equal(c, product(a, b)[:, 32:]) if acc == "i32" else np.allclose(c, product(a, b)[:, 32:], 1e-5)


def test_a_part_of_an_operand_has_all_of_its_lines():
    program = multiplied("f16", 32, 32, 64)
    part = "!pto.tile_buf<left, 16x64xf16, blayout=col_major, slayout=row_major>"
    sizes = "sizes [16, 64] : " + program.types["la"]
    program.lines.append(f"%part = pto.subview %la[{program.number(16)}, {program.number(0)}] {sizes} -> {part}")
    program.types["part"] = part
    program.tile("other", "acc, 16x32xf32", ACC)
    program.op("tmatmul", ["part", "rb"], ["other"])
    with pytest.raises(ptosim.PTOError, match="part of a tile with 32 rows"):
        program.run(*operands("f16", 32, 32, 64)[2:], np.zeros((32, 32), np.float32))


def test_a_part_of_an_accumulator_has_all_of_its_rows():
    """Groups of 16 columns would lie in other parts of it."""
    program = multiplied("f16", 32, 32, 64)
    part = "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    sizes = "sizes [16, 32] : " + program.types["ac"]
    program.lines.append(f"%part = pto.subview %ac[{program.number(16)}, {program.number(0)}] {sizes} -> {part}")
    program.types["part"] = part
    program.tile("upper", "left, 16x64xf16", NZ)
    program.op("tmatmul", ["upper", "rb"], ["part"])
    with pytest.raises(ptosim.PTOError, match="groups of 16 columns lie elsewhere"):
        program.run(*operands("f16", 32, 32, 64)[2:], np.zeros((32, 32), np.float32))


@table("element, rows, cols, words", ("i8", 64, 16, "columns in multiples of 32"), ("f32", 8, 16, "rows in mul"))
def test_an_operand_that_is_transposed_needs_room_for_whole_squares(element: str, rows: int, cols: int, words: str):
    """Squares of 16 x 16, of bytes of 32 x 32: a narrower tile would lose what lies behind it."""
    program = Program()
    program.tile("m", f"mat, 64x64x{element}", NZ)
    program.tile("r", f"right, {rows}x{cols}x{element}", ZN)
    program.op("textract", ["m", 0, 0], ["r"])
    with pytest.raises(ptosim.PTOError, match=words) as raised:
        program.kernel()()
    assert [one.kind for one in raised.value.diagnostics] == ["invalid"]


@pytest.mark.parametrize("element", ["f16", "i8"])
def test_the_lowered_text_gives_the_same_bytes(element: str):
    """With operands in L1, which private tokens order, and a store by a parameter word."""
    m, n, k = 40, 17, 70
    _, _, *held = operands(element, m, n, k)
    program = multiplied(element, m, n, k)
    program.op("tmatmul", ["ma", "mb"], ["ac"])
    program.view("d", "f16", (m, n))
    program.lines.append("%word = arith.constant 1065353216 : i64")
    program.op("tstore", ["ac", "%word i64"], ["d"])
    program.op("tstore", ["ac"], ["c"])
    module = ptosim.load(str(program), sync="written")
    results = []
    for kernel in (module.kernel(), module.lowered().kernel()):
        out = np.zeros((m, n), DTYPES[accumulator(element)]), np.zeros((m, n), np.float16)
        kernel(*held, *out)
        results.append(out)
    assert all(np.array_equal(one, other) for one, other in zip(*results, strict=True))
    assert results[0][0].any()
