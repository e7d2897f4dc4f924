"""Every lowering of the vector rooms compiles for other processors; on older ones of this kind it computes the same."""

import platform
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptosim
from golden.numbers import data
from golden.program import granularity, lanes, mask, ub, vector_kernel, vreg
from native.test_vector_agreement import CASES, agree_all
from ptosim.api import Kernel
from ptosim.arguments import bind
from ptosim.native.build.compilation import compile_kernel
from ptosim.native.host.cache import Compiled
from ptosim.native.host.toolchain import Host, this_host
from ptosim.native.run.engine import LinkedKernel, Run
from ptosim.target.profile import load_target
from vector_batches import VectorBatch, parametrize, tried

ELSEWHERE = [Host("x86_64-unknown-linux-gnu", "x86-64-v4"), Host("aarch64-unknown-linux-gnu", "generic")]
LEVELS = ["x86-64-v2", "x86-64-v3"] if platform.machine() in ("x86_64", "AMD64") else ["generic"]
HERE = [Host(this_host().triple, cpu) for cpu in LEVELS]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize(metafunc, CASES)


def _compiled(kernel: Kernel, host: Host) -> Compiled:
    return compile_kernel(kernel.module.executable, kernel.program, False, host)


def test_an_object_is_made_for_other_processors(texts: list[str]):
    def attempt(batch: VectorBatch) -> None:
        for host in ELSEWHERE:
            assert _compiled(batch.kernel, host).image.startswith(b"\x7fELF"), host

    tried(texts, attempt)


def code_for(host: Host, kernel: Kernel) -> Callable[..., None]:
    """The kernel in the code of another processor."""
    verified = kernel.module.executable
    linked = LinkedKernel(_compiled(kernel, host), verified.parsed.source, load_target(verified.target))

    def call(*given: Any) -> None:
        arguments = bind(kernel.signature, given)
        linked(Run(arguments.values, arguments.buffers, arguments.regions, grid=1, threads=1, max_steps=10**6))

    return call


def test_older_processors_compute_the_same(texts: list[str]):
    tried(texts, lambda batch: agree_all(batch, 2, *(code_for(host, batch.kernel) for host in HERE)))


@pytest.mark.parametrize("element", ["ui8", "ui16", "ui32"])
def test_masks_go_through_calls(element: str):
    """Those of 256 lanes did not with AVX2, where an i256 stood for them."""
    v, m, g, p, n = vreg(element), mask(element), granularity(element), ub(element), lanes(element)
    helper = f"""  func.func private @less(%v: {v}, %m: {m}) -> ({v}, {m}) {{
    %all = pto.pset_{g} "PAT_ALL" : {m}
    %s = pto.vadd %v, %v, %m : {v}, {v}, {m} -> {v}
    %k = pto.vcmp %s, %v, %all, "lt" : {v}, {v}, {m} -> {m}
    return %s, %k : {v}, {m}
  }}
"""
    scope = f"""      %third = pto.pset_{g} "PAT_M3" : {m}
      %all = pto.pset_{g} "PAT_ALL" : {m}
      %v = pto.vlds %ub_x[%c0] : {p} -> {v}
      %s, %k = func.call @less(%v, %third) : ({v}, {m}) -> ({v}, {m})
      %t, %_ = func.call @less(%s, %k) : ({v}, {m}) -> ({v}, {m})
      %r = pto.vsel %t, %v, %k : {v}, {v}, {m} -> {v}
      pto.vsts %r, %ub_y[%c0], %all : {v}, {p}, {m}
"""
    text = vector_kernel({"x": (element, n)}, {"y": (element, n)}, scope)
    kernel = ptosim.load(text[: text.rindex("}")] + helper + "}\n").kernel()
    x = data(element, n, 3)
    expected = np.zeros_like(x)
    kernel(x, expected, engine="reference")
    assert 0 < np.count_nonzero(expected != x) < n
    for host in (*HERE, this_host()):
        found = np.zeros_like(x)
        code_for(host, kernel)(x, found)
        assert np.array_equal(found, expected), host
