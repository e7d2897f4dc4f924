"""How every example in C++ shows itself: run on its data, compare with NumPy, check, profile."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ptosim

sys.path.insert(0, str(Path(__file__).parents[1]))
from showing import Launch


@dataclass(frozen=True)
class Example:
    """A kernel of a C++ file by its expression, and one launch of it."""

    expression: str
    launch: Launch


def kernel_of(script: str, example: Example) -> Any:
    return ptosim.load_cpp(Path(script).with_suffix(".cpp")).kernel(example.expression)


def show(script: str, example: Example) -> None:
    """What a script does when it is called by itself."""
    kernel, launch = kernel_of(script, example), example.launch
    kernel(*launch.arguments, grid=launch.grid)
    launch.compare()
    print(f"{kernel.name}: result equals NumPy's")
    print(ptosim.check(kernel, *launch.arguments, grid=launch.grid))
    profile = ptosim.profile(kernel, *launch.arguments, grid=launch.grid)
    print(f"{profile.cycles} cycles, bound by {profile.bound}")
