"""What a profile by compiled code costs: times the plain native run of the same launch, on the same arrays, in turns
and on one thread; and what compiling costs when the code is to be profiled."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np

import ptosim
from benchmarks.examples import EXAMPLES, launch
from benchmarks.kernels import ABS, ADD, EXP, softmax, tiled
from benchmarks.measure import in_turns
from ptosim.api import Kernel, Launch
from ptosim.arguments import bind
from ptosim.native.build.compilation import compile_kernel, compile_timed
from ptosim.target import load_target
from ptosim.timed_run import TimedRun, stopwatch

LIMIT, SHORT_LIMIT, COMPILE_LIMIT = 1.5, 2.0, 2.5
SHORT = 40e-9
"""Seconds of an entry below which the other limit holds."""
BLOCKS = 16

Case = tuple[str, Kernel, tuple[Any, ...], int]


def table(quick: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    print()
    for case in _cases(1 << 20 if quick else 1 << 22):
        rows.append(_run(*case))
    rows += [_compile(name) for name in ("softmax", "pingpong", "layer_norm", "flash_attention", "tiles/topk")]
    return rows


def _cases(count: int) -> Iterator[Case]:
    x, y, z = (np.random.default_rng(seed).normal(size=count).astype(np.float32) for seed in range(3))
    for name, operation, inputs, shape in (
        *(("abs", ABS, 1, (32, 32)), ("abs", ABS, 1, (64, 128))),
        *(("add", ADD, 2, (64, 128)), ("exp", EXP, 1, (64, 128))),
    ):
        rows, columns = shape
        kernel = ptosim.load(tiled(operation, inputs, rows, columns)).kernel()
        given = (x, y)[:inputs]
        yield f"{name} {rows}x{columns}", kernel, (*given, z, count // BLOCKS // (rows * columns)), BLOCKS
    rows = min(8192, count // 128)
    matrix, out = x[: rows * 128].reshape(rows, 128), z[: rows * 128].reshape(rows, 128)
    yield "softmax of rows", ptosim.load(softmax()).kernel(), (matrix, out, rows), BLOCKS
    yield "online softmax", ptosim.load(EXAMPLES / "softmax.pto").kernel(), (matrix, out, rows), BLOCKS
    ones = np.ones(128, np.float32)
    yield "layer norm", ptosim.load(EXAMPLES / "layer_norm.pto").kernel(), (matrix, ones, ones, out, rows, 128), BLOCKS
    launched = launch("flash_attention", rows=512, keys=2048)
    kernel = ptosim.load(EXAMPLES / "flash_attention.pto").kernel()
    yield "flash attention", kernel, tuple(launched.arguments), launched.grid


def _run(name: str, kernel: Kernel, arguments: tuple[Any, ...], grid: int) -> dict[str, Any]:
    launched = Launch(bind(kernel.signature, arguments), grid)
    pricing = kernel.pricing(load_target(kernel.module.target))
    assert pricing is not None

    def timed() -> TimedRun:
        watch = stopwatch(pricing)
        kernel.native(launched, 1, "profile", watch.attach)
        watch.conclude()
        return TimedRun(pricing, watch)

    plain, seconds = in_turns(partial(kernel.native, launched, 1), timed, rounds=25, clock=process_time)
    entries = sum(1 for kind in timed()().rows.kind if kind == 0)
    limit = SHORT_LIMIT if plain / max(1, entries) < SHORT else LIMIT
    return _row(f"profile {name}", seconds, plain, "native run", limit, f"{plain / entries * 1e9:5.0f} ns per entry")


def _compile(name: str) -> dict[str, Any]:
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    module, program = kernel.module.executable, kernel.program
    plain, seconds = in_turns(
        lambda: compile_kernel(module, program, False),
        lambda: compile_timed(module, program),
        rounds=3,
        clock=process_time,
    )
    return _row(f"compile {name} to be profiled", seconds, plain, "compile", COMPILE_LIMIT, "")


def _row(name: str, seconds: float, plain: float, of: str, limit: float, note: str) -> dict[str, Any]:
    ratio = seconds / plain
    verdict = "ok" if ratio <= limit else "MISSED"
    print(f"{name:34} {1e3 * seconds:8.2f} ms {ratio:6.2f} x {of}  limit {limit} {verdict}  {note}")
    return {"name": name, "milliseconds": 1e3 * seconds, "ratio": ratio, "limit": limit}
