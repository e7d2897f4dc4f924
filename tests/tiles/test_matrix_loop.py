"""A product in a loop over K, in the words of public kernels: windows of tiles in L1, no synchronisation of its own."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptosim
from matrix_programs import ACC, NZ, ZN, product, random

LOOP = """module attributes {pto.target_arch = "TARGET"} {
  func.func @k(%a: !pto.ptr<f16, gm>, %b: !pto.ptr<f16, gm>, %c: !pto.ptr<f32, gm>, %steps: index)
      attributes {pto.kernel, pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %c64 = arith.constant 64 : index
    %depth = arith.muli %steps, %c64 : index
    %va = pto.make_tensor_view %a, shape = [%c48, %depth], strides = [%depth, %c1] : !pto.tensor_view<?x?xf16>
    %vb = pto.make_tensor_view %b, shape = [%depth, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf16>
    %vc = pto.make_tensor_view %c, shape = [%c48, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %pc = pto.partition_view %vc, offsets = [%c0, %c0], sizes = [%c48, %c32]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<48x32xf32>
    %ma = pto.alloc_tile : MA
    %mb = pto.alloc_tile : MB
    %la = pto.alloc_tile : LA
    %rb = pto.alloc_tile : RB
    %ac = pto.alloc_tile : AC
    scf.for %i = %c0 to %steps step %c1 {
      %at = arith.muli %i, %c64 : index
      %pa = pto.partition_view %va, offsets = [%c0, %at], sizes = [%c48, %c64]
        : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<48x64xf16>
      %pb = pto.partition_view %vb, offsets = [%at, %c0], sizes = [%c64, %c32]
        : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<64x32xf16>
      pto.tload ins(%pa : !pto.partition_tensor_view<48x64xf16>) outs(%ma : MA)
      pto.tload ins(%pb : !pto.partition_tensor_view<64x32xf16>) outs(%mb : MB)
      scf.for %j = %c0 to %c64 step %c32 {
        pto.textract ins(%ma, %c0, %j : MA, index, index) outs(%la : LA)
        pto.textract ins(%mb, %j, %c0 : MB, index, index) outs(%rb : RB)
        %sum = arith.addi %i, %j : index
        %first = arith.cmpi eq, %sum, %c0 : index
        scf.if %first {
          pto.tmatmul ins(%la, %rb : LA, RB) outs(%ac : AC)
        } else {
          pto.tmatmul.acc ins(%ac, %la, %rb : AC, LA, RB) outs(%ac : AC)
        }
      }
    }
    pto.tstore ins(%ac : AC) outs(%pc : !pto.partition_tensor_view<48x32xf32>)
    return
  }
}
"""
TYPES = {
    "MA": f"!pto.tile_buf<mat, 48x64xf16, {NZ}>",
    "MB": f"!pto.tile_buf<mat, 64x32xf16, {NZ}>",
    "LA": f"!pto.tile_buf<left, 48x32xf16, {NZ}>",
    "RB": f"!pto.tile_buf<right, 32x32xf16, {ZN}>",
    "AC": f"!pto.tile_buf<acc, 48x32xf32, {ACC}>",
}


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_a_loop_over_k_without_written_synchronisation(target: str):
    source = LOOP.replace("TARGET", target)
    for word, type_ in TYPES.items():
        source = re.sub(rf"\b{word}\b", type_, source)
    kernel = ptosim.load(source).kernel()
    a, b = (random("f16", shape, 1).astype(np.float16) for shape in ((48, 192), (192, 32)))
    a, b = np.round(a * 8).astype(np.float16), np.round(b * 8).astype(np.float16)  # sums of integers are exact
    for engine in ("native", "reference"):
        c = np.zeros((48, 32), np.float32)
        kernel(a, b, c, 3, engine=engine)
        assert np.array_equal(c, product(a, b))
    assert ptosim.check(kernel, a, b, np.zeros((48, 32), np.float32), 3).ok
