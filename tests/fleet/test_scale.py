"""Many cases: two workers against one, and a client that was stopped in the middle."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ptosim

EXAMPLES = Path(__file__).parents[2] / "examples"
SPEC = """kernels = ["{kernel}"]
what = "check"
args = ["rand:{{n}}x128", "zeros:{{n}}x128", "{{n}}"]
[vary]
n = [{n}, {n}1]
seed = {{ from = 1, count = {count} }}
"""

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


def spec(folder: Path, count: int, n: int = 60) -> Path:
    path = folder / "sweep.toml"
    path.write_text(SPEC.format(kernel=EXAMPLES / "tiles" / "softmax.pto", count=count, n=n))
    return path


@pytest.mark.full
def test_two_workers_are_nearly_twice_as_quick(tmp_path: Path) -> None:
    """2,000 cases of 30 ms; the first rows, with which compiled code comes, are not counted."""
    seconds: dict[int, float] = {}
    for workers in (1, 2):
        times: list[float] = []

        def told(done: int, count: int | None, now: float, times: list[float] = times) -> None:
            times.append(now)

        ptosim.sweep(spec(tmp_path, 1000, 900), workers=workers, told=told)
        seconds[workers] = times[-1] - times[0]
    assert seconds[1] >= 1.7 * seconds[2], seconds


def test_a_client_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    path, out = spec(tmp_path, 1500), tmp_path / "rows.parquet"
    program = [str(Path(sys.executable).with_name("ptosim")), "sweep", str(path), "--workers", "2", "--out", str(out)]
    stopped = subprocess.Popen(program, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # noqa: PLW1509
    parts = out.with_name("rows.parquet.parts")
    until = time.monotonic() + 60
    while not list(parts.glob("part-*.parquet")) and stopped.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    stopped.send_signal(signal.SIGINT)
    assert stopped.wait(timeout=60) == 130
    before = pq.read_table(out).num_rows
    assert 0 < before < 3000
    said = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120)
    assert said.stdout.startswith("3000 cases")
    rows = pq.read_table(out).column("case").to_pylist()
    assert len(rows) == 3000 == len(set(rows)) and not parts.exists()
