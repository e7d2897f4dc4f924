"""How every example of several ranks shows itself: run, compare with NumPy, check, and check its broken twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ptosim


@dataclass(frozen=True)
class Launched:
    """A world in which an example has been launched, and what each rank's result should be."""

    world: ptosim.World
    found: Sequence[np.ndarray[Any, Any]]
    expected: Sequence[np.ndarray[Any, Any]]

    def compare(self) -> None:
        for found, expected in zip(self.found, self.expected, strict=True):
            np.testing.assert_array_equal(found, expected)


def kernel_of(script: str, suffix: str = ".pto") -> ptosim.Kernel:
    """The kernel, or the first of those that run together."""
    return next(iter(ptosim.load(Path(script).with_suffix(suffix)).kernels.values()))


def show(script: str, launched: Callable[..., Launched]) -> None:
    """What a script does when it is called by itself."""
    kernel = kernel_of(script)
    shown = launched(kernel)
    print(shown.world.check())
    shown.world.run()
    shown.compare()
    print(f"{Path(script).stem}: the result is NumPy's\n\nIts broken twin:")
    print(launched(kernel_of(script, ".broken.pto")).world.check())
