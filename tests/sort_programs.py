"""Kernels around the two sorting instructions: an image of UB goes in, and the image after them comes out."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from both_engines import BothEngines
from ptosim import api

IMAGE = 16384  # bytes of UB that are copied in and out

_KERNEL = """
module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%given: !pto.ptr<ui8, gm>, %taken: !pto.ptr<ui8, gm>, %counts: !pto.ptr<i16, gm>,
      PARAMETERS) attributes {pto.kernel} {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %size = arith.constant 16384 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %ub = pto.castptr %zero : i64 -> !pto.ptr<ui8, ub>
    pto.mte_gm_ub %given, %ub, %zero, %size nburst(%one, %size, %size)
      : !pto.ptr<ui8, gm>, !pto.ptr<ui8, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    BODY
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %ub, %taken, %size nburst(%one, %size, %size)
      : !pto.ptr<ui8, ub>, !pto.ptr<ui8, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }
}
"""

_SORT = """
    %dest = pto.castptr %d : i64 -> !pto.ptr<ui32, ub>
    %source = pto.castptr %s : i64 -> !pto.ptr<TYPE, ub>
    %indices = pto.castptr %i : i64 -> !pto.ptr<ui32, ub>
    %times = arith.index_cast %repeat : i64 to index
    pto.vbitsort %dest, %source, %indices, %times
      : !pto.ptr<ui32, ub>, !pto.ptr<TYPE, ub>, !pto.ptr<ui32, ub>, index
"""

_MERGE = """
    %dest = pto.castptr %d : i64 -> !pto.ptr<TYPE, ub>
    %l0 = pto.castptr %s0 : i64 -> !pto.ptr<TYPE, ub>
    %l1 = pto.castptr %s1 : i64 -> !pto.ptr<TYPE, ub>
    %l2 = pto.castptr %s2 : i64 -> !pto.ptr<TYPE, ub>
    %l3 = pto.castptr %s3 : i64 -> !pto.ptr<TYPE, ub>
    pto.vmrgsort4 %dest, %l0, %l1, %l2, %l3, %count, %config
      : !pto.ptr<TYPE, ub>, !pto.ptr<TYPE, ub>, !pto.ptr<TYPE, ub>, !pto.ptr<TYPE, ub>, !pto.ptr<TYPE, ub>, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    %n0, %n1, %n2, %n3 = pto.get_vms4_sr : i16, i16, i16, i16
    pto.store_scalar %n0, %counts[%c0] : !pto.ptr<i16, gm>, i16
    pto.store_scalar %n1, %counts[%c1] : !pto.ptr<i16, gm>, i16
    pto.store_scalar %n2, %counts[%c2] : !pto.ptr<i16, gm>, i16
    pto.store_scalar %n3, %counts[%c3] : !pto.ptr<i16, gm>, i16
"""

Image = NDArray[np.uint8]


@cache
def _kernel(body: str, parameters: str, kind: str) -> api.Kernel:
    listed = ", ".join(f"%{name}: i64" for name in parameters.split())
    return api.load(_KERNEL.replace("PARAMETERS", listed).replace("BODY", body).replace("TYPE", kind)).kernel()


def _run(kernel: api.Kernel, image: Image, numbers: tuple[int, ...], **options: Any) -> tuple[Image, list[int]]:
    given, counts = np.zeros(IMAGE, np.uint8), np.zeros(4, np.int16)
    given[: len(image)] = image
    taken = np.zeros(IMAGE, np.uint8)
    BothEngines(kernel)(given, taken, counts, *numbers, **options)
    return taken, counts.view(np.uint16).tolist()


def sort_kernel(kind: str) -> api.Kernel:
    return _kernel(_SORT, "d s i repeat", kind)


def merge_kernel(kind: str) -> api.Kernel:
    return _kernel(_MERGE, "d s0 s1 s2 s3 count config", kind)


def sort(kind: str, image: Image, dest: int, source: int, indices: int, repeat: int, **options: Any) -> Image:
    """UB after pto.vbitsort on scores of that type."""
    return _run(sort_kernel(kind), image, (dest, source, indices, repeat), **options)[0]


def merge(
    kind: str, image: Image, dest: int, sources: tuple[int, int, int, int], count: int, config: int, **options: Any
) -> tuple[Image, list[int]]:
    """UB after pto.vmrgsort4, and how many records of each list it took."""
    numbers = (dest, *sources, _word(count), config)
    return _run(merge_kernel(kind), image, numbers, **options)


def _word(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits


def counts(*lengths: int) -> int:
    """The packed word of list lengths."""
    return sum(length << (16 * number) for number, length in enumerate(lengths))


def records(kind: str, pairs: list[tuple[float, int]]) -> Image:
    """Score and index, 8 bytes each; an f16 score is followed by two bytes of zero."""
    out = np.zeros((len(pairs), 8), np.uint8)
    for row, (score, index) in zip(out, pairs, strict=True):
        stored = np.array([score], np.float16 if kind == "f16" else np.float32).view(np.uint8)
        row[: len(stored)] = stored
        row[4:] = np.array([index], np.uint32).view(np.uint8)
    return out.reshape(-1)
