"""Small kernels to be timed by hand.

Every vector kernel begins with two `castptr` (two cycles of the scalar unit) and then has the lines of the test. What
these take on a5: a copy of 4096 bytes 64 + 4096 / 128 = 96 cycles; the scope 23 + 18 + 12 = 53, where the load feeds
vabs after 6 cycles, vabs the store after 3, and the store takes 9. To issue anything takes the scalar unit a cycle.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import ptosim
from ptosim.report.profile import Profile
from ptosim.target import load_target

A5 = load_target(Path(__file__).with_name("by_hand.toml"))

COPY_IN = """pto.mte_gm_ub %x, %in, %c0_i64, %c4096_i64 nburst(%c1_i64, %c4096_i64, %c4096_i64)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"""
COPY_OUT = """pto.mte_ub_gm %out, %y, %c4096_i64 nburst(%c1_i64, %c4096_i64, %c4096_i64)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"""
SCOPE = """pto.vecscope {
      %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds %in[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      %abs = pto.vabs %v, %mask : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %abs, %out[%c0], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }"""


def set_flag(source: str, destination: str, event: int = 0) -> str:
    return f'pto.set_flag["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{event}"]'


def wait_flag(source: str, destination: str, event: int = 0) -> str:
    return f'pto.wait_flag["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{event}"]'


def barrier(pipe: str) -> str:
    return f"pto.barrier #pto.pipe<PIPE_{pipe}>"


def text(*lines: str, target: str = "a5", before: str = "") -> str:
    body = "\n    ".join(lines)
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
  {before}
  func.func @kernel(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>, %n: i32) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c4096_i64 = arith.constant 4096 : i64
    %in = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
    %out = pto.castptr %c4096_i64 : i64 -> !pto.ptr<f32, ub>
    {body}
    return
  }}
}}
"""


def profile(*lines: str, target: Any = "a5", grid: int = 1, n: int = 0, before: str = "") -> Profile:
    """Time a kernel of these lines."""
    architecture = target if isinstance(target, str) else target.architecture
    kernel = ptosim.load(text(*lines, target=architecture.partition("-")[0], before=before)).kernel()
    x, y = np.ones(1024, np.float32), np.zeros(1024, np.float32)
    return ptosim.profile(kernel, x, y, n, grid=grid, target=target)


def spans(found: Profile) -> list[tuple[str, str, int, int]]:
    """Instruction, pipe, start and end of everything that happened."""
    return [(event.name.removeprefix("pto."), event.pipe, event.start, event.end) for event in found.timeline]
