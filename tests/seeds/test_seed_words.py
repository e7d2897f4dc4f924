"""Forms that the pages of the instruction set write, and words in them that mean something else here."""

import numpy as np
import pytest

import ptosim
from both_engines import agree, fails
from tables import table

HEAD = """
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c8 = arith.constant 8 : i64
  %c12 = arith.constant 12 : i64
  %c32 = arith.constant 32 : i64
  %c256 = arith.constant 256 : i64
  %true = arith.constant true
  %false = arith.constant false
  %ub_f32 = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
  %ub_ui8 = pto.castptr %zero : i64 -> !pto.ptr<ui8, ub>
  %ub_ui16 = pto.castptr %zero : i64 -> !pto.ptr<ui16, ub>
  %l1 = pto.castptr %zero : i64 -> !pto.ptr<ui8, l1>
"""


def module(body: str, parameters: str = "") -> ptosim.Module:
    text = f"module {{\nfunc.func @k({parameters}) attributes {{pto.kernel}} {{{HEAD}{body}\nreturn\n}}\n}}\n"
    return ptosim.load(text)


def remarks(loaded: ptosim.Module) -> list[str]:
    assert {warning.kind for warning in loaded.warnings} <= {"lint"}
    return [warning.message for warning in loaded.warnings]


# --- page 003: pto.mem_bar --------------------------------------------------------------------------------------------

ALIASING = """
pto.vecscope {{
  %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
  %x = pto.vlds %ub_f32[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
  {0}
  pto.vsts %x, %ub_f32[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
  {0}
  %s = pto.load_scalar %ub_f32[%c0] : !pto.ptr<f32, ub> -> f32
  {0}
  pto.store_scalar %s, %ub_f32[%c0] : !pto.ptr<f32, ub>, f32
  {0}
  %y = pto.vlds %ub_f32[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
}}"""


def test_a_fence_without_a_word_orders_everything():
    fenced = module(ALIASING.format("pto.mem_bar"))
    assert remarks(fenced) == []
    kinds = [finding.kind for finding in ptosim.check(fenced.kernel(), mem_bar="strict").findings]
    assert "scope-alias" not in kinds
    unfenced = [finding.kind for finding in ptosim.check(module(ALIASING.format("")).kernel()).findings]
    assert "scope-alias" in unfenced
    assert "\n      pto.mem_bar\n" in str(fenced)
    assert remarks(ptosim.load(str(fenced))) == remarks(fenced)


# --- page 001: masks of merging stores --------------------------------------------------------------------------------

MERGING = {"MRG4CHN_B8": ("ui8", 4), "MRG2CHN_B8": ("ui8", 2), "MRG2CHN_B16": ("ui16", 2)}


