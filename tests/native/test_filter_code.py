"""The code that the filter of a check adds to a kernel."""

import numpy as np

import ptosim
from native.test_sieve import ALONE, assert_sound
from ptosim.native.build.compilation import lower
from ptosim.native.host.toolchain import this_host
from ptosim.native.ir.context import Word
from ptosim.native.observe.filter import Filter
from ptosim.target.profile import load_target

POINTS = ALONE.format("""      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %f = arith.constant 1.0 : f32
      %v = pto.vdup %f, %all : f32, !pto.mask<b32> -> !pto.vreg<64xf32>
      pto.vsts %v, %ub[%c0], %all : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      pto.mem_bar "VV_ALL"
      %w = pto.vlds %ub[%c0] {dist = "BRC_B32"} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      pto.vsts %w, %ub[%c64], %all {dist = "1PT_B32"} : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
""")


def code_of(kernel: ptosim.Kernel) -> str:
    module, program = kernel.module.executable, kernel.program
    observer = Filter(program.entries, load_target(module.target))
    return lower(module, program, False, this_host(), observer)[0].module.text()


def test_single_words_are_no_vectors():
    """On vectors of one bit LLVM may end the process, in kernels that permute bytes."""
    kernel = ptosim.load(POINTS).kernel()
    assert "<1 x i1>" not in code_of(kernel)
    assert assert_sound(kernel, [np.zeros(64, "f4")])


def test_a_core_that_is_alone_never_asks_the_scheduler():
    """What would have to wait there has to be judged in any case."""
    kernel = ptosim.load(POINTS).kernel()
    module, program = kernel.module.executable, kernel.program
    asks = f"ptr %context, i64 {8 * Word.ISSUE}"
    assert asks in lower(module, program, False, this_host())[0].module.text()
    assert asks not in code_of(kernel)
