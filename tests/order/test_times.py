"""How long insertion, proofs and sync take: processor time, the quickest of a few tries."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import ptosim
from order.test_kernels import Text
from order.test_synchronise import launch
from ptosim.diagnostics import Source
from ptosim.loading import load_module
from ptosim.order.ordering import orders

EXAMPLES = Path(__file__).parents[2] / "examples"


def seconds(call: Callable[[], object], times: int = 4) -> float:
    found: list[float] = []
    for _ in range(times):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def nest(operations: int) -> str:
    """Loads, sums and stores of twelve tiles in four loops, each depending on several of the others."""
    text = Text().tiles(*(f"t{number}" for number in range(12)))
    for index, end in zip("ijkl", ("%n", "%m", "%n", "%m"), strict=True):
        text.loop(index, end)
    for number in range(operations // 4):
        a, b, c = f"t{number % 12}", f"t{(number + 5) % 12}", f"t{(number + 7) % 12}"
        text.load("a", "%l", a).sum(a, b, c).sum(c, a, b).store(b, "b", "%k")
    for _ in range(4):
        text.end()
    return "\n".join([*text.lines, "return", "}", "}", ""])


def test_insertion_into_300_tile_operations_in_four_loops_takes_half_a_second():
    lowered = load_module(Source("<text>", nest(300)), None, "written").executable
    assert seconds(lambda: list(orders(lowered, "auto"))) <= 0.5


def test_a_proof_takes_a_second():
    kernel = ptosim.load(nest(300)).kernel()
    assert ptosim.prove(kernel).proven
    assert seconds(lambda: ptosim.prove(kernel), 2) <= 1
    for name in ("flash_attention", "tiles/matmul"):
        for kernel in ptosim.load(EXAMPLES / f"{name}.pto").kernels.values():
            kernel.module.executable  # noqa: B018 - lowered before the clock runs
            assert seconds(lambda kernel=kernel: ptosim.prove(kernel), 2) <= 1, name


def test_sync_takes_two_seconds_more_than_its_check():
    for name in ("pingpong", "tiles/matmul"):
        kernel, given = ptosim.load(EXAMPLES / f"{name}.pto").kernel(), launch(name)
        check = seconds(lambda k=kernel, g=given: ptosim.check(k, *g.arguments, grid=g.grid), 1)
        sync = seconds(lambda k=kernel, g=given: ptosim.synchronise(k, *g.arguments, grid=g.grid, strip=True), 1)
        assert sync - check <= 2, name
