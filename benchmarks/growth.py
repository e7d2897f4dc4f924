"""How cost grows: with the number of elements, of straight-line instructions, of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

import ptosim
from benchmarks.kernels import ABS, chain, tiled
from benchmarks.measure import best, once
from ptosim.diagnostics import Source


def table(quick: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(name: str, size: int, seconds: float) -> None:
        rows.append(
            {"name": name, "size": size, "milliseconds": 1e3 * seconds, "nanoseconds_each": 1e9 * seconds / size}
        )
        print(f"{name:34} {size:>10,} {1e3 * seconds:10.2f} ms {1e9 * seconds / size:12.2f} ns each")

    print()
    _elements(add, 22 if quick else 26)
    _lengths(add)
    _blocks(add)
    return rows


def _elements(add: Any, largest: int) -> None:
    kernel = ptosim.load(tiled(ABS, 1, 32, 32)).kernel()
    for power in range(12, largest + 1, 2):
        x = np.ones(1 << power, np.float32)
        z = np.zeros_like(x)
        tiles = x.size // 1024
        blocks = min(4, tiles)
        seconds = best(lambda x=x, z=z, t=tiles // blocks, g=blocks: kernel(x, z, t, grid=g, engine="native"), 3)
        add("abs, elements", x.size, seconds)


def _lengths(add: Any) -> None:
    from ptosim.language.load import load
    from ptosim.native.build.compilation import compile_kernel

    for length in (100, 500, 1000, 2000, 5000):
        module = load(Source("chain.pto", chain(length)))
        add("compile, instructions", length, once(lambda m=module: compile_kernel(m, m.kernels[0], drop=False)))


def _blocks(add: Any) -> None:
    kernel = ptosim.load(tiled(ABS, 1, 32, 32)).kernel()
    for blocks in (1, 10, 100, 1000):
        x = np.ones(1024 * blocks, np.float32)
        z = np.zeros_like(x)
        add("abs, blocks", blocks, best(lambda x=x, z=z, g=blocks: kernel(x, z, 1, grid=g, engine="native"), 3))
