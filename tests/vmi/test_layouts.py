"""Layouts: they never change a bit, the chosen one costs least, and lanes that no use needs are not read."""

import re
from collections import Counter
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest

import ptosim
from logical_kernel import after, image, logical_text
from logical_programs import logical_program
from ptosim.diagnostics import Source
from ptosim.language.load import load
from ptosim.vmi import assignment
from ptosim.vmi.layout import CONTIGUOUS, HALVES
from ptosim.vmi.layout_costs import ACCESS, cost
from ptosim.vmi.lower import functions_on_vectors

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "vmi").glob("*.pto"))


def instructions(text: str) -> Counter[str]:
    lowered = str(ptosim.load(text).lowered())
    return Counter(re.findall(r"(?<!!)pto\.(v\w+)", re.sub(r"//.*", "", lowered)))


def chain(steps: int, lanes: int = 128) -> str:
    body = f"""%a = pto.vmi.vload %ub_f16[%c0] : P<f16> -> L<{lanes}xf16>
%v0 = pto.vmi.vcvt %a : L<{lanes}xf16> -> L<{lanes}xf32>
"""
    for step in range(steps):
        body += f"%v{step + 1} = pto.vmi.vexp %v{step} : L<{lanes}xf32> -> L<{lanes}xf32>\n"
    return logical_text(
        body
        + f"""%z = pto.vmi.vcvt %v{steps} {{rounding = "R", saturate = "SAT"}} : L<{lanes}xf32> -> L<{lanes}xf16>
pto.vmi.vstore %z, %ub32768_f16[%c0] : L<{lanes}xf16>, P<f16>"""
    )


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_the_cast_chain_has_no_interleave(steps: int) -> None:
    found = instructions(chain(steps))
    assert found.pop("vecscope") == 1
    assert found == +Counter(vlds=1, vcvt=4, vexp=2 * steps, vor=1, vsts=1)


def test_half_a_register_is_loaded_apart() -> None:
    """One load, one conversion each way and one store serve 64 lanes."""
    found = instructions(chain(1, 64))
    assert found == Counter(vecscope=1, vlds=1, vcvt=2, vexp=1, vsts=1)


def test_lanes_stay_apart_through_two_conversions() -> None:
    """From f32 through f16 to bytes and back: one store packs, one load spreads, nothing is interleaved."""
    found = instructions(
        logical_text("""%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<64xf32>
%b = pto.vmi.vcvt %a {rounding = "R", saturate = "SAT"} : L<64xf32> -> L<64xf16>
%d = pto.vmi.vcvt %b {rounding = "R", saturate = "SAT"} : L<64xf16> -> L<64xui8>
pto.vmi.vstore %d, %ub32768_ui8[%c0] : L<64xui8>, P<ui8>
%e = pto.vmi.vload %ub4096_ui8[%c0] : P<ui8> -> L<64xui8>
%f = pto.vmi.vcvt %e : L<64xui8> -> L<64xui16>
%g = pto.vmi.vcvt %f : L<64xui16> -> L<64xui32>
pto.vmi.vstore %g, %ub36864_ui32[%c0] : L<64xui32>, P<ui32>""")
    )
    assert found == Counter(vecscope=1, vlds=2, vcvt=4, vsts=2)


def test_as_many_instructions_are_loads_and_stores_where_they_can_be() -> None:
    """256 lanes of f32 are packed by four stores; taking every fourth of them apart computes more."""
    found = instructions(
        logical_text("""%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<256xf32>
%b = pto.vmi.vcvt %a {rounding = "R", saturate = "SAT"} : L<256xf32> -> L<256xf8E4M3FN>
pto.vmi.vstore %b, %ub32768_f8E4M3FN[%c0] : L<256xf8E4M3FN>, P<f8E4M3FN>""")
    )
    assert found == Counter(vecscope=1, vlds=4, vcvt=4, vbitcast=4, vsts=4)


@pytest.mark.parametrize("seed", range(300))
def test_layouts_never_change_a_bit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = logical_program(seed + 1000, 8)
    text, before = logical_text(program.body, ", %n: index"), image(*program.before)
    chosen = after(ptosim.load(text), before, 0)
    monkeypatch.setattr(assignment, "candidates", lambda members: [CONTIGUOUS])
    contiguous = after(ptosim.load(text), before, 0)
    np.testing.assert_array_equal(chosen, contiguous)


@pytest.mark.parametrize("seed", range(40))
def test_the_chosen_cost_is_the_least(seed: int) -> None:
    """Wherever all assignments can be tried."""
    text = logical_text(logical_program(seed + 2000, 4).body, ", %n: index")
    _is_least(text)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_chosen_cost_of_examples_is_the_least(path: Path) -> None:
    _is_least(path.read_text())


