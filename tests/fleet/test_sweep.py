"""Sweeps on workers: rows, limits, workers that die, sweeps that are started again, schedulers of others, tuning."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from distributed import Client

import ptosim
from ptosim.cli.commands import main
from ptosim.fleet.case import Case
from ptosim.fleet.cluster import connected
from ptosim.fleet.execution import run_case
from ptosim.fleet.page import page
from ptosim.fleet.rows import Rows, schema_of

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.filterwarnings(  # distributed closes some of its sockets late
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
ENDLESS = """func.func @endless(%x: !pto.ptr<f32, gm>, %n: i32) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.index_cast %n : i32 to index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %many step %c1 {
    scf.for %j = %c0 to %many step %c1 {
      pto.store_scalar %zero, %x[%c0] : !pto.ptr<f32, gm>, f32
    }
  }
  return
}
"""
HELPERS = """import os

def right(x, y, rows):
    import numpy as np
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)

def kills(x, y, rows):
    if rows == 24:
        os._exit(9)
    return right(x, y, rows)

def far(x, y, rows):
    import no_such_module
"""
SPEC = """kernels = ["tiles/softmax.pto"]
what = "run"
args = ["rand:{n}x128", "zeros:{n}x128", "{n}"]
rtol = 1e-5
expect = { 1 = "helpers.py:right" }
[vary]
n = [8, 24, 40]
grid = [1, 2]
seed = { from = 1, count = 2 }
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with connected(workers=2) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiles").symlink_to(EXAMPLES / "tiles")
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "endless.pto").write_text(ENDLESS)
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def without_time(table: Any) -> list[dict[str, Any]]:
    rows = table.drop(["seconds", "worker"]).to_pylist()
    return sorted(rows, key=lambda row: row["case"])


def test_rows_of_a_sweep(folder: Path, client: Client) -> None:
    out = folder / "rows.parquet"
    found = ptosim.sweep(written(folder, SPEC), client=client, out=out)
    table = found.table
    assert table.num_rows == 12 and found.ok and found.failures.num_rows == 0
    assert table.schema.names[:6] == ["case", "kernel", "what", "n", "grid", "seed"]
    assert pq.read_schema(out).metadata[b"ptosim.schema"] == b"1"
    rows = table.to_pylist()
    assert {row["status"] for row in rows} == {"ok"} and all(len(row["digest"]) == 32 for row in rows)
    assert len({row["digest"] for row in rows if row["n"] == 8}) == 2  # by seed, and not by grid
    assert not (folder / "rows.parquet.parts").exists()
    command = next(row["repeat"] for row in rows if (row["n"], row["grid"], row["seed"]) == (24, 2, 2))
    assert command.endswith("rand:24x128:2 zeros:24x128 24 --grid 2")
    assert CliRunner().invoke(main, command.split()[1:]).exit_code == 0


def test_a_sweep_that_is_started_again_runs_what_is_left(folder: Path, client: Client) -> None:
    out = folder / "rows.parquet"
    first = ptosim.sweep(written(folder, SPEC.replace("n = [8, 24, 40]", "n = [8, 24]")), client=client, out=out)
    before = {row["case"]: row["seconds"] for row in first.table.to_pylist()}
    again = ptosim.sweep(written(folder, SPEC), client=client, out=out).table.to_pylist()
    assert len(again) == 12 == len({row["case"] for row in again})
    assert all(row["seconds"] == before[row["case"]] for row in again if row["case"] in before)
    with pytest.raises(ptosim.PTOError, match="is not of this sweep"):
        ptosim.sweep(written(folder, SPEC.replace("grid = [1, 2]\n", "")), client=client, out=out)


