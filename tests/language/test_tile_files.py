"""Whole kernels of tiles: they load, print stably, and run."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import Source
from ptosim.language.load import load, text
from ptosim.report.instruction import page
from tables import table

HERE = Path(__file__).parent


@pytest.mark.parametrize(("name", "kernel"), [("tile_moves.pto", "scaled_product"), ("comm.pto", "ring_put")])
def test_a_kernel_loads_and_prints_stably(name: str, kernel: str) -> None:
    loaded = load(Source(name, (HERE / name).read_text()))
    assert loaded.warnings == []
    assert [program.name for program in loaded.kernels] == [kernel]
    once = text(loaded)
    assert text(load(Source(name, once))) == once


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_kernel_of_moves_and_fifos_runs(engine: str) -> None:
    """Twice the product is added; its first element becomes the second, as the scalar unit moves it."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype("f2") for shape in ((16, 128), (128, 32)))
    out = np.ones((16, 32), "f4")
    expected = 2 * (a.astype("f4") @ b.astype("f4"))
    expected[0, 0] = expected[0, 1]
    ptosim.load(str(HERE / "tile_moves.pto")).kernel()(a, b, out, engine=engine)
    assert np.array_equal(out, expected + 1)


@table(
    "name, syntax",
    ("comm.tput", "pto.comm.tput(%dst, %src, buf(%ping[, %pong]) : TYPES) {atomicType}"),
    (
        "comm.treduce",
        "pto.comm.treduce(%dst, %acc, recv(%ping[, %pong]), group(%group, ...) : TYPES) {root, reduceOp}",
    ),
    (
        "tpop_from_aic",
        "%result = pto.tpop_from_aic[(%valid_row[, %valid_col])] {id, split} [aiv_subblockid(%aiv_subblockid)] -> TYPE",
    ),
    ("tfree_from_aic", "pto.tfree_from_aic[(%entry : TYPES)] {id, split}"),
    ("talloc_to_aiv", "%result = pto.talloc_to_aiv {id, split} -> TYPE"),
    ("tgetval", "%result = pto.tgetval ins(%src, %offset : TILE, SCALAR) outs : TYPE"),
    ("tsync", "pto.tsync ins(%tile, ... : TYPES), or pto.tsync<CLASS>"),
    (
        "initialize_l2l_pipe",
        "%result = pto.initialize_l2l_pipe {dir_mask, slot_size, slot_num, local_slot_num, flag_base, nosplit} "
        "(%buffer : TYPE, ...) -> !pto.pipe",
    ),
    (
        "textract",
        "pto.textract ins(%src, %row, %col[, %pre_quant] : TILE, SCALAR, SCALAR[, SCALAR] [fp %fp : TILE]) "
        "outs(%dst : TILE) {accToVecMode, reluPreMode}",
    ),
)
def test_a_page_says_how_an_operation_is_written(name: str, syntax: str) -> None:
    assert page(name).syntax == syntax


def test_the_page_of_an_end_names_its_operands() -> None:
    assert "(gm_slot_buffer = %gm_slot_buffer : TYPE, " in page("aic_initialize_pipe").syntax