@pytest.mark.parametrize("dist", MERGING)
@pytest.mark.parametrize("count", [0, 1, 3, 37, 256])
def test_a_merging_store_takes_a_mask_as_fine_as_its_elements(dist: str, count: int):
    """Each unit in memory, that is after merging, has a lane of the mask."""
    element, planes = MERGING[dist]
    size = int(element[2:]) // 8
    loaded = module(
        f"""
  pto.copy_gm_to_ubuf %x, %ub_{element}, %zero, %one, %c256, %zero, %zero, %false, %zero, %c256, %c256
      : !pto.ptr<{element}, gm>, !pto.ptr<{element}, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64
  pto.barrier #pto.pipe<PIPE_ALL>
  pto.vecscope {{
    %m, %rest = pto.plt_b{8 * size} %n : i32 -> !pto.mask<b{8 * size}>, i32
    %v = pto.vlds %ub_{element}[%c0] : !pto.ptr<{element}, ub> -> !pto.vreg<{256 // size}x{element}>
    pto.vsts %v, %ub_{element}[%c0], %m {{dist = "{dist}"}}
        : !pto.vreg<{256 // size}x{element}>, !pto.ptr<{element}, ub>, !pto.mask<b{8 * size}>
  }}
  pto.barrier #pto.pipe<PIPE_ALL>
  pto.copy_ubuf_to_gm %ub_{element}, %x, %zero, %one, %c256, %zero, %c256, %c256
      : !pto.ptr<{element}, ub>, !pto.ptr<{element}, gm>, i64, i64, i64, i64, i64, i64""",
        f"%x: !pto.ptr<{element}, gm>, %n: i32",
    )
    before = np.random.default_rng(count).integers(0, 1 << 8 * size, 256 // size).astype(f"u{size}")
    (after,) = agree(loaded.kernel(), before, count)
    units = 32 // size
    merged = before.reshape(8, planes, units // planes).swapaxes(1, 2).reshape(-1)
    wanted = np.where(np.arange(len(before)) < count, merged, before)
    np.testing.assert_array_equal(np.frombuffer(after, before.dtype), wanted)


# --- page 002: bytes and strides --------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["f32", "ui8"])
def test_padding_on_the_left_counts_elements(element: str):
    """The page counts bytes. Elements it is, without a remark: a kernel that is right would have it, too."""
    loaded = module(
        f"""pto.copy_gm_to_ubuf %x, %ub_{element}, %zero, %one, %c32, %c4, %zero, %true, %zero, %c32, %c256
        : !pto.ptr<{element}, gm>, !pto.ptr<{element}, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64""",
        f"%x: !pto.ptr<{element}, gm>",
    )
    assert remarks(loaded) == []


@table(
    "rows, length, gaps, apart",
    ("%c4", "%c8", ("%c8", "%c12"), (16, 20)),
    ("%c4", "%c8", ("%c8", "%c4"), None),
    ("%c4", "%c8", ("%zero", "%zero"), None),
    ("%one", "%c8", ("%c8", "%c8"), None),
)
def test_gaps_that_look_like_strides(rows: str, length: str, gaps: tuple[str, str], apart: tuple[int, int] | None):
    loaded = module(
        f"""pto.copy_ubuf_to_ubuf %ub_f32, %ub_f32, %zero, {rows}, {length}, {", ".join(gaps)}
        : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"""
    )
    gap = "source_gap and dest_gap are gaps between rows, in granules of 32 bytes, not strides"
    assert remarks(loaded) == ([f"{gap}: rows start {apart[0]} and {apart[1]} granules apart"] if apart else [])


# --- page 000: the wait that names no pipe ----------------------------------------------------------------------------

CLUSTER = """
pto.section.cube {{
  pto.set_intra_block {0}, %one : i64, i64
}}
pto.section.vector {{
  %sub = pto.get_subblock_idx
  %first = arith.cmpi eq, %sub, %zero : i64
  scf.if %first {{
    {1}
  }}
}}"""


@pytest.mark.parametrize("name", ["wait_intra_core", "wait_intra_block"])
def test_a_wait_without_a_pipe_stalls_the_scalar_unit(name: str):
    kernel = module(CLUSTER.format("%zero", f"pto.{name} %zero, %one : i64, i64")).kernel()
    (found,) = ptosim.check(kernel).findings
    message = "this wait names no pipe: the scalar unit stalls, and nothing after it is issued until the signal comes"
    assert (found.kind, found.severity, found.message) == ("lint", "warning", message)
    assert found.hint is not None and "<PIPE_V>" in found.hint
    assert ptosim.check(module(CLUSTER.format("%zero", f"pto.{name} <PIPE_V>, 1")).kernel()).findings == ()


# --- what another core has --------------------------------------------------------------------------------------------


def test_a_copy_from_ub_in_code_of_the_cube_core():
    loaded = module(
        """pto.section.cube {
  pto.copy_ubuf_to_cbuf %ub_ui8, %l1, %zero, %one, %one, %zero, %zero
      : !pto.ptr<ui8, ub>, !pto.ptr<ui8, l1>, i64, i64, i64, i64, i64
}
pto.section.vector {
}"""
    )
    assert remarks(loaded) == ["pto.copy_ubuf_to_cbuf is for the vector core, but this is code of the cube core"]
    found = fails(loaded.kernel())
    message = "aic has no pipe MTE3: its pipes are S, MTE2, MTE1, M, FIX; vector cores have it"
    assert (found.kind, found.message) == ("wrong-pipe", message)
    (reported,) = ptosim.check(loaded.kernel()).findings
    assert (reported.kind, reported.message) == (found.kind, found.message)


@pytest.mark.parametrize("pair", ['"PIPE_V", "PIPE_M"', '"PIPE_FIX", "PIPE_V"', '"PIPE_MTE1", "PIPE_M"'])
def test_a_flag_of_a_pipe_that_the_core_has_not(pair: str):
    kernel = module(f'pto.set_flag[{pair}, "EVENT_ID0"]').kernel()
    assert fails(kernel).kind == "wrong-pipe"
    assert [found.kind for found in ptosim.check(kernel).findings] == ["wrong-pipe"]


def test_a_semaphore_that_overflows_in_a_loop_is_placed_alike():
    """The 16th set nobody waits for is the one in iteration 15."""
    kernel = module(
        """pto.section.cube {
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c0 to %c20 step %c1 {
    pto.set_intra_block <PIPE_FIX>, 2
  }
}
pto.section.vector {
}"""
    ).kernel()
    found = fails(kernel)
    assert (found.kind, found.loops) == ("semaphore-overflow", (15,))
