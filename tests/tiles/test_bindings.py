"""Tiles and views by other names: at another address, one of several, a part, a pointer, an extent."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim

TILE, PART = "!pto.tile_buf<vec, 8x64xf32>", "!pto.partition_tensor_view<8x64xf32>"
ANY = "!pto.tile_buf<vec, 8x64xf32, valid=?x?>"
SEVERAL = f"!pto.multi_tile_buf<{TILE}, count=2>"


def module(body: str) -> str:
    """Two views of 8 rows each: %w of %x, %u of %y."""
    return f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %v = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
  %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<8x64xf32> -> {PART}
  %z = pto.make_tensor_view %y, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
  %u = pto.partition_view %z, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<8x64xf32> -> {PART}
{body}
  return
}}
}}
"""


def outcome(body: str, number: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """What is given, and what both engines leave in %y, which is checked, too."""
    kernel = ptosim.load(module(body)).kernel()
    x = np.arange(512, dtype=np.float32).reshape(8, 64)
    outs = [np.zeros_like(x) for _ in range(2)]
    assert not ptosim.check(kernel, x, outs[0], number).findings
    for engine, out in zip(("native", "reference"), outs, strict=True):
        kernel(x, out, number, engine=engine)
    assert np.array_equal(*outs)
    return x, outs[0]


def load(tile: str, type_: str = TILE) -> str:
    return f"pto.tload ins(%w : {PART}) outs(%{tile} : {type_})\n"


def store(tile: str, type_: str = TILE) -> str:
    return f"pto.tstore ins(%{tile} : {type_}) outs(%u : {PART})\n"


@pytest.mark.parametrize("made", [f"pto.declare_tile -> {TILE}", f"pto.alloc_tile addr = %p : {TILE}"])
def test_a_tile_at_another_address_is_the_tile_that_lies_there(made: str) -> None:
    x, out = outcome(
        f"""%p = arith.constant 4096 : i64
%q = arith.constant 65536 : i64
%a = pto.alloc_tile addr = %q : {TILE}
{load("a")}%t = {made}
%b = pto.tassign %t, %q : {TILE} -> {TILE}
{store("b")}"""
    )
    assert np.array_equal(out, x)


@pytest.mark.parametrize("number", [0, 1])
def test_one_of_several_tiles(number: int) -> None:
    """Slot 0 has the data and slot 1 one more, whether the number is known or not."""
    x, out = outcome(
        f"""%m = pto.alloc_multi_tile : {SEVERAL}
%a = pto.multi_tile_get %m[%c0] : {SEVERAL} -> {TILE}
%b = pto.multi_tile_get %m[%c1] : {SEVERAL} -> {TILE}
{load("a")}pto.tadds ins(%a, %one : {TILE}, f32) outs(%b : {TILE})
%chosen = pto.multi_tile_get %m[%n] : {SEVERAL} -> {TILE}
{store("chosen")}""",
        number,
    )
    assert np.array_equal(out, x + number)


def test_a_slot_that_does_not_exist_ends_the_run() -> None:
    body = f"%m = pto.alloc_multi_tile : {SEVERAL}\n%a = pto.multi_tile_get %m[%n] : {SEVERAL} -> {TILE}\n{load('a')}"
    kernel = ptosim.load(module(body)).kernel()
    with pytest.raises(ptosim.PTOError, match="slot is beyond the 2"):
        kernel(np.zeros(512, np.float32), np.zeros(512, np.float32), 2)


def test_the_older_name_of_a_part_of_a_tile() -> None:
    half, shape = "!pto.tile_buf<vec, 4x64xf32>", "!pto.partition_tensor_view<4x64xf32>"
    x, out = outcome(
        f"""%c4 = arith.constant 4 : index
%a = pto.alloc_tile : {TILE}
{load("a")}%b = pto.subset %a[%c4, %c0] sizes [4, 64] : {TILE} -> {half}
%s = pto.partition_view %z, offsets = [%c0, %c0], sizes = [%c4, %c64] : !pto.tensor_view<8x64xf32> -> {shape}
pto.tstore ins(%b : {half}) outs(%s : {shape})"""
    )
    assert np.array_equal(out[:4], x[4:]) and not out[4:].any()


@pytest.mark.parametrize("number", [0, 3, 8])
def test_extents_and_pointers_reach_the_scalar_unit(number: int) -> None:
    """The valid rows and columns go to GM, through the pointer of the view."""
    _, out = outcome(
        f"""%a = pto.alloc_tile valid_row = %n valid_col = %c64 : {ANY}
%rows = pto.tile_valid_rows %a : {ANY} -> index
%cols = pto.tile_valid_cols %a : {ANY} -> index
%g = pto.tensor_view_addr %z : !pto.tensor_view<8x64xf32> -> !pto.ptr<f32, gm>
%r = arith.index_cast %rows : index to i32
%s = arith.index_cast %cols : index to i32
%e = arith.sitofp %r : i32 to f32
%f = arith.sitofp %s : i32 to f32
pto.store_scalar %e, %g[%c0] : !pto.ptr<f32, gm>, f32
pto.store_scalar %f, %g[%c1] : !pto.ptr<f32, gm>, f32""",
        number,
    )
    assert (out.ravel()[0], out.ravel()[1]) == (number, 64)


def test_the_pointer_of_a_tile() -> None:
    """A scope of micro-instructions doubles the first row in place."""
    x, out = outcome(
        f"""%a = pto.alloc_tile : {TILE}
{load("a")}%p = pto.tile_buf_addr %a : {TILE} -> !pto.ptr<f32, ub>
pto.vecscope {{
  %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
  %r = pto.vlds %p[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
  %d = pto.vadd %r, %r, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
  pto.vsts %d, %p[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
}}
{store("a")}"""
    )
    assert np.array_equal(out[0], 2 * x[0]) and np.array_equal(out[1:], x[1:])
