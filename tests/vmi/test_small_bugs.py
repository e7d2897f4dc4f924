"""Small bugs of kernels on logical vectors: each is found at the line of the operation that is wrong."""

import numpy as np
import pytest

import ptosim
from logical_kernel import logical_text

V, Q = "L<100xf32>", "Q<100>"
STORE = f"pto.vmi.vstore %a, %ub32768_f32[%c0] : {V}, P<f32>"
LOAD = f"%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> {V}"
FULL = """%m = pto.vmi.pset "PAT_ALL" : Q<64>
"""

BUGS = {
    "a lane count that is too large": (f"«{LOAD.replace('%ub_', '%ub261888_')}»\n{STORE}", "out-of-bounds"),
    "a store beyond UB": (f"{LOAD}\n«{STORE.replace('%ub32768_', '%ub261888_')}»", "out-of-bounds"),
    "an address that is not aligned": (f"«{LOAD.replace('%c0', '%c3')}»\n{STORE}", "misaligned"),
    "lanes that nothing has written": (f"«{LOAD.replace('%ub_', '%ub131072_')}»\n{STORE}", "uninitialized"),
    "sums of lanes that nothing has written": (
        f"""«%a = pto.vmi.vload %ub131072_f32[%c0] : P<f32> -> L<64xf32>»
{FULL}%s = pto.vmi.vcadd %a, %m {{reassoc}} : L<64xf32>, Q<64> -> L<1xf32>
pto.vmi.vstore %s, %ub32768_f32[%c0] : L<1xf32>, P<f32>""",
        "uninitialized",
    ),
    "a load behind a store without a barrier": (
        f"{LOAD}\n{STORE}\n«%b = pto.vmi.vload %ub32768_f32[%c0] : P<f32> -> {V}»\n"
        f"pto.vmi.vstore %b, %ub40960_f32[%c0] : {V}, P<f32>",
        "scope-alias",
    ),
    "a stride of groups that leads beyond UB": (
        """«%a = pto.vmi.vload %ub_f32[%c0], %c32000 {group = 4} : P<f32> -> L<32xf32>»
pto.vmi.vstore %a, %ub32768_f32[%c0] : L<32xf32>, P<f32>""",
        "out-of-bounds",
    ),
    "an offset of a gather beyond UB": (
        f"""%o = pto.vmi.vbrc %c100000_i32 : i32 -> L<64xi32>
{FULL}«%a = pto.vmi.vgather %ub_f32, %o, %m : P<f32>, L<64xi32>, Q<64> -> L<64xf32>»
pto.vmi.vstore %a, %ub32768_f32[%c0] : L<64xf32>, P<f32>""",
        "out-of-bounds",
    ),
    "lanes that meet in a scatter": (
        f"""%o = pto.vmi.vbrc %c5_i32 : i32 -> L<64xi32>
{FULL}%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<64xf32>
«pto.vmi.vscatter %a, %ub32768_f32, %o, %m : L<64xf32>, P<f32>, L<64xi32>, Q<64>»""",
        "lint",
    ),
    "a block address that is not aligned": (
        f"""{FULL}%a = pto.vmi.vload %ub_f32[%c0] : P<f32> -> L<64xf32>
«pto.vmi.vsstb %a, %ub32768_f32[%c1], %c1_i16, %m : L<64xf32>, P<f32>, Q<64>»""",
        "misaligned",
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_found_at_its_line(bug: str) -> None:
    body, kind = BUGS[bug]
    text = logical_text(body)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "«" in each)
    kernel = ptosim.load(text.replace("«", "").replace("»", "")).kernel("k")
    report = ptosim.check(kernel, np.ones(65536, "u1"), np.zeros(65536, "u1"))
    assert (kind, line) in {(each.kind, each.line) for each in report.findings}, report


def test_a_lost_wait_is_a_race_at_the_load() -> None:
    text = logical_text(f"{LOAD}\n{STORE}").replace("pto.barrier #pto.pipe<PIPE_ALL>\npto.vecscope", "pto.vecscope")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "vmi.vload" in each)
    report = ptosim.check(ptosim.load(text).kernel("k"), np.ones(65536, "u1"), np.zeros(65536, "u1"))
    found = [each for each in report.findings if each.kind == "race" and each.line == line]
    assert found and found[0].lanes, report


def test_without_a_bug_nothing_is_found() -> None:
    report = ptosim.check(
        ptosim.load(logical_text(f"{LOAD}\n{STORE}")).kernel("k"), np.ones(65536, "u1"), np.zeros(65536, "u1")
    )
    assert [each for each in report.findings if "vmi" in each.message or each.severity == "error"] == []
