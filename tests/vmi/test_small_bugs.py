"""Small bugs of kernels on logical vectors: each is found at the line of the operation that is wrong."""

import numpy as np
import pytest

import ptosim
from logical_kernel import logical_text, spelled
from ptosim.report.check_report import CheckReport

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


ROWS = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f16, gm>, %y: !pto.ptr<f16, gm>, %s: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c100 = arith.constant 100 : index
    %c128 = arith.constant 128 : index
    %far = arith.constant 130000 : index
    %unset = arith.constant 5000 : index
    %spot = arith.constant 700 : i32
    %outside = arith.constant 700000 : i32
    %z = arith.constant 0 : i64
    %n = arith.constant 8 : i64
    %row = arith.constant 200 : i64
    %pitch = arith.constant 256 : i64
    %four = arith.constant 4 : i64
    %gap = arith.constant 64 : i64
    %results = arith.constant 4096 : i64
    %sums = arith.constant 8192 : i64
    %in = pto.castptr %z : i64 -> !pto.ptr<f16, ub>
    %out = pto.castptr %results : i64 -> !pto.ptr<f16, ub>
    %sum = pto.castptr %sums : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %in, %z, %row nburst(%n, %row, %pitch) : G<f16>, P<f16>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {
      %m = pto.vmi.create_mask %c100 : index -> Q<128>
      %all = pto.vmi.pset "PAT_ALL" : Q<128>
      scf.for %r = %c0 to %c8 step %c1 {
        %o = arith.muli %r, %c128 : index
        %h = pto.vmi.vload %in[%o] : P<f16> -> L<128xf16>
        %w = pto.vmi.vcvt %h : L<128xf16> -> L<128xf32>
        %q = pto.vmi.vmul %w, %w, %m : L<128xf32>, L<128xf32>, Q<128> -> L<128xf32>
        %t = pto.vmi.vcadd %q, %m {reassoc} : L<128xf32>, Q<128> -> L<1xf32>
        %b = pto.vmi.vbrc %t : L<1xf32> -> L<128xf32>
        %d = pto.vmi.vdiv %q, %b, %m : L<128xf32>, L<128xf32>, Q<128> -> L<128xf32>
        %e = pto.vmi.vcvt %d {rounding = "R", saturate = "SAT"} : L<128xf32> -> L<128xf16>
        pto.vmi.vstore %e, %out[%o], %m : L<128xf16>, P<f16>, Q<128>
        %so = arith.muli %r, %c16 : index
        pto.vmi.vstore %t, %sum[%so] : L<1xf32>, P<f32>
      }
    }
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %out, %y, %row nburst(%n, %pitch, %row) : P<f16>, G<f16>, i64, i64, i64, i64
    pto.mte_ub_gm %sum, %s, %four nburst(%n, %gap, %four) : P<f32>, G<f32>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }
}
"""
LAST = "        %so = arith.muli"

EDITS: dict[str, tuple[str, str, str, str, tuple[int, int]]] = {
    "no wait before the load": ('pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', "", "race", "vload %in", (0, 100)),
    "a mask that is too long": ("create_mask %c100", "create_mask %c128", "uninitialized", "vload %in", (112, 128)),
    "a sum without its mask": ("vcadd %q, %m", "vcadd %w, %all", "uninitialized", "vload %in", (112, 128)),
    "a load far behind the data": ("vload %in[%o]", "vload %in[%unset]", "uninitialized", "vload %in", (0, 100)),
    "a store beyond UB": ("vstore %e, %out[%o]", "vstore %e, %out[%far]", "out-of-bounds", "vstore %e", (0, 128)),
    "a sum stored beyond UB": ("%sum[%so]", "%sum[%far]", "out-of-bounds", "vstore %t", (0, 1)),
    "rows of the wrong pitch": (
        "%o = arith.muli %r, %c128",
        "%o = arith.muli %r, %c100",
        "misaligned",
        "vload %in",
        (0, 128),
    ),
    "results that start too early": (
        "%results = arith.constant 4096",
        "%results = arith.constant 128",
        "scope-alias",
        "vload %in",
        (0, 36),
    ),
    "sums over the results": (
        "%sums = arith.constant 8192",
        "%sums = arith.constant 4096",
        "scope-alias",
        "vstore %t",
        (0, 1),
    ),
    "groups too far apart": (
        "vload %in[%o] :",
        "vload %in[%o], %c100 {group = 2} :",
        "uninitialized",
        "vload %in",
        (64, 128),
    ),
    "two vectors where there is one": (
        "%h = pto.vmi.vload %in[%o] : P<f16> -> L<128xf16>",
        '%h, %g = pto.vmi.vload %in[%o] {dist_mode = "dintlv"} : P<f16> -> L<128xf16>, L<128xf16>',
        *("uninitialized", "vload %in", (56, 128)),
    ),
    "a result read back without a barrier": (
        LAST,
        "        %back = pto.vmi.vload %out[%o] : P<f16> -> L<64xf16>\n"
        f"        pto.vmi.vstore %back, %out[%far] : L<64xf16>, P<f16>\n{LAST}",
        *("scope-alias", "vload %out", (0, 64)),
    ),
    "one element that nothing has written": (
        "%b = pto.vmi.vbrc %t : L<1xf32> -> L<128xf32>",
        '%b = pto.vmi.vload %sum[%unset] {dist_mode = "brc"} : P<f32> -> L<128xf32>',
        *("uninitialized", "vload %sum", (0, 128)),
    ),
    "an offset beyond UB": (
        "%b = pto.vmi.vbrc %t : L<1xf32> -> L<128xf32>",
        "%i = pto.vmi.vbrc %outside : i32 -> L<128xi32>\n"
        "        %b = pto.vmi.vgather %sum, %i, %m : P<f32>, L<128xi32>, Q<128> -> L<128xf32>",
        *("out-of-bounds", "vgather", (0, 128)),
    ),
    "lanes that meet": (
        LAST,
        "        %i = pto.vmi.vbrc %spot : i32 -> L<128xi32>\n"
        f"        pto.vmi.vscatter %d, %sum, %i, %m : L<128xf32>, P<f32>, L<128xi32>, Q<128>\n{LAST}",
        *("scope-alias", "vscatter", (0, 128)),
    ),
}


def of_rows(text: str) -> CheckReport:
    x = (np.arange(800) % 9 - 3).astype("f2").reshape(8, 100)
    return ptosim.check(ptosim.load(text).kernel("k"), x, np.zeros((8, 100), "f2"), np.zeros(8, "f4"))


@pytest.mark.parametrize("bug", EDITS)
def test_a_bug_in_rows_is_found_with_its_lanes(bug: str) -> None:
    old, new, kind, line, (first, last) = EDITS[bug]
    assert old in ROWS
    text = spelled(ROWS.replace(old, new, 1))
    number = next(number for number, each in enumerate(text.splitlines(), 1) if f"pto.vmi.{line}" in each)
    found = {(each.kind, each.line, each.lanes[0], each.lanes[-1] + 1) for each in of_rows(text).findings if each.lanes}
    assert (kind, number, first, last) in found, found


def test_rows_without_a_bug_are_clean() -> None:
    module = ptosim.load(spelled(ROWS))
    assert (module.warnings, of_rows(spelled(ROWS)).findings) == ((), ())


LEFT_OUT = {
    "a sum of all lanes": ("vcadd %q, %m", "vcadd %q, %all", True),
    "a longer mask": ("vcadd %q, %m", "vcadd %q, %longer", True),
    "a shorter mask": ("vcadd %q, %m", "vcadd %q, %shorter", False),
    "a store of all lanes": (
        "vstore %e, %out[%o], %m : L<128xf16>, P<f16>, Q<128>",
        "vstore %e, %out[%o] : L<128xf16>, P<f16>",
        True,
    ),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_lanes_that_a_mask_leaves_out_are_said_where_they_are_used(case: str) -> None:
    old, new, is_said = LEFT_OUT[case]
    masks = """      %more = arith.constant 120 : index
      %longer = pto.vmi.create_mask %more : index -> Q<128>
      %shorter = pto.vmi.create_mask %c64 : index -> Q<128>
      scf.for"""
    warnings = ptosim.load(spelled(ROWS.replace(old, new).replace("      scf.for", masks))).warnings
    assert [each.kind for each in warnings if "leaves out" in each.message] == ["lint"] * is_said, warnings
