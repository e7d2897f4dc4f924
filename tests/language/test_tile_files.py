"""Whole kernels of tiles: they load, print stably, and say what keeps them from running."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError, Source
from ptosim.language.load import load, text

HERE = Path(__file__).parent


@pytest.mark.parametrize(("name", "kernel"), [("tile_moves.pto", "scaled_product"), ("comm.pto", "ring_put")])
def test_a_kernel_loads_and_prints_stably(name: str, kernel: str) -> None:
    loaded = load(Source(name, (HERE / name).read_text()))
    assert loaded.warnings == []
    assert [program.name for program in loaded.kernels] == [kernel]
    once = text(loaded)
    assert text(load(Source(name, once))) == once


def test_a_kernel_says_what_waits_for_its_lowering() -> None:
    kernel = ptosim.load(str(HERE / "tile_moves.pto")).kernel()
    with pytest.raises(PTOError) as raised:
        kernel(np.zeros((16, 128), "f2"), np.zeros((128, 32), "f2"), np.zeros((16, 32), "f4"))
    assert {found.kind for found in raised.value.diagnostics} == {"unsupported"}
    said = " ".join(found.message for found in raised.value.diagnostics)
    for name in ("tload", "textract", "tmatmul.acc", "tpush_to_aiv", "tpop_from_aic", "tstore"):
        assert f"pto.{name} cannot be run yet" in said
