"""Signals that name no pipe, as the pages spell them with two integers: followed by a proof, and repaired."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptosim
from ptosim.repair import engine

SEEDS = Path(__file__).parents[1] / "seeds"
TEXTS = {target: (SEEDS / f"sync_cluster_{target}.pto").read_text() for target in ("a5", "a2a3")}
SIGNALS = ("set_intra_block", "wait_intra_core", "set_cross_core", "wait_flag_dev")


def wrong_lines() -> list[tuple[str, int, int]]:
    """Each signal left out, or written twice: of which text, in which line, how often."""
    return [
        (target, number, times)
        for target, text in TEXTS.items()
        for number, line in enumerate(text.splitlines())
        if line.strip().removeprefix("pto.").startswith(SIGNALS)
        for times in (0, 2)
    ]


@pytest.mark.parametrize("target", TEXTS)
def test_signals_of_whole_cores_are_followed(target: str):
    assert ptosim.prove(ptosim.load(TEXTS[target]).kernel()).proven


@pytest.mark.parametrize(("target", "number", "times"), wrong_lines(), ids=str)
def test_one_that_is_left_out_or_written_twice_is_found_and_repaired(target: str, number: int, times: int):
    lines = TEXTS[target].splitlines()
    lines[number : number + 1] = [lines[number]] * times
    kernel = ptosim.load("\n".join(lines) + "\n").kernel()
    assert ptosim.prove(kernel).findings
    fix = ptosim.check(kernel, np.zeros(4, "i4")).fix()
    assert fix.verified and engine.PROVEN in fix.notes


def test_there_are_ten_such_lines():
    assert len(wrong_lines()) == 20
