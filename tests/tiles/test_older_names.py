"""Older names of operations with a tile of parameters: what runs is what runs for the current ones."""

import pytest

import ptosim

ACC = "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
WIDE = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
MAT = "!pto.tile_buf<mat, 16x32xi8, blayout=col_major, slayout=row_major>"
BIG = "!pto.tile_buf<mat, 32x32xi8, blayout=col_major, slayout=row_major>"
WORDS = "!pto.tile_buf<scaling, 1x32xi64>"
PART = "!pto.partition_tensor_view<16x32xi8>"


def runs(operation: str) -> str:
    """The micro-instructions of a kernel with this operation."""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%gm: !pto.ptr<i8>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %v = pto.make_tensor_view %gm, shape = [%c16, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xi8>
    %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c32] : !pto.tensor_view<?x?xi8> -> {PART}
    %c = pto.alloc_tile : {ACC}
    %wide = pto.alloc_tile : {WIDE}
    %m = pto.alloc_tile : {MAT}
    %big = pto.alloc_tile : {BIG}
    %f = pto.alloc_tile : {WORDS}
    {operation}
    return
  }}
}}
"""
    lines = ptosim.load(text, sync="written").lowered().source.splitlines()
    return "\n".join(line for line in lines if not line.strip().startswith("//"))


PAIRS = [
    (
        f"pto.tstore_fp ins(%c, %f : {ACC}, {WORDS}) outs(%w : {PART})",
        f"pto.tstore ins(%c : {ACC} fp %f : {WORDS}) outs(%w : {PART})",
    ),
    (
        f"pto.tmov.fp ins(%c, %f : {ACC}, {WORDS}) outs(%m : {MAT})",
        f"pto.tmov ins(%c, %f : {ACC}, {WORDS}) outs(%m : {MAT})",
    ),
    (
        f"pto.textract_fp ins(%wide, %f, %c16, %c0 : {WIDE}, {WORDS}, index, index) outs(%m : {MAT})",
        f"pto.textract ins(%wide, %c16, %c0 : {WIDE}, index, index fp %f : {WORDS}) outs(%m : {MAT})",
    ),
    (
        f"pto.tinsert_fp ins(%c, %f, %c16, %c0 : {ACC}, {WORDS}, index, index) outs(%big : {BIG})",
        f"pto.tinsert ins(%c, %c16, %c0 : {ACC}, index, index fp %f : {WORDS}) outs(%big : {BIG})",
    ),
]


@pytest.mark.parametrize("older, current", PAIRS, ids=lambda text: text.split()[0])
def test_older_and_current_name_run_alike(older: str, current: str):
    assert runs(older) == runs(current)
    assert "mte_l0c" in runs(older) or "copy_matrix_cc" in runs(older)
