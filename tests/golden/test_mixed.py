"""Cube and vector cores together: results to UB and L1, dual destinations, signals, attention, softmax."""

import re

import numpy as np
import pytest

import ptosim
from golden.cube import K, M, N, buffers, exact, flag, loads, mad, matrices, mixed_kernel, to_gm, to_ub
from golden.numbers import equal
from golden.program import constants, gm, line_of, module, outcome, ub
from tables import table

P = ub("f32")
FEEDS = f"%a: {gm('f16')}, %b: {gm('f16')}, %c: {gm('f32')}"


def store_out(
    source: str, target: str, rows: int, length: int, ub_stride: int, gm_stride: int, element: str = "f32"
) -> str:
    return f"""      pto.mte_ub_gm {source}, {target}, %c{length}_i64 nburst(%c{rows}_i64, %c{ub_stride}_i64,
          %c{gm_stride}_i64)
        : {ub(element)}, {gm(element)}, i64, i64, i64, i64
"""


def only_first(body: str) -> str:
    return f"""      %sub = pto.get_subblock_idx
      %first = arith.cmpi eq, %sub, %c0_i64 : i64
      scf.if %first {{
{body}      }}
"""


COMMON = f"    %ub0 = pto.castptr %c0_i64 : i64 -> {P}\n    %ub1 = pto.castptr %c65536_i64 : i64 -> {P}\n"
CUBE = buffers("f16", "f32") + loads(M, N, K, "f16") + mad(M, N, K, "f16", "f32") + flag("M", "FIX")


def test_result_through_gm_needs_no_barrier_in_the_cube_section() -> None:
    """The vector core waits for the signal behind the copy, and drains its own pipes: all of the kernel has ended."""
    cube = CUBE + to_gm("%c", M, N, "f32", "f32") + "      pto.sync.set <PIPE_FIX>, 1\n"
    vector = only_first(
        f"""      pto.sync.wait <PIPE_MTE2>, 1
      pto.mte_gm_ub %c, %ub0, %c0_i64, %c{4 * M * N}_i64 nburst(%c1_i64, %c{4 * M * N}_i64, %c{4 * M * N}_i64)
        : {gm("f32")}, {P}, i64, i64, i64, i64, i64
{flag("MTE2", "MTE3")}"""
        + store_out("%ub0", "%d", 1, 4 * M * N, 4 * M * N, 4 * M * N)
        + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    )
    a, b = matrices(M, N, K)

    def findings(cube: str, vector: str) -> list[str]:
        text = mixed_kernel(COMMON, cube, vector, FEEDS + f", %d: {gm('f32')}")
        report = ptosim.check(ptosim.load(text).kernel(), a, b, np.zeros((M, N), "f4"), np.zeros((M, N), "f4"))
        return [finding.message for finding in report.findings]

    assert findings(cube, vector) == []
    alone = findings(cube.replace("      pto.sync.set <PIPE_FIX>, 1\n", ""), "")
    assert alone == ["the kernel ends while FIX may still be copying: nothing waits for it"]


def through_l1(blocks: int, signals: str) -> str:
    """The product row-major in L1, to UB in rows of so many blocks; MTE1 is chained into FIX before the signals."""
    cube = (
        CUBE
        + f"""      %l1c = pto.castptr %c327680_i64 : i64 -> !pto.ptr<f32, l1>
      pto.mte_l0c_l1 %l0c, %l1c, %c{M}_i64, %c{N}_i64, %c48_i64, %c{N}_i64, nz2nd
        : !pto.ptr<f32, l0c>, !pto.ptr<f32, l1>, i64, i64, i64, i64
"""
    )
    cube += flag("FIX", "MTE1", 1)
    cube += (
        f"      pto.mte_l1_ub %l1c, %ub0, %c{blocks}_i64 nburst(%c{M}_i64, %c0_i64, %c0_i64)"
        f" : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64\n"
    )
    cube += flag("MTE1", "FIX", 1) + signals
    vector = (
        only_first("      pto.sync.wait <PIPE_MTE3>, 1\n" + store_out("%ub0", "%c", M, 256, 256, 256))
        + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    )
    return mixed_kernel(COMMON, cube, vector, FEEDS)


