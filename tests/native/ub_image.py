"""Kernels around a few instructions, on both engines: random bytes go into UB, and UB comes out."""

from typing import Any

import numpy as np

from native.agreement import agree, fails
from ptosim import api
from ptosim.diagnostics import Diagnostic
from reference.kernel import SIZE, module, some_bytes

COPY_IN = f"""pto.mte_gm_ub %in, %ub_ui8, %c0_i64, %c{SIZE}_i64 nburst(%c1_i64, %c{SIZE}_i64, %c{SIZE}_i64)
  : G<ui8>, P<ui8>, i64, i64, i64, i64, i64
pto.barrier #pto.pipe<PIPE_ALL>"""
COPY_OUT = f"""pto.barrier #pto.pipe<PIPE_ALL>
pto.mte_ub_gm %ub_ui8, %out, %c{SIZE}_i64 nburst(%c1_i64, %c{SIZE}_i64, %c{SIZE}_i64)
  : P<ui8>, G<ui8>, i64, i64, i64, i64
pto.barrier #pto.pipe<PIPE_ALL>"""


def kernel(body: str, rest: str = "", arguments: str = "", target: str = "a5") -> api.Kernel:
    """A kernel that brings an image of UB in and takes it out; `body` stands between."""
    given = "%in: G<ui8>, %out: G<ui8>" + arguments
    return api.load(module(given, f"{COPY_IN}\n{body}\n{COPY_OUT}", target, rest)).kernel("k")


def same(
    body: str, *scalars: Any, rest: str = "", arguments: str = "", target: str = "a5", **options: Any
) -> np.ndarray:
    """UB after the body, the same on both engines."""
    made = kernel(body, rest, arguments, target)
    found = agree(made, some_bytes(SIZE), np.zeros(SIZE, np.uint8), *scalars, **options)
    assert isinstance(found, list), found
    return np.frombuffer(found[1], np.uint8)


def wrong(body: str, *scalars: Any, arguments: str = "", target: str = "a5") -> Diagnostic:
    """The error of a body, the same on both engines."""
    made = kernel(body, arguments=arguments, target=target)
    return fails(made, some_bytes(SIZE), np.zeros(SIZE, np.uint8), *scalars)


def either(body: str, *scalars: Any, arguments: str = "") -> str | None:
    """The kind of error that a body ends with, if any; the engines agree in any case."""
    found = agree(kernel(body, arguments=arguments), some_bytes(SIZE), np.zeros(SIZE, np.uint8), *scalars)
    return found.kind if isinstance(found, Diagnostic) else None
