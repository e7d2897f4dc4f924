"""The values that the tests of the reference rooms work out by hand, computed by compiled code."""

from collections.abc import Iterator
from types import ModuleType

import pytest

from reference import test_arithmetic, test_compare, test_conversion, test_rearrange, test_reduction, test_sfu
from vector_programs import engines


@pytest.fixture(autouse=True)
def _compiled() -> Iterator[None]:
    engines.append("native")
    yield
    engines.pop()


def _tests_of(module: ModuleType) -> dict[str, object]:
    room = module.__name__.rpartition(".test_")[2]
    found = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    return {f"test_{room}_{name.removeprefix('test_')}": test for name, test in found.items()}


for _module in (test_arithmetic, test_compare, test_conversion, test_rearrange, test_reduction, test_sfu):
    globals().update(_tests_of(_module))
