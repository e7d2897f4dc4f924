"""How every example shows itself: run on its data, compare with NumPy, check, profile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ptosim


@dataclass(frozen=True)
class Launch:
    """One launch of an example kernel: its arguments, and what the array arguments hold afterwards."""

    arguments: tuple[Any, ...]
    expected: dict[int, np.ndarray]
    grid: int = 1
    rtol: float = 0.0
    atol: float = 0.0

    def compare(self) -> None:
        """Raise AssertionError where an argument does not hold what it should."""
        for index, wanted in self.expected.items():
            found = self.arguments[index]
            if self.rtol or self.atol:
                np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), self.rtol, self.atol)
            else:
                np.testing.assert_array_equal(found, wanted)


def show(script: str, launch: Launch) -> None:
    """What a script does when it is called by itself."""
    kernel = ptosim.load(Path(script).with_suffix(".pto")).kernel()
    kernel(*launch.arguments, grid=launch.grid)
    launch.compare()
    print(f"{kernel.name}: result equals NumPy's")
    report = ptosim.check(kernel, *launch.arguments, grid=launch.grid)
    print(report)
    profile = ptosim.profile(kernel, *launch.arguments, grid=launch.grid)
    print(f"{profile.cycles} cycles, bound by {profile.bound}")
