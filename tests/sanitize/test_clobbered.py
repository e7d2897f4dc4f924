"""Bytes that are overwritten through another pointer while they are still to be read, in both engines."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from ptosim.sanitize.explain import explanation
from tables import table

EXAMPLES = Path(__file__).parents[2] / "examples"

PROGRAM = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %row = arith.constant 256 : i64
    %rows = arith.constant 512 : i64
    %a = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %b = pto.castptr %row : i64 -> !pto.ptr<f32, ub>
    %same_at = arith.addi %zero, %zero : i64
    %same = pto.castptr %same_at : i64 -> !pto.ptr<f32, ub>
    %inner = pto.addptr %a, %c64 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
    {body}
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""
LOAD = """pto.mte_gm_ub %x, {to}, %zero, %{size} nburst(%one, %{size}, %{size})
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    """
STORE = """pto.mte_ub_gm {of}, %y, %{size} nburst(%one, %{size}, %{size})
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    """
SCOPE = """pto.vecscope {{
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds {of}[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      %w = pto.vabs %v, %all : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %w, {to}[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }}
    pto.barrier #pto.pipe<PIPE_ALL>
    """


def load(to: str, size: str = "rows") -> str:
    return LOAD.format(to=to, size=size)


def store(of: str, size: str = "rows") -> str:
    return STORE.format(of=of, size=size)


def abs_(of: str, to: str) -> str:
    return SCOPE.format(of=of, to=to)


def check(body: str, engine: str) -> list[str]:
    kernel = ptosim.load(PROGRAM.format(body=body)).kernel()
    x, y = np.ones(128, "f4"), np.zeros(128, "f4")
    return [str(found) for found in ptosim.check(kernel, x, y, engine=engine, unwritten="off").findings]


ENGINES = pytest.mark.parametrize("engine", ["native", "reference"])


@ENGINES
@table(
    "body",
    load("%a") + load("%b", "row") + store("%a"),
    load("%a") + store("%a") + load("%b", "row") + store("%b", "row") + store("%a"),
    load("%a") + abs_("%a", "%b") + store("%a"),
    load("%a") + load("%b", "row") + abs_("%inner", "%a") + store("%a", "row"),
    ids=["copy", "read in between", "vector store", "vector load"],
)
def test_bytes_that_another_pointer_overwrites(engine: str, body: str) -> None:
    (found,) = check(body, engine)
    assert "warning: clobbered: " in found and "through %a, but it was overwritten through %b meanwhile" in found
    assert "note: %a begins at byte 0 and %b at 256: they overlap" in found and "hint" not in found


@ENGINES
@table(
    "body",
    load("%a") + load("%same", "row") + store("%a"),
    load("%a") + load("%inner", "row") + store("%a"),
    load("%a") + abs_("%b", "%b") + store("%a"),
    load("%a") + load("%b", "row") + store("%b", "row") + store("%a", "row"),
    load("%a") + load("%b", "row") + store("%b", "row") + store("%a"),
    load("%b", "row") + store("%b", "row") + load("%a") + store("%a"),
    load("%b", "row") + load("%a", "row") + store("%a"),
    load("%a") + store("%a") + load("%b", "row") + store("%b", "row") + load("%a") + store("%a"),
    ids=[
        *("equal address", "one pointer", "in place", "other bytes", "read by the other", "used again", "side by side"),
        "in turn",
    ],
)
def test_what_is_meant(engine: str, body: str) -> None:
    assert check(body, engine) == []


@ENGINES
def test_lanes_that_nothing_uses_do_not_count(engine: str) -> None:
    body = """pto.vecscope {
      %few = pto.pset_b32 "PAT_VL8" : !pto.mask<b32>
      %v = pto.vlds %a[%c32] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      pto.vsts %v, %a[%c0], %few : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    }
    pto.barrier #pto.pipe<PIPE_ALL>
    """
    body = "%c32 = arith.constant 32 : index\n    " + load("%a") + load("%b", "row") + body + store("%a", "row")
    assert check(body, engine) == []
    (found,) = check(body.replace("PAT_VL8", "PAT_ALL"), engine)
    assert "clobbered" in found


@ENGINES
def test_the_first_loop_index_at_which_it_shows(engine: str) -> None:
    """Row 2 of the result lies over the factors: row 3 is of what was stored there."""
    kernel = ptosim.load(explanation("clobbered").kernel).kernel()
    x, y = np.arange(64, dtype="f4"), np.zeros(256, "f4")
    (found,) = ptosim.check(kernel, x, y, engine=engine).findings
    assert (found.kind, found.severity, found.loops, found.bytes) == ("clobbered", "warning", (192,), (512, 768))
    kernel(x, y)
    assert (y.reshape(4, 64)[:3] == x**2).all() and (y.reshape(4, 64)[3] == x**4).all()


# --- tiles ------------------------------------------------------------------------------------------------------------

WHOLE, PART = "!pto.tile_buf<vec, 8x64xf32>", "!pto.tile_buf<vec, 4x16xf32, valid=4x11>"
VIEW = "!pto.partition_tensor_view<8x64xf32>"


def of_tiles(*statements: str, second: int = 4096) -> str:
    """%t is loaded, something is done to it, and it is stored. %s lies behind it, or over its second half."""
    body = "\n    ".join(statements)
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c18 = arith.constant 18 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %at = arith.constant 0 : i64
    %behind = arith.constant {second} : i64
    %xv = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<8x64xf32> -> {VIEW}
    %yv = pto.make_tensor_view %y, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<8x64xf32> -> {VIEW}
    %t = pto.alloc_tile addr = %at : {WHOLE}
    %s = pto.alloc_tile addr = %behind : {PART}
    pto.tload ins(%xp : {VIEW}) outs(%t : {WHOLE})
    {body}
    pto.tstore ins(%t : {WHOLE}) outs(%yp : {VIEW})
    return
  }}
}}
"""


FILL = f"pto.texpands ins(%zero : f32) outs(%s : {PART})"
INSERT = f"pto.tinsert ins(%s, %c1, %c18 : {PART}, index, index) outs(%t : {WHOLE})"
ROWS = "!pto.tile_buf<vec, 4x64xf32>"
SUBVIEW = f"%u = pto.subview %t[%c2, %c0] sizes [4, 64] : {WHOLE} -> {ROWS}"


@ENGINES
@table(
    "statements, second, count",
    ((FILL, INSERT), 4096, 0),
    ((SUBVIEW, f"pto.tabs ins(%u : {ROWS}) outs(%u : {ROWS})"), 4096, 0),
    ((FILL,), 1024, 1),
    ids=["a part is written at a distance", "a view of rows", "another tile lies over it"],
)
def test_a_tile_is_one_root_wherever_it_is_written(
    engine: str, statements: tuple[str, ...], second: int, count: int
) -> None:
    kernel = ptosim.load(of_tiles(*statements, second=second)).kernel()
    x = np.ones((8, 64), "f4")
    found = ptosim.check(kernel, x, np.zeros_like(x), engine=engine).findings
    assert [each.kind for each in found if each.kind == "clobbered"] == ["clobbered"] * count
    assert not any(each.severity == "error" for each in found)
