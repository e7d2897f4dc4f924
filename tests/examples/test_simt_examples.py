"""Examples of workitems give what NumPy gives on both engines and in every order; they check clean, have a profile, and
each barrier, fence or atomic that is taken out is found."""

import re
from pathlib import Path

import numpy as np
import pytest

import ptosim
from example_scripts import script

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in (EXAMPLES / "simt").glob("*.pto"))
SIZES: dict[str, list[dict[str, int]]] = {
    "saxpy": [
        {"count": 1, "grid": 1},
        {"count": 256, "grid": 1},
        {"count": 257, "grid": 1},
        {"count": 2049, "grid": 4},
    ],
    "all_reduce": [{"seed": 3}],
    "histogram": [{"count": 1, "grid": 1}, {"count": 513, "grid": 3}],
    "embedding": [{"tokens": 1}, {"tokens": 8}, {"tokens": 9}],
    "rms_norm": [{"rows": 1}, {"rows": 2}],
    "lookup": [{"count": 1}, {"count": 256}, {"count": 257}],
}


CASES = [(name, sizes) for name in NAMES for sizes in ({}, *SIZES.get(name, []))]


@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_the_result_is_that_of_numpy(name: str, sizes: dict[str, int]) -> None:
    kernel = ptosim.load(EXAMPLES / "simt" / f"{name}.pto").kernel()
    seen: set[bytes] = set()
    for options in (
        {},
        {"engine": "reference"},
        *({"engine": "reference", "schedule": f"random:{n}"} for n in range(3)),
    ):
        launch = script(f"simt/{name}").launch(**sizes)
        kernel(*launch.arguments, grid=launch.grid, **options)
        for number, expected in launch.expected.items():
            assert np.allclose(launch.arguments[number], expected, rtol=1e-5)
            seen.add(launch.arguments[number].tobytes())
    assert len(seen) == len(launch.expected)
    launch = script(f"simt/{name}").launch(**sizes)
    assert not ptosim.check(kernel, *launch.arguments, grid=launch.grid).findings
    assert ptosim.profile(kernel, *launch.arguments, grid=launch.grid).cycles > 200


ORDER = re.compile(r"pto\.(syncthreads|threadfence\w*|set_flag\w*|wait_flag\w*)")


def mutants(name: str) -> list[tuple[int, str]]:
    lines = (EXAMPLES / "simt" / f"{name}.pto").read_text().splitlines()
    places = [number for number, line in enumerate(lines) if ORDER.search(line)]
    return [
        (number, "\n".join(line for at, line in enumerate(lines) if at != place)) for number, place in enumerate(places)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_what_orders_workitems_is_needed(name: str) -> None:
    for number, text in mutants(name):
        launch = script(f"simt/{name}").launch()
        report = ptosim.check(ptosim.load(text + "\n").kernel(), *launch.arguments, grid=launch.grid)
        assert report.findings, f"{name}: mutant {number}"
        if report.findings[0].workitem is not None:
            hint = report.findings[0].hint or ""
            assert "pto.syncthreads" in hint or "pto.threadfence" in hint or "_flag" in hint
