"""The code that the filter of a check adds to a kernel."""

import ctypes

import numpy as np
import pytest

import ptosim
from native.test_sieve import ALONE, BLOCKS, assert_sound
from ptosim.native.build.compilation import lower
from ptosim.native.host.toolchain import LoadedObject, compile_object, this_host
from ptosim.native.ir.context import ContextWord
from ptosim.native.ir.module import ObjectModule
from ptosim.native.observe.filter import Filter
from ptosim.native.observe.transposed import TURNED, turn_words
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
    asks = f"ptr %context, i64 {8 * ContextWord.ISSUE}"
    assert asks in lower(module, program, False, this_host())[0].module.text()
    assert asks not in code_of(kernel)


@pytest.mark.parametrize("source, kept", [("%x", False), ("%y", True)])
def test_what_the_kernel_never_reads_is_not_written(source: str, kept: bool):
    """An argument that it reads as well is a copy, of which a later access would find what was written."""
    kernel = ptosim.load(BLOCKS.format(step=64, to="%y").replace("pto.addptr %x", f"pto.addptr {source}")).kernel()
    x, y = np.ones(64, "f4"), np.full(64, 2, "f4")
    assert ptosim.check(kernel, x, y).ok
    stock = kernel.sieve()._stock  # pyright: ignore
    (stand_in,) = stock._idle
    stand_in[:] = 7
    assert ptosim.check(kernel, x, y).ok
    assert (stand_in.view("f4") == y).all() if kept else (stand_in == 7).all()
    assert (y == 2).all()


@pytest.mark.parametrize("width", [1, 2, 4])
def test_what_is_defined_of_fractals_goes_where_their_elements_go(width: int):
    """A matrix of elements, some rows and single ones of which are not defined, and its transposed one."""
    high, wide, gap = 3, 4, 7
    per_word, columns, rows = 4 // width, 16 * wide, (32 // width) * high
    random = np.random.default_rng(width)
    defined = (random.random((rows, columns)) < 0.97) & (random.random((rows, 1)) < 0.8)
    words = defined.reshape(rows, -1, per_word).all(axis=2)  # of the source, along its rows
    across = 32 // width
    stride, dest_stride = rows + gap, 16 * wide + gap
    source = np.zeros(stride * (columns // across), "u1")
    for number in range(columns // across):
        bits = words[:, number * 8 : number * 8 + 8]
        source[number * stride : number * stride + rows] = np.packbits(bits, axis=1, bitorder="little")[:, 0]
    target = np.full(dest_stride * high, 0xA5, "u1")
    module = ObjectModule()
    f = module.function("turn", TURNED)
    turn_words(f, width)
    f.finish()
    program = LoadedObject(compile_object(module.text()), ["turn"])
    call = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 4)(program.address("turn"))
    assert call(None, target.ctypes.data, source.ctypes.data, high, wide, stride, dest_stride) == 0
    known = np.repeat(words, per_word, axis=1).T  # an element is as defined as its word
    for r in range(high):
        part = known[:, r * across : (r + 1) * across].reshape(columns, 8, per_word).all(axis=2)
        expected = np.packbits(part, axis=1, bitorder="little")[:, 0]
        assert (target[r * dest_stride : r * dest_stride + columns] == expected).all()
        assert (target[r * dest_stride + columns : (r + 1) * dest_stride] == 0xA5).all()
