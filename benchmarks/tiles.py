"""How fast kernels of tiles are, beside the same kernel in micro-instructions, and how long they take to start.

All of it is one thread, so times are those of the processor: what else the computer does counts less.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import ptosim
from benchmarks import kernels, measure, tile_kernels
from benchmarks.examples import EXAMPLES, launch
from benchmarks.tile_kernels import COLUMNS, ROWS, each_register, many, micro, softmax_scopes, tiles
from ptosim.diagnostics import Source
from ptosim.loading import LoadedModule, load_module
from ptosim.native.build.compilation import compile_kernel

ROOT = Path(__file__).parents[1]
BLOCKS = 16
ELEMENTS = 1 << 22

in_turns = partial(measure.in_turns, rounds=10, clock=time.process_time)

PAIRS = {
    "abs": (tiles(1, tile_kernels.ABS), micro(1, each_register(kernels.ABS, ["x"], "z"))),
    "add": (tiles(2, tile_kernels.ADD), micro(2, each_register(kernels.ADD, ["x", "y"], "z"))),
    "exp": (tiles(1, tile_kernels.EXP), micro(1, each_register(kernels.EXP, ["x"], "z"))),
    "softmax": (tiles(1, *tile_kernels.SOFTMAX), micro(1, *softmax_scopes(kernels.EXP))),
}
"""A kernel of tiles, and the same one of micro-instructions."""

FLOOR = 0.9


def table() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(name: str, ratio: float, milliseconds: float, floor: float) -> None:
        rows.append({"name": name, "milliseconds": milliseconds, "ratio": ratio, "floor": floor})
        verdict = "ok" if ratio >= floor else "MISSED"
        print(f"{name:54} {milliseconds:9.2f} ms {ratio:6.2f}  floor {floor:.2f} {verdict}")

    print()
    for name, (tile_text, micro_text) in PAIRS.items():
        arrays = _arrays(2 if name == "add" else 1)
        tile, other = (_run(text, arrays) for text in (tile_text, micro_text))
        _agree(arrays[-1], tile, other)
        seconds, compared = in_turns(tile, other)
        add(f"{name} 4 M in tiles, to the same scopes by hand", compared / seconds, 1e3 * seconds, FLOOR)
    _softmax(add)
    _product(add)
    _attention(add)
    _starting(rows)
    return rows


def _arrays(inputs: int) -> list[np.ndarray]:
    arrays = [np.random.default_rng(seed).normal(size=ELEMENTS).astype(np.float32) for seed in range(inputs)]
    return [*arrays, np.zeros(ELEMENTS, np.float32)]


def _run(text: str, arrays: list[np.ndarray]) -> Callable[[], None]:
    kernel = ptosim.load(text, sync="written").kernel()
    count = ELEMENTS // (ROWS * COLUMNS * BLOCKS)
    return partial(kernel, *arrays, count, grid=BLOCKS, engine="native", threads=1)


def _agree(result: np.ndarray, *runs: Callable[[], None]) -> None:
    """What is compared computes the same."""
    results: list[bytes] = []
    for run in runs:
        result[:] = 0
        run()
        results.append(result.tobytes())
    assert len(set(results)) == 1


def _softmax(add: Any) -> None:
    """Beside the kernel that does all in one scope, and beside NumPy."""
    x, z = _arrays(1)
    rows = x.reshape(-1, COLUMNS)
    fused = ptosim.load(kernels.softmax()).kernel()
    tile = _run(PAIRS["softmax"][0], [x, z])
    one = partial(fused, x, z, len(rows), grid=BLOCKS, engine="native", threads=1)
    seconds, by_one, by_numpy = in_turns(tile, one, partial(softmax, rows))
    add("softmax 4 M in tiles, to one scope by hand", by_one / seconds, 1e3 * seconds, 0.7)
    add("softmax 4 M in tiles, to NumPy", by_numpy / seconds, 1e3 * seconds, 1.5)


def _product(add: Any) -> None:
    """Through tiles of 128 x 128 x 64 with inserted synchronisation; sums are exact in doubles, NumPy's are f32."""
    run, launched = _example("tiles.matmul", rows=512, depth=512, columns=512, grid=1)
    a, b = (array.astype(np.float32) for array in launched.arguments[:2])
    seconds, by_numpy = in_turns(run, partial(np.matmul, a, b))
    add("product 512 x 512 x 512 of f16 in tiles, to NumPy f32", by_numpy / seconds, 1e3 * seconds, 0.3)


