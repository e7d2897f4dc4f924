"""Sweeps and tuning of kernels in C++: a case has the text that its launch is recorded as."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ptosim
from cpp.kernels import NEEDS_COMPILER
from ptosim.diagnostics import PTOError
from ptosim.fleet.execution import run_case
from ptosim.fleet.spec import read_spec

ADD = (Path(__file__).parents[2] / "examples" / "cpp" / "add.cpp").read_text()
FLAGS = "        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n"
SPEC = """kernels = ["add.cpp:add"]
what = "{what}"
args = ["zeros:{{n}}x256", "rand:{{n}}x256", "rand:{{n}}x256", "{{n}}"]
define = {{ TILE_ROWS = "{{rows}}" }}
expect = {{ 0 = "sum.py:total" }}
[vary]
n = [40, 64]
rows = [8, 32]
grid = [1, 2]
"""

pytestmark = [
    NEEDS_COMPILER,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = ADD.replace("ROWS = 32", "ROWS = TILE_ROWS")
    assert text != ADD and text.count(FLAGS) == 1
    (tmp_path / "add.cpp").write_text(text)
    (tmp_path / "sum.py").write_text("def total(z, x, y, n):\n    return x + y\n")
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def test_rows_of_macros_and_sizes(folder: Path) -> None:
    out = folder / "rows.parquet"
    found = ptosim.sweep(written(folder, SPEC.format(what="profile")), out=str(out), workers=1)
    rows = pq.read_table(out).to_pylist()
    assert len(rows) == 8 and all(row["ok"] for row in rows), found.failures
    cycles = {(row["n"], row["rows"], row["grid"]): row["cycles"] for row in rows}
    assert cycles[64, 32, 1] < cycles[64, 8, 1] and cycles[64, 32, 2] < cycles[64, 32, 1]
    assert rows[0]["repeat"].startswith(f"ptosim profile {folder}/add.cpp:add zeros:")
    assert "-D TILE_ROWS=" in rows[0]["repeat"]


def test_findings_have_the_line_of_the_file(folder: Path) -> None:
    file = folder / "add.cpp"
    file.write_text(file.read_text().replace(FLAGS, ""))
    line = file.read_text().split("\n").index("        TSTORE(gz, c);") + 1
    case = next(iter(read_spec(written(folder, SPEC.format(what="check").replace("expect", "# expect"))).cases()))
    row = run_case(case, "1")
    assert row["kinds"][0] == "race" and line in row["lines"] and not row["ok"]


def test_arguments_are_made_up_and_launches_are_proven(folder: Path) -> None:
    text = 'kernels = ["add.cpp"]\nwhat = "prove"\nargs = "auto"\ndefine = { TILE_ROWS = "16" }\n'
    row = run_case(next(iter(read_spec(written(folder, text)).cases())), "1")
    assert row["ok"] and row["repeat"].startswith(f"ptosim prove {folder}/add.cpp zeros:")


def test_what_the_compiler_refuses_is_told_at_the_line_of_the_spec(folder: Path) -> None:
    with pytest.raises(PTOError, match="was not declared") as raised:
        list(read_spec(written(folder, 'kernels = ["add.cpp"]\nargs = "auto"\n')).cases())
    (found,) = raised.value.diagnostics
    assert found.line == 1 and found.message.startswith(f"{folder}/add.cpp: 'TILE_ROWS'")
