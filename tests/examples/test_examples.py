"""Every example kernel gives what NumPy gives."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import ptosim

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.pto"))


def script(name: str) -> ModuleType:
    """The script beside a kernel, imported as it would import itself."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_the_example_equals_numpy(name: str) -> None:
    launch = script(name).launch()
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    kernel(*launch.arguments, grid=launch.grid, engine="reference")
    launch.compare()


@pytest.mark.parametrize("schedule", ["random:1", "random:2", "delay:MTE2", "delay:V", "delay:MTE3"])
@pytest.mark.parametrize("name", NAMES)
def test_every_schedule_gives_the_same(name: str, schedule: str) -> None:
    launch = script(name).launch()
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    kernel(*launch.arguments, grid=launch.grid, engine="reference", schedule=schedule)
    launch.compare()
