"""Waits of the scalar unit for other cores and blocks, and ids of every integer type."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptosim

ROW, PART = "!pto.tile_buf<vec, 1x8xi32>", "!pto.partition_tensor_view<1x8xi32>"
TENSOR = "!pto.tensor_view<1x8xi32>"
GIVEN = "%x: !pto.ptr<i32, gm>, %y: !pto.ptr<i32, gm>, %n: i32, %m: i64, %o: index"


def view(name: str, pointer: str) -> str:
    return f"""%{name}_t = pto.make_tensor_view %{pointer}, shape = [%c1, %c8], strides = [%c8, %c1] : {TENSOR}
%{name} = pto.partition_view %{name}_t, offsets = [%c0, %c0], sizes = [%c1, %c8] : {TENSOR} -> {PART}"""


CONSTANTS = """%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c8 = arith.constant 8 : index
%seven = arith.constant 7 : i32"""
STORES = f"""%t = pto.alloc_tile : {ROW}
{view("w", "x")}
pto.texpands ins(%seven : i32) outs(%t : {ROW})
pto.tstore ins(%t : {ROW}) outs(%w : {PART})"""
READS = """%v = pto.load_scalar %x[%c0] : !pto.ptr<i32, gm> -> i32
pto.store_scalar %v, %y[%c0] : !pto.ptr<i32, gm>, i32"""


def pair(wait: str, signal: str, target: str = "a5") -> str:
    """AIV0 stores a row, the cube core reads its first word by the scalar unit."""
    kind = "attributes {{pto.kernel_kind = #pto.kernel_kind<{}>}}"
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
func.func @k_aic({GIVEN}) {kind.format("cube")} {{
{CONSTANTS}
{wait}
{READS}
return
}}
func.func @k_aiv({GIVEN}) {kind.format("vector")} {{
{CONSTANTS}
%sub = pto.get_subblock_idx
%zero = arith.constant 0 : i64
%first = arith.cmpi eq, %sub, %zero : i64
scf.if %first {{
{STORES}
{signal}
}}
return
}}
}}
"""


def arguments(number: int = 1) -> tuple[object, ...]:
    return np.zeros(8, np.int32), np.zeros(8, np.int32), number, number, number


def works(text: str, number: int = 1, **options: int) -> None:
    """Both engines, a check without findings, and one profile."""
    kernel = ptosim.load(text).kernel()
    for engine in ("native", "reference"):
        given = arguments(number)
        kernel(*given, engine=engine, **options)
        assert given[1][0] == 7  # pyright: ignore
    assert not ptosim.check(kernel, *arguments(number), **options).findings
    cycles = [
        ptosim.profile(kernel, *arguments(number), engine=engine, **options).cycles
        for engine in ("native", "reference")
    ]
    assert cycles[0] == cycles[1]


@pytest.mark.parametrize("id_", ["3", "%n", "%m", "%o"])
def test_the_scalar_unit_learns_what_a_signal_carries(id_: str) -> None:
    works(pair(f"pto.sync.wait <PIPE_S>, {id_}", f"pto.sync.set <PIPE_MTE3>, {id_}"), 3)


def test_another_pipe_tells_the_scalar_unit_nothing() -> None:
    kernel = ptosim.load(pair("pto.sync.wait <PIPE_MTE1>, 3", "pto.sync.set <PIPE_MTE3>, 3")).kernel()
    assert [found.kind for found in ptosim.check(kernel, *arguments()).findings] == ["race"]


def test_it_is_proven() -> None:
    for pipe, expected in (("PIPE_S", True), ("PIPE_MTE1", False)):
        kernel = ptosim.load(pair(f"pto.sync.wait <{pipe}>, 3", "pto.sync.set <PIPE_MTE3>, 3")).kernel()
        assert ("race-free and balanced" in str(ptosim.prove(kernel))) == expected


def test_a_signal_that_never_comes_stops_the_core() -> None:
    kernel = ptosim.load(pair("pto.sync.wait <PIPE_S>, 3", "")).kernel()
    assert [found.kind for found in ptosim.check(kernel, *arguments()).findings if found.severity == "error"] == [
        "unmatched-wait"
    ]


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("id_", ["5", "%n", "%m", "%o"])
@pytest.mark.parametrize("pipe", ["PIPE_S", "PIPE_MTE2"])
def test_blocks_meet(target: str, id_: str, pipe: str) -> None:
    """Block 1 reads by its scalar unit what block 0 has stored; insertion orders the unit behind a pipe that waits."""
    text = f"""module attributes {{pto.target_arch = "{target}"}} {{
func.func @k({GIVEN}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{CONSTANTS}
%block = pto.get_block_idx
%zero = arith.constant 0 : i64
%first = arith.cmpi eq, %block, %zero : i64
scf.if %first {{
{STORES}
}}
pto.set_cross_block <PIPE_MTE3>, {id_}
pto.wait_cross_block <{pipe}>, {id_}
scf.if %first {{
}} else {{
{READS}
}}
return
}}
}}
"""
    works(text, 5, grid=2)


def test_insertion_orders_what_stands_around_such_a_wait() -> None:
    """What the signal carries is loaded behind the wait, added to what was loaded before it, and stored."""
    load = f"pto.tload ins(%{{}} : {PART}) outs(%{{}} : {ROW})"
    body = f"""%a = pto.alloc_tile : {ROW}
%b = pto.alloc_tile : {ROW}
{view("w", "x")}
{view("z", "y")}
{load.format("z", "a")}
pto.set_cross_block <PIPE_MTE3>, 5
pto.wait_cross_block <PIPE_S>, 5
{load.format("w", "b")}
pto.tadd ins(%a, %b : {ROW}, {ROW}) outs(%a : {ROW})
pto.tstore ins(%a : {ROW}) outs(%z : {PART})"""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k({GIVEN}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{CONSTANTS}
{body}
return
}}
}}
"""
    kernel = ptosim.load(text, sync="insert").kernel()
    x, y = np.full(8, 3, np.int32), np.full(8, 4, np.int32)
    for engine in ("native", "reference"):
        out = y.copy()
        kernel(x, out, 0, 0, 0, engine=engine)
        assert (out == 7).all()
    assert not ptosim.check(kernel, x, y, 0, 0, 0).findings
    plain = ptosim.load(text, sync="written").kernel()
    assert {found.kind for found in ptosim.check(plain, x, y, 0, 0, 0).errors} == {"race"}


@pytest.mark.parametrize("name", ["set", "wait"])
def test_the_whole_core_forms_of_a2a3(name: str) -> None:
    """pto.set_intra_block and pto.wait_intra_block are pto.sync.set and pto.sync.wait there."""
    text = pair("pto.wait_intra_block <PIPE_MTE2>, 3", "pto.set_intra_block <PIPE_MTE3>, 3", "a2a3")
    both = re.sub(r"scf.if %first \{\n|\}\n(?=return\n\}\n\}\n$)", "", text)
    kernel = ptosim.load(both).kernel()
    for engine in ("native", "reference"):
        given = arguments()
        kernel(*given, engine=engine)
        assert given[1][0] == 7  # pyright: ignore
    assert ptosim.check(kernel, *arguments()).ok  # both vector cores store the same
    current = both.replace("_intra_block", "").replace("pto.wait", "pto.sync.wait").replace("pto.set ", "pto.sync.set ")
    assert f"pto.sync.{name} " in str(ptosim.load(both)) and str(ptosim.load(both)) == str(ptosim.load(current))
