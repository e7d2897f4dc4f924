"""Products of tiles from global memory to global memory, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from matrix_programs import ACC, DTYPES, NZ, ZN, Program, block, product, random, up

ELEMENTS = ("f16", "bf16", "f32", "i8")
SHAPES = ((16, 32, 32), (50, 40, 70), (1, 17, 33), (33, 100, 64), (64, 16, 96), (16, 48, 64))
"""m, n, k."""


def accumulator(element: str) -> str:
    return "i32" if element == "i8" else "f32"


def multiplied(
    element: str, m: int, n: int, k: int, target: str = "a5", layouts: tuple[str, str] = (NZ, NZ), name: str = "tmatmul"
) -> Program:
    """Load, move, multiply and store. An operand laid out as ZN comes from a view by columns."""
    unit = max(16, block(element))
    rows, cols, depth, acc = up(m, unit), up(n, unit), up(k, unit), accumulator(element)
    program = Program(target)
    for view, size, layout in (("a", (m, k), layouts[0]), ("b", (k, n), layouts[1])):
        program.view(view, element, size, (1, size[0]) if layout == ZN else None)
    program.view("c", acc, (m, n))
    program.tile("ma", f"mat, {rows}x{depth}x{element}, valid={m}x{k}", layouts[0])
    program.tile("mb", f"mat, {depth}x{cols}x{element}, valid={k}x{n}", layouts[1])
    program.tile("la", f"left, {rows}x{depth}x{element}, valid={m}x{k}", NZ)
    program.tile("rb", f"right, {depth}x{cols}x{element}, valid={k}x{n}", ZN)
    program.tile("ac", f"acc, {rows}x{cols}x{acc}, valid={m}x{n}", ACC)
    program.op("tload", ["a"], ["ma"])
    program.op("tload", ["b"], ["mb"])
    program.op("tmov", ["ma"], ["la"])
    program.op("tmov", ["mb"], ["rb"])
    program.op(name, ["la", "rb"], ["ac"])
    return program


def operands(element: str, m: int, n: int, k: int, layouts: tuple[str, str] = (NZ, NZ)) -> tuple[Any, Any, Any, Any]:
    """The matrices, and the arrays that hold them in GM."""
    a, b = random(element, (m, k), 1), random(element, (k, n), 2)
    held = [x.T.copy() if layout == ZN else x for x, layout in ((a, layouts[0]), (b, layouts[1]))]
    return a, b, *held


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_a_product_from_gm_to_gm(element: str, m: int, n: int, k: int):
    a, b, held_a, held_b = operands(element, m, n, k)
    c = np.zeros((m, n), DTYPES[accumulator(element)])
    program = multiplied(element, m, n, k)
    program.op("tstore", ["ac"], ["c"])
    program.run(held_a, held_b, c)
    assert np.array_equal(c, product(a, b))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("layouts", [(NZ, ZN), (ZN, NZ), (ZN, ZN)])
def test_operands_of_either_layout(element: str, layouts: tuple[str, str]):
    m, n, k = 40, 17, 70
    a, b, held_a, held_b = operands(element, m, n, k, layouts)
    c = np.zeros((m, n), DTYPES[accumulator(element)])
    program = multiplied(element, m, n, k, layouts=layouts)
    program.op("tstore", ["ac"], ["c"])
    program.run(held_a, held_b, c)
    assert np.array_equal(c, product(a, b))


def test_a2a3_has_the_same_products():
    m, n, k = 40, 20, 50
    a, b, held_a, held_b = operands("f16", m, n, k)
    c = np.zeros((m, n), np.float32)
    program = multiplied("f16", m, n, k, "a2a3")
    program.op("tstore", ["ac"], ["c"])
    program.run(held_a, held_b, c)
    assert np.array_equal(c, product(a, b))
