"""What a native check costs, as a multiple of the plain native run, and how much longer such a kernel compiles.

Processor time of both, in turns and on one processor: two that wait for the same memory take more of it together.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import ptosim
from benchmarks.examples import EXAMPLES, launch
from benchmarks.kernels import ABS, ADD, EXP, softmax, tiled
from benchmarks.measure import in_turns
from ptosim.api import Launch
from ptosim.arguments import bind
from ptosim.native.build.compilation import compile_kernel, compile_sieve

LIMIT = 2.0
LIMIT_OF_TAILS = 2.5
LIMIT_OF_PRODUCTS = 3.0
LIMIT_OF_COMPILING = 2.5
LEAST_GAIN = 0.9
"""Of what a plain run gains by a second thread."""
BLOCKS = 16
ROUNDS = 15
COMPILED = 3


class Case(NamedTuple):
    """A kernel with its arguments."""

    name: str
    kernel: ptosim.Kernel
    arguments: tuple[Any, ...]
    grid: int
    limit: float = LIMIT


def table(quick: bool) -> list[dict[str, Any]]:
    """All rows, printed as they come."""
    print()
    cases = list(_cases(1 << 20 if quick else 1 << 22))
    return [*(row for case in cases for row in _rows(case)), *(_gain(case) for case in cases[1:9:3])]


def _gain(case: Case) -> dict[str, Any]:
    """What a second thread does for a check, beside what it does for the plain run."""
    launch = Launch(bind(case.kernel.signature, case.arguments), case.grid)
    sieve = case.kernel.sieve()
    assert not isinstance(sieve, str)

    def sift(threads: int) -> None:
        sieve.sift(launch.native(threads), range(case.grid))

    one, two, sifted, twice = in_turns(
        partial(case.kernel.native, launch, 1),
        partial(case.kernel.native, launch, 2),
        partial(sift, 1),
        partial(sift, 2),
        rounds=ROUNDS,
    )
    gain = (sifted / twice) / (one / two)
    verdict = "ok" if gain >= LEAST_GAIN else "MISSED"
    print(
        f"{f'two threads, {case.name}':34} {gain:6.2f} x the gain of a run, at least {LEAST_GAIN} {verdict}", flush=True
    )
    return {"name": f"two threads, {case.name}", "ratio": gain, "least": LEAST_GAIN}


@contextmanager
def _one_processor() -> Generator[None]:
    """A check has as many threads as there are processors for this one."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    yield
    os.sched_setaffinity(0, before)


def _rows(case: Case) -> Iterator[dict[str, Any]]:
    kernel, arguments, grid = case.kernel, case.arguments, case.grid
    with _one_processor():
        run, checked = in_turns(
            partial(kernel, *arguments, grid=grid, threads=1),
            partial(ptosim.check, kernel, *arguments, grid=grid),
            rounds=ROUNDS,
            clock=process_time,
        )
    yield _row(f"check {case.name}", checked / run, case.limit, "run")
    module, program = kernel.module.executable, kernel.program
    plain, sieve = in_turns(
        partial(compile_kernel, module, program, False),
        partial(compile_sieve, module, program),
        rounds=COMPILED,
        clock=process_time,
    )
    yield _row(f"compile {case.name}", sieve / plain, LIMIT_OF_COMPILING, "plain")


def _row(name: str, ratio: float, limit: float, relative_to: str) -> dict[str, Any]:
    verdict = "ok" if ratio <= limit else "MISSED"
    print(f"{name:34} {ratio:6.2f} x {relative_to:7} limit {limit:.1f} {verdict}", flush=True)
    return {"name": name, "ratio": ratio, "limit": limit}


def _cases(elements: int) -> Iterator[Case]:
    x, y, z = (np.random.default_rng(seed).normal(size=elements).astype(np.float32) for seed in range(3))
    for name, operation, inputs, shape in (
        ("abs", ABS, 1, (32, 32)),
        ("abs", ABS, 1, (64, 128)),
        ("add", ADD, 2, (32, 32)),
        ("add", ADD, 2, (64, 128)),
        ("exp", EXP, 1, (64, 128)),
    ):
        kernel = ptosim.load(tiled(operation, inputs, *shape)).kernel()
        tiles = elements // (BLOCKS * shape[0] * shape[1])
        yield Case(f"{name} {shape[0]}x{shape[1]}", kernel, (*(x, y)[:inputs], z, tiles), BLOCKS)
    yield Case("softmax 32x128", ptosim.load(softmax()).kernel(), (x, z, elements // 128), BLOCKS)
    for name, sizes, limit in (
        ("softmax", {"rows": elements // 128}, LIMIT),
        ("layer_norm", {"rows": elements // 512, "columns": 512}, LIMIT),
        ("layer_norm", {"rows": elements // 300, "columns": 300}, LIMIT_OF_TAILS),
        ("matmul", {"rows": 256, "depth": 2048}, LIMIT_OF_PRODUCTS),
        ("flash_attention", {"rows": 512, "keys": 2048}, LIMIT_OF_PRODUCTS),
        ("tiles.flash_attention", {}, LIMIT_OF_PRODUCTS),
    ):
        launched = launch(name, **sizes)
        kernel = ptosim.load(EXAMPLES / f"{name.replace('.', '/')}.pto").kernel()
        shown = " ".join(f"{key}={value}" for key, value in sizes.items())
        yield Case(f"{name} {shown}", kernel, tuple(launched.arguments), launched.grid, limit)


if __name__ == "__main__":
    table(quick=True)
