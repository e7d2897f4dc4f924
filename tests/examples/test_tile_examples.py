"""Every tile example gives what NumPy gives, on both engines and in every schedule, although it says nothing of order
and addresses; it checks clean, and what it is lowered to gives the same bytes."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ptosim

EXAMPLES = Path(__file__).parents[2] / "examples" / "tiles"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.pto"))
ROWS = (0, 1, 16, 33)
"""Beside the default size: no row, one, a whole tile or half of one, one row more than two tiles or one."""


def script(name: str) -> ModuleType:
    """The script beside a kernel."""
    spec = importlib.util.spec_from_file_location(f"tiles_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def test_every_kernel_has_its_script():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == NAMES


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("rows", [None, *ROWS])
def test_the_result_is_that_of_numpy(name: str, rows: int | None, engine: str):
    launch = script(name).launch(**({} if rows is None else {"rows": rows}))
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    kernel(*launch.arguments, grid=launch.grid, engine=engine)
    launch.compare()


def test_it_checks_clean(name: str):
    launch = script(name).launch()
    report = ptosim.check(ptosim.load(EXAMPLES / f"{name}.pto").kernel(), *launch.arguments, grid=launch.grid)
    assert not report.findings, report


@pytest.mark.parametrize("schedule", ["random:1", "random:2", "delay:MTE2", "delay:V", "delay:MTE3"])
def test_every_schedule_gives_the_same_bytes(name: str, schedule: str):
    first, second = script(name).launch(), script(name).launch()
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    kernel(*first.arguments, grid=first.grid)
    kernel(*second.arguments, grid=second.grid, engine="reference", schedule=schedule)
    for one, other in zip(first.arguments, second.arguments, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_what_it_is_lowered_to_gives_the_same_bytes(name: str):
    first, second = script(name).launch(), script(name).launch()
    module = ptosim.load(EXAMPLES / f"{name}.pto")
    module.kernel()(*first.arguments, grid=first.grid)
    module.lowered().kernel()(*second.arguments, grid=second.grid)
    for one, other in zip(first.arguments, second.arguments, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
