"""Tile kernels without tiles: they load and store scalars, and a division by zero does not stop them."""

import numpy as np
import pytest

import ptosim
from ptosim.diagnostics import PTOError

KERNEL = """module attributes {{pto.target_arch = "{target}"}} {{
func.func @k(%p: !pto.ptr<i32>) attributes {{{mark}}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.load_scalar %p[%c0] : !pto.ptr<i32> -> i32
  %b = pto.load_scalar %p[%c1] : !pto.ptr<i32> -> i32
  %x = arith.{name} %b, %a : i32
  pto.store_scalar %x, %p[%c1] : !pto.ptr<i32>, i32
  return
}}
}}
"""
OF_TILES = "pto.kernel_kind = #pto.kernel_kind<vector>"


@pytest.mark.parametrize("name", ["remsi", "divsi", "remui", "divui", "floordivsi", "ceildivsi", "ceildivui"])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_division_by_zero_gives_zero(name: str, target: str) -> None:
    kernel = ptosim.load(KERNEL.format(target=target, mark=OF_TILES, name=name)).kernel()
    for engine in ("native", "reference"):
        p = np.array([0, 7], np.int32)
        kernel(p, engine=engine)
        assert p.tolist() == [0, 0]
    (found,) = ptosim.check(kernel, np.array([0, 7], np.int32)).findings
    assert (found.kind, found.severity, found.line) == ("arithmetic", "error", 7)


def test_a_kernel_of_instructions_stops() -> None:
    kernel = ptosim.load(KERNEL.format(target="a5", mark="pto.aicore", name="remsi")).kernel()
    with pytest.raises(PTOError, match="division by zero"):
        kernel(np.array([0, 7], np.int32))
