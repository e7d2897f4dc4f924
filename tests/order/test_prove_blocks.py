"""Blocks of a grid in global memory: a counterexample where they meet in no order, and none where they do not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptosim
from observed import findings
from ptosim.order.prove import DIFFERENT_BLOCKS

GM, UB = "!pto.ptr<f32, gm>", "!pto.ptr<f32, ub>"
IN = f"pto.mte_gm_ub {{}}, %ub, %l0, %l256 nburst(%l1, %l256, %l256) : {GM}, {UB}, i64, i64, i64, i64, i64"
OUT = f"pto.mte_ub_gm %ub, {{}}, %l256 nburst(%l1, %l256, %l256) : {UB}, {GM}, i64, i64, i64, i64"
PAIR = "\n".join(f'pto.{half}_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]' for half in ("set", "wait"))
COPY = "\n".join((IN.format("%x"), PAIR, OUT.format("%row")))


def kernel(body: str, arguments: str = "") -> ptosim.Kernel:
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
      func.func @k(%x: {GM}, %y: {GM}{arguments}) attributes {{pto.kernel}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c32 = arith.constant 32 : index
        %c64 = arith.constant 64 : index
        %l0 = arith.constant 0 : i64
        %l1 = arith.constant 1 : i64
        %l256 = arith.constant 256 : i64
        %ub = pto.castptr %l0 : i64 -> {UB}
        %number = pto.get_block_idx
        %b = arith.index_cast %number : i64 to index
        {body}
        pto.barrier #pto.pipe<PIPE_ALL>
        return
      }}
    }}"""
    return ptosim.load(text).kernel()


def row(of: str = "%b", apart: str = "%c64", name: str = "row") -> str:
    return f"""%{name}_at = arith.muli {of}, {apart} : index
        %{name} = pto.addptr %y, %{name}_at : {GM} -> {GM}
        """


def only(block: int, *lines: str) -> str:
    condition = f"%is{block} = arith.cmpi eq, %b, %c{block} : index"
    return "\n".join((condition, f"scf.if %is{block} {{", *lines, "}"))


NEXT = "%next = arith.addi %b, %c1 : index\n"
ODD = "%half = arith.remui %b, %c2 : index\n"
MEETING = {
    "all write the first row": row("%c0") + COPY,
    "rows overlap": row(apart="%c32") + COPY,
    "the row of the next block is read": NEXT + row() + row("%next", name="other") + COPY.replace("%x", "%other"),
    "two blocks on": ODD + row("%half") + COPY,
    "one writes, another reads": only(0, OUT.format("%y")) + "\n" + only(1, IN.format("%y")),
}
APART = {
    "own rows": row() + COPY,
    "the first block alone": only(0, IN.format("%x"), PAIR, OUT.format("%y")),
    "a block does not write": row("%c0") + IN.format("%row"),
}
MET = (
    f'{only(0, OUT.format("%y"))}\npto.barrier #pto.pipe<PIPE_ALL>\npto.dsb "DDR"\n'
    f"pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>\n"
    f"{only(1, IN.format('%y'))}"
)


@pytest.mark.parametrize("name", MEETING)
def test_blocks_that_meet_are_a_counterexample_and_a_check_shows_it(name: str):
    subject = kernel(MEETING[name])
    (found,) = ptosim.prove(subject).findings
    assert found.kind == "race" and "in no order" in found.message
    grid = int(re.findall(r"a grid of (\d)", "\n".join(found.notes))[0])
    seen = findings(subject, np.zeros(640, "f4"), np.zeros(640, "f4"), grid=grid)
    races = [{each.line, *(other.location.line for other in each.related)} for each in seen if each.kind == "race"]
    assert {found.line, found.related[0].location.line} in races


@pytest.mark.parametrize("name", APART)
def test_blocks_that_do_not_meet_are_proven(name: str):
    assert ptosim.prove(kernel(APART[name])).proven


def test_blocks_that_wait_for_each_other_are_no_counterexample():
    """Signals between blocks are not followed by a proof, but by a replay."""
    assert not ptosim.prove(kernel(MET)).findings
    assert ptosim.prove(kernel(MET.replace("pto.syncall() mode", "// "))).findings


ROWS = f"""{row(apart="%stride", name="own")}
        scf.for %i = %c0 to %rows step %c1 {{
          %at = arith.muli %i, %c64 : index
          %row = pto.addptr %own, %at : {GM} -> {GM}
          {COPY}
          pto.barrier #pto.pipe<PIPE_ALL>
        }}"""


def test_a_distance_of_blocks_that_only_the_run_knows_is_taken_to_be_right():
    assert ptosim.prove(kernel(ROWS, ", %rows: index, %stride: index")).proven


def test_blocks_are_apart_by_as_many_rows_as_they_have():
    counted = f"%stride = arith.muli %rows, %c64 : index\n{ROWS}"
    assert ptosim.prove(kernel(counted, ", %rows: index")).proven


def test_a_kernel_that_does_not_tell_its_blocks_apart_is_meant_for_one():
    whole = kernel(COPY.replace("%row", "%y"))
    assert not ptosim.prove(whole).proven
    lines = whole.module.outline.source.text.split("\n")
    assert ptosim.prove(ptosim.load("\n".join(line for line in lines if "%number" not in line)).kernel()).proven


@pytest.mark.parametrize(
    ("body", "is_decided"),
    [
        (APART["own rows"], True),
        (APART["a block does not write"], True),
        (row(apart="%n") + COPY, False),
        (row("%b", name="row") + COPY.replace("%x", "%row"), True),
        (APART["the first block alone"], False),
    ],
)
def test_blocks_that_closed_forms_tell_apart_are_not_assumed_to_be(body: str, is_decided: bool):
    proof = ptosim.prove(kernel(body, ", %n: index"))
    assert proof.proven and (DIFFERENT_BLOCKS not in proof.assumptions) == is_decided
