"""Every example in C++ gives what NumPy gives, checks clean, and gives the bits and the cycles of its `.pto` twin."""

from pathlib import Path

import numpy as np
import pytest

import ptosim
from cpp.kernels import NEEDS_COMPILER
from example_scripts import script

pytestmark = NEEDS_COMPILER

EXAMPLES = Path(__file__).parents[2] / "examples" / "cpp"
BRANCHES = {"matmul": 3}
"""Cycles of the scalar unit for a branch of the twin: of a recording the branch is not part."""
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.cpp"))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_in_cpp_is_its_twin(name: str) -> None:
    example = script(f"cpp/{name}").example()
    launch = example.launch
    kernel = ptosim.load_cpp(EXAMPLES / f"{name}.cpp").kernel(example.expression)
    kernel(*launch.arguments, grid=launch.grid)
    launch.compare()
    assert not ptosim.check(kernel, *launch.arguments, grid=launch.grid).findings

    twin = ptosim.load(EXAMPLES / f"{name}.pto", sync="written").kernel()
    arguments = tuple(
        np.zeros_like(each) if index in launch.expected else each for index, each in enumerate(launch.arguments)
    )
    twin(*arguments, grid=launch.grid)
    for index in launch.expected:
        np.testing.assert_array_equal(arguments[index], launch.arguments[index])
    cycles = [ptosim.profile(each, *launch.arguments, grid=launch.grid).cycles for each in (kernel, twin)]
    assert cycles[1] - cycles[0] == BRANCHES.get(name, 0)
