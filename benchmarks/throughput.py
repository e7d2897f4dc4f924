"""How fast kernels run: share of memcpy's bandwidth, times NumPy, vector instructions per second."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

import ptosim
from benchmarks.examples import EXAMPLES, launch
from benchmarks.kernels import ABS, ADD, EXP, chain, softmax, tiled
from benchmarks.measure import REPEATS, best, in_turns

BLOCKS = 16
ROWS = 8192


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
    x, y, z = (np.random.default_rng(seed).normal(size=1 << 22).astype(np.float32) for seed in range(3))
    copy = partial(np.copyto, z, x)
    single, double = in_turns(copy, partial(_in_two_threads, z, x))
    print(f"memcpy: {2e-9 * x.nbytes / single:.1f} GB/s with one thread, {2e-9 * x.nbytes / double:.1f} with two\n")
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

    for name, operation, inputs, shape, floors in (
        ("abs 4 M", ABS, 1, (32, 32), (0.5, 0.9)),
        ("abs 4 M", ABS, 1, (64, 128), (0.45, 0.8)),
        ("add 4 M", ADD, 2, (32, 32), (0.45, 0.8)),
        ("add 4 M", ADD, 2, (64, 128), (0.35, 0.65)),
        ("exp 4 M", EXP, 1, (64, 128), (None, None)),
    ):
        _elementwise(add, name, operation, (x, y)[:inputs], z, shape, floors, judged)
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


def _elementwise(
    add: Any,
    name: str,
    operation: str,
    inputs: tuple[np.ndarray, ...],
    z: np.ndarray,
    shape: tuple[int, int],
    floors: tuple[float | None, float | None] = (None, None),
    judged: bool = True,
) -> None:
    """An element-wise kernel in tiles of this shape against memcpy, on one thread and on two."""
    kernel = ptosim.load(tiled(operation, len(inputs), *shape)).kernel()
    tiles = z.size // (shape[0] * shape[1] * BLOCKS)
    for threads, floor in zip((1, 2), floors, strict=True):
        run = partial(kernel, *inputs, z, tiles, grid=BLOCKS, engine="native", threads=threads)
        copied, seconds = in_turns(partial(np.copyto, z, inputs[0]), run, rounds=REPEATS if z.size < 1 << 24 else 2)
        share = (len(inputs) + 1) / 2 * copied / seconds
        rate = (len(inputs) + 2) * z.size / 64 / seconds
        title = f"{name}, {shape[0]}x{shape[1]} tiles"
        add(Row(title, threads, 1e3 * seconds, share, "memcpy", rate, floor, judged or threads == 1))


def _large(add: Any) -> None:
    """Arrays that no cache holds."""
    x, y = np.ones(1 << 26, np.float32), np.ones(1 << 26, np.float32)
    z = np.zeros_like(x)
    for shape in ((32, 32), (64, 128)):
        _elementwise(add, "abs 64 M", ABS, (x,), z, shape)
        _elementwise(add, "add 64 M", ADD, (x, y), z, shape)


def _rows(add: Any) -> None:
    """Row-wise kernels against NumPy on the whole array."""
    x = np.random.default_rng(5).normal(size=(ROWS, 128)).astype(np.float32)
    y = np.zeros_like(x)
    plain = ptosim.load(softmax()).kernel()
    _against_numpy(add, "softmax 8192x128", plain, (x, y, ROWS), partial(_softmax, x), ROWS * 14, 2.0)
    # Of the online one: 13 for a row and 64 columns, and 24 for a tile of 32 rows.
    online, count = ptosim.load(EXAMPLES / "softmax.pto").kernel(), ROWS * (2 * 13 + 24 / 32)
    seconds = _against_numpy(add, "online softmax 8192x128", online, (x, y, ROWS), partial(_softmax, x), count, 2.0)
    rate = count / seconds
    add(Row("its vector instructions", 1, 1e3 * seconds, rate / 200e6, "200 M/s", rate, 1.0))
    launched = launch("layer_norm", rows=ROWS, columns=128)
    x, gamma, beta, *_ = launched.arguments
    kernel = ptosim.load(EXAMPLES / "layer_norm.pto").kernel()
    _against_numpy(add, "layer norm 8192x128", kernel, launched.arguments, partial(_layer_norm, x, gamma, beta))
    launched = launch("gather", tokens=1 << 16)
    table, ids, weights, kinds, *_ = launched.arguments
    kernel = ptosim.load(EXAMPLES / "gather.pto").kernel()
    _against_numpy(
        add, "gather 65536 rows of 64", kernel, launched.arguments, lambda: weights[kinds][:, np.newaxis] * table[ids]
    )


def _against_numpy(
    add: Any,
    name: str,
    kernel: ptosim.Kernel,
    arguments: tuple[Any, ...],
    numpy: Callable[[], np.ndarray],
    instructions: float = 0,
    floor: float | None = None,
) -> float:
    """Seconds on one thread, where alone there is a floor."""
    taken: list[float] = []
    for threads in (1, 2):
        run = partial(kernel, *arguments, grid=BLOCKS, engine="native", threads=threads)
        numpy_seconds, seconds = in_turns(numpy, run)
        judged = floor if threads == 1 else None
        add(Row(name, threads, 1e3 * seconds, numpy_seconds / seconds, "NumPy", instructions / seconds, judged))
        taken.append(seconds)
    return taken[0]


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(1e-5)) * gamma + beta


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
