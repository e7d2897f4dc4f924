"""A prefetch reads its view, and what it leaves in its tile is undefined (isa/15 section 3.3).

A check says so wherever it is used, with either engine, and the filter passes kernels that do not use it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ptosim
from order.test_kernels import TILE, Text, arrays
from ptosim.arguments import bind
from ptosim.checking import Launch, sifted


def prefetch(text: Text, index: str, tile: str) -> Text:
    text.load("a", index, tile)
    text.lines[-1] = text.lines[-1].replace("pto.tload", "pto.tprefetch")
    return text


HALF = "!pto.tile_buf<vec, 8x64xf32>"


def upper_half(text: Text) -> Text:
    """Load the first eight rows of x."""
    view = "!pto.partition_tensor_view<8x64xf32>"
    text.add("%c8 = arith.constant 8 : index")
    text.add(f"%half = pto.subview %x[%c0, %c0] sizes [8, 64] : {TILE} -> {HALF}")
    sizes = f"offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x?xf32> -> {view}"
    return text.add(f"%few = pto.partition_view %va, {sizes}").add(f"pto.tload ins(%few : {view}) outs(%half : {HALF})")


def straight(text: Text) -> Text:
    return prefetch(text, "%c0", "x").sum("x", "x", "z")


def moved_on(text: Text) -> Text:
    """Through another tile."""
    return prefetch(text, "%c0", "x").add(f"pto.tmov ins(%x : {TILE}) outs(%y : {TILE})").sum("y", "y", "z")


def next_turn(text: Text) -> Text:
    """The next turn reads what this one prefetches."""
    text.load("a", "%c0", "x").loop("i", "%n").sum("x", "x", "z")
    return prefetch(text, "%i", "x").end()


def branch(text: Text) -> Text:
    text.load("a", "%c0", "x").add("%some = arith.cmpi sgt, %n, %c1 : index").add("scf.if %some {")
    return prefetch(text, "%c1", "x").end().sum("x", "x", "z")


def outside(text: Text) -> Text:
    """Prefetched before a loop, read in it."""
    return prefetch(text, "%c0", "x").loop("i", "%n").sum("x", "x", "z").end()


def half(text: Text) -> Text:
    return upper_half(prefetch(text, "%c0", "x")).sum("x", "x", "z")


def over_a_load(text: Text) -> Text:
    return prefetch(text.load("a", "%c0", "x"), "%c1", "x").sum("x", "x", "z")


def loaded(text: Text) -> Text:
    return prefetch(text, "%c0", "x").load("a", "%c0", "x").sum("x", "x", "z")


def loaded_in_turns(text: Text) -> Text:
    text.loop("i", "%n")
    return prefetch(text.load("a", "%i", "x").sum("x", "x", "z"), "%i", "x").end()


def other_branch(text: Text) -> Text:
    text.load("a", "%c0", "x").add("%many = arith.cmpi sgt, %n, %c16 : index").add("scf.if %many {")
    return prefetch(text, "%c1", "x").end().sum("x", "x", "z")


def other_half(text: Text) -> Text:
    text = upper_half(prefetch(text, "%c0", "x"))
    text.add(f"%low = pto.alloc_tile : {HALF}").add(f"pto.tadd ins(%half, %half : {HALF}, {HALF}) outs(%low : {HALF})")
    return text.load("a", "%c0", "z")


def unread(text: Text) -> Text:
    return prefetch(text, "%c0", "x").load("a", "%c0", "z")


Steps = Callable[[Text], Text]


def kernel_of(steps: Steps) -> ptosim.Kernel:
    return steps(Text().tiles("x", "y", "z")).store("z", "b", "%c0").kernel()


def found(kernel: ptosim.Kernel, engine: str) -> list[ptosim.Finding]:
    return list(ptosim.check(kernel, *arrays(), 2, 1, engine=engine).findings)


@pytest.mark.parametrize("steps", [straight, moved_on, next_turn, branch, outside, half, over_a_load])
def test_what_only_a_prefetch_has_written_is_undefined(steps: Steps) -> None:
    kernel = kernel_of(steps)
    native, reference = (found(kernel, engine) for engine in ("native", "reference"))
    assert [each.to_json() for each in native] == [each.to_json() for each in reference]
    (finding,) = native
    assert (finding.kind, finding.severity) == ("uninitialized", "warning")
    assert "MTE2 only prefetches tile %x rows 0:16 (ub[0:4096]), which leaves anything there" in finding.message
    lines = kernel.module.outline.source.text.split("\n")
    assert finding.line is not None and "tprefetch" in lines[finding.line - 1]


@pytest.mark.parametrize("steps", [loaded, loaded_in_turns, other_branch, other_half, unread])
def test_a_prefetch_that_nobody_reads_is_clean(steps: Steps) -> None:
    kernel = kernel_of(steps)
    assert not found(kernel, "reference")
    sifting = sifted(kernel, Launch(bind(kernel.signature, (*arrays(), 2, 1))), range(1))
    assert sifting is not None and not sifting.blocks


def test_lowered_text_says_so_too() -> None:
    lowered = kernel_of(straight).module.lowered()
    assert "{pto.sim.prefetch}" in str(lowered)
    for engine in ("native", "reference"):
        (finding,) = found(lowered.kernel(), engine)
        assert finding.kind == "uninitialized" and "only prefetches" in finding.message


@pytest.mark.parametrize("layout", ["blayout=col_major, slayout=row_major", "blayout=col_major"])
def test_a_tile_of_any_layout_will_do(layout: str) -> None:
    """A load from rows would be refused."""
    text = Text().add(f"%t = pto.alloc_tile : {TILE.removesuffix('>')}, {layout}>").tiles("z")
    prefetch(text, "%c0", "t").load("a", "%c1", "z").store("z", "b", "%c0")
    text.lines = [line.replace(f"outs(%t : {TILE})", f"outs(%t : {TILE[:-1]}, {layout}>)") for line in text.lines]
    assert not found(text.kernel(), "native")
    a, b = arrays()
    text.kernel()(a, b, 2, 1)
    assert np.array_equal(b[:16], a[16:32]) and np.array_equal(a, arrays()[0])


MATRIX = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f16>, %y: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %xv = pto.make_tensor_view %x, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf16>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c32] : !pto.tensor_view<?x?xf16>
      -> !pto.partition_tensor_view<16x32xf16>
    %m = pto.alloc_tile : !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>
    %n = pto.alloc_tile : !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>
    pto.tload ins(%xp : !pto.partition_tensor_view<16x32xf16>)
      outs(%n : !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>)
    pto.tprefetch ins(%xp : !pto.partition_tensor_view<16x32xf16>)
      outs(%m : !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>)
    %l = pto.alloc_tile : !pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>
    %r = pto.alloc_tile : !pto.tile_buf<right, 32x16xf16, blayout=row_major, slayout=col_major>
    %b = pto.alloc_tile : !pto.tile_buf<mat, 32x16xf16, blayout=row_major, slayout=col_major>
    %acc = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
    %t = pto.treshape %n : !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>
      -> !pto.tile_buf<mat, 32x16xf16, blayout=row_major, slayout=col_major>
    pto.tmov ins(%SOURCE : !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>)
      outs(%l : !pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>)
    pto.tmov ins(%t : !pto.tile_buf<mat, 32x16xf16, blayout=row_major, slayout=col_major>)
      outs(%r : !pto.tile_buf<right, 32x16xf16, blayout=row_major, slayout=col_major>)
    pto.tmatmul ins(%l, %r : !pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>,
      !pto.tile_buf<right, 32x16xf16, blayout=row_major, slayout=col_major>)
      outs(%acc : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>)
    %yv = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32>
      -> !pto.partition_tensor_view<16x16xf32>
    pto.tstore ins(%acc : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>)
      outs(%yp : !pto.partition_tensor_view<16x16xf32>)
    return
  }
}
"""


@pytest.mark.parametrize(("source", "expected"), [("m", ["uninitialized"]), ("n", [])])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_product_of_a_prefetched_matrix_is_an_error(source: str, expected: list[str], engine: str) -> None:
    kernel = ptosim.load(MATRIX.replace("SOURCE", source)).kernel()
    x = np.ones((16, 32), "f2")
    findings = ptosim.check(kernel, x, np.zeros((16, 16), "f4"), engine=engine).findings
    assert [each.kind for each in findings] == expected
    assert all(each.severity == "error" and "a matrix product" in each.message for each in findings)
