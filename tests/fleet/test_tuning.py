"""Tuning against spaces that are computed in full: how near to the best it comes, and with how many runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptosim.fleet.cluster import connected
from ptosim.fleet.sweeping import sweep
from ptosim.fleet.tuning import tune

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
KERNEL = """from ptosim import pto, scalar

Matrix = pto.gm_ptr[pto.f32]


@pto.jit(target="a5", kernel_kind="vector")
def kernel(x: Matrix, y: Matrix, rows: pto.i32, *, ROWS: pto.const_expr = 32):
    source, target = (pto.make_tensor_view(each, shape=[rows, 128], strides=[128, 1]) for each in (x, y))
    for row in range(pto.get_block_idx() * ROWS, rows, pto.get_block_num() * ROWS):
        count = scalar.min(rows - row, ROWS)
        a, b = (
            pto.alloc_tile(shape=[ROWS, 128], dtype=pto.f32, valid_shape=[count, 128]) for _ in pto.static_range(2)
        )
        column = pto.alloc_tile(shape=[ROWS, 1], dtype=pto.f32, blayout="ColMajor", valid_shape=[count, 1])
        pto.tile.load(source, a, offsets=[row, 0])
        {compute}
        pto.tile.store(b, target, offsets=[row, 0])
"""
KERNELS = {
    "exponential": "pto.tile.exp(a, b)",
    "doubled": "pto.tile.add(a, a, b)",
    "chain": "pto.tile.mul(a, a, b); pto.tile.exp(b, b); pto.tile.adds(b, 1.0, b); pto.tile.sqrt(b, b)",
    "sums": "pto.tile.rowsum(a, column); pto.tile.rowexpandmul(a, column, b)",
    "maxima": "pto.tile.rowmax(a, column); pto.tile.rowexpandsub(a, column, b); pto.tile.exp(b, b)",
}
SPEC = """kernels = ["kernel.py:kernel"]
what = "{what}"
args = ["rand:{{n}}x128", "zeros:{{n}}x128", "{{n}}"]
define = {{ ROWS = "{{tile}}" }}
[vary]
n = [1400]
tile = [8, 16, 24, 32, 40, 48, 56, 64, 72, 80]
grid = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40]
"""
NEAR = 1.02


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connected(workers=2) as client:
        yield client


def test_five_spaces_of_two_hundred(client: Any, tmp_path: Path) -> None:
    """Within 2 % of the best in each, the best in four, with at most a third of the runs at full size."""
    ratios: dict[str, float] = {}
    for name, compute in KERNELS.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "kernel.py").write_text(KERNEL.format(compute=compute))
        (folder / "all.toml").write_text(SPEC.format(what="profile"))
        (folder / "tune.toml").write_text(SPEC.format(what="check") + "[tune]\nsmall = { n = 350 }\nkeep = 0.3\n")
        cycles = [row["cycles"] for row in sweep(folder / "all.toml", client=client).table.to_pylist()]
        assert len(cycles) == 200 and None not in cycles
        found = tune(folder / "tune.toml", client=client)
        assert found.best is not None and found.best.cycles is not None and 3 * found.full_runs <= 200
        ratios[name] = found.best.cycles / min(cycles)
    assert max(ratios.values()) <= NEAR and sum(ratio == 1 for ratio in ratios.values()) >= 4, ratios