def test_findings_and_errors_are_rows(folder: Path, client: Client) -> None:
    lost = 'pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]'
    (folder / "racy.pto").write_text((EXAMPLES / "abs.pto").read_text().replace(lost, ""))
    (folder / "broken.pto").write_text("func.func @k( {\n")
    found = ptosim.sweep({"kernels": [str(folder / "*.pto")], "limits": {"seconds": 5}}, client=client)
    rows = {Path(row["kernel"]).name: row for row in found.table.to_pylist()}
    assert (rows["racy.pto"]["status"], rows["racy.pto"]["kinds"]) == ("findings", ["race"])
    assert rows["racy.pto"]["lines"] == [30] or rows["racy.pto"]["lines"][0] > 20
    assert rows["broken.pto"]["status"] == "error" and rows["broken.pto"]["kinds"] == ["syntax"]
    assert found.failures.num_rows >= 2 and "race" in str(found)


def test_a_case_that_takes_too_long_is_stopped(folder: Path, client: Client) -> None:
    """A short one of the same kernel has time enough, however busy the computer is."""
    text = 'kernels = ["endless.pto"]\nwhat = "profile"\nargs = ["zeros:1", "{n}"]\n[vary]\nn = [%d]\n'
    (row,) = ptosim.sweep(written(folder, text % 3), client=client).table.to_pylist()
    assert row["ok"]
    began = time.monotonic()
    limited = text % 30000 + "[limits]\nseconds = 1\n"
    (row,) = ptosim.sweep(written(folder, limited), client=client).table.to_pylist()
    assert row["status"] == "limit" and "more than 1 seconds" in row["message"]
    assert time.monotonic() - began < 60


def test_arrays_that_are_too_large_are_not_made(folder: Path, client: Client) -> None:
    text = SPEC.replace("[vary]", '[limits]\nmemory = "20KB"\n[vary]').replace(
        'expect = { 1 = "helpers.py:right" }\n', ""
    )
    rows = ptosim.sweep(written(folder, text), client=client).table.to_pylist()
    assert {row["status"] for row in rows} == {"limit"} and "are allowed" in rows[0]["message"]


def test_a_case_that_kills_its_worker_twice_is_a_row(folder: Path, client: Client) -> None:
    rows = ptosim.sweep(written(folder, SPEC.replace("right", "kills")), client=client).table.to_pylist()
    assert len(rows) == 12
    assert {row["status"] for row in rows if row["n"] == 24} == {"killed"}
    assert {(row["status"], row["message"]) for row in rows if row["n"] != 24} == {("ok", "")}


def test_what_a_function_imports_must_be_there(folder: Path, client: Client) -> None:
    rows = ptosim.sweep(written(folder, SPEC.replace("right", "far")), client=client).table.to_pylist()
    assert {row["status"] for row in rows} == {"error"} and "no_such_module" in rows[0]["message"]


def test_a_worker_that_is_killed_in_the_middle(folder: Path, client: Client) -> None:
    text = SPEC.replace("count = 2", "count = 30")
    killed: list[int] = []

    def told(done: int, count: int | None, seconds: float) -> None:
        if done > 20 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    rows = ptosim.sweep(written(folder, text), client=client, told=told).table.to_pylist()
    assert killed and len(rows) == 180 == len({row["case"] for row in rows}) and all(row["ok"] for row in rows)


@pytest.mark.full
def test_scheduler_and_workers_that_others_have_started(folder: Path) -> None:
    """The same table, but for times and workers."""
    spec = written(folder, SPEC)
    place = folder / "scheduler.json"
    program = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    processes = [subprocess.Popen([*program, "--scheduler-file", str(place)], stderr=subprocess.DEVNULL)]
    try:
        while not place.exists() or not place.read_text():
            time.sleep(0.1)
        address = json.loads(place.read_text())["address"]
        work = [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-dashboard"]
        processes += [subprocess.Popen(work, stderr=subprocess.DEVNULL) for _ in range(2)]
        with Client(address, set_as_default=False) as there:
            there.wait_for_workers(2, timeout=60)
        out = folder / "theirs.parquet"
        said = CliRunner().invoke(main, ["sweep", str(spec), "--scheduler", address, "--out", str(out)])
        assert said.exit_code == 0 and "12 cases: 12 ok" in said.output, said.output
        own = ptosim.sweep(spec, workers=1).table
        assert without_time(pq.read_table(out)) == without_time(own)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=30)