def _attention(add: Any) -> None:
    """Cores that FIFOs join, beside the kernel whose signals and buffers are written by hand."""
    tile, _ = _example("tiles.flash_attention", rows=128, keys=1024)
    other, _ = _example("flash_attention", rows=128, keys=1024)
    seconds, by_hand = in_turns(tile, other)
    add("attention 128 x 1024 x 64 in tiles, to the one by hand", by_hand / seconds, 1e3 * seconds, 1 / 1.3)


def _example(name: str, **sizes: int) -> tuple[Callable[[], None], Any]:
    """An example, ready to run, and its launch."""
    launched = launch(name, **sizes)
    kernel = ptosim.load(EXAMPLES.joinpath(*name.split(".")).with_suffix(".pto")).kernel()
    run = partial(kernel, *launched.arguments, grid=launched.grid, engine="native", threads=1)
    run()
    launched.compare()
    return run, launched


def _starting(rows: list[dict[str, Any]]) -> None:
    """Loading and compiling many tile operations, without inserting synchronisation, and starting them again."""

    def add(name: str, seconds: float, limit: float) -> None:
        rows.append({"name": name, "milliseconds": 1e3 * seconds, "limit": 1e3 * limit})
        print(f"{name:54} {1e3 * seconds:9.1f} ms  limit {1e3 * limit:.0f} {'ok' if seconds <= limit else 'MISSED'}")

    text, long = many(300), many(1400)
    add(f"load {len(long) / 1e6:.1f} MB of tile operations", in_turns(lambda: _loaded(long), rounds=2)[0], 1.0)

    def compiled() -> None:
        module = _loaded(text).executable
        compile_kernel(module, module.kernels[0], drop=False)

    add("load and compile 300 tile operations", in_turns(compiled, rounds=5)[0], 0.3)
    seconds, megabytes = _of_a_process(COLD)
    add("3,000 tile operations in one loop, with order", seconds, 6.0)
    rows.append({"name": "its process", "megabytes": megabytes, "limit": 500})
    print(f"{'its process':54} {megabytes:9.0f} MB  limit 500 {'ok' if megabytes <= 500 else 'MISSED'}")
    with tempfile.TemporaryDirectory() as directory, patch.dict(os.environ, XDG_CACHE_HOME=directory):
        x, y = np.zeros(1 << 12, np.float32), np.zeros(1 << 12, np.float32)
        kernel = ptosim.load(text, sync="written").kernel()

        def run(kernel: ptosim.Kernel) -> None:
            kernel(x, y, 0, 32, engine="native", threads=1)

        first, second = in_turns(lambda: run(ptosim.load(text, sync="written").kernel()), lambda: run(kernel))
        add("from cache: 300 tile operations", first - second, 0.005)


COLD = """import resource, time
from benchmarks.tile_kernels import many
from ptosim.diagnostics import Source
from ptosim.loading import load_module
from ptosim.native.build.compilation import compile_kernel
text, begin = many(3000, 3000), time.process_time()
module = load_module(Source("many.pto", text)).executable
compile_kernel(module, module.kernels[0], drop=False)
print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def _of_a_process(program: str) -> tuple[float, float]:
    """Seconds and megabytes that a program prints, run by itself."""
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, kilobytes = said.stdout.split()
    return float(seconds), int(kilobytes) / 1024


def _loaded(text: str) -> LoadedModule:
    return load_module(Source("many.pto", text), sync="written")


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
