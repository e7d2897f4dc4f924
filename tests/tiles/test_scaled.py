"""Products with MX scales against NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ptosim
from matrix_programs import ACC, NZ, ZN, Program, random, up
from tables import table

ZZ32 = "slayout=row_major, fractal=32"
NN32 = "blayout=col_major, slayout=col_major, fractal=32"


def fragments(scales: Any) -> Any:
    """Scales of rows by groups as GM holds them: 16 rows by 2 groups, row by row."""
    rows, groups = up(scales.shape[0], 16), up(scales.shape[1], 2)
    padded = np.zeros((rows, groups), np.uint8)
    padded[: scales.shape[0], : scales.shape[1]] = scales
    return padded.reshape(rows // 16, 16, groups // 2, 2).transpose(0, 2, 1, 3).copy()


def scaled(a: Any, sa: Any, b: Any, sb: Any) -> Any:
    """Sums in doubles, rounded once."""
    left = a.astype(np.float64) * np.repeat(2.0 ** (sa.astype(float) - 127), 32, 1)[:, : a.shape[1]]
    right = b.astype(np.float64) * np.repeat(2.0 ** (sb.astype(float) - 127), 32, 0)[: b.shape[0]]
    return left @ right


def program_of(
    elements: tuple[str, str], m: int, n: int, k: int, name: str, gemv: bool = False, early: bool = False
) -> Program:
    rows, cols, groups = (1 if gemv else up(m, 32)), up(n, 32), k // 32
    program = Program()
    program.view("a", elements[0], (m, k))
    program.view("b", elements[1], (k, n))
    program.view("sa", "!pto.f8E8M0", (m, groups))
    program.view("sb", "!pto.f8E8M0", (groups, n))
    program.view("c", "f32", (m, n))
    depth = up(k, 512) if gemv else k
    program.tile("ma", f"mat, {rows}x{depth}x{elements[0]}, valid={m}x{k}", NZ)
    program.tile("mb", f"mat, {depth}x{cols}x{elements[1]}, valid={k}x{n}", NZ)
    program.tile("la", f"left, {rows}x{depth}x{elements[0]}, valid={m}x{k}", NZ)
    program.tile("rb", f"right, {depth}x{cols}x{elements[1]}, valid={k}x{n}", ZN)
    for letter, size, valid, layout in (
        ("a", (rows, depth // 32), (m, groups), ZZ32),
        ("b", (depth // 32, cols), (groups, n), NN32),
    ):
        for prefix, loc in (("ms", "mat"), ("ss", "scaling")):
            shape = f"{size[0]}x{size[1]}x!pto.f8E8M0, valid={valid[0]}x{valid[1]}"
            program.tile(f"{prefix}{letter}", f"{loc}, {shape}", layout)
    program.tile("ac", f"acc, {16 if gemv else rows}x{cols}xf32, valid={m}x{n}", ACC)
    for source, dest in (("a", "ma"), ("b", "mb"), ("sa", "msa"), ("sb", "msb")):
        program.op("tload", [source], [dest])
    bind = [("tget_scale_addr", "la", "ssa"), ("tget_scale_addr", "rb", "ssb")]
    moves = [("tmov", "ma", "la"), ("tmov", "mb", "rb"), ("tmov", "msa", "ssa"), ("tmov", "msb", "ssb")]
    for op, source, dest in (*moves, *bind) if early else (*bind, *moves):
        program.op(op, [source], [dest])
    program.op(name, ["la", "ssa", "rb", "ssb"], ["ac"])
    return program


def matrices(elements: tuple[str, str], m: int, n: int, k: int) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(5)
    sa, sb = rng.integers(120, 134, (m, k // 32)), rng.integers(120, 134, (k // 32, n))
    return random(elements[0], (m, k), 1), sa.astype(np.uint8), random(elements[1], (k, n), 2), sb.astype(np.uint8)


@pytest.mark.parametrize("elements", [(a, b) for a in ("f8E4M3FN", "f8E5M2") for b in ("f8E4M3FN", "f8E5M2")])
@pytest.mark.parametrize(("m", "n", "k"), [(32, 32, 64), (20, 40, 128)])
@pytest.mark.parametrize("early", [True, False])
def test_a_scaled_product(elements: tuple[str, str], m: int, n: int, k: int, early: bool):
    a, sa, b, sb = matrices(elements, m, n, k)
    c = np.zeros((m, n), np.float32)
    program = program_of(elements, m, n, k, "tmatmul.mx", early=early)
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, fragments(sa), fragments(sb.T), c)
    assert np.array_equal(c, scaled(a, sa, b, sb).astype(np.float32))


FOUR_BITS = {
    "!pto.f4E2M1x2": np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]),
    "!pto.f4E1M2x2": np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]),
}
"""The values of the codes without their sign."""


def four_bits(element: str, codes: Any) -> Any:
    return FOUR_BITS[element][codes & 7] * np.where(codes & 8, -1.0, 1.0)


def pairs(codes: Any) -> Any:
    """Two values of a row in a byte, the first in its lower half."""
    return (codes[:, ::2] | codes[:, 1::2] << 4).astype(np.uint8)


def of_four_bits(
    elements: tuple[str, str], m: int, n: int, k: int, gemv: bool, held: str, across: bool, address: int = 0
) -> Program:
    """A product whose operands arrive in pairs along k, or the right one along its rows: as bytes, through tiles at the
    same addresses, or as tiles in mat that count pairs or values. The left one lies at an address of L0A."""
    rows, cols, depth, groups = 1 if gemv else up(m, 32), up(n, 64), up(k, 1024) if gemv else k, k // 32
    program = Program()
    each = 1 if held == "values" else 2
    other = (depth // each, cols), (k // each, n), ZN
    if across:
        other = (depth, cols // each), (k, n // each), NZ
    for name, loc, element, (shape, valid, layout) in (
        ("a", "left", elements[0], ((rows, depth // each), (m, k // each), NZ)),
        ("b", "right", elements[1], other),
    ):
        kind = "ui8" if held == "bytes" else element
        if layout == NZ:
            program.view(name, kind, (m, k // 2) if name == "a" else (k, n // 2))
        else:
            program.view(name, kind, (k // 2, n), (1, k // 2), layout="dn")
        text = f"{shape[0]}x{shape[1]}x{'i8' if held == 'bytes' else element}, valid={valid[0]}x{valid[1]}"
        program.tile(f"m{name}", f"mat, {text}", layout)
        if held == "bytes":
            program.tile(f"y{name}", f"{loc}, {text}", layout, addr=0)
    program.tile("la", f"left, {rows}x{depth}x{elements[0]}, valid={m}x{k}", NZ, addr=address)
    program.tile("rb", f"right, {depth}x{cols}x{elements[1]}, valid={k}x{n}", ZN, addr=0)
    program.view("sa", "!pto.f8E8M0", (m, groups))
    program.view("sb", "!pto.f8E8M0", (groups, n))
    program.view("c", "f32", (m, n))
    for letter, size, valid, layout in (
        ("a", (rows, depth // 32), (m, groups), ZZ32),
        ("b", (depth // 32, cols), (groups, n), NN32),
    ):
        for prefix, loc in (("ms", "mat"), ("ss", "scaling")):
            shape = f"{size[0]}x{size[1]}x!pto.f8E8M0, valid={valid[0]}x{valid[1]}"
            program.tile(f"{prefix}{letter}", f"{loc}, {shape}", layout)
    program.tile("ac", f"acc, {16 if gemv else rows}x{cols}xf32, valid={m}x{n}", ACC)
    for source, dest in (("a", "ma"), ("b", "mb"), ("sa", "msa"), ("sb", "msb")):
        program.op("tload", [source], [dest])
    left, right = ("ya", "yb") if held == "bytes" else ("la", "rb")
    for source, dest in (("la", "ssa"), ("rb", "ssb")):
        program.op("tget_scale_addr", [source], [dest])
    for source, dest in (("ma", left), ("mb", right), ("msa", "ssa"), ("msb", "ssb")):
        program.op("tmov", [source], [dest])
    program.op("tgemv.mx" if gemv else "tmatmul.mx", ["la", "ssa", "rb", "ssb"], ["ac"])
    program.op("tstore", ["ac"], ["c"])
    return program


FOURS = [(a, b) for a in FOUR_BITS for b in FOUR_BITS]


@pytest.mark.parametrize("elements", FOURS)
@pytest.mark.parametrize(("m", "n", "k"), [(32, 32, 64), (20, 40, 192)])
@table(
    "gemv, held, across",
    (False, "bytes", False),
    (True, "bytes", False),
    (False, "pairs", False),
    (False, "values", False),
    (False, "pairs", True),
    (True, "values", True),
)
def test_a_scaled_product_of_four_bits(
    elements: tuple[str, str], m: int, n: int, k: int, gemv: bool, held: str, across: bool
):
    m = 1 if gemv else m
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 16, (m, k)), rng.integers(0, 16, (k, n))
    sa = rng.integers(120, 134, (m, k // 32)).astype(np.uint8)
    sb = rng.integers(120, 134, (k // 32, n)).astype(np.uint8)
    c = np.zeros((m, n), np.float32)
    program = of_four_bits(elements, m, n, k, gemv, held, across)
    report = program.run(pairs(a), pairs(b if across else b.T), sa if gemv else fragments(sa), fragments(sb.T), c)
    exact = scaled(four_bits(elements[0], a), sa, four_bits(elements[1], b), sb)
    assert np.array_equal(c, exact.astype(np.float32))
    assert not [finding for finding in report.findings if "fewer" in finding.message]


def test_a_row_of_four_bits_goes_no_further_than_its_tile():
    """1024 values are the last 512 bytes of L0A."""
    program = of_four_bits(("!pto.f4E2M1x2", "!pto.f4E2M1x2"), 1, 16, 1024, True, "pairs", False, address=65536 - 512)
    codes, c = np.full((1, 1024), 2), np.zeros((1, 16), np.float32)
    scales = np.full((16, 32), 127, np.uint8)
    program.run(pairs(codes), pairs(np.repeat(codes, 16, 0)), scales[:1], fragments(scales), c)
    assert np.array_equal(c, np.full((1, 16), 1024, np.float32))


def test_windows_of_operands_and_scales():
    """Rows 16 on, columns 32 on, and the second half of k, of which every group has a scale."""
    elements, m, n, k = ("f8E4M3FN", "f8E5M2"), 48, 64, 256
    a, sa, b, sb = matrices(elements, m, n, k)
    program, c = Program(), np.zeros((16, 32), np.float32)
    for name, element, shape in (("a", elements[0], (m, k)), ("b", elements[1], (k, n))):
        program.view(name, element, shape)
        program.tile(f"m{name}", f"mat, {shape[0]}x{shape[1]}x{element}", NZ)
    for name, shape, layout in (("sa", (m, k // 32), ZZ32), ("sb", (k // 32, n), NN32)):
        program.view(name, "!pto.f8E8M0", shape)
        program.tile(f"m{name}", f"mat, {shape[0]}x{shape[1]}x!pto.f8E8M0", layout)
    program.view("c", "f32", (16, 32))
    program.tile("la", f"left, 16x128x{elements[0]}", NZ)
    program.tile("lb", f"right, 128x32x{elements[1]}", ZN)
    program.tile("lsa", "scaling, 16x4x!pto.f8E8M0", ZZ32)
    program.tile("lsb", "scaling, 4x32x!pto.f8E8M0", NN32)
    program.tile("ac", "acc, 16x32xf32", ACC)
    program.op("tget_scale_addr", ["la"], ["lsa"])
    program.op("tget_scale_addr", ["lb"], ["lsb"])
    for name, row, col in (("a", 16, 128), ("b", 128, 32), ("sa", 16, 4), ("sb", 4, 32)):
        program.op("tload", [name], [f"m{name}"])
        program.op("textract", [f"m{name}", row, col], [f"l{name}"])
    program.op("tmatmul.mx", ["la", "lsa", "lb", "lsb"], ["ac"])
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, fragments(sa), fragments(sb.T), c)
    exact = scaled(a[16:32, 128:], sa[16:32, 4:], b[128:, 32:], sb[4:, 32:])
    assert np.array_equal(c, exact.astype(np.float32))


def test_scales_may_be_called_f16():
    """Their bytes count, whatever the type of their tiles."""
    m, n, k = 32, 32, 64
    elements = ("f8E4M3FN", "f8E4M3FN")
    a, sa, b, sb = matrices(elements, m, n, k)
    program, c = program_of(elements, m, n, k, "tmatmul.mx"), np.zeros((m, n), np.float32)
    program.lines = [re.sub(r"(scaling, \d+x\d+)x!pto.f8E8M0", r"\1xf16", line) for line in program.lines]
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, fragments(sa), fragments(sb.T), c)
    assert np.array_equal(c, scaled(a, sa, b, sb).astype(np.float32))


def test_scaled_products_accumulate_and_take_a_bias():
    m, n, k = 20, 32, 64
    a, sa, b, sb = matrices(("f8E4M3FN", "f8E4M3FN"), m, n, k)
    c, row = np.zeros((m, n), np.float32), random("f32", (1, n), 3)
    program = program_of(("f8E4M3FN", "f8E4M3FN"), m, n, k, "tmatmul.mx")
    program.view("row", "f32", (1, n))
    program.tile("mr", f"mat, 1x{n}xf32")
    program.tile("br", f"bias, 1x{n}xf32")
    program.op("tload", ["row"], ["mr"])
    program.op("tmov", ["mr"], ["br"])
    program.op("tmatmul.mx.bias", ["la", "ssa", "rb", "ssb", "br"], ["ac"])
    program.op("tmatmul.mx.acc", ["ac", "la", "ssa", "rb", "ssb"], ["ac"])
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, fragments(sa), fragments(sb.T), c, row)
    exact = scaled(a, sa, b, sb)
    once = (exact + row.astype(np.float64)).astype(np.float32)
    assert np.array_equal(c, (exact + once).astype(np.float32))


@pytest.mark.parametrize("k", [64, 256])
def test_a_scaled_row_times_a_matrix(k: int):
    """The scales of the row lie one after the other."""
    n = 32
    a, sa, b, sb = matrices(("f8E4M3FN", "f8E4M3FN"), 1, n, k)
    c = np.zeros((1, n), np.float32)
    program = program_of(("f8E4M3FN", "f8E4M3FN"), 1, n, k, "tgemv.mx", gemv=True)
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, sa, fragments(sb.T), c)
    assert np.array_equal(c, scaled(a, sa, b, sb).astype(np.float32))


def test_a_scaled_row_is_added_to_an_accumulator_or_a_bias():
    """pto.tgemv.mx.bias, then pto.tgemv.mx.acc."""
    n, k = 32, 64
    a, sa, b, sb = matrices(("f8E4M3FN", "f8E4M3FN"), 1, n, k)
    c, row = np.zeros((1, n), np.float32), random("f32", (1, n), 3)
    program = program_of(("f8E4M3FN", "f8E4M3FN"), 1, n, k, "tgemv.mx", gemv=True)
    program.view("row", "f32", (1, n))
    program.tile("mr", f"mat, 1x{n}xf32")
    program.tile("br", f"bias, 1x{n}xf32")
    program.op("tload", ["row"], ["mr"])
    program.op("tmov", ["mr"], ["br"])
    program.op("tgemv.mx.bias", ["la", "ssa", "rb", "ssb", "br"], ["ac"])
    program.op("tgemv.mx.acc", ["ac", "la", "ssa", "rb", "ssb"], ["ac"])
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, sa, fragments(sb.T), c, row)
    exact = scaled(a, sa, b, sb)
    once = (exact + row.astype(np.float64)).astype(np.float32)
    assert np.array_equal(c, (exact + once).astype(np.float32))


@pytest.mark.parametrize("moved", [True, False])
def test_scales_that_nothing_binds_are_those_of_the_operand(moved: bool):
    """They are moved through tiles that only the product names, or by instructions to the address of the operand."""
    m, n, k = 32, 32, 64
    a, sa, b, sb = matrices(("f8E4M3FN", "f8E4M3FN"), m, n, k)
    c, program = np.zeros((m, n), np.float32), program_of(("f8E4M3FN", "f8E4M3FN"), m, n, k, "tmatmul.mx")
    program.lines = [line for line in program.lines if "tget_scale_addr" not in line]
    if not moved:
        program.lines = [
            by_instruction(program, line)
            if "tmov ins(%ms" in line
            else re.sub(r"(ing, \d+x\d+)x!pto.f8E8M0", r"\1xf16", line)
            for line in program.lines
        ]
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, fragments(sa), fragments(sb.T), c)
    assert np.array_equal(c, scaled(a, sa, b, sb).astype(np.float32))


def by_instruction(program: Program, line: str) -> str:
    """A move of scales as the instruction that names the operand."""
    letter, data, space, axes = ("a", "la", "l0a", (32, 64)) if "%msa" in line else ("b", "rb", "l0b", (64, 32))
    element, dest = "!pto.ptr<!pto.f8E8M0, l1>", f"!pto.ptr<f8E4M3FN, {space}>"
    first, second = (program.number(axis, "i64") for axis in axes)
    return f"""%p{letter} = pto.tile_buf_addr %ms{letter} : {program.types[f"ms{letter}"]} -> {element}
