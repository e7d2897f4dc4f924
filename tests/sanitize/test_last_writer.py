"""Who wrote an element last, followed from GM to the store behind the copy."""

from typing import Any

import numpy as np

import ptosim
from ptosim.api import Launch
from ptosim.arguments import bind
from ptosim.sanitize.last_writer import LastWrite
from tables import table

HEAD = 'module attributes {pto.target_arch = "a5"} {\n'


def last_writer(text: str, *arguments: Any, element: int, argument: int = 0, grid: int = 1) -> LastWrite | None:
    kernel = ptosim.load(text).kernel()
    bound = bind(kernel.signature, arguments)
    low = bound.values[argument] + 4 * element
    return kernel.last_writer(Launch(bound, grid), low, low + 4)


def line_of(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


# Two rounds: the first stores 1 to elements 0 to 127, the second 2 to elements 64 to 191.
ROUNDS = (
    HEAD
    + """  func.func @k(%y: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c0_i64 = arith.constant 0 : i64
    %c2_i64 = arith.constant 2 : i64
    %c256_i64 = arith.constant 256 : i64
    %one = arith.constant 1.0 : f32
    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
    scf.for %i = %c0 to %c2 step %c1 {
      pto.vecscope {
        %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
        %v = pto.vdup %one, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>
        scf.for %j = %c0 to %c128 step %c64 {
          pto.vsts %v, %ub[%j], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
        }
      }
      pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
      %offset = arith.muli %i, %c64 : index
      %p = pto.addptr %y, %offset : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
      pto.mte_ub_gm %ub, %p, %c256_i64 nburst(%c2_i64, %c256_i64, %c256_i64)
        : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
      pto.barrier #pto.pipe<PIPE_ALL>
    }
    return
  }
}
"""
)


@table(
    "element, copy_loops, store_loops",
    (0, (0,), (0, 0)),
    (63, (0,), (0, 0)),
    (64, (1,), (1, 0)),
    (127, (1,), (1, 0)),
    (128, (1,), (1, 64)),
    (191, (1,), (1, 64)),
)
def test_the_later_of_two_copies(element: int, copy_loops: tuple[int, ...], store_loops: tuple[int, ...]) -> None:
    written = last_writer(ROUNDS, np.zeros(256, np.float32), element=element)
    assert written is not None
    assert (written.site.line, written.loops) == (line_of(ROUNDS, "mte_ub_gm"), copy_loops)
    assert written.source is not None
    assert (written.source.site.line, written.source.loops) == (line_of(ROUNDS, "vsts"), store_loops)


def test_an_element_that_nobody_writes() -> None:
    assert last_writer(ROUNDS, np.zeros(256, np.float32), element=192) is None


def test_the_block_is_named() -> None:
    text = (
        HEAD
        + """  func.func @k(%y: !pto.ptr<i32, gm>) attributes {pto.kernel} {
    %block_i64 = pto.get_block_idx
    %block = arith.index_cast %block_i64 : i64 to index
    %v = arith.constant 7 : i32
    pto.store_scalar %v, %y[%block] : !pto.ptr<i32, gm>, i32
    return
  }
}
"""
    )
    written = last_writer(text, np.zeros(4, np.int32), element=2, grid=4)
    assert written is not None
    assert (written.core, written.block, written.site.name) == ("b2.aiv0", 2, "pto.store_scalar")
    assert written.source is None


def test_a_copy_of_a_copy_names_the_inner_one() -> None:
    text = (
        HEAD
        + """  func.func @k(%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c64_i64 = arith.constant 64 : i64
    %ub = pto.castptr %c0_i64 : i64 -> !pto.ptr<f32, ub>
    pto.mte_gm_ub %x, %ub, %c0_i64, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
      : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %ub, %y, %c64_i64 nburst(%c1_i64, %c64_i64, %c64_i64)
      : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64
    return
  }
}
"""
    )
    arrays = np.zeros(16, np.float32), np.zeros(16, np.float32)
    written = last_writer(text, *arrays, element=3, argument=1)
    assert written is not None
    assert written.source is not None
    assert written.source.site.line == line_of(text, "mte_gm_ub")
    assert last_writer(text, *arrays, element=3, argument=0) is None
