"""The examples of logical vectors give what NumPy gives, check clean and have a profile."""

from pathlib import Path

import pytest

import ptosim
from example_scripts import script

EXAMPLES = Path(__file__).parents[2] / "examples" / "vmi"
SIZES = {
    "dequantise": [{}, {"length": 256}, {"length": 2048}],
    "rotary": [{}, {"rows": 1}, {"rows": 2}, {"rows": 128}],
    "softmax": [{}, {"rows": 1}, {"rows": 16, "grid": 1}, {"rows": 33, "grid": 2}],
}


def test_every_example_is_tried() -> None:
    assert sorted(SIZES) == sorted(path.stem for path in EXAMPLES.glob("*.pto"))


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("name", "sizes"), [(name, sizes) for name, cases in SIZES.items() for sizes in cases], ids=str
)
def test_the_example_equals_numpy(name: str, sizes: dict[str, int], engine: str) -> None:
    launch = script(f"vmi/{name}").launch(**sizes)
    ptosim.load(EXAMPLES / f"{name}.pto").kernel()(*launch.arguments, grid=launch.grid, engine=engine)
    launch.compare()


@pytest.mark.parametrize("name", SIZES)
def test_the_example_checks_clean_and_has_a_profile(name: str) -> None:
    launch = script(f"vmi/{name}").launch()
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    report = ptosim.check(kernel, *launch.arguments, grid=launch.grid)
    assert not report.findings, report
    assert ptosim.profile(kernel, *launch.arguments, grid=launch.grid).cycles > 0


@pytest.mark.parametrize("schedule", ["random:1", "delay:MTE2", "delay:V", "delay:MTE3"])
@pytest.mark.parametrize("name", SIZES)
def test_every_schedule_gives_the_same(name: str, schedule: str) -> None:
    launch = script(f"vmi/{name}").launch()
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    kernel(*launch.arguments, grid=launch.grid, engine="reference", schedule=schedule)
    launch.compare()
