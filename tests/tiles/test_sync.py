"""Order in terms of tiles that an author writes: scoped waits, and event ids from arrays."""

import numpy as np
import pytest

import ptosim

TILE = "!pto.tile_buf<vec, 16x64xf32>"
PART = "!pto.partition_tensor_view<16x64xf32>"


def kernel(body: str) -> str:
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %a = pto.alloc_tile : {TILE}
    %b = pto.alloc_tile : {TILE}
    pto.tload ins(%xp : {PART}) outs(%a : {TILE})
    {body}
    pto.barrier <PIPE_ALL>
    return
  }}
}}
"""


def findings(body: str) -> list[tuple[str, int | None]]:
    made = ptosim.load(kernel(body)).kernel()
    x, y = np.arange(1024, dtype="f4"), np.zeros(1024, "f4")
    made(x, y)
    assert np.array_equal(y, -x)
    report = ptosim.check(made, x, np.zeros(1024, "f4"))
    return [(found.kind, found.line) for found in report.findings if found.severity == "error"]


NEGATE = f"pto.tneg ins(%a : {TILE}) outs(%b : {TILE})"
STORE = f"pto.tstore ins(%b : {TILE}) outs(%yp : {PART})"


def test_waits_for_both_tiles_are_enough():
    assert findings(f"pto.tsync ins(%a : {TILE})\n{NEGATE}\npto.tsync ins(%b : {TILE})\n{STORE}") == []


def test_a_wait_for_another_tile_is_none():
    assert findings(f"pto.tsync ins(%b : {TILE})\n{NEGATE}\npto.tsync ins(%b : {TILE})\n{STORE}") == [("race", 16)]


def test_a_part_of_a_tile_is_waited_for_to_its_last_row():
    low, left = "!pto.tile_buf<vec, 8x64xf32>", "!pto.tile_buf<vec, 16x32xf32>"
    rows = "!pto.partition_tensor_view<8x64xf32>"
    body = f"""%c8 = arith.constant 8 : index
    %low = pto.subview %a[%c8, %c0] sizes [8, 64] : {TILE} -> {low}
    %left = pto.subview %a[%c0, %c0] sizes [16, 32] : {TILE} -> {left}
    %rows = pto.partition_view %xv, offsets = [%c8, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x?xf32> -> {rows}
    pto.barrier <PIPE_MTE2>
    pto.tload ins(%rows : {rows}) outs(%low : {low})
    pto.tsync ins(%left : {left})
    {NEGATE}
    pto.tsync ins(%b : {TILE})
    {STORE}"""
    assert findings(body) == []


def test_a_view_can_be_waited_for():
    body = f"{NEGATE}\npto.tsync ins(%b, %yp : {TILE}, {PART})\n{STORE}"
    assert findings(f"pto.tsync ins(%a : {TILE})\n{body}") == []


@pytest.mark.parametrize("index", ["%c0", "%c1"])
def test_event_ids_come_from_an_array(index: str):
    body = f"""%ids = pto.declare_eventid_array -> !pto.eventid_array<2>
    pto.eventid_array_set %ids[{index}], %c3 : !pto.eventid_array<2>, index
    %id = pto.eventid_array_get %ids[{index}] : !pto.eventid_array<2> -> index
    pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %id]
    pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %id]
    {NEGATE}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    {STORE}"""
    assert findings(body) == []