def test_result_through_l1_with_oversized_copies() -> None:
    """len 64 and 40 bursts copy eight times too much: the undefined rest is never used, so nothing is said."""
    text = through_l1(64, "      pto.sync.set <PIPE_FIX>, 1\n      pto.sync.set <PIPE_FIX>, 17\n")
    a, b = matrices(M, N, K)
    equal(outcome(text, a, b, np.zeros((M, N), "f4"))[2], exact(a, b))
    report = ptosim.check(ptosim.load(text).kernel(), a, b, np.zeros((M, N), "f4"))
    assert {f.kind for f in report.findings} <= {"undrained", "lint"} and any(
        f.kind == "undrained" for f in report.findings
    )


def test_the_public_round_trip_that_lacks_a_chain_is_called_racy() -> None:
    """FIX signals what MTE1 copies. It runs in program order; check names the race."""
    cube = f"""      pto.sync.wait <PIPE_MTE1>, 0
      pto.sync.wait <PIPE_MTE1>, 16
      pto.copy_cbuf_to_ubuf %l1, %ub1, %c0_i64, %c1_i64, %c16_i64, %c0_i64, %c0_i64
        : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64, i64
      pto.copy_cbuf_to_ubuf %l1, %ub1, %c1_i64, %c1_i64, %c16_i64, %c0_i64, %c0_i64
        : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64, i64
      pto.sync.set <PIPE_FIX>, 1
      pto.sync.set <PIPE_FIX>, 17
"""
    vector = f"""      pto.mte_gm_ub %x, %ub0, %c0_i64, %c512_i64 nburst(%c1_i64, %c512_i64, %c512_i64)
        : {gm("f32")}, {P}, i64, i64, i64, i64, i64
{flag("MTE2", "MTE3")}      pto.copy_ubuf_to_cbuf %ub0, %l1, %c0_i64, %c1_i64, %c16_i64, %c0_i64, %c0_i64
        : {P}, !pto.ptr<f32, l1>, i64, i64, i64, i64, i64
      pto.sync.set <PIPE_MTE3>, 0
      pto.sync.wait <PIPE_MTE3>, 1
"""
    vector += only_first(store_out("%ub1", "%y", 1, 512, 512, 512)) + "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    common = COMMON + "    %l1 = pto.castptr %c4096_i64 : i64 -> !pto.ptr<f32, l1>\n"
    text = mixed_kernel(common, cube, vector, f"%x: {gm('f32')}, %y: {gm('f32')}")
    x = np.random.default_rng(1).uniform(-1, 1, 128).astype("f4")
    equal(outcome(text, x, np.zeros(128, "f4"), clean=False)[1], x)
    report = ptosim.check(ptosim.load(text).kernel(), x, np.zeros(128, "f4"))
    races = [f for f in report.findings if f.kind == "race"]
    assert not report.ok and {f.severity for f in races} == {"error", "warning"}, str(report)


def pair(target: str, cube: str, vector: str) -> str:
    """Form B: an outer module with two inner ones that define the same symbol."""
    return f"""module attributes {{"pto.target_arch" = "{target}"}} {{
  module attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    func.func @kernel(%x: !pto.ptr<i32, gm>, %y: !pto.ptr<i32, gm>) attributes {{pto.kernel}} {{
{constants(cube)}
{cube}      return
    }}
  }}
  module attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    func.func @kernel(%x: !pto.ptr<i32, gm>, %y: !pto.ptr<i32, gm>) attributes {{pto.kernel}} {{
{constants(vector)}
{vector}      return
    }}
  }}
}}
"""


VECTOR_COPY = """      %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<i32, ub>
      %sub = pto.get_subblock_idx
      %k = arith.index_cast %sub : i64 to index
      %o = arith.muli %k, %c16 : index
      %x_k = pto.addptr %x, %o : <i32, gm> -> <i32, gm>
      %y_k = pto.addptr %y, %o : <i32, gm> -> <i32, gm>
      pto.mte_gm_ub %x_k, %ub, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
        : !pto.ptr<i32, gm>, !pto.ptr<i32, ub>, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
"""
COPY_OUT = (
    "      pto.mte_ub_gm %ub, %y_k, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)"
    " : !pto.ptr<i32, ub>, !pto.ptr<i32, gm>, i64, i64, i64, i64\n"
)


