"""`ptosim fit`: figures from measured cycles, the table they come from, the file they go to."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import ptosim
from ptosim.cli.commands import main
from ptosim.fit.least_squares import solve
from ptosim.target import Target, load_target
from tables import table

TILE = "!pto.tile_buf<vec, 128x64xf32, valid=?x64>"


def _computing(name: str) -> str:
    """An operation on so many rows, again and again."""
    return f"""func.func @{name}(%rows: index, %times: index, %s: f32)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.alloc_tile valid_row = %rows : {TILE}
  %d = pto.alloc_tile valid_row = %rows : {TILE}
  scf.for %i = %c0 to %times step %c1 {{
    pto.{name} ins(%a, %s : {TILE}, f32) outs(%d : {TILE})
  }}
  return
}}
"""


def _copying(name: str) -> str:
    """Load or store so many rows."""
    view, part = "!pto.tensor_view<128x64xf32>", "!pto.partition_tensor_view<?x64xf32>"
    copy = (
        f"tload ins(%p : {part}) outs(%a : {TILE})" if name == "load" else f"tstore ins(%a : {TILE}) outs(%p : {part})"
    )
    return f"""func.func @{name}(%x: !pto.ptr<f32>, %rows: index, %times: index)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %v = pto.make_tensor_view %x, shape = [%c128, %c64], strides = [%c64, %c1] : {view}
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%rows, %c64] : {view} -> {part}
  %a = pto.alloc_tile valid_row = %rows : {TILE}
  scf.for %i = %c0 to %times step %c1 {{
    pto.{copy}
  }}
  return
}}
"""


KERNELS = f"""module attributes {{pto.target_arch = "a3"}} {{
{_computing("tlrelu")}{_computing("tadds")}{_copying("load")}{_copying("store")}}}
"""
ROWS = (2, 8, 32, 64, 128)
TIMES = 20
TRUE = {
    "instruction.vlrelu.slope": [2.5, 1],
    "instruction.vlrelu.tail": 40,
    "instruction.vadds.slope": [1.6, 1],
    "instruction.vadds.tail": 30,
    "dma.gm_ub.startup": 200,
    "dma.gm_ub.bytes_per_cycle": 70,
    "dma.ub_gm.startup": 120,
    "dma.ub_gm.bytes_per_cycle": 40,
}
HEADER = "kernel,arguments,grid,cycles"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.pto").write_text(KERNELS)
    return tmp_path


def _measured(target: Target, names: Iterable[str], noise: float = 0.0, times: int = 1) -> list[str]:
    """The rows of launches on a machine, its figures known."""
    module, draw, rows = ptosim.load(KERNELS), random.Random(5), list[str]()
    for name in names:
        for count in ROWS:
            copies = name in ("load", "store")
            words = f"zeros:8192 {count} {TIMES}" if copies else f"{count} {TIMES} 2"
            arguments: tuple[Any, ...] = (np.zeros(8192, np.float32), count, TIMES) if copies else (count, TIMES, 2.0)
            cycles = ptosim.profile(module.kernel(name), *arguments, target=target).cycles
            rows += [f'kernels.pto:{name},"{words}",1,{cycles * draw.gauss(1, noise):.2f}' for _ in range(times)]
    return rows


def _fit(rows: Iterable[str], *words: str, header: str = HEADER) -> Result:
    Path("measured.csv").write_text("\n".join([header, *rows]) + "\n")
    return CliRunner().invoke(main, ["fit", "measured.csv", "kernels.pto", "-o", "my.toml", *words])


def _machine(changed: Mapping[str, Any] = TRUE) -> Target:
    return load_target("a2a3").with_overrides(changed)


def test_constants_are_found_in_five_percent_noise(place: Path) -> None:
    result = _fit(_measured(_machine(), ("tlrelu", "tadds", "load", "store"), 0.05, 25))
    assert result.exit_code == 0, result.output
    found = load_target("my.toml")
    for path, value in TRUE.items():
        number = np.max(found.figures[path].value)  # of pairs that for narrow elements is not measured, and less
        assert number == pytest.approx(np.max(value), rel=0.05), path
        assert found.origin(path) == "FIT"
    assert found.figures["instruction.vlrelu.slope"].value == (pytest.approx(2.5, rel=0.05), 1)


def test_the_report_says_the_error_before_and_after(place: Path) -> None:
    rows = _measured(_machine(), ("tlrelu",))
    result = _fit(rows)
    assert "5 launches: mean error" in result.output and "0.0 % after" in result.output
    assert "measured already, and kept (--refit NAME fits them too): tile.head" in " ".join(result.output.split())
    text = Path("my.toml").read_text()
    assert tomllib.loads(text)["instruction"]["vlrelu"]["origin"] == "FIT" and "# was [1, 1], 19" in text
    profile = ptosim.profile(ptosim.load(KERNELS).kernel("tlrelu"), 64, TIMES, 2.0, target="my.toml")
    assert profile.cycles == pytest.approx(float(rows[3].rpartition(",")[2]), abs=2)


def test_microseconds_count_by_the_clock(place: Path) -> None:
    rows = [row.rpartition(",") for row in _measured(_machine(), ("tlrelu",))]
    result = _fit(
        [f"{head},{float(cycles) / 1850}" for head, _, cycles in rows], header="kernel,arguments,grid,microseconds"
    )
    assert result.exit_code == 0, result.output
    assert load_target("my.toml").figures["instruction.vlrelu.tail"].value == pytest.approx(40, rel=0.02)


def test_repeated_rows_count_by_their_median(place: Path) -> None:
    rows = _measured(_machine(), ("tlrelu",))
    spoilt = [f"{row.rpartition(',')[0]},1e6" for row in rows]
    assert _fit([*rows, *rows, *spoilt]).exit_code == 0
    assert load_target("my.toml").figures["instruction.vlrelu.tail"].value == pytest.approx(40, rel=0.02)


def test_what_cannot_be_told_apart_keeps_its_value_and_is_listed(place: Path) -> None:
    """One size: the start-up of a copy and its bytes are one number."""
    rows = [row for row in _measured(_machine(), ("load",)) if " 64 " in row]
    result = _fit(rows)
    assert result.exit_code == 0, result.output
    found = load_target("my.toml")
    kept = [path for path in ("dma.gm_ub.startup", "dma.gm_ub.bytes_per_cycle") if found.origin(path) != "FIT"]
    assert len(kept) == 1 and found.figures[kept[0]] == load_target("a2a3").figures[kept[0]]
    assert f"left open by these measurements, and kept: {kept[0]}" in result.output
    assert f"with {kept[0]}" in result.output


def test_what_was_measured_stays_unless_it_is_named(place: Path) -> None:
    rows = _measured(_machine({"tile.head": 27, "instruction.vlrelu.tail": 40}), ("tlrelu",))
    assert _fit(rows).exit_code == 0
    assert load_target("my.toml").figures["tile.head"] == load_target("a2a3").figures["tile.head"]
    again = _fit(rows, "--refit", "tile")
    assert again.exit_code == 0 and "measured already" not in again.output


def test_a_fit_that_explains_nothing_writes_nothing(place: Path) -> None:
    result = _fit(_measured(_machine({}), ("tlrelu",)))
    assert result.exit_code == 1 and "no figures explain measured.csv better" in result.output
    assert not Path("my.toml").exists()


def test_a_fit_of_a_fit_inherits_by_its_path(place: Path) -> None:
    assert _fit(_measured(_machine(), ("tlrelu",))).exit_code == 0
    Path("boards").mkdir()
    rows = _measured(_machine(), ("load",))
    Path("measured.csv").write_text("\n".join([HEADER, *rows]))
    words = ["fit", "measured.csv", "kernels.pto", "-o", "boards/second.toml", "--target", "my.toml"]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert tomllib.loads(Path("boards/second.toml").read_text())["inherits"] == "../my.toml"
    assert load_target("boards/second.toml").figures["instruction.vlrelu.tail"].value == pytest.approx(40, rel=0.02)


ROW = 'kernels.pto:tlrelu,"8 20 2",1,'


@table(
    "header, rows, line, message",
    ("kernel,arguments,cycles", [], 1, "the column 'grid' is missing"),
    ("kernel,arguments,grid", [], 1, "one column is 'cycles' or 'microseconds', but neither is there"),
    (f"{HEADER},microseconds", [], 1, "but both are there"),
    (f"{HEADER},board", [], 1, "there is no column 'board'"),
    (HEADER, [], 1, "there is no measurement below the header"),
    (HEADER, [f"{ROW}100", f"{ROW}-5"], 3, "cycles must be above 0, not -5"),
    (HEADER, [f"{ROW}nan"], 2, "cycles must be a number, not 'nan'"),
    (HEADER, [f"{ROW}soon"], 2, "cycles must be a number, not 'soon'"),
    (HEADER, ["", 'kernels.pto:tlrelu,"8 20 2",1.5,9'], 3, "grid is a whole number above 0, not 1.5"),
    (HEADER, ['other.pto,"8 20 2",1,9'], 2, "'other.pto' is none of the kernels given: kernels.pto"),
    (HEADER, ['kernels.pto:trelu,"8 20 2",1,9'], 2, "there is no kernel 'trelu'"),
    (HEADER, ['kernels.pto:tlrelu,"8 20",1,9'], 2, "tlrelu takes 3 arguments"),
    (
        HEADER,
        ["kernels.pto:tlrelu,8,20,2,1,9"],
        2,
        "the row has 6 fields, the header 4: the arguments are one field",
    ),
)
def test_a_bad_table_is_told_of_at_its_line(place: Path, header: str, rows: list[str], line: int, message: str) -> None:
    result = _fit(rows, header=header)
    assert result.exit_code == 2 and "Traceback" not in result.output
    assert f"measured.csv:{line}:1: error: argument: " in result.output and message in result.output


def test_unknown_figures_and_files(place: Path) -> None:
    assert "there is no figure 'tile.heat'" in _fit([f"{ROW}9"], "--refit", "tile.heat").output
    missing = CliRunner().invoke(main, ["fit", "none.csv", "kernels.pto", "-o", "my.toml"])
    assert missing.exit_code == 2 and "cannot read none.csv" in missing.output


def test_constants_that_no_row_speaks_of_are_open() -> None:
    counts = np.array([[1.0, 0.0], [2.0, 0.0]])
    found = solve(counts, np.array([3.0, 6.0]), np.ones(2), np.array([1.0, 7.0]))
    assert found.values.tolist() == [pytest.approx(3), 7] and found.determined.tolist() == [True, False]


def test_rates_enter_by_their_inverse_and_whole_figures_stay_whole(place: Path) -> None:
    assert _fit(_measured(_machine(), ("load",))).exit_code == 0
    startup = load_target("my.toml").figures["dma.gm_ub.startup"].value
    assert isinstance(startup, int) and startup == pytest.approx(200, abs=2)
    assert load_target("my.toml").dma["gm_ub"].bytes_per_cycle == pytest.approx(70, rel=0.01)
