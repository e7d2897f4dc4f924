"""A kernel of tiles with events that were written: x * 2, tile by tile, one buffer each way."""

from typing import Any

import numpy as np

PARTS = "!pto.partition_tensor_view<16x64xf32>"
TILE = "!pto.tile_buf<vec, 16x64xf32>"


def event(name: str, source: str, destination: str, number: int = 0) -> str:
    ends = f"#pto.pipe_event_type<{source}>, #pto.pipe_event_type<{destination}>"
    return f"pto.{name}[{ends}, #pto.event<EVENT_ID{number}>]"


KERNEL = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @twice(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %rows: i32)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %two = arith.constant 2.0 : f32
    %n = arith.index_cast %rows : i32 to index
    %xv = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %yv = pto.make_tensor_view %y, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
    %a = pto.alloc_tile : {TILE}
    %b = pto.alloc_tile : {TILE}
    {event("record_event", "TVEC", "TLOAD")}
    {event("record_event", "TSTORE_VEC", "TVEC")}
    scf.for %row = %c0 to %n step %c16 {{
      %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c16, %c64]
        : !pto.tensor_view<?x64xf32> -> {PARTS}
      %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c16, %c64]
        : !pto.tensor_view<?x64xf32> -> {PARTS}
      {event("wait_event", "TVEC", "TLOAD")}
      pto.tload ins(%xp : {PARTS}) outs(%a : {TILE})
      {event("record_event", "TLOAD", "TVEC")}
      {event("wait_event", "TLOAD", "TVEC")}
      {event("wait_event", "TSTORE_VEC", "TVEC")}
      pto.tmuls ins(%a, %two : {TILE}, f32) outs(%b : {TILE})
      {event("record_event", "TVEC", "TLOAD")}
      {event("record_event", "TVEC", "TSTORE_VEC")}
      {event("wait_event", "TVEC", "TSTORE_VEC")}
      pto.tstore ins(%b : {TILE}) outs(%yp : {PARTS})
      {event("record_event", "TSTORE_VEC", "TVEC")}
    }}
    {event("wait_event", "TVEC", "TLOAD")}
    {event("wait_event", "TSTORE_VEC", "TVEC")}
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


def arguments(rows: int) -> tuple[Any, ...]:
    x = np.arange(rows * 64, dtype=np.float32)
    return x, np.zeros_like(x), rows
