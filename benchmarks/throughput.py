"""How fast kernels run: share of memcpy's bandwidth, times NumPy, vector instructions per second."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ptosim
from benchmarks.kernels import ABS, ADD, EXP, chain, softmax, tiled
from benchmarks.measure import best, in_turns

EXAMPLES = Path(__file__).parents[1] / "examples"
BLOCKS = 16


@dataclass(frozen=True)
class Row:
    """One figure: what, on how many threads, the ratio and what it is a ratio of, and the floor where there is one."""

    name: str
    threads: int
    milliseconds: float
    ratio: float
    relative_to: str
    instructions_per_second: float
    floor: float | None = None
    judged: bool = True


def table(quick: bool) -> list[dict[str, Any]]:
    """All rows, printed as they come."""
    count = 1 << 22
    x, y, z = (np.random.default_rng(seed).normal(size=count).astype(np.float32) for seed in range(3))
    copy = partial(np.copyto, z, x)
    single, double = in_turns(copy, partial(_in_two_threads, z, x))
    print(f"memcpy: {8e-9 * count / single:.1f} GB/s with one thread, {8e-9 * count / double:.1f} with two\n")
    judged = single >= 1.3 * double
    rows: list[Row] = []

    def add(row: Row) -> None:
        rows.append(row)
        verdict = "" if row.floor is None else f"  floor {row.floor:.2f} {_verdict(row)}"
        rate = (
            f"{row.instructions_per_second / 1e6:7.0f} M vector instructions/s" if row.instructions_per_second else ""
        )
        time = f"{row.threads} thr {row.milliseconds:9.2f} ms"
        print(f"{row.name:34} {time} {row.ratio:6.2f} x {row.relative_to:7}{rate}{verdict}")

    for name, operation, inputs, rows_, columns, floors in (
        ("abs 4 M, 32x32 tiles", ABS, 1, 32, 32, (0.5, 0.9)),
        ("abs 4 M, 64x128 tiles", ABS, 1, 64, 128, (0.45, 0.8)),
        ("add 4 M, 32x32 tiles", ADD, 2, 32, 32, (0.45, 0.8)),
        ("add 4 M, 64x128 tiles", ADD, 2, 64, 128, (0.35, 0.65)),
        ("exp 4 M, 64x128 tiles", EXP, 1, 64, 128, (None, None)),
    ):
        kernel = ptosim.load(tiled(operation, inputs, rows_, columns)).kernel()
        arguments = ((x,) if inputs == 1 else (x, y)) + (z, count // (rows_ * columns * BLOCKS))
        for threads, floor in zip((1, 2), floors, strict=True):
            run = partial(kernel, *arguments, grid=BLOCKS, engine="native", threads=threads)
            copied, seconds = in_turns(copy, run)
            share = (inputs + 1) / 2 * copied / seconds
            rate = (inputs + 2) * count / 64 / seconds
            add(Row(name, threads, 1e3 * seconds, share, "memcpy", rate, floor, judged or threads == 1))

    if not quick:
        _large(add)
    _rows(add)
    _registers(add)
    _reference(add)
    return [asdict(row) for row in rows]


def _verdict(row: Row) -> str:
    if not row.judged:
        return "(not judged)"
    return "ok" if row.floor is not None and row.ratio >= row.floor else "MISSED"


def _in_two_threads(z: np.ndarray, x: np.ndarray) -> None:
    half = len(x) // 2
    other = threading.Thread(target=np.copyto, args=(z[half:], x[half:]))
    other.start()
    np.copyto(z[:half], x[:half])
    other.join()


def _large(add: Any) -> None:
    """Arrays that no cache holds."""
    count = 1 << 26
    x = np.ones(count, np.float32)
    z = np.zeros_like(x)
    kernel = ptosim.load(tiled(ABS, 1, 64, 128)).kernel()
    for threads in (1, 2):
        tiles = count // (64 * 128 * BLOCKS)
        run = partial(kernel, x, z, tiles, grid=BLOCKS, engine="native", threads=threads)
        copied, seconds = in_turns(partial(np.copyto, z, x), run, rounds=2)
        add(
            Row(
                "abs 64 M, 64x128 tiles",
                threads,
                1e3 * seconds,
                copied / seconds,
                "memcpy",
                3 * count / 64 / seconds,
            )
        )


def _rows(add: Any) -> None:
    """Row-wise kernels against NumPy on the whole array."""
    rows = 8192
    x = np.random.default_rng(5).normal(size=(rows, 128)).astype(np.float32)
    y = np.zeros_like(x)

    def numpy_softmax() -> np.ndarray:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    online = ptosim.load(EXAMPLES / "softmax.pto").kernel()
    plain = ptosim.load(softmax()).kernel()
    # Of the online one: 13 for a row and 64 columns, and 24 for a tile of 32 rows.
    for name, kernel, per_row, floor in (
        ("softmax 8192x128", plain, 14, 2.0),
        ("online softmax 8192x128", online, 2 * 13 + 24 / 32, 2.0),
    ):
        for threads in (1, 2):
            run = partial(kernel, x, y, rows, grid=BLOCKS, engine="native", threads=threads)
            numpy_seconds, seconds = in_turns(numpy_softmax, run)
            judged = floor if threads == 1 else None
            rate = rows * per_row / seconds
            add(Row(name, threads, 1e3 * seconds, numpy_seconds / seconds, "NumPy", rate, judged))
            if kernel is online and threads == 1:
                add(Row("its vector instructions", threads, 1e3 * seconds, rate / 200e6, "200 M/s", rate, 1.0))


def _registers(add: Any) -> None:
    """Instructions that touch no memory."""
    length, rounds = 20, 100_000
    kernel = ptosim.load(chain(length)).kernel()
    x = np.ones(64, np.float32)
    seconds = best(lambda: kernel(x, rounds, engine="native", threads=1))
    rate = length * rounds / seconds
    add(Row("chain of vadd and vmul", 1, 1e3 * seconds, rate / 200e6, "200 M/s", rate, 1.0))


def _reference(add: Any) -> None:
    """The other engine, which is the definition and need not be fast."""
    kernel = ptosim.load(tiled(ABS, 1, 32, 32)).kernel()
    x = np.ones(1 << 16, np.float32)
    z = np.zeros_like(x)
    seconds = best(lambda: kernel(x, z, 16, grid=4, engine="reference"), 3)
    rate = 3 * x.size / 64 / seconds
    add(Row("reference engine: abs", 1, 1e3 * seconds, rate / 0.5e6, "0.5 M/s", rate, 1.0))
