"""Many cases: two workers against one, and a client that was stopped in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ptosim
from report.browser import CHROMIUM, browser

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


@pytest.mark.full
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


MANY = """
import resource, sys
import ptosim
from report.browser import CHROMIUM, browser
from fleet.test_cluster import Batch, Workers
from ptosim.fleet import cluster

class Quick(Workers):
    def submit(self, function, batch, version, **_):
        row = {"what": "check", "ok": True, "status": "ok", "kinds": [], "lines": [], "cycles": 5, "seconds": 0.001}
        more = {"worker": "w", "digest": None, "message": "", "repeat": "ptosim check k"}
        return Batch([row | more | case.varied | {"case": case.key(version), "kernel": case.kernel} for case in batch])

cluster._same_version = lambda client: None
found = ptosim.sweep(sys.argv[1], client=Quick([]), out=sys.argv[2])
found.html(sys.argv[3])
print(found.table.num_rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


@pytest.mark.full
def test_a_client_of_many_rows_stays_small_and_their_page_opens_at_once(tmp_path: Path) -> None:
    """100,000 rows: less than 500 MB, and a page that is loaded within a second."""
    page = tmp_path / "page.html"
    words = [str(spec(tmp_path, 50_000)), str(tmp_path / "rows.parquet"), str(page)]
    tests = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    said = subprocess.run(
        [sys.executable, "-c", MANY, *words], env=tests, capture_output=True, text=True, check=True, timeout=600
    )
    rows, megabytes = map(int, said.stdout.split())
    assert rows == 100_000 and megabytes < 500
    if CHROMIUM is None:
        pytest.skip("no Chromium")
    with browser() as here:
        here.send("Page.navigate", url=page.as_uri())
        here.wait("document.readyState === 'complete' && document.querySelector('table')")
        milliseconds = here.run("performance.timing.domComplete - performance.timing.navigationStart")
    assert milliseconds < 1000
