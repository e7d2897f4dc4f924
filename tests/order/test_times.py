"""How long insertion, proofs and sync take, in processor time."""

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


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def takes(call: Callable[[], object], limit: float) -> bool:
    """Whether one of a few tries is in time: other work on the machine slows some of them down."""
    return any(seconds(call) <= limit for _ in range(4))


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
    assert takes(lambda: list(orders(lowered, "auto")), 0.5)


def test_a_proof_takes_a_second():
    kernel = ptosim.load(nest(300)).kernel()
    assert ptosim.prove(kernel).proven
    assert takes(lambda: ptosim.prove(kernel), 1)
    for name in ("flash_attention", "tiles/matmul"):
        for kernel in ptosim.load(EXAMPLES / f"{name}.pto").kernels.values():
            kernel.module.executable  # noqa: B018 - lowered before the clock runs
            assert takes(lambda kernel=kernel: ptosim.prove(kernel), 1), name


def test_sync_takes_two_seconds_more_than_its_check():
    for name in ("pingpong", "tiles/matmul"):
        kernel, given = ptosim.load(EXAMPLES / f"{name}.pto").kernel(), launch(name)
        check = seconds(lambda k=kernel, g=given: ptosim.check(k, *g.arguments, grid=g.grid, engine="native"))
        sync = seconds(lambda k=kernel, g=given: ptosim.synchronise(k, *g.arguments, grid=g.grid, strip=True))
        assert sync - check <= 2, name
