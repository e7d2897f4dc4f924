"""Tile operations on A2/A3: what was measured, and how the sequences of the machine grow with shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim.effects.names import Pipe
from ptosim.language.catalogue import operations
from ptosim.language.tile.tile_operation import TileOperation
from ptosim.target import load_target
from ptosim.tiles.catalogue import lowering_of, sequence_of
from ptosim.timing.function_time import VectorFunctionTiming
from tables import table

ENGINES = ("native", "reference")


def _tile(rows: int, cols: int, element: str, valid: str = "", layout: str = "row_major") -> str:
    return f"!pto.tile_buf<vec, {rows}x{cols}x{element}{valid}, blayout={layout}>"


def _kernel(lines: str, arguments: str = "") -> ptosim.Kernel:
    text = f'module attributes {{pto.target_arch = "a3"}} {{\nfunc.func @k({arguments}) attributes {{pto.entry}} {{\n'
    return ptosim.load(f"{text}{lines}\nreturn\n}}\n}}").kernel()


def _operation(name: str, element: str, rows: int, cols: int, attributes: str = "") -> str:
    """One operation on tiles of this shape."""
    whole, column, row = (
        _tile(rows, cols, element),
        _tile(rows, 1, element, layout="col_major"),
        _tile(1, cols, element),
    )
    second = _SECOND.get(name, "")
    source = column if name == "trowexpand" else whole
    result = column if name in ("trowsum", "trowmax", "trowmin") else row if name.startswith("tcol") else whole
    types = {"": [source], "tile": [source, whole], "scalar": [source, element]}[second]
    names = {"": "%a", "tile": "%a, %b", "scalar": "%a, %s"}[second]
    return f"""
        %a = pto.alloc_tile : {source}
        %b = pto.alloc_tile : {whole}
        %d = pto.alloc_tile : {result}
        pto.{name} ins({names}{attributes} : {", ".join(types)}) outs(%d : {result})"""


_SECOND = dict.fromkeys(("tadd", "tsub", "tmul", "tmax", "tmin", "trowsum", "trowmax", "trowmin"), "tile")
_SECOND |= {"tcolsum": "tile"} | dict.fromkeys(("tmuls", "tmins", "tmaxs", "tadds", "tdivs"), "scalar")


def _functions(kernel: ptosim.Kernel, engine: str, *arguments: Any) -> list[VectorFunctionTiming]:
    return ptosim.profile(kernel, *arguments, engine=engine).recording.functions


def _time(name: str, element: str, rows: int, cols: int, attributes: str = "") -> VectorFunctionTiming:
    kernel = _kernel(_operation(name, element, rows, cols, attributes), f"%s: {element}")
    scalar = np.float32(2) if element == "f32" else np.float16(2)
    native, reference = (_functions(kernel, engine, scalar) for engine in ENGINES)
    assert native == reference
    (found,) = native
    return found


MEASURED = {
    ("tsub", "f32", 64, 64): 153,
    ("tmuls", "f32", 32, 64): 58,
    ("tmins", "f32", 64, 64): 87,
    ("texp", "f32", 64, 64): 159,
    ("texp", "f16", 32, 32): 63,
    ("tsqrt", "f16", 64, 64): 160,
    ("tdivs", "f32", 32, 64): 205,
    ("trowsum", "f32", 64, 64): 492,
    ("trowmax", "f16", 64, 128): 481,
    ("tcolmax", "f32", 64, 64): 1137,
    ("tcolsum", "f32", 64, 64): 1263,
    ("trowexpand", "f32", 64, 64): 933,
}


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: " ".join(map(str, row)))
def test_what_was_measured(row: tuple[str, str, int, int]):
    attributes = " {isBinary = true}" if row[0] == "tcolsum" else ""
    within = 0.04 if row[0] == "trowexpand" else 0.03
    assert _time(*row, attributes).cycles == pytest.approx(MEASURED[row], rel=within)


def test_operations_of_one_price():
    for pair in (("tadd", "tsub"), ("tmax", "tmin"), ("tmaxs", "tmins")):
        assert len({_time(name, "f32", 32, 64).cycles for name in pair}) == 1


@table(
    "name, rows, cols, cycles",
    ("tadd", 16, 64, 7 + 16 * 2 + 18),
    ("tadd", 1, 104, 7 + (2 + 18) + (2 + 18)),  # a whole repeat, and a masked one
    ("tadd", 8, 24, 7 + 3 * 2 + 18),  # rows of 96 bytes without gaps
    ("tadd", 128, 128, 7 + 256 * 2 + 2 * 18),  # an instruction has at most 255 repeats
    ("trowsum", 16, 160, 7 + 4 + 2 * (16 * 2 + 18) + 16 * 7 + 32),  # 640 bytes are three repeats
    ("trowsum", 8, 1024, 7 + (128 + 24) + (8 + 4 + 2 + 1) * 2 + 4 * 18 + (1 + 24)),  # groups, halves, groups
    ("trowmax", 64, 128, 7 + (128 + 17) + (8 * 2 + 16) + (8 + 17)),
    ("tcolmax", 10, 128, 7 + 9 * (2 * 2 + 16)),
    ("trowexpand", 16, 128, 7 + 4 + 16 * (2 + 13)),
    ("tdivs", 16, 64, 7 + (16 + 13) + (16 * 4 + 25)),
    ("tcolmax", 1, 64, 0),  # the copy of the row is hidden
)
def test_other_shapes_grow_as_the_rule_says(name: str, rows: int, cols: int, cycles: int):
    assert _time(name, "f32", rows, cols).cycles == cycles


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows, cols", [(16, 64), (16, 40), (3, 64), (1, 8), (0, 64)])
def test_sizes_that_only_the_run_knows(engine: str, rows: int, cols: int):
    """A tile of 16 rows of 256 bytes: rows that are not whole have gaps between them."""
    tile = _tile(16, 64, "f32", ", valid=?x?")
    kernel = _kernel(
        f"""
        %a = pto.alloc_tile valid_row = %r valid_col = %c : {tile}
        %d = pto.alloc_tile valid_row = %r valid_col = %c : {tile}
        pto.texp ins(%a : {tile}) outs(%d : {tile})""",
        "%r: index, %c: index",
    )
    (found,) = _functions(kernel, engine, rows, cols)
    assert found.cycles == (7 + rows * 2 + 24 if rows else 0)
    assert found.lane_use == (pytest.approx(cols / 64) if rows else None)


def test_rows_with_gaps_take_an_instruction_for_each_column_of_registers():
    wide = _tile(16, 256, "f32", ", valid=16x160")
    lines = f"""
        %a = pto.alloc_tile : {wide}
        %d = pto.alloc_tile : {wide}
        pto.texp ins(%a : {wide}) outs(%d : {wide})"""
    (found,) = _functions(_kernel(lines), "native")
    assert found.cycles == 7 + 3 * (16 * 2 + 24)
    assert found.sum == "7 + 3 × (16 × 2 (vexp) + 24) = 175" and found.lane_use == pytest.approx(640 / 768, abs=0.01)


def test_the_sum_names_the_instructions():
    assert _time("trowsum", "f32", 64, 64).sum == "7 + 4 + 64 × 7 (vcadd) + 32 = 491"


def test_the_lowered_text_has_the_same_price():
    kernel = _kernel(_operation("trowsum", "f32", 16, 160), "%s: f32")
    again = ptosim.load(str(kernel.module.lowered())).kernel()
    assert "pto.sim.instructions" in again.module.source
    (one,), (other,) = (_functions(each, "native", np.float32(0)) for each in (kernel, again))
    assert one.sum == other.sum == "7 + 4 + 2 × (16 × 2 (vadd) + 18) + 16 × 7 (vcadd) + 32 = 255"


def test_other_figures():
    kernel = _kernel(_operation("tadd", "f32", 64, 64), "%s: f32")
    target = load_target("a2a3").with_overrides({"vadd.tail": 30, "tile.head": 10})
    profile = ptosim.profile(kernel, np.float32(0), target=target)
    assert [each.cycles for each in profile.recording.functions] == [10 + 64 * 2 + 30]
    assert {"instruction.vadd.tail", "tile.head"} <= {figure.path for figure in profile.rests_on}


GUESSED = """
    trem trems tfmod tfmods tpow tpows tprelu tshl tshr
    trowprod trowargmax trowargmin tcolargmax tcolargmin tpartargmax tpartargmin
    tquant tdequant tfillpad tconcatidx tscatter mgather mscatter ttri tsort32 tmrgsort comm.treduce
