"""Kernels around FIFOs: sections, callers, lowered text, entries that other pipes read, cores that take part."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import ptosim
from fifo_programs import (
    ACC,
    COLS,
    CUBE_TILES,
    ROWS,
    inputs,
    kinds,
    looped,
    multiply,
    part,
    run,
    store,
    vec,
    view,
)
from tiles.test_fifo import Fifo, to_cube, to_vector

TILE = vec(ROWS, COLS)
COUNT = 5


def given(count: int = COUNT) -> tuple[list[object], np.ndarray, np.ndarray]:
    """Arguments, the result among them, and the product."""
    a, b, product = inputs(count)
    out = np.zeros_like(product)
    return [a, b, out, count], out, product


@pytest.mark.parametrize("fifo", [Fifo(2), Fifo(4, 1), Fifo(2, 1, "a2a3", through_gm=True)])
def test_lowered_text_loads_again_and_does_the_same(fifo: Fifo) -> None:
    arguments, out, product = given()
    lowered = str(ptosim.load(to_vector(fifo, COUNT)).lowered())
    assert not re.search(r"initialize_pipe|tpush|tpop|tfree|reserve", re.sub(r"//.*", "", lowered))
    run(lowered, *arguments, *fifo.arguments())
    assert np.array_equal(out, product + 1)


def test_findings_name_the_operation_of_the_fifo() -> None:
    text = to_vector(Fifo(2, unrolled=True), 3)
    last = text.rindex("pto.tpush_to_aiv")
    a, b, product = inputs(3)
    short = text[:last] + text[text.index("\n", last) :]
    report = ptosim.check(ptosim.load(short).kernel(), a, b, np.zeros_like(product), 3)
    lines = {finding.line for finding in report.findings if finding.severity == "error"}
    assert 1 + short[: short.rindex("pto.tpop_from_aic")].count("\n") in lines


# --- how the two programs are written ---------------------------------------------------------------------------------


def bodies(text: str) -> tuple[str, str]:
    """What the two functions of a module do."""
    cube, vector = re.findall(r"\) attributes \{pto\.kernel_kind = [^}]*\} \{\n(.*?)\nreturn", text, re.DOTALL)
    return cube, vector


PARAMETERS = "%a_gm: !pto.ptr<f16>, %b_gm: !pto.ptr<f16>, %out_gm: !pto.ptr<f32>, %n: index"


@pytest.mark.parametrize("split", [0, 1])
@pytest.mark.parametrize("direction", [to_vector, to_cube])
def test_sections_of_one_function(direction: object, split: int) -> None:
    cube, vector = bodies(direction(Fifo(2, split, mask=1 if direction is to_vector else 2), COUNT))  # type: ignore[operator]
    both = f"pto.section.cube {{\n{cube}\n}}\npto.section.vector {{\n{vector}\n}}".replace("@k_aiv", "@k").replace(
        "@k_aic", "@k"
    )
    text = f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k({PARAMETERS}) {{\n{both}\nreturn\n}}\n}}\n'
    arguments, out, product = given()
    run(text, *arguments)
    assert np.array_equal(out, product + 1 if direction is to_vector else 2 * product)


def test_a_caller_of_two_functions() -> None:
    text = to_vector(Fifo(2, 1), COUNT).replace("func.func @k_", "func.func private @k_")
    types = "(!pto.ptr<f16>, !pto.ptr<f16>, !pto.ptr<f32>, index) -> ()"
    calls = "".join(f"func.call @k_{side}(%a_gm, %b_gm, %out_gm, %n) : {types}\n" for side in ("aic", "aiv"))
    text = (
        text.rstrip().removesuffix("}")
        + f"func.func @k({PARAMETERS}) attributes {{pto.entry}} {{\n{calls}return\n}}\n}}\n"
    )
    arguments, out, product = given()
    run(text, *arguments)
    assert np.array_equal(out, product + 1)


# --- who takes part ---------------------------------------------------------------------------------------------------


def test_the_second_vector_core_of_a2a3_takes_the_slot_and_uses_nothing() -> None:
    fifo = Fifo(4, 0, "a2a3", through_gm=True)
    dynamic = vec(ROWS, COLS, rest=", valid=?x?")
    text = to_vector(fifo, COUNT)
    text = text.replace(
        f"%t = pto.tpop_from_aic {{split = 0}} -> {TILE}", f"%t = pto.tpop_from_aic(%r, %c) {{split = 0}} -> {dynamic}"
    )
    text = text.replace(f"%t, %one : {TILE}", f"%t, %one : {dynamic}").replace(f"%d : {TILE}", f"%d : {dynamic}")
    chosen = "%part = arith.subi %c1, %sub : index\n"
    chosen += "".join(f"%{name} = arith.muli %part, %c{extent} : index\n" for name, extent in (("r", 32), ("c", 64)))
    text = text.replace(
        f"%d = pto.alloc_tile : {TILE}", f"{chosen}%d = pto.alloc_tile valid_row = %r valid_col = %c : {dynamic}"
    )
    text = text.replace("sizes = [%c32, %c64]\n  :", "sizes = [%r, %c]\n  :").replace("32x64xf32>\n", "?x?xf32>\n")
    text = re.sub(r"outs\(%po : [^)]*\)", "outs(%po : !pto.partition_tensor_view<?x?xf32>)", text)
    arguments, out, product = given()
    run(text, *arguments, *fifo.arguments(), clean=False)
    assert np.array_equal(out, product + 1)


def test_the_first_vector_core_of_a5_serves_alone_what_is_not_split() -> None:
    lowered = str(ptosim.load(to_vector(Fifo(2), COUNT)).lowered())
    vector = lowered[lowered.index("@k_aiv") :]
    assert vector.index("pto.get_subblock_idx") < vector.index("pto.wait_intra_block")
    assert "pto.set_intra_block <PIPE_FIX>, 16" not in lowered
    assert "pto.set_intra_block <PIPE_FIX>, 16" in str(ptosim.load(to_vector(Fifo(2, 1), COUNT)).lowered())


# --- other pipes ------------------------------------------------------------------------------------------------------


def stored(sync: str = "") -> str:
    """MTE3 reads the slot itself; the wait holds V, the free is signalled by V."""
    fifo = Fifo(2)
    cube = f"{fifo.initialize('aic')}\n{CUBE_TILES}\n" + looped(
        multiply(f"pto.tpush_to_aiv(%acc : {ACC}) {{split = 0}}"), COUNT, False
    )
    behind, before = (
        "\n".join(f'pto.{word}_flag["PIPE_{one}", "PIPE_{other}", "EVENT_ID0"]' for word in ("set", "wait"))
        for one, other in (("V", "MTE3"), ("MTE3", "V"))
    )
    body = f"""%top@ = arith.muli %i , %c32 : index
{part("po@", "o", "%top@", ROWS, COLS, "f32")}
%t@ = pto.tpop_from_aic {{split = 0}} -> {TILE}
{behind if "after" in sync else ""}
{store("t@", TILE, "po@", ROWS, COLS, "f32")}
{before if "before" in sync else ""}
pto.tfree_from_aic {{split = 0}}"""
    vector = f"{fifo.initialize('aiv')}\n{view('o', 'out_gm', '%c4096', COLS, 'f32')}\n{looped(body, COUNT, False)}"
    return fifo.module(cube, vector)


def test_an_entry_that_another_pipe_reads_is_ordered() -> None:
    arguments, out, product = given()
    run(stored(), *arguments)
    assert np.array_equal(out, product)


@pytest.mark.parametrize(("sync", "races"), [("after and before", False), ("after", True), ("before", True)])
def test_written_flags_around_an_entry(sync: str, races: bool) -> None:
    """They stand behind the wait and before the free; each is missed."""
    arguments, _, _ = given()
    assert ("race" in kinds(stored(sync), *arguments)) == races


# --- any order --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["random:1", "random:2", "delay:FIX", "delay:V", "delay:MTE3"])
def test_every_schedule_gives_the_same(schedule: str) -> None:
    for fifo in (Fifo(2), Fifo(4, 1), Fifo(4, 2, "a2a3", through_gm=True, local=2)):
        arguments, out, product = given()
        ptosim.load(to_vector(fifo, COUNT)).kernel()(
            *arguments, *fifo.arguments(), engine="reference", schedule=schedule
        )
        assert np.array_equal(out, product + 1)


def test_entries_in_branches_of_nested_loops() -> None:
    """Only every other product is pushed: no code knows how many there were but by counting."""
    text = to_vector(Fifo(4, 1), COUNT)
    even = "%half = arith.remui %i, %c2 : index\n%even = arith.cmpi eq, %half, %c0 : index\nscf.if %even {\n"
    push = re.search(r"pto\.tpush_to_aiv.*\n", text)
    assert push is not None
    text = text.replace(push[0], f"{even}{push[0]}}}\n")
    start, stop = text.index("%t = pto.tpop_from_aic"), text.rindex("}\nreturn")
    text = f"{text[:start]}{even}{text[start:stop]}}}\n{text[stop:]}"
    arguments, out, product = given(11)
    run(text, *arguments)
    expected = product.reshape(11, ROWS, COLS) + 1
    expected[1::2] = 0
    assert np.array_equal(out, expected.reshape(out.shape))


# --- as compilers write them ------------------------------------------------------------------------------------------


def long(loc: str, element: str, rows: int, cols: int, layout: str, fractal: int = 512) -> str:
    """The long form of a tile type whose valid region is open."""
    blayout, slayout = layout.split()
    shape = f"rows={rows}, cols={cols}, v_row=?, v_col=?"
    order = f"blayout={blayout}, slayout={slayout}, fractal={fractal}, pad=0"
    return f"!pto.tile_buf<loc={loc}, dtype={element}, {shape}, {order}>"


def compiled(split: int) -> str:
    """Written addresses, types in the long form, parameters of the launch; the halves are told apart by one of them."""
    nz, nd = "col_major row_major", "row_major none_box"
    mats = long("mat", "f16", 32, 16, nz), long("mat", "f16", 16, 64, nz)
    lefts = long("left", "f16", 32, 16, "row_major row_major"), long("right", "f16", 16, 64, "row_major col_major")
    acc, rows = long("acc", "f32", 32, 64, nz, 1024), 16 if split else 32
    popped = long("vec", "f32", rows, 64, nd)
    launch = "%__pypto_spmd_block_idx: i32, %__pypto_spmd_block_num: i32"
    given = "%a_gm: !pto.ptr<f16>, %b_gm: !pto.ptr<f16>, %out_gm: !pto.ptr<f32>"
    setup = "{id = 0, dir_mask = 1, slot_size = 8192, slot_num = 4}"
    setup += " (c2v_consumer_buf = %s : i32, v2c_consumer_buf = %zero : i32)"
    head = "\n".join(
        [
            *(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 3, 16, 32, 64, 96)),
            *(f"%a{n} = arith.constant {n} : i64" for n in (0, 4096, 32768)),
            "%zero = arith.constant 0 : i32",
            "%blk = arith.index_cast %__pypto_spmd_block_idx : i32 to index",
            "%first = arith.muli %blk, %c96 : index",
        ]
    )

    def viewed(name: str, rows: str, cols: int, element: str) -> str:
        return (
            f"%{name} = pto.make_tensor_view %{name}_gm, shape = [{rows}, %c{cols}], strides = [%c{cols}, %c1] "
            f"{{layout = #pto.layout<nd>}} : !pto.tensor_view<?x?x{element}>"
        )

    def cut(name: str, source: str, row: str, rows: int, cols: int, element: str) -> str:
        return (
            f"%{name} = pto.partition_view %{source}, offsets = [{row}, %c0], sizes = [%c{rows}, %c{cols}] "
            f": !pto.tensor_view<?x?x{element}> -> !pto.partition_tensor_view<{rows}x{cols}x{element}>"
        )

    def tile(name: str, address: int, rows: int, cols: int, type_: str) -> str:
        return f"%{name} = pto.alloc_tile addr = %a{address} valid_row = %c{rows} valid_col = %c{cols} : {type_}"

    return f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @gemm_aic({given}, {launch}) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
{head}
%s = pto.import_reserved_buffer {{name = "gemm_c2v", peer_func = @gemm_aiv}} -> i32
pto.aic_initialize_pipe {setup}
{viewed("a", "%c96", 16, "f16")}
{viewed("b", "%c16", 64, "f16")}
{cut("pb", "b", "%c0", 16, 64, "f16")}
{tile("mb", 4096, 16, 64, mats[1])}
{tile("rb", 0, 16, 64, lefts[1])}
pto.tload ins(%pb : !pto.partition_tensor_view<16x64xf16>) outs(%mb : {mats[1]})
pto.tmov ins(%mb : {mats[1]}) outs(%rb : {lefts[1]})
scf.for %i = %c0 to %c3 step %c1 {{
  %off = arith.muli %i, %c32 : index
  %row = arith.addi %first, %off : index
  {cut("pa", "a", "%row", 32, 16, "f16")}
  {tile("ma", 0, 32, 16, mats[0])}
  {tile("la", 0, 32, 16, lefts[0])}
  {tile("acc", 0, 32, 64, acc)}
  pto.tload ins(%pa : !pto.partition_tensor_view<32x16xf16>) outs(%ma : {mats[0]})
  pto.tmov ins(%ma : {mats[0]}) outs(%la : {lefts[0]})
  pto.tmatmul ins(%la, %rb : {lefts[0]}, {lefts[1]}) outs(%acc : {acc})
  pto.tpush_to_aiv(%acc : {acc}) {{split = {split}}}
}}
return
}}
func.func @gemm_aiv({given}, {launch}, %__pypto_spmd_subblock_idx: i32)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{head}
%s = pto.reserve_buffer {{name = "gemm_c2v", size = 32768, location = #pto.address_space<vec>,
    auto = false, base = 0}} -> i32
pto.aiv_initialize_pipe {setup}
%which = arith.index_cast %__pypto_spmd_subblock_idx : i32 to index
%half = arith.muli %which, %c{rows} : index
{viewed("out", "%c96", 64, "f32")}
scf.for %i = %c0 to %c3 step %c1 {{
  %off = arith.muli %i, %c32 : index
  %begin = arith.addi %first, %off : index
  %row = arith.addi %begin, %half : index
  %t = pto.tpop_from_aic {{split = {split}}} -> {popped}
  {tile("d", 32768, rows, 64, popped)}
  pto.tadd ins(%t, %t : {popped}, {popped}) outs(%d : {popped})
  pto.tfree_from_aic {{split = {split}}}
  {cut("po", "out", "%row", rows, 64, "f32")}
  pto.tstore ins(%d : {popped}) outs(%po : !pto.partition_tensor_view<{rows}x64xf32>)
}}
return
}}
}}
"""