%q{letter} = pto.tile_buf_addr %{data} : {program.types[data]} -> {dest}
pto.mte_l1_{space}_mx %p{letter}, %q{letter}, {first}, {second} : {element}, {dest}, i64, i64"""


def test_scales_that_nobody_wrote_are_undefined():
    program = program_of(("f8E4M3FN", "f8E4M3FN"), 32, 32, 64, "tmatmul.mx")
    program.lines = [line for line in program.lines if "tget_scale_addr" not in line and "tmov ins(%msb" not in line]
    a, sa, b, sb = matrices(("f8E4M3FN", "f8E4M3FN"), 32, 32, 64)
    program.op("tstore", ["ac"], ["c"])
    arguments = (a, b, fragments(sa), fragments(sb.T), np.zeros((32, 32), np.float32))
    found = ptosim.check(ptosim.load(str(program)).kernel(), *arguments).findings
    assert [finding.kind for finding in found] == ["uninitialized"]


def test_scales_of_two_operands_are_refused():
    program = program_of(("f8E4M3FN", "f8E4M3FN"), 32, 32, 64, "tmatmul.mx")
    program.tile("lz", "left, 32x64xf8E4M3FN", NZ)
    program.op("tget_scale_addr", ["lz"], ["ssa"])
    program.op("tstore", ["ac"], ["c"])
    with pytest.raises(ptosim.PTOError, match="bound to several operands"):
        ptosim.load(str(program)).kernel().program  # noqa: B018


def test_a_row_of_32_values_has_one_scale():
    n, k = 32, 32
    a, sa, b, sb = matrices(("f8E4M3FN", "f8E4M3FN"), 1, n, k)
    c = np.zeros((1, n), np.float32)
    program = program_of(("f8E4M3FN", "f8E4M3FN"), 1, n, k, "tgemv.mx", gemv=True)
    program.op("tstore", ["ac"], ["c"])
    program.run(a, b, sa, fragments(sb.T), c)
    assert np.array_equal(c, scaled(a, sa, b, sb).astype(np.float32))