"""
"""Their price is a guess, or a sort's, a copy's or a sum's that stands elsewhere."""


def test_every_operation_has_a_sequence_or_its_price_is_a_guess():
    guessed = {
        op.name.removeprefix("pto.")
        for op in operations()
        if issubclass(op, TileOperation) and "a2a3" in op.targets and Pipe.V in op.pipes
        if lowering_of(op.name) is not None and sequence_of(op.name) is None
    }
    assert guessed == set(GUESSED.split())


def test_a_profile_says_what_an_operation_consists_of():
    kernel = _kernel(_operation("tcolmax", "f32", 10, 128), "%s: f32")
    profile = ptosim.profile(kernel, np.float32(0))
    (found,) = profile.tile_operations
    assert (found.name, found.count, found.cycles, found.is_guess) == ("pto.tcolmax %d", 1, 7 + 9 * (4 + 16), False)
    assert found.sum == "7 + 9 × (2 × 2 (vmax) + 16) = 187" and found.idle_repeats == 0
    assert found.sum in str(profile)
    (told,) = profile.to_json()["result"]["tile_operations"]
    assert told["instructions"][0]["name"] == "vmax" and told["guess"] is False


def test_repeats_that_are_wasted_and_instructions_of_one_repeat():
    narrow = _tile(16, 64, "f32", ", valid=16x24")
    lines = f"""
        %a = pto.alloc_tile : {narrow}
        %d = pto.alloc_tile : {narrow}
        pto.texp ins(%a : {narrow}) outs(%d : {narrow})"""
    (found,) = ptosim.profile(_kernel(lines)).tile_operations
    assert found.lane_use == 24 / 64 and found.idle_repeats == 16 * 40 / 64 and found.single_repeats == 0
    (found,) = ptosim.profile(_kernel(_operation("tcolmax", "f32", 10, 64), "%s: f32"), np.float32(0)).tile_operations
    assert found.single_repeats == 9


def test_a_guess_is_said():
    tile, column = _tile(16, 64, "f32"), _tile(16, 1, "f32", layout="col_major")
    lines = f"""
        %a = pto.alloc_tile : {tile}
        %b = pto.alloc_tile : {tile}
        %d = pto.alloc_tile : {column}
        pto.trowprod ins(%a, %b : {tile}, {tile}) outs(%d : {column})"""
    profile = ptosim.profile(_kernel(lines))
    (found,) = profile.tile_operations
    assert found.is_guess and found.lane_use is None
    assert "guessed: the cycles of trowprod" in str(profile)
    assert profile.to_json()["result"]["tile_operations"][0]["guess"] is True


def test_a5_has_no_sequences():
    text = _kernel(_operation("tcolmax", "f32", 10, 64), "%s: f32").module.source.replace('"a3"', '"a5"')
    module = ptosim.load(text)
    assert "pto.sim.instructions" not in str(module.lowered())
    assert ptosim.profile(module.kernel(), np.float32(0)).tile_operations == ()
