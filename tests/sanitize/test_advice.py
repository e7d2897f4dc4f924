"""Messages that say what to write instead: sizes of views and tiles, first products, last iterations."""

import numpy as np
import pytest

import ptosim

ROWS = """module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %rows: i32)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %n = arith.index_cast %rows : i32 to index
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    scf.for %row = %c0 to %n step %c16 {{
      %left = arith.subi %n, %row : index
      %cnt = arith.minsi %left, %c16 : index
      %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [{read}, %c64]
        : !pto.tensor_view<?x64xf32> -> !pto.partition_tensor_view<?x64xf32>
      %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [{written}, %c64]
        : !pto.tensor_view<?x64xf32> -> !pto.partition_tensor_view<?x64xf32>
      %w = pto.alloc_tile valid_row = {valid} : !pto.tile_buf<vec, 16x64xf32, valid=?x64>
      pto.tload ins(%xp : !pto.partition_tensor_view<?x64xf32>) outs(%w : !pto.tile_buf<vec, 16x64xf32, valid=?x64>)
      pto.tstore ins(%w : !pto.tile_buf<vec, 16x64xf32, valid=?x64>) outs(%yp : !pto.partition_tensor_view<?x64xf32>)
    }}
    return
  }}
}}
"""


def check(read: str, written: str, valid: str) -> list[str]:
    kernel = ptosim.load(ROWS.format(read=read, written=written, valid=valid)).kernel()
    x = np.ones((38, 64), "f4")
    return [str(found) for found in ptosim.check(kernel, x, np.zeros_like(x), 38).findings]


def test_a_view_that_is_too_small() -> None:
    loads, stores = check("%cnt", "%cnt", "%c16")
    assert "lint: loads 16 rows of %w from a view of 6 rows: make its valid_row %cnt" in loads
    assert "lint: stores 16 rows of %w to a view of 6 rows: make its valid_row %cnt" in stores


def test_an_access_that_is_outside_in_the_last_iteration() -> None:
    found = [each for each in check("%c16", "%cnt", "%cnt") if "out-of-bounds" in each]
    assert found == []  # the valid region bounds what is moved
    (first, second) = [each for each in check("%c16", "%c16", "%c16") if "out-of-bounds" in each]
    assert "fits in all other iterations" in first and "min(16, rows - row)" in second


def test_what_is_said_of_one_that_is_outside_everywhere() -> None:
    text = ROWS.format(read="%c16", written="%c16", valid="%c16")
    kernel = ptosim.load(text).kernel()
    found = ptosim.check(kernel, np.zeros((1, 64), "f4"), np.zeros((1, 64), "f4"), 16).findings
    assert found and not any("all other iterations" in str(each) for each in found)


def test_floats_for_bf16() -> None:
    kernel = ptosim.load("func.func @k(%x: !pto.ptr<bf16, gm>) attributes {pto.kernel} { return }\n").kernel()
    with pytest.raises(ptosim.PTOError, match=r"pass the bits as uint16: \(x\.view\('u4'\) >> 16\)\.astype\('u2'\)"):
        kernel(np.zeros(4, "f4"))
    x = np.array([1.5, -2], "f4")
    kernel((x.view("u4") >> 16).astype("u2"))
