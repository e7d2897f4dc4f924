"""Kernels of many entries without their order: a third each copies in, vector scopes and copies out."""

from __future__ import annotations

BUFFERS = 20
"""Each of two slots of 256 bytes, taken in turn by the index of the innermost loop."""
_F32 = "!pto.ptr<f32, ub>"
_REGISTER = "!pto.vreg<64xf32>"
_MASK = "!pto.mask<b32>"


def entries(count: int, depth: int) -> str:
    """So many entries in a nest of loops, each group of three on two of the buffers."""
    loops = [f"scf.for %i{level} = %c0 to %n step %c1 {{" for level in range(depth)]
    slots = [_slot(number) for number in range(BUFFERS)]
    groups = [_group(number) for number in range(count // 3)]
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @entries(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %l0 = arith.constant 0 : i64
    %l1 = arith.constant 1 : i64
    %l256 = arith.constant 256 : i64
    %half = arith.constant 0.5 : f32
    %ub = pto.castptr %l0 : i64 -> {_F32}
{chr(10).join(f"    %c{128 * number + 4096} = arith.constant {128 * number} : index" for number in range(BUFFERS))}
{chr(10).join(loops)}
    %turn = arith.remui %i{depth - 1}, %c2 : index
    %at = arith.muli %turn, %c64 : index
    %row = arith.muli %i{depth - 1}, %c64 : index
    %from = pto.addptr %x, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %to = pto.addptr %y, %row : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
{"".join(slots)}{"".join(groups)}{"}" * depth}
    return
  }}
}}
"""


def _slot(number: int) -> str:
    return f"""    %s{number} = arith.addi %at, %c{128 * number + 4096} : index
    %b{number} = pto.addptr %ub, %s{number} : {_F32} -> {_F32}
"""


def _group(number: int) -> str:
    source, target = f"%b{number % BUFFERS}", f"%b{(number + 7) % BUFFERS}"
    burst, longs = "nburst(%l1, %l256, %l256)", ", ".join(["i64"] * 4)
    return f"""    pto.mte_gm_ub %from, {source}, %l0, %l256 {burst} : !pto.ptr<f32, gm>, {_F32}, i64, {longs}
    pto.vecscope {{
      %m = pto.pset_b32 "PAT_ALL" : {_MASK}
      %v = pto.vlds {source}[%c0] : {_F32} -> {_REGISTER}
      %w = pto.vmuls %v, %half, %m : {_REGISTER}, f32, {_MASK} -> {_REGISTER}
      pto.vsts %w, {target}[%c0], %m : {_REGISTER}, {_F32}, {_MASK}
    }}
    pto.mte_ub_gm {target}, %to, %l256 {burst} : {_F32}, !pto.ptr<f32, gm>, {longs}
"""
