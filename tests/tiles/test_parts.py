"""Functions that mix tiles of cube and vector without sections run part by part, in the order of the text."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

import ptosim
from fifo_programs import (
    ACC,
    COLS,
    CUBE_TILES,
    DEPTH,
    NUMBERS,
    ROWS,
    inputs,
    load,
    mat,
    multiply,
    part,
    run,
    store,
    vec,
    view,
)
from ptosim.diagnostics import PTOError

TILE = vec(ROWS, COLS)
PARAMETERS = "%a_gm: !pto.ptr<f16>, %b_gm: !pto.ptr<f16>, %t_gm: !pto.ptr<f32>, %out_gm: !pto.ptr<f32>"
ADDED = f"""{load("pt", ROWS, COLS, "f32", "x", TILE)}
pto.tadds ins(%x, %one : {TILE}, f32) outs(%d : {TILE})
"""


def kernel(body: str, target: str = "a5") -> str:
    return f"""module attributes {{pto.target_arch = "{target}"}} {{
func.func @k({PARAMETERS}) attributes {{pto.kernel}} {{
{NUMBERS}
%one = arith.constant 1.0 : f32
{view("t", "t_gm", "%c32", COLS, "f32")}
{part("pt", "t", "%c0", ROWS, COLS, "f32")}
{view("o", "out_gm", "%c32", COLS, "f32")}
{part("po", "o", "%c0", ROWS, COLS, "f32")}
%x = pto.alloc_tile : {TILE}
%d = pto.alloc_tile : {TILE}
{body}
return
}}
}}
"""


PRODUCT = f"{CUBE_TILES}\n{multiply(store('acc', ACC, 'pt', ROWS, COLS, 'f32'))}\n".replace("@", "").replace(
    "%i ", "%c0 "
)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_parts_follow_each_other(target: str) -> None:
    """A product goes to GM, the vector core adds one in place, a second product comes from what it left."""
    in_place = f"{ADDED}{store('d', TILE, 'pt', ROWS, COLS, 'f32')}\n"
    final = f"{load('pt', ROWS, COLS, 'f32', 'x', TILE)}\n{store('x', TILE, 'po', ROWS, COLS, 'f32')}\n"
    operands = f"{mat(ROWS, DEPTH, loc='left')}, {mat(DEPTH, COLS, loc='right')}"
    again = f"pto.tmatmul ins(%la, %rb : {operands}) outs(%acc : {ACC})\n"
    text = kernel(PRODUCT + in_place + again + final, target)
    a, b, product = inputs(1)
    between, out = np.zeros_like(product), np.zeros_like(product)
    run(text, a, b, between, out, clean=False)
    assert np.array_equal(between, product + 1)
    assert np.array_equal(out, product + 1)


def test_check_remarks_parts_that_exchange_data() -> None:
    text = kernel(PRODUCT + ADDED + store("d", TILE, "po", ROWS, COLS, "f32"))
    a, b, product = inputs(1)
    report = ptosim.check(ptosim.load(text).kernel(), a, b, np.zeros_like(product), np.zeros_like(product))
    assert [finding.kind for finding in report.findings] == ["lint"]
    assert "cube and vector parts exchange GM data without sync" in report.findings[0].message
    assert report.findings[0].line == 1 + text[: text.index("pto.tload ins(%pt")].count("\n")


def test_parts_that_share_nothing_are_not_remarked() -> None:
    text = kernel(PRODUCT + ADDED.replace("%pt", "%po") + store("d", TILE, "po", ROWS, COLS, "f32"))
    a, b, product = inputs(1)
    temporary, out = np.zeros_like(product), np.full_like(product, 3)
    run(text, a, b, temporary, out)
    assert np.array_equal(temporary, product) and (out == 4).all()


def test_a_value_of_one_part_is_not_for_another() -> None:
    value = f"%v = pto.tgetval ins(%d, %c0 : {TILE}, index) outs : f32\n"
    later = f"scf.if %is {{\n{multiply(store('acc', ACC, 'pt', ROWS, COLS, 'f32'))}\n}}".replace("@", "").replace(
        "%i ", "%c0 "
    )
    text = kernel(CUBE_TILES + "\n" + ADDED + value + "%is = arith.cmpf ogt, %v, %one : f32\n" + later)
    with pytest.raises(PTOError) as raised:
        ptosim.load(text)
    assert "an operation of one kind of core" in raised.value.diagnostics[0].message


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_flags_belong_to_the_part_that_has_their_pipes(target: str) -> None:
    """Every entry of both parts is ordered by a flag that only one kind of core can have."""

    ids = count()

    def ordered(source: str, destination: str) -> str:
        pair = f'"PIPE_{source}", "PIPE_{destination}", "EVENT_ID{next(ids)}"'
        return f"pto.set_flag[{pair}]\npto.wait_flag[{pair}]\n"

    product = PRODUCT
    for first, pair in (
        ("pto.tmov ins(%ma", "MTE2 MTE1"),
        ("pto.tmov ins(%mb", "MTE2 MTE1"),
        ("pto.tmatmul", "MTE1 M"),
        ("pto.tstore", "M FIX"),
    ):
        product = product.replace(first, ordered(*pair.split()) + first)
    assert product.count("pto.set_flag") == 4
    loaded, added = ADDED.split("\n", 1)
    body = f"{product}{loaded}\n{ordered('MTE2', 'V')}{added}{ordered('V', 'MTE3')}"
    text = kernel(body + store("d", TILE, "po", ROWS, COLS, "f32") + "\npto.barrier #pto.pipe<PIPE_ALL>", target)
    a, b, expected = inputs(1)
    between, out = np.zeros_like(expected), np.zeros_like(expected)
    run(text, a, b, between, out, clean=False)
    assert np.array_equal(between, expected) and np.array_equal(out, expected + 1)
    findings = ptosim.check(ptosim.load(text).kernel(), a, b, between, out).findings
    assert [finding.kind for finding in findings] == ["lint"]


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_functions_that_say_no_kind_are_parts_of_their_caller(target: str) -> None:
    whole = kernel(PRODUCT, target).replace("@k(", "private @product(").replace(" attributes {pto.kernel}", "")
    added = kernel(ADDED + store("d", TILE, "po", ROWS, COLS, "f32")).replace("@k(", "private @add(")
    functions = [text[text.index("func.func") : text.rindex("}")] for text in (whole, added)]
    call = "(%a_gm, %b_gm, %t_gm, %out_gm) : (!pto.ptr<f16>, !pto.ptr<f16>, !pto.ptr<f32>, !pto.ptr<f32>) -> ()"
    caller = f"func.func @k({PARAMETERS}) {{\nfunc.call @product{call}\nfunc.call @add{call}\nreturn\n}}\n"
    inner = "".join(functions).replace(" attributes {pto.kernel}", "")
    text = f'module attributes {{pto.target_arch = "{target}"}} {{\n{inner}{caller}}}\n'
    a, b, expected = inputs(1)
    between, out = np.zeros_like(expected), np.zeros_like(expected)
    run(text, a, b, between, out, clean=False)
    assert np.array_equal(between, expected) and np.array_equal(out, expected + 1)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_accumulators_go_to_the_vector_part_on_chip(target: str) -> None:
    """Also where the machine has no instruction for it: what it is lowered to loads again."""
    moved = f"pto.tmov ins(%acc : {ACC}) outs(%x : {TILE})\n"
    whole = PRODUCT[: PRODUCT.index("pto.tstore")] + moved + ADDED.split("\n", 1)[1]
    text = kernel(whole + store("d", TILE, "po", ROWS, COLS, "f32"), target)
    a, b, expected = inputs(1)
    for loaded in (text, str(ptosim.load(text).lowered())):
        out = np.zeros_like(expected)
        run(loaded, a, b, np.zeros_like(expected), out)
        assert np.array_equal(out, expected + 1)


@pytest.mark.parametrize("signals", ["pto.{}_intra_block <{}>, 0", "pto.sync.{} <{}>, 0"])
def test_signals_between_the_parts_belong_to_the_cores_of_their_pipes(signals: str) -> None:
    """The fixpipe of the cube core says that the tile is there; the vector core waits for that."""
    move = f"pto.tmov ins(%acc : {ACC}) outs(%x : {TILE})"
    product = f"{CUBE_TILES}\n{multiply(move)}\n".replace("@", "").replace("%i ", "%c0 ")
    body = f"""{product}
{signals.format("set", "PIPE_FIX")}
{signals.format("wait", "PIPE_V")}
pto.tadds ins(%x, %one : {TILE}, f32) outs(%d : {TILE})
{store("d", TILE, "po", ROWS, COLS, "f32")}"""
    a, b, expected = inputs(1)
    out = np.zeros_like(expected)
    run(kernel(body), a, b, np.zeros_like(expected), out)
    assert np.array_equal(out, expected + 1)
