"""Kernels that are timed in the search for an order: as much shorter as it takes for the search to be quick."""

from __future__ import annotations

import pytest

import ptosim
from order.test_kernels import Text, arrays
from ptosim.home import synchronisation
from ptosim.order.short_loops import MOST_ENTRIES, READ, work


def nest(depth: int, sums: int) -> ptosim.Kernel:
    """Loads, sums and stores in loops that all run as often as the run says."""
    text = Text().tiles("x", "y", "z")
    for level in range(depth):
        text.loop(f"i{level}", "%n")
    for _ in range(sums):
        text.load("a", "%i0", "x").sum("x", "z", "y").sum("y", "x", "z").store("z", "b", "%i0")
    for _ in range(depth):
        text.end()
    return text.kernel()


@pytest.mark.parametrize(
    ("depth", "sums", "expected"),
    [
        (1, 1, READ * 4 + 8 * 4),
        (2, 1, READ * 4 + 64 * 4),
        (3, 1, READ * 4 + 64 * 4),  # 512 times would be too often, so each loop runs four times
        (4, 75, READ * 300 + 4 * 300),  # the two inner loops run twice, the others once
    ],
)
def test_loops_run_as_often_as_there_is_time_for(depth: int, sums: int, expected: int):
    found = work(nest(depth, sums).module.executable)
    assert found == expected
    assert found <= MOST_ENTRIES + READ * 4 * sums


@pytest.mark.parametrize(("depth", "sums"), [(1, 1), (4, 75)])
def test_a_long_kernel_is_timed_less_often(monkeypatch: pytest.MonkeyPatch, depth: int, sums: int):
    kernel, asked = nest(depth, sums), list[ptosim.Kernel]()

    def cycles(launch: synchronisation.SearchLaunch, kernel: ptosim.Kernel) -> int:
        asked.append(kernel)
        return 0

    for name in ("interpreted_cycles", "cycles"):
        monkeypatch.setattr(synchronisation.SearchLaunch, name, cycles)
    monkeypatch.setattr(synchronisation.SearchLaunch, "errors", lambda launch, kernel: [])
    ptosim.synchronise(kernel, *arrays(), 2, 1)
    timed = len(asked) - 1  # the last is the result
    assert timed * work(kernel.module.executable) <= synchronisation.MOST_WORK