def test_a5_signals_one_to_one_in_two_modules() -> None:
    """The cube core starts both vector cores and waits for both; per-pipe waits, ids 16 higher for the second core."""
    cube = """      pto.set_intra_block "PIPE_FIX", 3
      pto.set_intra_block "PIPE_FIX", 19
      pto.wait_intra_core "PIPE_MTE2", 4
      pto.wait_intra_core "PIPE_MTE2", 20
      pto.barrier #pto.pipe<PIPE_ALL>
"""
    vector = (
        '      pto.wait_intra_core "PIPE_MTE2", 3\n'
        + VECTOR_COPY
        + COPY_OUT
        + '      pto.set_intra_block "PIPE_MTE3", 4\n      pto.barrier #pto.pipe<PIPE_ALL>\n'
    )
    x = np.arange(32, dtype="i4")
    text = pair("a5", cube, vector)
    equal(outcome(text, x, np.zeros(32, "i4"), schedules=["random:1", "random:2", "delay:MTE2"])[1], x)


def test_a2a3_broadcasts_and_reduces() -> None:
    """One set reaches both vector cores; one wait of the cube core needs both of them."""
    cube = """      pto.set_cross_core %c0_i64, %c3_i64 : i64, i64
      pto.wait_flag_dev %c0_i64, %c4_i64 : i64, i64
      pto.set_cross_core %c0_i64, %c5_i64 : i64, i64
      pto.barrier #pto.pipe<PIPE_ALL>
"""
    vector = "      pto.wait_flag_dev %c3_i64 : i64\n" + VECTOR_COPY + COPY_OUT
    vector += (
        "      pto.set_cross_core %c0_i64, %c4_i64 : i64, i64\n"
        "      pto.wait_flag_dev %c0_i64, %c5_i64 : i64, i64\n      pto.barrier #pto.pipe<PIPE_ALL>\n"
    )
    x = np.arange(32, dtype="i4")
    text = pair("a3", cube, vector)
    equal(outcome(text, x, np.zeros(32, "i4"), schedules=["random:1", "random:2"])[1], x)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_core_to_core_data_over_gm(target: str) -> None:
    """Core 0 and 1 write, the cube core passes the baton, each reads what the other wrote."""
    if target == "a5":
        cube = (
            "      pto.sync.wait <PIPE_MTE2>, 0\n      pto.sync.wait <PIPE_MTE2>, 16\n"
            "      pto.sync.set <PIPE_MTE2>, 1\n      pto.sync.set <PIPE_MTE2>, 17\n"
        )
    else:
        cube = "      pto.sync.wait <PIPE_MTE2>, 0\n      pto.sync.set <PIPE_FIX>, 1\n"
    cube += "      pto.barrier #pto.pipe<PIPE_ALL>\n"
    vector = (
        VECTOR_COPY
        + COPY_OUT
        + """      pto.sync.set <PIPE_MTE3>, 0
      pto.sync.wait <PIPE_MTE2>, 1
      %other = arith.subi %c1, %k : index
      %oo = arith.muli %other, %c16 : index
      %y_o = pto.addptr %y, %oo : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>
      %z_k = pto.addptr %y_k, %c32 : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>
      %ub2 = pto.castptr %c4096_i64 : i64 -> !pto.ptr<i32, ub>
      pto.mte_gm_ub %y_o, %ub2, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
        : !pto.ptr<i32, gm>, !pto.ptr<i32, ub>, i64, i64, i64, i64, i64
      pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID1"]
      pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID1"]
      pto.mte_ub_gm %ub2, %z_k, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
        : !pto.ptr<i32, ub>, !pto.ptr<i32, gm>, i64, i64, i64, i64
      pto.barrier #pto.pipe<PIPE_ALL>
"""
    )
    x = np.arange(32, dtype="i4")
    out = outcome(pair(target, cube, vector), x, np.zeros(64, "i4"), schedules=["random:1", "random:2", "random:3"])[1]
    equal(out, np.concatenate([x, x[16:], x[:16]]))