@pytest.mark.parametrize("split", [0, 1])
def test_a_pair_as_compilers_write_it(split: int) -> None:
    kernel = ptosim.load(compiled(split)).kernel()
    assert kernel.name == "gemm" and len(kernel.signature) == 3
    a, b, product = inputs(6)
    outs = [np.zeros_like(product) for _ in range(2)]
    assert not {each.kind for each in ptosim.check(kernel, a, b, outs[0], grid=2).findings} - {"lint"}
    for engine, out in zip(("native", "reference"), outs, strict=True):
        kernel(a, b, out, grid=2, engine=engine)
        assert np.array_equal(out, 2 * product)


# --- in a trace -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [2, 4])
@pytest.mark.parametrize(("target", "split"), [("a5", 0), ("a5", 1), ("a2a3", 1)])
def test_a_trace_shows_entries_on_their_way(target: str, split: int, slots: int, tmp_path: Path) -> None:
    """Arrows from each push to its pop, and how many slots are filled and not yet given back."""
    fifo = Fifo(slots, split, target, through_gm=target == "a2a3")
    arguments, _, _ = given()
    profile = ptosim.profile(ptosim.load(to_vector(fifo, COUNT)).kernel(), *arguments, *fifo.arguments())
    profile.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    cores = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    pushed = [event for event in events if event["ph"] == "s" and event["name"].startswith("pto.tpush_to_aiv")]
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    for core in ("b0.aiv0", "b0.aiv1") if split else ("b0.aiv0",):
        across = [event for event in pushed if cores[ends[event["id"]]["pid"]] == core]
        assert len(across) == COUNT and {cores[event["pid"]] for event in across} == {"b0.aic"}
        counters = [event for event in events if event["ph"] == "C" and cores[event["pid"]] == core]
        levels = [
            e["args"]["slots"] for e in counters if e["name"] == "pto.tpush_to_aiv %acc of b0.aic: slots in flight"
        ]
        changes = np.diff([0, *levels])
        assert (changes > 0).sum() == (changes == 1).sum() == COUNT  # each push fills one
        returned = slots if slots <= 2 else slots // 2
        given_back = [-change for change in changes if change < 0]
        assert given_back == [returned] * (COUNT // returned) + ([COUNT % returned] if COUNT % returned else [])
        assert levels[-1] == 0 and 1 <= max(levels) <= slots
    receivers = ["aiv0", "aiv1"] if split else ["aiv0"]
    used = profile.to_json()["result"]["fifos"]
    assert [(fifo["source"], fifo["dest"]) for fifo in used] == [("aic", core) for core in receivers]
    assert all(fifo["entries"] == COUNT and 0 < fifo["mean"] < fifo["most"] <= slots for fifo in used)
    assert "pto.tpush_to_aiv %acc" in profile.text()
