"""Valid regions that only the run knows: where they disagree a check says so, and a run covers that of the result."""

import numpy as np
import pytest

import ptosim
from tile_programs import Given, run, text

SHAPE = "8x64xf32"
UNARY = "pto.tabs ins(%a : A) outs(%d : D)"
BINARY = "pto.tadd ins(%a, %b : A, B) outs(%d : D)"
BROADCAST = "pto.tcolexpandadd ins(%a, %b : A, B) outs(%d : D)"


def said(operation: str, **tiles: Given) -> list[tuple[str, str, str]]:
    kernel = ptosim.load(text(operation, tiles), sync="written").kernel()
    sizes = [extent for tile in tiles.values() for extent in tile.valid or ()]
    report = ptosim.check(kernel, *(tile.image() for tile in tiles.values()), *sizes)
    return [(one.kind, one.severity, one.message) for one in report.findings if one.kind != "lint"]


@pytest.mark.parametrize(
    ("operation", "regions", "message"),
    [
        (UNARY, {"a": (3, 64), "d": (5, 64)}, "dst has 5 valid rows, but src 3"),
        (UNARY, {"a": (5, 50), "d": (5, 64)}, "dst has 64 valid columns, but src 50"),
        (BINARY, {"a": (5, 64), "b": (4, 64), "d": (5, 64)}, "dst has 5 valid rows, but src1 4"),
        (BROADCAST, {"a": (5, 64), "b": (1, 63), "d": (5, 64)}, "dst has 64 valid columns, but src1 63"),
    ],
)
def test_a_check_names_regions_that_disagree(operation: str, regions: dict[str, tuple[int, int]], message: str) -> None:
    tiles = {name: Given(SHAPE, np.ones((8, 64), "f4"), valid=valid) for name, valid in regions.items()}
    assert said(operation, **tiles) == [("invalid", "warning", message)]


@pytest.mark.parametrize("operation", [UNARY, BINARY])
def test_nothing_is_said_where_they_agree(operation: str) -> None:
    names = "abd" if "%b" in operation else "ad"
    tiles = {name: Given(SHAPE, np.ones((8, 64), "f4"), valid=(5, 60)) for name in names}
    assert said(operation, **tiles) == []


def test_a_known_region_is_compared_with_one_that_the_run_knows() -> None:
    a = Given(f"{SHAPE}, valid=4x64", np.ones((8, 64), "f4"))
    d = Given(SHAPE, valid=(6, 64))
    assert said(UNARY, a=a, d=d) == [("invalid", "warning", "dst has 6 valid rows, but src 4")]


def test_a_run_covers_the_region_of_the_result() -> None:
    a = np.arange(-256, 256, dtype="f4").reshape(8, 64)
    found = run(UNARY, check=False, a=Given(SHAPE, a, valid=(3, 64)), d=Given(SHAPE, valid=(5, 64)))["d"]
    assert np.array_equal(found.valid, np.abs(a[:5])) and found.unchanged_outside()
