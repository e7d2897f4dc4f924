"""Every lowering of the vector rooms compiles for other processors; on older ones of this kind it computes the same."""

import platform
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptosim
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


HELPER = """module attributes {{pto.target_arch = "a5"}} {{
  func.func private @less(%v: {v}, %m: {m}) -> ({v}, {m}) {{
    %all = pto.pset_{g} "PAT_ALL" : {m}
    %s = pto.vadd %v, %v, %m : {v}, {v}, {m} -> {v}
    %k = pto.vcmp %s, %v, %all, "lt" : {v}, {v}, {m} -> {m}
    return %s, %k : {v}, {m}
  }}
  func.func @kernel(%x: !pto.ptr<{e}, gm>) attributes {{pto.kernel}} {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %bytes = arith.constant 256 : i64
    %c0 = arith.constant 0 : index
    %ub = pto.castptr %zero : i64 -> !pto.ptr<{e}, ub>
    pto.mte_gm_ub %x, %ub, %zero, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<{e}, gm>, !pto.ptr<{e}, ub>, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {{
      %third = pto.pset_{g} "PAT_M3" : {m}
      %all = pto.pset_{g} "PAT_ALL" : {m}
      %v = pto.vlds %ub[%c0] : !pto.ptr<{e}, ub> -> {v}
      %s, %k = func.call @less(%v, %third) : ({v}, {m}) -> ({v}, {m})
      %t, %_ = func.call @less(%s, %k) : ({v}, {m}) -> ({v}, {m})
      %r = pto.vsel %t, %v, %k : {v}, {v}, {m} -> {v}
      pto.vsts %r, %ub[%c0], %all : {v}, !pto.ptr<{e}, ub>, {m}
    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %ub, %x, %bytes nburst(%one, %bytes, %bytes)
      : !pto.ptr<{e}, ub>, !pto.ptr<{e}, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_masks_go_through_calls(bits: int):
    """Those of 256 lanes did not with AVX2, where an i256 stood for them."""
    words = {"e": f"ui{bits}", "v": f"!pto.vreg<{2048 // bits}xui{bits}>", "m": f"!pto.mask<b{bits}>", "g": f"b{bits}"}
    kernel = ptosim.load(HELPER.format(**words)).kernel()
    given = np.frombuffer(random.Random(bits).randbytes(256), f"u{bits // 8}")
    expected = given.copy()
    kernel(expected, engine="reference")
    assert 0 < np.count_nonzero(expected != given) < len(given)
    for host in (*HERE, this_host()):
        found = given.copy()
        code_for(host, kernel)(found)
        assert np.array_equal(found, expected), host
