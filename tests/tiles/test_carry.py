"""Tiles that loops, branches and selections hand on, and valid regions that change inside them."""

import numpy as np
import pytest

import ptosim

TILE = "!pto.tile_buf<vec, 1x64xf32>"
OPEN = "!pto.tile_buf<vec, 1x64xf32, valid=?x?>"
PART = "!pto.partition_tensor_view<1x64xf32>"


def kernel(body: str) -> str:
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    %ten = arith.constant 10.0 : f32
    %xv = pto.make_tensor_view %x, shape = [%c2, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %yv = pto.make_tensor_view %y, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %x0 = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c1, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %x1 = pto.partition_view %xv, offsets = [%c1, %c0], sizes = [%c1, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %out = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c1, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %a = pto.alloc_tile : {TILE}
    %b = pto.alloc_tile : {TILE}
    pto.tload ins(%x0 : {PART}) outs(%a : {TILE})
    pto.tload ins(%x1 : {PART}) outs(%b : {TILE})
    {body}
    return
  }}
}}
"""


def run(body: str, n: int) -> np.ndarray:
    x = np.stack([np.arange(64), 100 + np.arange(64)]).astype("f4")
    made = ptosim.load(kernel(body)).kernel()
    results: list[np.ndarray] = []
    for engine in ("native", "reference"):
        y = np.zeros(64, "f4")
        made(x.copy(), y, n, engine=engine)
        results.append(y)
    assert np.array_equal(*results)
    assert ptosim.check(made, x.copy(), np.zeros(64, "f4"), n).ok
    return results[0]


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_loop_exchanges_two_tiles(n: int):
    got = run(
        f"""%first, %second = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> ({TILE}, {TILE}) {{
      pto.tadds ins(%p, %one : {TILE}, f32) outs(%p : {TILE})
      scf.yield %q, %p : {TILE}, {TILE}
    }}
    pto.tstore ins(%first : {TILE}) outs(%out : {PART})""",
        n,
    )
    assert np.array_equal(got, (np.arange(64) + 100 * (n % 2) + n // 2).astype("f4"))


@pytest.mark.parametrize("n", [0, 1])
def test_a_branch_gives_a_tile(n: int):
    got = run(
        f"""%some = arith.cmpi eq, %n, %c1 : index
    %t = scf.if %some -> ({TILE}) {{
      pto.tmuls ins(%b, %ten : {TILE}, f32) outs(%b : {TILE})
      scf.yield %b : {TILE}
    }} else {{
      scf.yield %a : {TILE}
    }}
    pto.tstore ins(%t : {TILE}) outs(%out : {PART})""",
        n,
    )
    assert np.array_equal(got, (10 * (100 + np.arange(64)) if n else np.arange(64)).astype("f4"))


@pytest.mark.parametrize("n", [0, 1])
def test_a_tile_is_selected(n: int):
    got = run(
        f"""%some = arith.cmpi eq, %n, %c1 : index
    %t = arith.select %some, %b, %a : {TILE}
    pto.tstore ins(%t : {TILE}) outs(%out : {PART})""",
        n,
    )
    assert np.array_equal(got, (np.arange(64) + 100 * n).astype("f4"))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_valid_region_changes_in_a_loop(n: int):
    got = run(
        f"""%t = pto.alloc_tile valid_row = %c1 valid_col = %c64 : {OPEN}
    pto.tload ins(%x0 : {PART}) outs(%t : {OPEN})
    scf.for %i = %c0 to %n step %c1 {{
      pto.tadds ins(%t, %one : {OPEN}, f32) outs(%t : {OPEN})
      %half = arith.muli %i, %c2 : index
      %left = arith.subi %c32, %half : index
      pto.set_validshape %t, %c1, %left : {OPEN}
    }}
    pto.tadds ins(%t, %ten : {OPEN}, f32) outs(%t : {OPEN})
    pto.set_validshape %t, %c1, %c64 : {OPEN}
    pto.tstore ins(%t : {OPEN}) outs(%out : {PART})""",
        n,
    )
    expected, valid = np.arange(64).astype("f4"), 64
    for i in range(n):
        expected[:valid] += 1
        valid = 32 - 2 * i
    expected[:valid] += 10
    assert np.array_equal(got, expected)
