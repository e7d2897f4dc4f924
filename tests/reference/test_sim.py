"""The operations that lowerings use besides the instruction set, on both engines and in a check."""

from typing import Any

import numpy as np
import pytest

import ptosim
from native.agreement import agree, fails
from ptosim.api import Kernel

# --- require ----------------------------------------------------------------------------------------------------------


def required(attributes: str, values: str = "", types: str = "") -> Kernel:
    return ptosim.load(required_text(attributes, values, types)).kernel()


def required_text(attributes: str, values: str = "", types: str = "") -> str:
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%x: !pto.ptr<i32, gm>, %n: i32, %m: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %five = arith.constant 5 : i32
    scf.for %i = %c0 to %c3 step %c1 {{
      %ok = arith.cmpi sle, %n, %five : i32
      pto.sim.require %ok{values} {{{attributes}}} : i1{types}
      pto.store_scalar %n, %x[%i] : !pto.ptr<i32, gm>, i32
    }}
    return
  }}
}}
"""


def bytes_after(kernel: Kernel, *scalars: Any) -> list[int]:
    found = agree(kernel, np.zeros(3, np.int32), *scalars)
    assert isinstance(found, list), found
    return np.frombuffer(found[0], np.int32).tolist()


def test_a_run_goes_on() -> None:
    kernel = required('kind = "invalid", message = "too many"')
    assert bytes_after(kernel, 5, 0) == [5, 5, 5]
    assert bytes_after(kernel, 6, 0) == [6, 6, 6]


def test_a_check_says_so_and_goes_on() -> None:
    kernel = required('kind = "invalid", message = "too many"')
    assert ptosim.check(kernel, np.zeros(3, np.int32), 5, 0).findings == ()
    (finding,) = ptosim.check(kernel, np.zeros(3, np.int32), 6, 0).findings
    assert (finding.kind, finding.severity, finding.message) == ("invalid", "error", "too many")
    assert (finding.line, finding.count, finding.loops, finding.core) == (9, 3, (0,), "b0.aiv0")


@pytest.mark.parametrize(("kind", "severity"), [("lint", "warning"), ("overlap", "warning"), ("limit", "error")])
def test_the_severity_is_that_of_the_kind(kind: str, severity: str) -> None:
    (finding,) = ptosim.check(required(f'kind = "{kind}", message = ""'), np.zeros(3, np.int32), 6, 0).findings
    assert finding.severity == severity


def test_unless_one_is_given() -> None:
    kernel = required('kind = "invalid", message = "", severity = "warning"')
    (finding,) = (report := ptosim.check(kernel, np.zeros(3, np.int32), 6, 0)).findings
    assert finding.severity == "warning"
    assert report.ok


def test_a_fatal_one_ends_a_run() -> None:
    kernel = required('kind = "out-of-bounds", message = "{} of {}", fatal', ", %n, %m", ", i32, index")
    found = fails(kernel, np.zeros(3, np.int32), 6, -2)
    assert (found.kind, found.message, found.line, found.loops) == ("out-of-bounds", "6 of -2", 9, (0,))
    assert bytes_after(kernel, 5, 0) == [5, 5, 5]
    (finding,) = ptosim.check(kernel, np.zeros(3, np.int32), 6, -2).findings
    assert (finding.message, finding.count) == ("6 of -2", 3)


def test_it_takes_no_time() -> None:
    text = required_text('kind = "invalid", message = "too many"')
    without = "\n".join(line for line in text.splitlines() if "require" not in line)
    first, second = (
        ptosim.profile(ptosim.load(each).kernel(), np.zeros(3, np.int32), 6, 0) for each in (text, without)
    )
    assert first.cycles == second.cycles
