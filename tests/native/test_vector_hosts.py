"""Every lowering of the vector rooms compiles for other processors; on older ones of this kind it computes the same."""

import platform
import random
from collections.abc import Callable
from typing import Any

import pytest

from native.test_vector_agreement import CASES, TEXTS, agree
from ptosim.api import Kernel
from ptosim.arguments import bind
from ptosim.native.build.compilation import compile_kernel
from ptosim.native.host.cache import Compiled
from ptosim.native.host.toolchain import Host, this_host
from ptosim.native.run.engine import LinkedKernel, Run
from ptosim.target.profile import load_target
from vector_programs import program

ELSEWHERE = [Host("x86_64-unknown-linux-gnu", "x86-64-v4"), Host("aarch64-unknown-linux-gnu", "generic")]
LEVELS = ["x86-64-v2", "x86-64-v3"] if platform.machine() in ("x86_64", "AMD64") else ["generic"]
HERE = [Host(this_host().triple, cpu) for cpu in LEVELS]


def _parameters(hosts: list[Host]) -> list[Any]:
    """Every way of writing an instruction, for every host; without --full each instruction once for each host."""
    found: list[Any] = []
    for seed, host in enumerate(hosts):
        chance = random.Random(seed)
        some = {chance.choice(texts) for texts in CASES.values()}
        for text in TEXTS:
            marks = () if text in some else pytest.mark.full
            found.append(pytest.param(host, text, marks=marks, id=f"{host.cpu} {text}"))
    return found


def _compiled(kernel: Kernel, host: Host) -> Compiled:
    return compile_kernel(kernel.module.executable, kernel.program, False, host)


@pytest.mark.parametrize(("host", "text"), _parameters(ELSEWHERE))
def test_an_object_is_made_for_other_processors(host: Host, text: str):
    assert _compiled(program(text).kernel, host).image.startswith(b"\x7fELF")


def code_for(host: Host, kernel: Kernel) -> Callable[..., None]:
    """The kernel in the code of another processor."""
    verified = kernel.module.executable
    linked = LinkedKernel(_compiled(kernel, host), verified.parsed.source, load_target(verified.target))

    def call(*given: Any) -> None:
        arguments = bind(kernel.signature, given)
        linked(Run(arguments.values, arguments.buffers, arguments.regions, grid=1, threads=1, max_steps=10**6))

    return call


@pytest.mark.parametrize(("host", "text"), _parameters(HERE))
def test_older_processors_compute_the_same(host: Host, text: str):
    made = program(text)
    agree(made, 2, kernel=code_for(host, made.kernel))
