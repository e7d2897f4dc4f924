"""Advice as a table: eight kernels, each made slower in four ways.

The first advice names the way, and carrying it out by hand, which gives the kernel as it was, gains what it says within
a tenth.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest

import ptosim

VREG, MASK = "!pto.vreg<64xf32>", "!pto.mask<b32>"
UB, GM = "!pto.ptr<f32, ub>", "!pto.ptr<f32, gm>"
UNARY, BINARY = f"{VREG}, {MASK} -> {VREG}", f"{VREG}, {VREG}, {MASK} -> {VREG}"


@dataclass(frozen=True)
class Shape:
    """A kernel over tiles: what it does with each register of a tile, and how large a tile is."""

    steps: tuple[str, ...]
    rows: int
    columns: int
    tiles: int = 12

    @property
    def elements(self) -> int:
        return self.rows * self.columns

    def compute(self) -> str:
        lines: list[str] = []
        for number, step in enumerate(self.steps):
            given, types = (f"%r{number}, %r0", BINARY) if step in ("vadd", "vmul", "vmax") else (f"%r{number}", UNARY)
            lines.append(f"%r{number + 1} = pto.{step} {given}, %all : {types}")
        return "\n          ".join(lines)


KERNELS = {
    "absolute": Shape(("vabs",), 32, 64),
    "exponential": Shape(("vexp",), 16, 128),
    "square": Shape(("vmul",), 32, 128),
    "twice": Shape(("vadd",), 64, 64),
    "rectified": Shape(("vrelu", "vadd"), 32, 64),
    "root": Shape(("vabs", "vsqrt"), 16, 64),
    "exponential of the size": Shape(("vabs", "vneg", "vexp"), 32, 64, 8),
    "polynomial": Shape(("vmul", "vadd", "vmul", "vadd"), 16, 256, 8),
}
WAYS = {"second-buffer": "buffers", "narrower-barrier": "barrier", "joined-rows": "narrow", "fused-scopes": "scopes"}


def text(shape: Shape, slow: str = "") -> str:
    """The kernel: two buffers each way, whole copies, one scope, pairs of flags; or with one thing done worse."""
    count = 1 if slow == "buffers" else 2
    barrier = "pto.barrier #pto.pipe<PIPE_ALL>" * (slow == "barrier")
    parts = 2 if slow == "scopes" else 1
    bounds = [shape.elements * part // parts for part in range(parts + 1)]
    scopes = "\n".join(
        f"""      pto.vecscope {{
        %all = pto.pset_b32 "PAT_ALL" : {MASK}
        scf.for %at = %e{first} to %e{last} step %e64 {{
          %r0 = pto.vlds %ub_in[%at] : {UB} -> {VREG}
          {shape.compute()}
          pto.vsts %r{len(shape.steps)}, %ub_out[%at], %all : {VREG}, {UB}, {MASK}
        }}
      }}"""
        for first, last in pairwise(bounds)
    )
    row = 4 * shape.columns
    load = f"""      pto.mte_gm_ub %gm_in, %ub_in, %zero, %bytes nburst(%rows, %bytes, %bytes)
        : {GM}, {UB}, i64, i64, i64, i64, i64"""
    if slow == "narrow":
        load = f"""      scf.for %r = %e0 to %row_count step %one {{
        %far = arith.muli %r, %columns : index
        %from = pto.addptr %gm_in, %far : {GM} -> {GM}
        %to = pto.addptr %ub_in, %far : {UB} -> {UB}
        pto.mte_gm_ub %from, %to, %zero, %bytes nburst(%single, %bytes, %bytes)
          : {GM}, {UB}, i64, i64, i64, i64, i64
      }}"""
    primed = [
        f'pto.{{verb}}_flag["PIPE_{pair}", "EVENT_ID{number}"]'
        for pair in ('V", "PIPE_MTE2', 'MTE3", "PIPE_V')
        for number in range(count)
    ]
    sizes = sorted({0, 64, shape.elements, *bounds})
    constants = "\n".join(f"    %e{size} = arith.constant {size} : index" for size in sizes)
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: {GM}, %y: {GM}) attributes {{pto.kernel}} {{
{constants}
    %one = arith.constant 1 : index
    %buffers = arith.constant {count} : index
    %columns = arith.constant {shape.columns} : index
    %row_count = arith.constant {shape.rows} : index
    %tiles = arith.constant {shape.tiles} : index
    %zero = arith.constant 0 : i64
    %single = arith.constant 1 : i64
    %rows = arith.constant {shape.rows} : i64
    %bytes = arith.constant {row} : i64
    %behind = arith.constant {8 * shape.elements} : i64
    %in = pto.castptr %zero : i64 -> {UB}
    %out = pto.castptr %behind : i64 -> {UB}
    {" ".join(each.format(verb="set") for each in primed)}
    scf.for %i = %e0 to %tiles step %one {{
      %which = arith.remui %i, %buffers : index
      %there = arith.muli %which, %e{shape.elements} : index
      %ub_in = pto.addptr %in, %there : {UB} -> {UB}
      %ub_out = pto.addptr %out, %there : {UB} -> {UB}
      %offset = arith.muli %i, %e{shape.elements} : index
      %gm_in = pto.addptr %x, %offset : {GM} -> {GM}
      %gm_out = pto.addptr %y, %offset : {GM} -> {GM}
      pto.wait_flag_dyn["PIPE_V", "PIPE_MTE2", %which]
{load}
      pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %which]
      pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %which]
      pto.wait_flag_dyn["PIPE_MTE3", "PIPE_V", %which]
{scopes}
      pto.set_flag_dyn["PIPE_V", "PIPE_MTE2", %which]
      pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %which]
      pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %which]
      pto.mte_ub_gm %ub_out, %gm_out, %bytes nburst(%rows, %bytes, %bytes) : {UB}, {GM}, i64, i64, i64, i64
      pto.set_flag_dyn["PIPE_MTE3", "PIPE_V", %which]
      {barrier}
    }}
    {" ".join(each.format(verb="wait") for each in primed)}
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("name", KERNELS)
def test_the_first_advice_gains_what_it_says(name: str, kind: str) -> None:
    shape = KERNELS[name]
    slow, quick = (ptosim.load(text(shape, way)).kernel() for way in (WAYS[kind], ""))
    arguments = slow.example_arguments()
    assert not ptosim.check(slow, *arguments).findings
    before, after = (ptosim.profile(each, *arguments) for each in (slow, quick))
    gain = before.cycles - after.cycles
    assert gain >= 0.02 * before.cycles
    first = before.advice[0]
    assert first.kind == kind, list(map(str, before.advice))
    assert abs(first.cycles - gain) <= 0.1 * gain, (first.cycles, gain)
