"""Texts of kernels of workitems, to try one operation or one body in all lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ptosim

NUMPY = {"i32": "i4", "i64": "i8", "f32": "f4", "f16": "f2", "bf16": "u2", "i16": "i2", "i8": "i1", "f64": "f8"}


def dtype_of(type_: str) -> np.dtype[Any]:
    """What an array of a type holds; of packed values and pairs of narrow floats, raw bytes."""
    return np.dtype(NUMPY.get(type_, "u1"))


def section(body: str, parameters: Sequence[str], sizes: str = "32, 1, 1", head: str = "") -> str:
    """A kernel that is one section; `%t` is the workitem's coordinate x, `%i` the same as an index."""
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel({", ".join(parameters)}) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %ub = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>
    {head}
    pto.section.simt<<<{sizes}>>> {{
      %t = pto.get_tid_x : i32
      %i = arith.index_cast %t : i32 to index
      {body}
    }}
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


def lanes(text: str, inputs: Sequence[tuple[str, Any]], result: str, count: int = 32) -> NDArray[Any]:
    """What `%r` becomes in every workitem, where `%a`, `%b` … are its elements of the inputs."""
    names = "abcdefg"[: len(inputs)]
    loads = "\n".join(
        f"%{name} = pto.load %p{name}[%i] : !pto.ptr<{type_}, gm> -> {type_}"
        for name, (type_, _) in zip(names, inputs, strict=True)
    )
    parameters = [f"%p{name}: !pto.ptr<{type_}, gm>" for name, (type_, _) in zip(names, inputs, strict=True)]
    store = f"pto.store %r, %out[%i] : !pto.ptr<{result}, gm>, {result}"
    source = section(f"{loads}\n{text}\n{store}", [*parameters, f"%out: !pto.ptr<{result}, gm>"], f"{count}, 1, 1")
    width = {"vector<2xf16>": 4, "vector<2xbf16>": 4, "vector<2xf32>": 8, "!pto.hif8x2": 2}.get(result, 1)
    out = np.zeros(count * (width if result not in NUMPY else 1), dtype_of(result))
    both([np.ascontiguousarray(array) for _, array in inputs], out, source)
    return out


def both(inputs: Sequence[Any], out: NDArray[Any], source: str) -> None:
    """Run on both engines, which must agree to the bit; the arguments are those of the last."""
    kernel = ptosim.load(source).kernel()
    others = [array.copy() for array in (*inputs, out)]
    kernel(*others)
    kernel(*inputs, out, engine="reference")
    for one, other in zip((*inputs, out), others, strict=True):
        assert one.tobytes() == other.tobytes(), "the engines differ"
