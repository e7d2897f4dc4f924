"""Vector code without scopes gives the bits that it gives with the scopes written, on both engines.

That random kernels do so is seen in test_random_programs.py.
"""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from bare import without_scopes

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.pto"))
SEEDS = sorted((Path(__file__).parent / "seeds").glob("*.pto"))


@pytest.mark.parametrize("path", [*EXAMPLES, *SEEDS], ids=lambda path: path.stem)
def test_published_kernels_load_without_their_scopes(path: Path) -> None:
    written = ptosim.load(path)
    bare = without_scopes(written)
    assert "vecscope {" not in bare and "pto.strict_vecscope" not in bare and "aivector_scope" not in bare
    module = ptosim.load(bare)
    ours, theirs = (_scopes(each) for each in (module, written))
    assert bool(ours) == bool(theirs)
    assert len(ours) <= len(theirs)  # neighbours share one
    assert str(module) == bare  # what was written stays as it was


def _scopes(module: ptosim.Module) -> list[str]:
    walked = module.executable.parsed.module.walk()
    return [op.name for op in walked if "vecscope" in op.name or "llvm.loop.aivector_scope" in op.attributes]


STRAIGHT = """module {
func.func @k(%gm: !pto.ptr<f32, gm>, %n: i32) attributes {pto.kernel} {
%c0 = arith.constant 0 : index
%c64 = arith.constant 64 : index
%zero = arith.constant 0 : i64
%one = arith.constant 1 : i64
%bytes = arith.constant 512 : i64
%half = arith.constant 5.0e-01 : f32
%ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
pto.mte_gm_ub %gm, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)
  : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
OPEN
%mask, %rest = pto.plt_b32 %n : i32 -> !pto.mask<b32>, i32
%a = pto.vlds %ub[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
%b = pto.vmuls %a, %half, %mask : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
pto.vsts %b, %ub[%c64], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
CLOSE
pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
pto.mte_ub_gm %ub, %gm, %bytes nburst(%one, %bytes, %bytes)
  : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
pto.barrier #pto.pipe<PIPE_ALL>
return
}
}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_straight_line(engine: str) -> None:
    """The first lanes halved into the second half of the array, for as many lanes as asked."""
    kernel = ptosim.load(STRAIGHT.replace("OPEN\n", "").replace("CLOSE\n", "")).kernel()
    x = np.arange(128, dtype="f4")
    kernel(x, 10, engine=engine)
    assert x.tolist() == [*range(64), *(lane / 2 for lane in range(10)), *range(74, 128)]


def test_check_and_profile_see_one_scope() -> None:
    """An inferred scope stands at its first instruction, and costs what a written one costs."""
    bare = ptosim.load(STRAIGHT.replace("OPEN\n", "").replace("CLOSE\n", "")).kernel()
    written = ptosim.load(STRAIGHT.replace("OPEN\n", "pto.vecscope {\n").replace("CLOSE\n", "}\n")).kernel()
    x = np.arange(128, dtype="f4")
    assert not ptosim.check(bare, x, 10).findings
    ours, theirs = (ptosim.profile(kernel, x, 10) for kernel in (bare, written))
    assert ours.cycles == theirs.cycles
    assert [(event.name, event.line) for event in ours.timeline if event.pipe == "V"] == [("pto.vecscope", 14)]


def test_hints_do_not_cut_a_scope_that_nobody_wrote() -> None:
    text = STRAIGHT.replace("OPEN\n", "").replace("CLOSE\n", "")
    flags = [line for line in text.splitlines(True) if "_flag[" in line]
    x = np.arange(128, dtype="f4")
    for pair, hint in (
        (flags[:2], "after line 11 add  pto.set_flag"),
        (flags[:2], "before line 12 add pto.wait_flag"),
        (flags[2:], "after line 17 add  pto.set_flag"),
        (flags[2:], "before line 18 add pto.wait_flag"),
    ):
        broken = text
        for line in pair:
            broken = broken.replace(line, "")
        hints = [finding.hint or "" for finding in ptosim.check(ptosim.load(broken).kernel(), x, 10).findings]
        assert any(hint in each for each in hints), hints


LOOPS = """module {
func.func @k(%gm: !pto.ptr<f32, gm>) attributes {pto.kernel} {
%c0 = arith.constant 0 : index
%c64 = arith.constant 64 : index
%c128 = arith.constant 128 : index
%zero = arith.constant 0 : i64
%one = arith.constant 1 : i64
%bytes = arith.constant 512 : i64
%ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
%all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
scf.for %i = %c0 to %c128 step %c64 {
  %n = arith.index_cast %i : index to i32
  %a = pto.vci %n : i32 -> !pto.vreg<64xi32>
  %f = pto.vcvt %a, %all {rnd = "R"} : !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xf32>
  pto.vsts %f, %ub[%i], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
}
BETWEEN
scf.for %i = %c0 to %c128 step %c64 {
  %b = pto.vlds %ub[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
  %d = pto.vadd %b, %b, %all : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
  pto.vsts %d, %ub[%i], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
}
pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
pto.mte_ub_gm %ub, %gm, %bytes nburst(%one, %bytes, %bytes)
  : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
pto.barrier #pto.pipe<PIPE_ALL>
return
}
}
"""


@pytest.mark.parametrize(
    ("between", "kinds"),
    [
        ("", [("scope-alias", 19)]),
        ('pto.mem_bar "VST_VLD"', []),
        ("pto.barrier #pto.pipe<PIPE_V>", []),  # two scopes
    ],
)
def test_neighbouring_loops_share_a_scope_and_its_hazards(between: str, kinds: list[tuple[str, int]]) -> None:
    kernel = ptosim.load(LOOPS.replace("BETWEEN", between)).kernel()
    x = np.zeros(128, "f4")
    found = ptosim.check(kernel, x).findings
    assert [(finding.kind, finding.line) for finding in found if finding.severity == "error"] == kinds
    for engine in ("reference", "native"):
        kernel(x, engine=engine)
        assert x.tolist() == [2 * number for number in range(128)]


HELPER = """
module attributes {pto.target_arch = "a5"} {
func.func @k(%gm: !pto.ptr<f32, gm>) attributes {pto.entry} {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c64 = arith.constant 64 : index
%two = arith.constant 2.0 : f32
%view = pto.make_tensor_view %gm, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<1x64xf32>
%part = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c1, %c64]
  : !pto.tensor_view<1x64xf32> -> !pto.partition_tensor_view<1x64xf32>
%a = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
pto.tload ins(%part : !pto.partition_tensor_view<1x64xf32>) outs(%a : !pto.tile_buf<vec, 1x64xf32>)
CALLS
pto.tstore ins(%a : !pto.tile_buf<vec, 1x64xf32>) outs(%part : !pto.partition_tensor_view<1x64xf32>)
return
}
func.func private @twice(%a: !pto.tile_buf<vec, 1x64xf32>) {
%c0 = arith.constant 0 : index
%two = arith.constant 2.0 : f32
%all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
%p = pto.tile_buf_addr %a : !pto.tile_buf<vec, 1x64xf32> -> !pto.ptr<f32, ub>
%v = pto.vlds %p[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
%w = pto.vmuls %v, %two, %all : !pto.vreg<64xf32>, f32, !pto.mask<b32> -> !pto.vreg<64xf32>
pto.vsts %w, %p[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
return
}
}
"""
CALL = "func.call @twice(%a) : (!pto.tile_buf<vec, 1x64xf32>) -> ()"


@pytest.mark.parametrize(
    "calls", [f"{CALL}\n{CALL}", f"scf.for %i = %c0 to %c2 step %c1 {{\n{CALL}\n}}"], ids=["in a row", "in a loop"]
)
def test_each_call_of_a_helper_on_tiles_has_a_scope_of_its_own(calls: str) -> None:
    kernel = ptosim.load(HELPER.replace("CALLS", calls)).kernel()
    x = np.ones(64, "f4")
    assert ptosim.check(kernel, x).findings == ()
    for engine in ("reference", "native"):
        x[:] = 1
        kernel(x, engine=engine)
        assert x.tolist() == [4] * 64
