"""Sweeps: two workers beside one on the same cases."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import ptosim
from benchmarks.examples import EXAMPLES

SPEC = """kernels = ["{kernel}"]
what = "check"
args = ["rand:{{n}}x128", "zeros:{{n}}x128", "{{n}}"]
[vary]
n = [900, 901]
seed = {{ from = 1, count = {count} }}
"""
FLOOR = 1.7


def table(quick: bool) -> list[dict[str, Any]]:
    count = 200 if quick else 1000
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "sweep.toml"
        spec.write_text(SPEC.format(kernel=EXAMPLES / "tiles" / "softmax.pto", count=count))
        one, two = (_seconds(spec, workers) for workers in (1, 2))
    verdict = "ok" if one >= FLOOR * two else "MISSED"
    name = f"{2 * count:,} cases on two workers, to one"
    print(f"\n{name:54} {1e3 * two:9.2f} ms {one / two:6.2f}  floor {FLOOR:.2f} {verdict}")
    return [{"name": "two workers, to one", "seconds": two, "ratio": one / two, "floor": FLOOR}]


def _seconds(spec: Path, workers: int) -> float:
    """Between the first rows, with which compiled code comes, and the last."""
    times: list[float] = []

    def told(done: int, count: int | None, now: float) -> None:
        times.append(now)

    ptosim.sweep(spec, workers=workers, told=told)
    return times[-1] - times[0]
