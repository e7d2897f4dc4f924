"""What a check and a profile cost, as multiples of a plain run on the reference engine; how fast a trace is written."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import ptosim
from benchmarks.examples import EXAMPLES, launch
from benchmarks.measure import in_turns

TESTS = Path(__file__).parents[1] / "tests"
LIMITS = {"check": 4.0, "profile": 3.0}
MILLION = 1_000_000
TRACE_LIMIT = 20.0  # seconds for a million events


def table(quick: bool) -> list[dict[str, Any]]:
    return [*_ratios(), _trace(MILLION // 10 if quick else MILLION)]


def _trace(events: int) -> dict[str, Any]:
    """The processor seconds that the trace of a million events takes; the recording is made up."""
    sys.path.insert(0, str(TESTS))
    from report.long_runs import long_run

    profile = long_run(events)
    with TemporaryDirectory() as directory:
        begin = process_time()
        profile.save_trace(Path(directory) / "trace.json")
        seconds = (process_time() - begin) * MILLION / events
    verdict = "ok" if seconds <= TRACE_LIMIT else "MISSED"
    print(f"{'trace':34} {seconds:6.2f} s for a million events  limit {TRACE_LIMIT:.0f} {verdict}")
    return {"name": "trace", "seconds": seconds, "limit": TRACE_LIMIT}


def _ratios() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    print()
    for name in ("softmax", "pingpong", "singlebuffer", "buffers", "add"):
        launched = launch(name)
        kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
        run, *observed = in_turns(
            partial(kernel, *launched.arguments, grid=launched.grid, engine="reference"),
            partial(ptosim.check, kernel, *launched.arguments, grid=launched.grid, engine="reference"),
            partial(ptosim.profile, kernel, *launched.arguments, grid=launched.grid, engine="reference"),
            rounds=25,
            clock=process_time,
        )
        for what, seconds in zip(("check", "profile"), observed, strict=True):
            ratio = seconds / run
            rows.append({"name": f"{what} {name}", "ratio": ratio, "limit": LIMITS[what]})
            verdict = "ok" if ratio <= LIMITS[what] else "MISSED"
            print(f"{what + ' ' + name:34} {ratio:6.2f} x reference run  limit {LIMITS[what]:.0f} {verdict}")
    return rows
