"""Words that workitems keep from launch to launch: pto.keep and pto.resume."""

from __future__ import annotations

import numpy as np
import pytest

import ptosim
from workitem_programs import both

HEAD = 'module attributes {pto.target_arch = "a5"} {\n'
HEAD += "func.func @k(%x: !pto.ptr<i64, gm>, %y: !pto.ptr<i64, gm>) attributes {pto.kernel} {\n"


def sections(*bodies: str) -> str:
    query = "%t = pto.get_tid_x : i32\n%i = arith.index_cast %t : i32 to index\n"
    made = []
    for body in bodies:
        resumes = "\n".join(line for line in body.splitlines() if "resume" in line)
        rest = "\n".join(line for line in body.splitlines() if "resume" not in line)
        made.append(f"pto.section.simt<<<40, 1, 1>>> {{\n{resumes}\n{query}{rest}\n}}")
    return HEAD + "\n".join(made) + "\nreturn\n}\n}\n"


FIRST = (
    "%v = pto.load %x[%i] : !pto.ptr<i64, gm> -> i64\n"
    "pto.keep %v {slot = 4 : i64} : i64\npto.keep %t {slot = 0 : i64} : i32"
)
SECOND = (
    "%v = pto.resume {slot = 4 : i64} : i64\n%n = pto.resume {slot = 0 : i64} : i32\n"
    "%w = arith.extsi %n : i32 to i64\n%s = arith.addi %v, %w : i64\npto.store %s, %y[%i] : !pto.ptr<i64, gm>, i64"
)


def test_the_next_launch_finds_what_was_kept() -> None:
    x, y = np.random.default_rng(1).integers(-(2**62), 2**62, 40), np.zeros(40, "i8")
    both([x], y, sections(FIRST, SECOND))
    assert np.array_equal(y, x + np.arange(40))


def test_two_slots_may_be_swapped() -> None:
    swap = "%a = pto.resume {slot = 0 : i64} : i32\n%b = pto.resume {slot = 1 : i64} : i32\n"
    swap += "pto.keep %a {slot = 1 : i64} : i32\npto.keep %b {slot = 0 : i64} : i32"
    first = "%c7 = arith.constant 7 : i32\npto.keep %t {slot = 0 : i64} : i32\npto.keep %c7 {slot = 1 : i64} : i32"
    last = "%a = pto.resume {slot = 0 : i64} : i32\n"
    last += "%w = arith.extsi %a : i32 to i64\npto.store %w, %y[%i] : !pto.ptr<i64, gm>, i64"
    y = np.zeros(40, "i8")
    both([np.zeros(40, "i8")], y, sections(first, swap, last))
    assert y.tolist() == [7] * 40


def test_what_a_launch_does_not_keep_is_lost() -> None:
    kernel = ptosim.load(sections(FIRST, "%c0 = arith.constant 0 : i32", SECOND)).kernel()
    report = ptosim.check(kernel, np.zeros(40, "i8"), np.zeros(40, "i8"))
    assert {found.kind for found in report.findings} == {"uninitialized"} and not report.ok
    assert "slot" in report.findings[0].message


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_private_buffer_survives_from_section_to_section(engine: str) -> None:
    text = (
        HEAD
        + """
      %c2 = arith.constant 2 : i32
      %b = llvm.alloca %c2 x i64 {pto.persistent} : (i32) -> !llvm.ptr
      pto.section.simt<<<40, 1, 1>>> {
        %t = pto.get_tid_x : i32
        %i = arith.index_cast %t : i32 to index
        %v = pto.load %x[%i] : !pto.ptr<i64, gm> -> i64
        llvm.store %v, %b : i64, !llvm.ptr
        %e = llvm.getelementptr %b[1] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %v, %e : i64, !llvm.ptr
      }
      pto.section.simt<<<40, 1, 1>>> {
        %t = pto.get_tid_x : i32
        %i = arith.index_cast %t : i32 to index
        %e = llvm.getelementptr %b[1] : (!llvm.ptr) -> !llvm.ptr, i64
        %v = llvm.load %b : !llvm.ptr -> i64
        %w = llvm.load %e : !llvm.ptr -> i64
        %s = arith.addi %v, %w : i64
        pto.store %s, %y[%i] : !pto.ptr<i64, gm>, i64
      }
      return
    }
  }
    """
    )
    x, y = np.arange(40) * 3, np.zeros(40, "i8")
    kernel = ptosim.load(text).kernel()
    kernel(x, y, engine=engine)
    assert np.array_equal(y, 2 * x)
    assert not ptosim.check(kernel, x, y).findings


def test_bits_that_are_kept_as_another_type_are_remarked_on() -> None:
    other = (
        "%v = pto.resume {slot = 0 : i64} : f32\n%b = arith.bitcast %v : f32 to i32\n%w = arith.extsi %b : i32 to i64\n"
    )
    other += "pto.store %w, %y[%i] : !pto.ptr<i64, gm>, i64"
    kernel, y = ptosim.load(sections(FIRST, other)).kernel(), np.zeros(40, "i8")
    (found,) = ptosim.check(kernel, np.zeros(40, "i8"), y, unwritten="off").findings
    assert (found.kind, found.severity) == ("lint", "warning") and "i32" in found.message and "f32" in found.message
    kernel(np.zeros(40, "i8"), y)
    assert y.tolist() == list(range(40))