def _is_least(text: str) -> None:
    (function,) = functions_on_vectors(load(Source("<text>", text)).parsed)
    found = assignment.assignment(function)
    groups = list(assignment.clusters_of(function).members.values())
    choices = [assignment.candidates(members) for members in groups]
    edges = list(assignment.edges_of(function))
    least = sum(weight * cost(op, found.layouts.__getitem__) for op, weight in edges)
    assert found.cost == least // ACCESS
    if prod(map(len, choices)) > 20_000:  # of which the search itself is tested with any costs
        groups = []
    for layouts in product(*choices) if groups else ():
        chosen = {value: layout for members, layout in zip(groups, layouts, strict=True) for value in members}
        assert least <= sum(weight * cost(op, chosen.__getitem__) for op, weight in edges)
    assert found.cost <= found.contiguous


def test_lanes_that_no_use_needs_are_not_read() -> None:
    """The last row of a load ends beyond UB, of which a mask keeps what is needed."""
    text = logical_text("""%m = pto.vmi.create_mask %c64 : index -> Q<128>
%a = pto.vmi.vload %ub261888_f32[%c0] : P<f32> -> L<128xf32>
%b = pto.vmi.vadd %a, %a : L<128xf32>, L<128xf32> -> L<128xf32>
pto.vmi.vstore %b, %ub32768_f32[%c0], %m : L<128xf32>, P<f32>, Q<128>""")
    report = ptosim.check(ptosim.load(text).kernel("k"), np.zeros(65536, "u1"), np.zeros(65536, "u1"))
    assert "out-of-bounds" not in {each.kind for each in report.findings}


def test_counts_that_are_known_at_run_time_bound_a_load() -> None:
    text = logical_text(
        """%m = pto.vmi.create_mask %n : index -> Q<100>
%a = pto.vmi.vload %ub261888_f32[%c0] : P<f32> -> L<100xf32>
pto.vmi.vstore %a, %ub32768_f32[%c0], %m : L<100xf32>, P<f32>, Q<100>""",
        ", %n: index",
    )
    kernel = ptosim.load(text).kernel("k")
    arrays = np.zeros(65536, "u1"), np.zeros(65536, "u1")
    found = {n: {each.kind for each in ptosim.check(kernel, *arrays, n).findings} for n in (64, 65)}
    assert "out-of-bounds" not in found[64]
    assert "out-of-bounds" in found[65]


def test_a_tail_that_fills_a_register_is_one_instruction() -> None:
    """The load carries the mask of the store, and the rest comes of the same plt."""
    text = logical_text(
        """%left = scf.for %i = %c0 to %n step %c64 iter_args(%rest = %count) -> (i32) {
%m, %next = pto.vmi.plt %rest : i32 -> Q<64>, i32
%a = pto.vmi.vload %ub_f32[%i] : P<f32> -> L<64xf32>
pto.vmi.vstore %a, %ub32768_f32[%i], %m : L<64xf32>, P<f32>, Q<64>
scf.yield %next : i32
}""",
        ", %n: index, %count: i32",
    )
    module = ptosim.load(text)
    body = str(module.lowered()).partition("pto.vecscope")[2]
    assert [body.count(word) for word in (" = pto.plt_b32", "arith.", "pto.pset")] == [1, 1, 0]  # a count below 0 is 0
    before = image((0, np.arange(192, dtype="f4")))
    for count in (0, 1, 64, 100, 192, -5):
        found = [after(module, before, 192, count, engine=engine) for engine in ("reference", "native")]
        stored = found[0][32768 : 32768 + 4 * 192].view("f4")
        np.testing.assert_array_equal(stored, np.where(np.arange(192) < count, np.arange(192), 0))
        np.testing.assert_array_equal(*found)


def test_a_plan_shows_layouts() -> None:
    plan = ptosim.load(chain(1)).plan()
    (layouts,) = plan.layouts
    assert [(each.name, each.layout) for each in layouts.vectors] == [
        ("%a", "contiguous"),
        ("%v0", str(HALVES)),
        ("%v1", str(HALVES)),
        ("%z", "contiguous"),
    ]
    assert layouts.cost < layouts.contiguous_cost
    assert "split in 2" in str(plan)


def test_a_profile_says_whose_registers_it_times() -> None:
    kernel = ptosim.load(chain(1)).kernel("k")
    profile = ptosim.profile(kernel, np.zeros(65536, "u1"), np.zeros(65536, "u1"))
    (warning,) = profile.warnings
    assert "the assembler may choose others" in warning.message
