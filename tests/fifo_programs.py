"""Kernels of two programs that a FIFO joins, for tests: the cube multiplies, the vector cores add one, or both in turn.

Tiles have 32 rows and 64 columns. The cube's input are `count` matrices of 32 x 16, times one of 16 x 64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import ptosim
from ptosim.api import Kernel

ROWS, DEPTH, COLS = 32, 16, 64
ACC = f"!pto.tile_buf<acc, {ROWS}x{COLS}xf32, blayout=col_major, slayout=row_major, fractal=1024>"
NZ = "blayout=col_major, slayout=row_major"

Array = NDArray[Any]


def mat(rows: int, cols: int, element: str = "f16", loc: str = "mat") -> str:
    layout = "blayout=row_major, slayout=col_major" if loc == "right" else NZ
    return f"!pto.tile_buf<{loc}, {rows}x{cols}x{element}, {layout}>"


def vec(rows: int, cols: int, element: str = "f32", rest: str = "") -> str:
    return f"!pto.tile_buf<vec, {rows}x{cols}x{element}{rest}>"


def constants(*numbers: int) -> str:
    return "\n".join(f"%c{number} = arith.constant {number} : index" for number in dict.fromkeys(numbers))


def view(name: str, pointer: str, rows: str, cols: int, element: str) -> str:
    return (
        f"%{name} = pto.make_tensor_view %{pointer}, shape = [{rows}, %c{cols}], strides = [%c{cols}, %c1] "
        f": !pto.tensor_view<?x{cols}x{element}>"
    )


def part(name: str, source: str, row: str, rows: int, cols: int, element: str) -> str:
    return (
        f"%{name} = pto.partition_view %{source}, offsets = [{row}, %c0], sizes = [%c{rows}, %c{cols}] "
        f": !pto.tensor_view<?x{cols}x{element}> -> !pto.partition_tensor_view<{rows}x{cols}x{element}>"
    )


def load(part: str, rows: int, cols: int, element: str, tile: str, type_: str) -> str:
    return f"pto.tload ins(%{part} : !pto.partition_tensor_view<{rows}x{cols}x{element}>) outs(%{tile} : {type_})"


def store(tile: str, type_: str, part: str, rows: int, cols: int, element: str) -> str:
    return f"pto.tstore ins(%{tile} : {type_}) outs(%{part} : !pto.partition_tensor_view<{rows}x{cols}x{element}>)"


def looped(body: str, count: int, unrolled: bool) -> str:
    """The body for each entry; `@` stands for a name of its own, `%i` for its number."""
    if not unrolled:
        return f"scf.for %i = %c0 to %n step %c1 {{\n{body.replace('@', '')}\n}}"
    once = [body.replace("@", f"_{number}").replace("%i ", f"%n{number} ") for number in range(count)]
    return "\n".join([*(f"%n{number} = arith.constant {number} : index" for number in range(count)), *once])


def multiply(*then: str) -> str:
    """The cube's product of one entry, into %acc, and what is done with it."""
    return "\n".join(
        [
            "%row@ = arith.muli %i , %c32 : index",
            part("pa@", "a", "%row@", ROWS, DEPTH, "f16"),
            load("pa@", ROWS, DEPTH, "f16", "ma", mat(ROWS, DEPTH)),
            f"pto.tmov ins(%ma : {mat(ROWS, DEPTH)}) outs(%la : {mat(ROWS, DEPTH, loc='left')})",
            f"pto.tmatmul ins(%la, %rb : {mat(ROWS, DEPTH, loc='left')}, {mat(DEPTH, COLS, loc='right')}) "
            f"outs(%acc : {ACC})",
            *then,
        ]
    )


CUBE_TILES = "\n".join(
    [
        view("a", "a_gm", "%c4096", DEPTH, "f16"),
        view("b", "b_gm", "%c16", COLS, "f16"),
        part("pb", "b", "%c0", DEPTH, COLS, "f16"),
        f"%ma = pto.alloc_tile : {mat(ROWS, DEPTH)}",
        f"%mb = pto.alloc_tile : {mat(DEPTH, COLS)}",
        f"%la = pto.alloc_tile : {mat(ROWS, DEPTH, loc='left')}",
        f"%rb = pto.alloc_tile : {mat(DEPTH, COLS, loc='right')}",
        f"%acc = pto.alloc_tile : {ACC}",
        load("pb", DEPTH, COLS, "f16", "mb", mat(DEPTH, COLS)),
        f"pto.tmov ins(%mb : {mat(DEPTH, COLS)}) outs(%rb : {mat(DEPTH, COLS, loc='right')})",
    ]
)
NUMBERS = constants(0, 1, 2, 8, 16, 32, 64, 128, 4096)


def module(cube: str, vector: str, target: str = "a5", parameters: str = "") -> str:
    """A pair of functions that are one kernel."""
    given = f"%a_gm: !pto.ptr<f16>, %b_gm: !pto.ptr<f16>, %out_gm: !pto.ptr<f32>, %n: index{parameters}"
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
func.func @k_aic({given}) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
{NUMBERS}
{cube}
return
}}
func.func @k_aiv({given}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{NUMBERS}
%one = arith.constant 1.0 : f32
{vector}
return
}}
}}
"""


def run(text: str, *arguments: Any, clean: bool = True) -> None:
    """Both engines, which must agree to the byte, and a check without findings, or at least without errors."""
    kernel = ptosim.load(text).kernel()
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    kernel(*copies, engine="reference")
    report = ptosim.check(kernel, *arguments)
    assert report.ok and not (clean and report.findings), report
    kernel(*arguments)
    for mine, other in zip(arguments, copies, strict=True):
        if isinstance(mine, np.ndarray):
            assert np.array_equal(mine.view(np.uint8), other.view(np.uint8)), "the engines differ"


def kinds(text: str, *arguments: Any) -> set[str]:
    """The kinds of what a check finds."""
    return {finding.kind for finding in ptosim.check(ptosim.load(text).kernel(), *arguments).findings}


def inputs(count: int) -> tuple[Array, Array, Array]:
    """Matrices of small numbers, and the products of all of them."""
    rng = np.random.default_rng(0)
    a = rng.integers(-4, 5, (count * ROWS, DEPTH)).astype(np.float16)
    b = rng.integers(-4, 5, (DEPTH, COLS)).astype(np.float16)
    return a, b, a.astype(np.float32) @ b.astype(np.float32)


def kernel(text: str) -> Kernel:
    return ptosim.load(text).kernel()
