"""Kernels around FIFOs: sections, callers, lowered text, entries that other pipes read, cores that take part."""

from __future__ import annotations

import re

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


# --- how the two programs are written -----------------------------------------------------------------------------


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


# --- who takes part -----------------------------------------------------------------------------------------------


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


# --- other pipes --------------------------------------------------------------------------------------------------


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