def test_a_scheduler_that_is_not_there() -> None:
    said = CliRunner().invoke(main, ["sweep", str(EXAMPLES / "tiles"), "--scheduler", "tcp://127.0.0.1:9"])
    assert said.exit_code == 2 and said.stderr.startswith("error: argument: cannot reach a scheduler")


def on_ranks(what: str, file: str, **more: Any) -> dict[str, Any]:
    name = str(EXAMPLES / "ranks" / file)
    return run_case(Case(name, Path(name).read_text(), what, **more), "1")


def test_cases_on_several_ranks() -> None:
    """Their arguments may be made up, and the command of a row repeats it."""
    checked = on_ranks("check", "all_reduce.pto")
    assert checked["ok"] and checked["repeat"].endswith(" ctx:0 rank ranks 1 --ranks 2")
    assert CliRunner().invoke(main, checked["repeat"].split()[1:]).exit_code == 0
    assert not on_ranks("check", "all_reduce.broken.pto")["ok"]
    words = tuple("sym:rand:2x4096 sym:zeros:2x4096 sym:zeros:17 each:zeros:2x4096 ctx:0 rank ranks 1".split())
    ran = [on_ranks("run", "all_reduce.pto", words=words, ranks=2, seed=seed)["digest"] for seed in (1, 1, 2)]
    assert ran[0] == ran[1] != ran[2]
    four = ("sym:rand:4x4096", "sym:zeros:4x4096", "sym:zeros:65", *words[3:])
    assert on_ranks("profile", "all_reduce.pto", words=four, ranks=4)["cycles"] > 0


def test_the_page_of_many_rows(tmp_path: Path) -> None:
    """Of 100,000 rows it stays small."""
    varied = {"n": 0, "block": 0}
    rows = Rows(tmp_path / "many.parquet", varied)
    row = {"kernel": "k.pto", "what": "check", "kinds": [], "lines": [], "worker": "w", "digest": None}
    for start in range(0, 100_000, 1000):
        rows.add(
            row
            | {"case": f"c{index}", "n": index % 50, "block": index % 7, "ok": index % 10 > 0, "seconds": 0.1}
            | {"status": "ok" if index % 10 else "error", "cycles": index, "message": "<b>", "repeat": "ptosim check k"}
            for index in range(start, start + 1000)
        )
    rows.finish()
    table = rows.table()
    assert table.num_rows == 100_000 and table.schema.equals(schema_of(varied))
    text = page(table)
    assert len(text) < 300_000 and "&lt;b&gt;" in text and "<b>" not in text
    assert "Median cycles: n across, block down" in text and "http" not in text


def test_tuning_finds_the_best_of_those_that_are_clean(folder: Path) -> None:
    text = """kernels = ["tiles/softmax.pto"]
args = ["rand:{n}x128", "zeros:{n}x128", "{n}"]
[vary]
n = [300]
grid = [1, 2, 3, 5, 8, 10, 13]
[tune]
small = { n = 70 }
keep = 0.45
"""
    said = CliRunner().invoke(main, ["tune", str(written(folder, text)), "--workers", "2", "--json"])
    found = json.loads(said.stdout)["result"]
    kernel = ptosim.load(EXAMPLES / "tiles" / "softmax.pto").kernel()
    cycles = {}
    for grid in (1, 2, 3, 5, 8, 10, 13):
        arguments = kernel.example_arguments(scalars={"rows": 300}, grid=grid)
        cycles[grid] = ptosim.profile(kernel, *arguments, grid=grid).cycles
    best = found["candidates"][0]
    assert best["full"] and best["cycles"] <= 1.02 * min(cycles.values())
    assert cycles[best["values"]["grid"]] == best["cycles"] and found["full_runs"] == 3
    assert f"--grid {best['values']['grid']}" in found["command"]