# --- attention --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["program", "random:1", "random:4", "delay:MTE3"])
def test_an_error_of_an_entry_that_outlives_its_program_has_its_line(schedule: str) -> None:
    cube = CUBE + to_ub("%ub0", M, N, "f32", "f32", "%c0_i64") + "      pto.sync.set <PIPE_FIX>, 1\n"
    text = mixed_kernel(
        COMMON,
        cube,
        only_first("      pto.sync.wait <PIPE_MTE3>, 1\n" + store_out("%ub0", "%c", M, 256, 256, 256)),
        FEEDS,
    )
    a, b = matrices(M, N, K)
    with pytest.raises(ptosim.PTOError) as caught:
        ptosim.load(text).kernel()(a, b, np.zeros((M // 2, N), "f4"), engine="reference", schedule=schedule)
    first = caught.value.diagnostics[0]
    assert (first.kind, first.line, first.core) == ("out-of-bounds", line_of(text, "pto.mte_ub_gm"), "b0.aiv0")


# --- where there is no UB ---------------------------------------------------------------------------------------------

F32 = gm("f32")
FILL = f"""{COMMON}    pto.mte_gm_ub %c, %ub0, %c0_i64, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
      : {F32}, {P}, i64, i64, i64, i64, i64
"""
STORE = f"{COMMON}    pto.store_scalar %one, %ub0[%c0] : {P}, f32\n"
LOAD = f"{COMMON}    %loaded = pto.load_scalar %ub0[%c0] : {P} -> f32\n"
CALL = f"    func.call @fill(%c) : ({F32}) -> ()\n"


def without_ub(shared: str = "", cube: str = "", kind: str = "") -> str:
    """A kernel whose cube core meets UB in code of its own, in code for all cores, or in a helper."""
    sections = f"    pto.section.cube {{\n{cube}    }}\n    pto.section.vector {{\n    }}\n"
    text = f"    %one = arith.constant 1.0 : f32\n{shared}{'' if kind else sections}    pto.barrier <PIPE_ALL>"
    kernel = module(text, f"%c: {F32}", attributes=kind)
    helper = f"  func.func @fill(%c: {F32}) {{\n{constants(FILL)}\n{FILL}    return\n  }}\n"
    return kernel if kind else kernel.replace("  func.func @kernel", f"{helper}  func.func @kernel")


@table(
    "text, said",
    (without_ub(shared=CALL), "writes"),
    (without_ub(cube=CALL), "writes"),
    (without_ub(shared=LOAD), "reads"),
    (without_ub(shared=STORE), "writes"),
    (without_ub(cube=STORE), "writes"),
    (without_ub(shared=STORE, kind="pto.kernel_kind = #pto.kernel_kind<cube>"), "writes"),
    ids=["shared call", "called copy", "shared load", "shared store", "store", "cube kernel"],
)
def test_the_cube_core_has_no_ub(text: str, said: str) -> None:
    kernel = ptosim.load(text).kernel("kernel")
    for engine in ("reference", "native"):
        with pytest.raises(ptosim.PTOError) as caught:
            kernel(np.ones(64, "f4"), engine=engine)
        (found,) = caught.value.diagnostics
        assert (found.kind, found.message, found.core) == ("invalid", f"{said} ub, which aic does not have", "b0.aic")
    first = ptosim.check(kernel, np.ones(64, "f4")).findings[0]
    assert (first.kind, first.severity, first.core, first.line) == ("invalid", "error", "b0.aic", found.line)
    with pytest.raises(ptosim.PTOError, match="which aic does not have"):
        ptosim.profile(kernel, np.ones(64, "f4"))


def test_a_copy_of_all_cores_is_one_of_those_that_can() -> None:
    """Outside the sections stand a copy to UB, for the vector cores, and a copy to L1, for the cube core."""
    shared = f"""{COMMON}    %ub256 = pto.castptr %c256_i64 : i64 -> {P}
    %l1 = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, l1>
    pto.mte_gm_ub %a, %ub0, %c0_i64, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
      : {F32}, {P}, i64, i64, i64, i64, i64
    pto.mte_gm_l1 %b, %l1, %c256_i64 nburst(%c1_i64, %c256_i64, %c256_i64)
      : {F32}, !pto.ptr<f32, l1>, i64, i64, i64, i64
    pto.barrier <PIPE_ALL>
"""
    cube = """      pto.copy_cbuf_to_ubuf %l1, %ub256, %c0_i64, %c1_i64, %c8_i64, %c0_i64, %c0_i64
        : !pto.ptr<f32, l1>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
      pto.set_intra_block <PIPE_MTE1>, 1
      pto.barrier <PIPE_ALL>
"""
    vector = "      pto.wait_intra_block <PIPE_MTE3>, 1\n" + store_out("%ub0", "%c", 2, 256, 256, 256)
    vector += "      pto.barrier <PIPE_ALL>\n"
    text = mixed_kernel(shared, cube, only_first(vector), f"%a: {F32}, %b: {F32}, %c: {F32}")
    loaded = ptosim.load(text)
    assert [warning.kind for warning in loaded.warnings] == ["lint", "lint"]
    a, b = np.arange(64, dtype="f4"), -np.arange(64, dtype="f4")
    for engine in ("reference", "native"):
        out = np.zeros(128, "f4")
        loaded.kernel()(a, b, out, engine=engine)
        equal(out, np.concatenate([a, b]))
    assert ptosim.check(loaded.kernel(), a, b, np.zeros(128, "f4")).findings == ()


def test_the_vector_cores_have_ub() -> None:
    """The same helper, called where it belongs."""
    swapped = {"cube": "vector", "vector": "cube"}
    text = re.sub(r"section\.(cube|vector)", lambda found: f"section.{swapped[found[1]]}", without_ub(cube=CALL))
    kernel = ptosim.load(text).kernel("kernel")
    for engine in ("reference", "native"):
        kernel(np.ones(64, "f4"), engine=engine)
    assert ptosim.check(kernel, np.ones(64, "f4")).findings == ()


@pytest.mark.parametrize("kind", ["kernel", "module"])
@pytest.mark.parametrize("start", [0, 1 << 18])
def test_a_kernel_of_the_cube_core_alone_writes_ub_of_idle_vector_cores(kind: str, start: int) -> None:
    """They have their memory, which ends where it always does, and run nothing."""
    copy = f"""{COMMON}    %l1 = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, l1>
    %at = arith.constant {start} : i64
    %ub = pto.castptr %at : i64 -> {P}
    pto.mte_l1_ub %l1, %ub, %c1_i64 nburst(%c1_i64, %c0_i64, %c0_i64)
      : !pto.ptr<f32, l1>, {P}, i64, i64, i64, i64
    pto.barrier <PIPE_ALL>"""
    cube = "pto.kernel_kind = #pto.kernel_kind<cube>"
    text = module(copy, f"%c: {F32}", attributes="pto.kernel" if kind == "module" else cube)
    if kind == "module":
        text = text.replace("attributes {", f"attributes {{{cube}, ", 1)
    loaded = ptosim.load(text)
    kernel, cycles = loaded.kernel(), []
    for engine in ("reference", "native"):
        if start:
            with pytest.raises(ptosim.PTOError, match=f"out-of-bounds: writes bytes {start}"):
                kernel(np.ones(64, "f4"), engine=engine)
        else:
            kernel(np.ones(64, "f4"), engine=engine)
            cycles.append(ptosim.profile(kernel, np.ones(64, "f4"), engine=engine).cycles)
    assert len({*cycles}) == (not start)
    found = ptosim.check(kernel, np.ones(64, "f4")).findings
    expected = [("out-of-bounds", line_of(text, "pto.mte_l1_ub"))] if start else []
    assert [(each.kind, each.line) for each in found if each.severity == "error"] == expected
    assert str(ptosim.load(str(loaded.lowered())).kernel().signature) == str(kernel.signature)
