"""Accumulators on their way to GM, UB and L1, against NumPy."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import ptosim
from matrix_programs import DN, DTYPES, ND, NZ, Program, product, random, up
from ptosim.effects.names import Space
from tables import table
from tiles.test_convert import grid

M, N, K = 20, 40, 32


def program_of(acc: str = "f32", target: str = "a5", m: int = M, n: int = N) -> Program:
    """A product of m x 32 by 32 x n in %ac."""
    program = Program(target)
    program.loaded(("i8" if acc == "i32" else "f16",) * 2, (m, n, K), (up(m, 32), up(n, 32), K), acc)
    program.op("tmatmul", ["la", "rb"], ["ac"])
    return program


def values(acc: str = "f32", m: int = M, n: int = N) -> tuple[Any, Any, Any]:
    """Operands and accumulators."""
    element = "i8" if acc == "i32" else "f16"
    a, b = random(element, (m, K), 1), random(element, (K, n), 2)
    return a, b, product(a, b)


# --- layouts in GM ----------------------------------------------------------------------------------------------------


def test_a_view_by_columns():
    a, b, c = values()
    out = np.full((N, M + 3), 7, np.float32)
    program = program_of()
    program.view("c", "f32", (M, N), (1, M + 3))
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, out)
    assert np.array_equal(out[:, :M].T, c)
    assert (out[:, M:] == 7).all()


def test_a_part_of_a_larger_tensor():
    a, b, c = values()
    out = np.full((64, 64), 7, np.float32)
    program = program_of()
    program.view("c", "f32", (M, N), (64, 1), (5, 9), (64, 64))
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, out)
    expected = np.full((64, 64), 7, np.float32)
    expected[5 : 5 + M, 9 : 9 + N] = c
    assert np.array_equal(out, expected)


@pytest.mark.parametrize(("element", "block"), [("f32", 16), ("f32", 8), ("f16", 16), ("bf16", 16), ("i32", 16)])
def test_blocks_of_columns(element: str, block: int):
    m, n, acc = 32, 64, "i32" if element == "i32" else "f32"
    a, b, c = values(acc, m, n)
    out = np.zeros((n // block, m, block), DTYPES[element])
    program = program_of(acc, m=m, n=n)
    shape = (1, n // block, m // 16, 16, block)
    program.view("c", element, shape, (m * n, m * block, 16 * block, block, 1), layout="nz")
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, out)
    assert np.array_equal(out.transpose(1, 0, 2).reshape(m, n), c.astype(DTYPES[element]))


def test_a_view_of_the_transposed_shape_is_meant_by_columns():
    a, b, c = values()
    out = np.zeros((N, M), np.float32)
    program = program_of()
    program.view("c", "f32", (N, M))
    program.op("tstore", ["ac"], ["c"])
    report = program.run(a, b, out)
    assert np.array_equal(out, c.T)
    assert any("shape of the transpose" in finding.message for finding in report.findings)


def test_planes_are_refused():
    program = program_of()
    program.view("c", "f32", (2, M // 2, N))
    program.op("tstore", ["ac"], ["c"])
    with pytest.raises(ptosim.PTOError, match="two dimensions"):
        program.run(*values()[:2], np.zeros((M, N), np.float32))


# --- conversion -------------------------------------------------------------------------------------------------------


def word(scale: float, offset: int = 0, signed: bool = True) -> int:
    """A parameter word: the scale, nine bits of offset, the sign of 8-bit results."""
    return struct.unpack("<I", struct.pack("<f", scale))[0] | (offset & 0x1FF) << 37 | int(signed) << 46


def quantised(c: Any, element: str, scale: Any, offset: int = 0, signed: bool = True) -> Any:
    """What isa/11 section 7.3 says; the scales are powers of two, so that products are exact."""
    x = c.astype(np.float64) * scale
    if element in ("i8", "ui8", "si8"):
        low, high = (-128, 127) if signed else (0, 255)
        return np.clip(np.rint(x + offset), low, high).astype(np.int64).astype(np.uint8)
    if element == "!pto.hif8":
        values, codes = (np.array(each, float) for each in grid(element))
        nearest = codes[np.abs(values - np.abs(x)[..., None]).argmin(-1)].astype(np.uint8)
        return nearest | np.where(np.signbit(x) & (nearest > 0), 0x80, 0).astype(np.uint8)
    if element == "f16" and c.dtype == np.int64:
        x = np.clip(x, -65504, 65504)
    return x.astype(np.float32).astype(DTYPES[element])


QUANTISED = [
    *(("f32", element) for element in ("f32", "f16", "bf16", "i8", "ui8", "si8", "f8E4M3FN", "!pto.hif8")),
    *(("i32", element) for element in ("i8", "ui8", "si8", "f16", "bf16")),
]


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("relu", [True, False])
def test_conversion_and_relu(element: str, relu: bool):
    a, b, c = values()
    out = np.zeros((M, N), DTYPES[element])
    program = program_of()
    program.view("c", element, (M, N))
    program.op("tstore", ["ac"], ["c"], "{reluPreMode = #pto<relu_pre_mode normal_relu>}" if relu else "")
    program.run(a, b, out)
    assert np.array_equal(out, (np.maximum(c, 0) if relu else c).astype(DTYPES[element]))


@pytest.mark.parametrize(("acc", "element"), QUANTISED)
def test_one_parameter_word_quantises(acc: str, element: str):
    a, b, c = values(acc)
    out = np.zeros((M, N), DTYPES[element])
    signed, scale, offset = element != "ui8", (0.125 if acc == "i32" else 4.0), 5
    program = program_of(acc)
    program.view("c", element, (M, N))
    program.lines.append(f"%word = arith.constant {word(scale, offset, signed)} : i64")
    program.op("tstore", ["ac", "%word i64"], ["c"])
    program.run(a, b, out)
    expected = quantised(c, element, scale, offset, signed)
    assert np.array_equal(out.view(np.uint8), expected.view(np.uint8))


def test_quantised_blocks_of_columns():
    """Bytes: 32 columns to a block."""
    m, n = 32, 64
    a, b, c = values(m=m, n=n)
    out = np.zeros((n // 32, m, 32), np.int8)
    program = program_of(m=m, n=n)
    program.view("c", "i8", (1, n // 32, m // 16, 16, 32), (m * n, m * 32, 512, 32, 1), layout="nz")
    program.lines.append(f"%word = arith.constant {word(4.0)} : i64")
    program.op("tstore", ["ac", "%word i64"], ["c"])
    program.run(a, b, out)
    assert np.array_equal(out.transpose(1, 0, 2).reshape(m, n).view(np.uint8), quantised(c, "i8", 4.0))


@pytest.mark.parametrize(("acc", "element"), QUANTISED)
@pytest.mark.parametrize("direct", [True, False])
def test_a_tile_of_parameters_quantises_column_by_column(acc: str, element: str, direct: bool):
    a, b, c = values(acc)
    out = np.zeros((M, N), DTYPES[element])
    signed = element != "ui8"
    scales = 2.0 ** np.random.default_rng(3).integers(-3, 3, N)
    parameters = np.array([[word(scale, 3, signed) for scale in scales]], np.int64)
    program = program_of(acc)
    program.view("c", element, (M, N))
    program.view("p", "i64", (1, N))
    program.tile("mp", "mat, 1x48xi64, valid=1x40")
    program.tile("fp", "scaling, 1x48xi64, valid=1x40")
    if direct:
        program.op("tload", ["p"], ["fp"])
    else:
        program.op("tload", ["p"], ["mp"])
        program.op("tmov", ["mp"], ["fp"])
    program.op("tstore", ["ac"], ["c"], keywords=f" fp %fp : {program.types['fp']}")
    program.run(a, b, out, parameters)
    expected = quantised(c, element, scales, 3, signed)
    assert np.array_equal(out.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@table("acc, element", ("f32", "f16"), ("f32", "i8"), ("f32", "ui8"), ("i32", "f16"), ("i32", "ui8"))
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("rows", [1, 16])
def test_a_tile_of_scales_quantises_column_by_column(kind: str, acc: str, element: str, direct: bool, rows: int):
    """Of several rows the first one counts; 16 of 48 words would not have room."""
    a, b, c = values(acc)
    out = np.zeros((M, N), DTYPES[element])
    scales = (2.0 ** np.random.default_rng(3).integers(-3, 3, (rows, N))).astype(DTYPES[kind])
    program = program_of(acc)
    program.view("c", element, (M, N))
    program.view("p", kind, (rows, N))
    program.tile("mp", f"mat, {rows}x48x{kind}, valid={rows}x40")
    program.tile("fp", f"scaling, {rows}x48x{kind}, valid={rows}x40", "slayout=row_major" if rows > 1 else "")
    if direct:
        program.op("tload", ["p"], ["fp"])
    else:
        program.op("tload", ["p"], ["mp"])
        program.op("tmov", ["mp"], ["fp"])
    program.op("tstore", ["ac"], ["c"], keywords=f" fp %fp : {program.types['fp']}")
    program.run(a, b, out, scales)
    expected = quantised(c, element, scales[:1].astype(np.float64), signed=element != "ui8")
    assert np.array_equal(out.view(np.uint8), expected.view(np.uint8))


def test_scales_do_not_say_whether_results_have_a_sign():
    """A tile of scales for both is refused: nobody can tell what its words are."""
    program = program_of()
    program.view("p", "f32", (1, N))
    program.tile("fp", "scaling, 1x48xf32, valid=1x40")
    program.op("tload", ["p"], ["fp"])
    for element in ("i8", "ui8"):
        program.view(f"{element}c", element, (M, N))
        source, scales, dest = (program.types[name] for name in ("ac", "fp", f"{element}c"))
        program.lines.append(f"pto.tstore ins(%ac : {source} fp %fp : {scales}) outs(%{element}c : {dest})")
    a, b, _ = values()
    with pytest.raises(ptosim.PTOError, match="two tiles"):
        program.run(a, b, np.ones((1, N), np.float32), np.zeros((M, N), np.int8), np.zeros((M, N), np.uint8))


def test_other_elements_are_no_parameters():
    program = Program()
    program.view("p", "!pto.f8E8M0", (1, 64))
    program.tile("fp", "scaling, 1x64x!pto.f8E8M0")
    program.op("tload", ["p"], ["fp"])
    with pytest.raises(ptosim.PTOError, match="parameters are words, or scales"):
        program.run(np.zeros((1, 64), np.uint8))


@pytest.mark.parametrize("kind", ["i64", "f32"])
def test_parameters_out_of_a_longer_row(kind: str):
    a, b, c = values()
    scales = (2.0 ** np.random.default_rng(3).integers(-3, 3, (1, 128))).astype(np.float32)
    out = np.zeros((M, N), np.float16)
    program = program_of()
    program.view("c", "f16", (M, N))
    program.view("p", kind, (1, 128))
    program.tile("mp", f"mat, 1x128x{kind}")
    program.tile("fp", f"scaling, 1x48x{kind}")
    program.op("tload", ["p"], ["mp"])
    program.op("textract", ["mp", 0, 64], ["fp"])
    program.op("tstore", ["ac"], ["c"], keywords=f" fp %fp : {program.types['fp']}")
    program.run(a, b, out, scales if kind == "f32" else scales.view(np.uint32).astype(np.int64))
    assert np.array_equal(out, (c * scales[:, 64 : 64 + N]).astype(np.float16))


@pytest.mark.parametrize(("acc", "element"), [("f32", "f32"), ("f32", "f16"), ("f32", "bf16"), ("i32", "i32")])
@pytest.mark.parametrize("columns", [True, False])
def test_sums_in_gm(acc: str, element: str, columns: bool):
    a, b, c = values(acc)
    before = random(element, (M, N), 9)
    program = program_of(acc)
    program.view("c", element, (M, N), (1, M) if columns else None)
    program.op("tstore", ["ac"], ["c"], "{atomicType = #pto<atomic_type atomic_add>}")
    out = before.T.copy() if columns else before.copy()
    program.run(a, b, out)
    result = out.T if columns else out
    once = c.astype(DTYPES[element])
    expected = (once.astype(np.float64) + before.astype(np.float64)).astype(DTYPES[element])
    assert np.array_equal(result, before + once if element == "i32" else expected)


@pytest.mark.parametrize("phase", ["partial", "final"])
def test_phases_do_not_change_results(phase: str):
    a, b, c = values()
    out = np.zeros((M, N), np.float32)
    program = program_of()
    program.view("c", "f32", (M, N))
    program.op("tmatmul", ["la", "rb"], ["ac"], f"{{accPhase = #pto<acc_phase {phase}>}}")
    program.op("tstore", ["ac"], ["c"], f"{{stPhase = #pto<st_phase {phase}>}}")
    program.run(a, b, out)
    assert np.array_equal(out, c)


# --- local memories ---------------------------------------------------------------------------------------------------


def placed(image: Any, element: str, rows: int, cols: int, layout: str, fractal: int = 512) -> Any:
    """The elements of a tile at address 0, by the layout table of the instruction set."""
    dtype = np.dtype(DTYPES[element])
    r, c = np.indices((rows, cols))
    if layout == NZ:
        wide = 16 if fractal == 1024 else 32 // dtype.itemsize
        offsets = (c // wide * rows + r) * wide + c % wide
    else:
        offsets = c * rows + r if layout == DN else r * cols + c
    data = image[: rows * cols * dtype.itemsize].copy().view(np.dtype(f"V{dtype.itemsize}"))
    return data[offsets].view(dtype)


TILES = [
    *(("vec", element, layout, 512) for element in ("f32", "f16", "bf16") for layout in (ND, DN, NZ)),
    ("vec", "f32", NZ, 1024),
    *(("mat", element, NZ, 512) for element in ("f32", "f16", "bf16")),
]


WHOLE = [
    *TILES,
    *(("vec", "i32", layout, 512) for layout in (ND, DN, NZ)),
    *((loc, "i32", NZ, fractal) for loc, fractal in (("vec", 1024), ("mat", 512))),
    *(("mat", element, layout, 512) for element in ("f32", "f16") for layout in (ND, DN)),
]


@pytest.mark.parametrize(("loc", "element", "layout", "fractal"), WHOLE)
def test_a_move_to_a_local_memory(loc: str, element: str, layout: str, fractal: int):
    acc = "i32" if element == "i32" else "f32"
    a, b, c = values(acc)
    program = program_of(acc)
    fields = f"{layout}, fractal={fractal}" if fractal != 512 else layout
    program.tile("t", f"{loc}, 32x64x{element}, valid={M}x{N}", fields, addr=0 if loc == "vec" else 0x20000)
    program.op("tmov", ["ac"], ["t"])
    program.vector = []
    images = program.images(a, b)
    image = images.of(Space.UB, "aiv0") if loc == "vec" else images.of(Space.L1)[0x20000:]
    found = placed(image, element, 32, 64, layout, fractal)
    assert np.array_equal(found[:M, :N], c.astype(DTYPES[element]))
    rest = np.ones((32, 64), bool)
    rest[:M, :N] = False
    assert (found[rest].view(np.uint8) == 0xEE).all()


@pytest.mark.parametrize(("loc", "shape"), [("vec", (16, 64)), ("vec", (32, 32)), ("mat", (16, 32))])
def test_a_smaller_tile_takes_what_it_has_room_for(loc: str, shape: tuple[int, int]):
    a, b, c = values()
    program = program_of()
    layout, address = (ND, 0) if loc == "vec" else (NZ, 0x20000)
    program.tile("t", f"{loc}, {shape[0]}x{shape[1]}xf32", layout, addr=address)
    program.op("tmov", ["ac"], ["t"])
    program.vector = []
    images = program.images(a, b)
    image = images.of(Space.UB, "aiv0") if loc == "vec" else images.of(Space.L1)[0x20000:]
    rows, cols = min(M, shape[0]), min(N, shape[1])
    assert np.array_equal(placed(image, "f32", *shape, layout)[:rows, :cols], c[:rows, :cols])
    assert (image[shape[0] * shape[1] * 4 :] == 0xEE).all()
    said = {finding.message for finding in program.run(a, b).findings if finding.kind == "lint"}
    sides = [side for side, kept, valid in (("rows", rows, M), ("columns", cols, N)) if kept < valid]
    assert said >= {f"src has more valid {side} than dst has" for side in sides}


@pytest.mark.parametrize(("loc", "element", "layout", "fractal"), TILES)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("begin", [0, 32])
def test_fractals_are_written_whole_and_rows_are_not(
    loc: str, element: str, layout: str, fractal: int, begin: int, known: bool
):
    """19 columns of an accumulator of 56 valid ones."""
    a, b, c = values(n=56)
    program = program_of(n=56)
    fields = f"{layout}, fractal={fractal}" if fractal != 512 else layout
    address = 0 if loc == "vec" else 0x20000
    if known:
        program.tile("t", f"{loc}, 32x32x{element}, valid={M}x19", fields, addr=address)
    else:
        program.scalars["n"] = "index"
        program.tile("t", f"{loc}, 32x32x{element}, valid=?x?", fields, addr=address, valid=(M, "%n"))
    program.op("textract", ["ac", 0, begin], ["t"])
    program.vector = []
    arguments = [a, b, *([] if known else [19])]
    images = program.images(*arguments)
    image = images.of(Space.UB, "aiv0") if loc == "vec" else images.of(Space.L1)[0x20000:]
    found = placed(image, element, 32, 32, layout, fractal)
    block = 16 if fractal == 1024 else 32 // np.dtype(DTYPES[element]).itemsize
    written = min(up(19, block), 56 - begin) if layout == NZ else 19
    assert np.array_equal(found[:M, :written], c[:, begin : begin + written].astype(DTYPES[element]))
    assert (found[:, written:].copy().view(np.uint8) == 0xEE).all()
    assert not [finding for finding in program.run(*arguments).findings if finding.kind == "uninitialized"]


@pytest.mark.parametrize(("loc", "element", "layout", "fractal"), TILES)
@pytest.mark.parametrize("inserted", [True, False])
def test_windows_of_accumulators(loc: str, element: str, layout: str, fractal: int, inserted: bool):
    """Rows 4 on and columns 16 on of the accumulator, or rows and columns 16 on of the destination."""
    a, b, c = values()
    program = program_of()
    fields = f"{layout}, fractal={fractal}" if fractal != 512 else layout
    size = "64x64" if inserted else "16x32"
    valid = "" if inserted else ", valid=10x24"
    program.tile("t", f"{loc}, {size}x{element}{valid}", fields, addr=0 if loc == "vec" else 0x20000)
    program.op("tinsert" if inserted else "textract", ["ac", 16 if inserted else 4, 16], ["t"])
    program.vector = []
    images = program.images(a, b)
    image = images.of(Space.UB, "aiv0") if loc == "vec" else images.of(Space.L1)[0x20000:]
    if inserted:
        found = placed(image, element, 64, 64, layout, fractal)[16 : 16 + M, 16 : 16 + N]
        expected = c
    else:
        found = placed(image, element, 16, 32, layout, fractal)[:10, :24]
        expected = c[4:14, 16:40]
    assert np.array_equal(found, expected.astype(DTYPES[element]))


@pytest.mark.parametrize("rows", [1, 8])
def test_with_parameters_a_view_may_be_smaller(rows: int):
    """What both have in common moves; a check remarks it."""
    a, b, c = values()
    out, scales = np.zeros((rows, N), np.float16), np.full((1, N), 0.5, np.float32)
    program = program_of()
    program.view("c", "f16", (rows, N))
    program.view("p", "f32", (1, N))
    program.tile("fp", "scaling, 1x48xf32, valid=1x40")
    program.op("tload", ["p"], ["fp"])
    program.op("tstore", ["ac"], ["c"], keywords=f" fp %fp : {program.types['fp']}")
    report = program.run(a, b, out, scales)
    assert np.array_equal(out, (c * 0.5).astype(np.float16)[:rows])
    assert any("rows of %ac to a view of" in finding.message for finding in report.findings)


@pytest.mark.parametrize("mode", ["single_mode_vec1", "dual_mode_split_m", "dual_mode_split_n"])
@pytest.mark.parametrize("layout", [ND, NZ])
@pytest.mark.parametrize("name", ["tmov", "textract", "tinsert"])
@pytest.mark.parametrize("relu", [False, True])
def test_both_vector_cores(name: str, mode: str, layout: str, relu: bool):
    m, n = 32, 64
    a, b, c = values(m=m, n=n)
    c = np.maximum(c, 0) if relu else c
    program = program_of(m=m, n=n)
    program.tile("t", "vec, 32x64xf32", layout, addr=0)
    place = [] if name == "tmov" else [0, 0]
    words = ", reluPreMode = #pto<relu_pre_mode normal_relu>" if relu else ""
    program.op(name, ["ac", *place], ["t"], f"{{accToVecMode = #pto.acc_to_vec_mode<{mode}>{words}}}")
    program.vector = []
    images = program.images(a, b)
    halves = {"single_mode_vec1": [None, c], "dual_mode_split_m": [c[:16], c[16:]]}
    for role, half in zip(("aiv0", "aiv1"), halves.get(mode, [c[:, :32], c[:, 32:]]), strict=True):
        found = placed(images.of(Space.UB, role), "f32", 32, 64, layout)
        if half is None:
            assert (found.view(np.uint8) == 0xEE).all()
        else:
            assert np.array_equal(found[: half.shape[0], : half.shape[1]], half)


def test_quantised_moves_take_the_parameters_of_their_columns():
    a, b, c = values()
    scales = 2.0 ** np.random.default_rng(3).integers(-3, 3, N)
    parameters = np.array([[word(scale, 3) for scale in scales]], np.int64)
    program = program_of()
    program.view("p", "i64", (1, N))
    program.tile("fp", "scaling, 1x48xi64, valid=1x40")
    program.tile("t", "mat, 32x32xi8, valid=20x24", NZ, addr=0x20000)
    program.op("tload", ["p"], ["fp"])
    program.op("textract", ["ac", 0, 16], ["t"], keywords=f" fp %fp : {program.types['fp']}")
    images = program.images(a, b, parameters)
    found = placed(images.of(Space.L1)[0x20000:], "i8", 32, 32, NZ)[:M, :24]
    assert np.array_equal(found.view(np.uint8), quantised(c[:, 16:], "i8", scales[16:], 3))


@pytest.mark.parametrize("name", ["tmov", "textract", "tinsert"])
def test_a_word_and_relu_on_the_way_to_l1(name: str):
    """Of an insertion the word stands behind a keyword."""
    a, b, c = values()
    program = program_of()
    program.lines.append(f"%word = arith.constant {word(4.0, 3)} : i64")
    program.tile("t", f"mat, 32x64xi8, valid={M}x{N}", NZ, addr=0x20000)
    place = [] if name == "tmov" else [0, 0]
    given, keywords = (["%word i64"], "") if name != "tinsert" else ([], " pre_quant %word : i64")
    relu = "{reluPreMode = #pto<relu_pre_mode normal_relu>}"
    program.op(name, ["ac", *place, *given], ["t"], relu, keywords)
    found = placed(program.images(a, b).of(Space.L1)[0x20000:], "i8", 32, 64, NZ)[:M, :N]
    clipped = np.clip(np.rint(np.maximum(c.astype(np.float64) * 4 + 3, 0)), -128, 127)
    assert np.array_equal(found, clipped)


@pytest.mark.parametrize("name", ["pto.tstore_fp", "pto.tmov.fp", "pto.textract_fp", "pto.tinsert_fp"])
def test_older_names_have_the_parameters_second(name: str):
    a, b, c = values()
    scales = 2.0 ** np.random.default_rng(3).integers(-3, 3, N)
    parameters = np.array([[word(scale, 3) for scale in scales]], np.int64)
    out = np.zeros((M, N), np.int8)
    program = program_of()
    program.view("p", "i64", (1, N))
    program.view("c", "i8", (M, N))
    program.tile("fp", "scaling, 1x48xi64, valid=1x40")
    program.tile("t", f"mat, 32x64xi8, valid={M}x{N}", NZ, addr=0x20000)
    program.op("tload", ["p"], ["fp"])
    place = [0, 0] if name.startswith(("pto.textract", "pto.tinsert")) else []
    program.op(name.removeprefix("pto."), ["ac", "fp", *place], ["c" if name == "pto.tstore_fp" else "t"])
    images = program.images(a, b, parameters, out)
    found = out if name == "pto.tstore_fp" else placed(images.of(Space.L1)[0x20000:], "i8", 32, 64, NZ)[:M, :N]
    assert np.array_equal(found.view(np.uint8), quantised(c, "i8", scales, 3))
