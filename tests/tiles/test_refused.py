"""A function that is verified and cannot run: the diagnostic comes when its kernel runs, and stands at its place."""

import pytest

import ptosim
from ptosim.diagnostics import PTOError

TILE = "!pto.tile_buf<vec, 16x64xf32>"
KERNEL = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @tiles(%a: {TILE}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  pto.tabs ins(%a : {TILE}) outs(%a : {TILE})
  return
}}
func.func @nothing() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  return
}}
}}
"""


def test_to_run_it_is_a_diagnostic() -> None:
    kernel = ptosim.load(KERNEL).kernel("tiles")
    with pytest.raises(PTOError) as raised:
        _ = kernel.program
    found = [(said.kind, said.message, said.line) for said in raised.value.diagnostics]
    message = "tiles and views that are passed to a function are not lowered: allocate and view inside it"
    assert found == [("unsupported", message, 3)]


def test_other_kernels_of_the_module_run() -> None:
    kernel = ptosim.load(KERNEL).kernel("nothing")
    kernel()
    kernel(engine="reference")
    assert ptosim.check(kernel).ok


def test_it_prints() -> None:
    assert f"pto.tabs ins(%a : {TILE}) outs(%a : {TILE})" in str(ptosim.load(KERNEL))


@pytest.mark.parametrize("type_", ["vector<4xi16>", "!pto.hif8", "!pto.f4E2M1x2", "!pto.bf16x2", "f8E4M3FN"])
def test_a_parameter_that_no_launch_can_give(type_: str) -> None:
    """It loads, as the counts of a merge or a scalar of low precision do."""
    text = f"module {{\nfunc.func @k(%e: {type_}) attributes {{pto.kernel}} {{\nreturn\n}}\n}}\n"
    with pytest.raises(PTOError, match="a kernel can only be launched with pointers and scalars"):
        ptosim.load(text).kernel()(0)
    assert type_ in str(ptosim.load(text))


def test_a_function_that_is_refused_half_way_hinders_no_other() -> None:
    """The conversion before the refused one is already said as logical vectors, which stay."""
    halves = TILE.replace("f32", "f16")
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @half() attributes {{pto.kernel}} {{
  %a = pto.alloc_tile : {TILE}
  %b = pto.alloc_tile : {halves}
  pto.tcvt ins(%a : {TILE}) outs(%b : {halves})
  pto.tcvt ins(%b : {halves}) outs(%b : {halves})
  return
}}
func.func @whole() attributes {{pto.kernel}} {{
  %a = pto.alloc_tile : {TILE}
  %b = pto.alloc_tile : {halves}
  pto.tcvt ins(%a : {TILE}) outs(%b : {halves})
  return
}}
}}
"""
    module = ptosim.load(text)
    with pytest.raises(PTOError, match="does not convert f16 to f16"):
        _ = module.kernel("half").program
    module.kernel("whole")()
