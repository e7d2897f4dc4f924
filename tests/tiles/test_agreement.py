"""Valid regions that only the run knows: where they disagree a check says so, and a run covers that of the result."""

import numpy as np
import pytest

import ptosim
from tables import table
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


@table(
    "operation, regions, message",
    (UNARY, {"a": (3, 64), "d": (5, 64)}, "dst has 5 valid rows, but src 3"),
    (UNARY, {"a": (5, 50), "d": (5, 64)}, "dst has 64 valid columns, but src 50"),
    (BINARY, {"a": (5, 64), "b": (4, 64), "d": (5, 64)}, "dst has 5 valid rows, but src1 4"),
    (BROADCAST, {"a": (5, 64), "b": (1, 63), "d": (5, 64)}, "dst has 64 valid columns, but src1 63"),
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


PLACED = """module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %rows: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %source = arith.constant {source} : i64
    %dest = arith.constant {dest} : i64
    %x_view = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
    %x_part = pto.partition_view %x_view, offsets = [%c0, %c0], sizes = [%rows, %c64] : !pto.tensor_view<8x64xf32>
    %y_view = pto.make_tensor_view %y, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
    %y_part = pto.partition_view %y_view, offsets = [%c0, %c0], sizes = [%rows, %c64] : !pto.tensor_view<8x64xf32>
    %a = pto.alloc_tile addr = %source valid_row = %rows : !pto.tile_buf<vec, 8x64xf32, valid=?x64>
    %d = pto.alloc_tile addr = %dest valid_row = %rows : !pto.tile_buf<vec, 8x64xf32, valid=?x64>
    pto.tload ins(%x_part : !pto.partition_tensor_view<?x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32, valid=?x64>)
    pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32, valid=?x64>) outs(%d : !pto.tile_buf<vec, 8x64xf32, valid=?x64>)
    pto.tstore ins(%d : !pto.tile_buf<vec, 8x64xf32, valid=?x64>) outs(%y_part : !pto.partition_tensor_view<?x64xf32>)
    return
  }}
}}
"""


@table(
    "source, dest, rows, kinds",
    (0, 2048, 8, []),
    (1024, 1024, 8, []),
    (1024, 0, 8, [("invalid", "error")]),
    (1024, 0, 5, [("invalid", "error")]),
    (1024, 0, 4, []),
    (0, 1024, 8, [("scope-alias", "error")]),
    (0, 1024, 4, []),
    (0, 128, 1, [("invalid", "error")]),
    (0, 128, 2, [("scope-alias", "error")]),
    (0, 256, 1, []),
)
def test_a_result_that_lies_partly_over_its_source(
    source: int, dest: int, rows: int, kinds: list[tuple[str, str]]
) -> None:
    kernel = ptosim.load(PLACED.format(source=source, dest=dest)).kernel()
    x = -np.arange(512, dtype="f4")
    for engine in ("native", "reference"):
        report = ptosim.check(kernel, x, np.zeros_like(x), rows, engine=engine)
        assert [(one.kind, one.severity) for one in report.findings] == kinds, str(report)
        kernel(x, np.zeros_like(x), rows, engine=engine)
