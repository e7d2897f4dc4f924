"""Where modules with tiles are more lenient: division goes on, and says so in a check alone."""

import numpy as np
import pytest

import ptosim
from both_engines import agree, fails
from ptosim.api import Kernel
from tables import table

NAMES = ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"]


def kernel(name: str, attributes: str = ", pto.sim.tiles") -> Kernel:
    return ptosim.load(f"""module attributes {{pto.target_arch = "a5"{attributes}}} {{
  func.func @k(%x: !pto.ptr<i32, gm>, %a: i32, %b: i32) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = arith.{name} %a, %b : i32
    pto.store_scalar %q, %x[%c0] : !pto.ptr<i32, gm>, i32
    pto.store_scalar %a, %x[%c1] : !pto.ptr<i32, gm>, i32
    return
  }}
}}
""").kernel()


def divided(name: str, a: int, b: int) -> int:
    found = agree(kernel(name), np.full(2, 99, np.int32), a, b)
    assert isinstance(found, list), found
    quotient, last = np.frombuffer(found[0], np.int32).tolist()
    assert last == a
    return quotient


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dividend", [7, -7, 0, -(2**31)])
def test_division_by_zero_gives_zero(name: str, dividend: int) -> None:
    assert divided(name, dividend, 0) == 0


@table("name, quotient", ("divsi", -(2**31)), ("remsi", 0), ("floordivsi", -(2**31)), ("ceildivsi", -(2**31)))
def test_a_quotient_that_does_not_fit_wraps(name: str, quotient: int) -> None:
    assert divided(name, -(2**31), -1) == quotient


@table(
    "name, a, b, quotient",
    *(("divsi", -7, 2, -3), ("remsi", -7, 2, -1), ("floordivsi", -7, 2, -4), ("ceildivsi", 7, 2, 4)),
    *(("divui", 7, 2, 3), ("remui", 7, 2, 1), ("ceildivui", 7, 2, 4), ("divui", -1, 2, 2**31 - 1)),
)
def test_other_quotients_are_what_they_are(name: str, a: int, b: int, quotient: int) -> None:
    assert divided(name, a, b) == quotient


@pytest.mark.parametrize("name", NAMES)
def test_a_check_reports_it_and_goes_on(name: str) -> None:
    (finding,) = ptosim.check(kernel(name), np.zeros(2, np.int32), 5, 0).findings
    assert (finding.kind, finding.severity, finding.line) == ("arithmetic", "error", 5)
    assert finding.message == "division by zero"
    assert ptosim.check(kernel(name), np.zeros(2, np.int32), 5, 3).ok


def test_a_check_reports_a_quotient_that_does_not_fit() -> None:
    (finding,) = ptosim.check(kernel("divsi"), np.zeros(2, np.int32), -(2**31), -1).findings
    assert finding.message == "the quotient of -2147483648 and -1 does not fit i32"


@pytest.mark.parametrize("name", NAMES)
def test_without_tiles_it_is_an_error(name: str) -> None:
    found = fails(kernel(name, ""), np.zeros(2, np.int32), 5, 0)
    assert (found.kind, found.message) == ("arithmetic", "division by zero")


def test_a_module_with_tiles_is_marked() -> None:
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @k() attributes {pto.kernel} {
    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    return
  }
}
"""
    module = ptosim.load(text)
    assert "pto.sim.tiles" in module.executable.parsed.module.attributes
    assert "pto.sim.tiles" not in module.verified.parsed.module.attributes
    bare = ptosim.load(text.replace("    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>\n", ""))
    assert "pto.sim.tiles" not in bare.executable.parsed.module.attributes


# --- scalar accesses outside of an argument ---------------------------------------------------------------------------


@pytest.mark.parametrize("index", [4, -1, 2**40])
def test_scalar_accesses_outside_are_dropped(index: int) -> None:
    dropping = ptosim.load("""module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<i32, gm>, %i: index) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %seven = arith.constant 7 : i32
    pto.store_scalar %seven, %x[%i] : !pto.ptr<i32, gm>, i32
    %r = pto.load_scalar %x[%i] : !pto.ptr<i32, gm> -> i32
    pto.store_scalar %r, %x[%c0] : !pto.ptr<i32, gm>, i32
    return
  }
}
""").kernel()
    found = agree(dropping, np.full(4, 9, np.int32), index, oob="drop")
    assert found == [np.array([0, 9, 9, 9], np.int32).tobytes()]
    assert fails(dropping, np.full(4, 9, np.int32), index).kind == "out-of-bounds"
