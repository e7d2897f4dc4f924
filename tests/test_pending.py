"""What waits for its lowering: it loads, verifies and prints, and to run it is a diagnostic at its place."""

import pytest

import ptosim
from ptosim.diagnostics import PTOError

TILE = "!pto.tile_buf<vec, 16x64xf32>"
KERNEL = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @tiles() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %a = pto.alloc_tile : {TILE}
  pto.tabs ins(%a : {TILE}) outs(%a : {TILE})
  pto.tabs ins(%a : {TILE}) outs(%a : {TILE})
  return
}}
func.func @nothing() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  return
}}
}}
"""


@pytest.mark.parametrize(
    "start", [lambda kernel: kernel(), lambda kernel: kernel(engine="reference"), ptosim.check, ptosim.profile]
)
def test_to_run_it_is_a_diagnostic(start) -> None:
    with pytest.raises(PTOError) as raised:
        start(ptosim.load(KERNEL).kernel("tiles"))
    found = [(said.kind, said.message, said.line) for said in raised.value.diagnostics]
    assert found == [
        ("unsupported", "pto.alloc_tile cannot be run yet", 3),
        ("unsupported", "pto.tabs cannot be run yet", 4),
    ]


def test_other_kernels_of_the_module_run() -> None:
    kernel = ptosim.load(KERNEL).kernel("nothing")
    kernel()
    kernel(engine="reference")
    assert ptosim.check(kernel).ok


def test_it_prints() -> None:
    assert f"pto.tabs ins(%a : {TILE}) outs(%a : {TILE})" in str(ptosim.load(KERNEL))
