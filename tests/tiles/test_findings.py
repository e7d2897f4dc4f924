"""Findings and profiles speak of tiles: the operation, its tile, its rows, at the line that was written."""

import numpy as np
import pytest

import ptosim
from matrix_programs import NZ, Program
from ptosim.api import Kernel
from tables import table

TILE = "!pto.tile_buf<vec, 16x64xf32>"
PART = "!pto.partition_tensor_view<16x64xf32>"
KERNEL = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %xv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %yv = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x?xf32> -> {PART}
    %a = pto.alloc_tile : {TILE}
    %sum = pto.alloc_tile : {TILE}
    pto.tload ins(%xp : {PART}) outs(%a : {TILE})
    pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%sum : {TILE})
    pto.tstore ins(%sum : {TILE}) outs(%yp : {PART})
    return
  }}
}}
"""


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.ones((16, 64), "f4"), np.zeros((16, 64), "f4")


@pytest.fixture
def unordered() -> Kernel:
    return ptosim.load(KERNEL, sync="written").kernel()


def test_a_race_names_the_tile_and_its_rows(unordered: Kernel):
    report = ptosim.check(unordered, *arrays())
    assert [(found.line, found.message) for found in report.findings if found.severity == "error"] == [
        (15, "MTE3 may read tile %sum rows 0:16 (ub[4096:8192]) before V has written it"),
        (14, "V may read tile %a row 0 (ub[0:256]) before MTE2 has written it"),
    ]


def test_inserted_order_makes_it_clean():
    report = ptosim.check(ptosim.load(KERNEL).kernel(), *arrays())
    assert not report.findings, report


def test_a_profile_shows_tile_operations():
    profile = ptosim.profile(ptosim.load(KERNEL).kernel(), *arrays())
    names = {(event.pipe, event.name, event.line) for event in profile.timeline}
    assert {("MTE2", "pto.tload %a", 13), ("V", "pto.tadd %sum", 14), ("MTE3", "pto.tstore %sum", 15)} <= names


@pytest.mark.parametrize(("compact", "kinds"), [("", ["lint"]), (", compact=1", [])])
def test_short_operands_are_worth_a_word_only_where_the_library_would_step_by_the_whole_tile(
    compact: str, kinds: list[str]
):
    """The boxes of a compact tile are packed by its valid rows, as a product reads them."""
    program = Program(scalars={"rows": "index"})
    program.view("a", "f16", ("%rows", 32), (32, 1))
    program.tile("m", "mat, 64x32xf16, valid=?x?", NZ, valid=("%rows", 32))
    program.tile("l", f"left, 64x32xf16, valid=?x?, {NZ}{compact}", valid=("%rows", 32))
    program.op("tload", ["a"], ["m"])
    program.op("tmov", ["m"], ["l"])
    report = program.run(np.ones((13, 32), np.float16), 13)
    assert [finding.kind for finding in report.findings] == kinds


@table("rows, depth, compact, remarks", (20, 32, 0, 1), (20, 32, 1, 0), (50, 32, 0, 0), (20, 16, 0, 0))
def test_a_short_valid_region_lies_closer_together_than_its_tile_says(
    rows: int, depth: int, compact: int, remarks: int
) -> None:
    program = Program()
    program.view("a", "f16", (64, depth))
    program.tile("ma", f"mat, 64x{depth}xf16, valid={rows}x{depth}", NZ)
    program.tile("la", f"left, 64x{depth}xf16, valid={rows}x{depth}, compact={compact}", NZ)
    program.op("tload", ["a"], ["ma"])
    program.op("tmov", ["ma"], ["la"])
    found = ptosim.check(ptosim.load(str(program)).kernel(), np.ones((64, depth), np.float16)).findings
    said = "a short valid region in a tile that is not compact: the official library would step by the whole tile"
    assert [each.message for each in found if each.kind == "lint"] == [said] * remarks
