"""The Trace Event file: tracks, slices, arrows and counters, and that a long run is written fast enough."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptosim
from ptosim.report.profile import Profile
from report.long_runs import long_run
from timing.kernels import COPY_IN, COPY_OUT, SCOPE, profile, set_flag, wait_flag

SKELETON = Path(__file__).parents[1] / "skeleton"
LINES = [COPY_IN, set_flag("MTE2", "V"), wait_flag("MTE2", "V"), SCOPE]
LINES += [set_flag("V", "MTE3"), wait_flag("V", "MTE3"), COPY_OUT]

Events = list[Mapping[str, Any]]


def trace(found: Profile, path: Path) -> Events:
    found.save_trace(path / "trace.json")
    written = json.loads((path / "trace.json").read_text())
    assert written["otherData"]["cycles"] == found.cycles
    return written["traceEvents"]


def of(events: Events, kind: str, **wanted: Any) -> Events:
    return [
        event for event in events if event["ph"] == kind and all(event[key] == value for key, value in wanted.items())
    ]


def test_slices_and_their_arguments(tmp_path: Path):
    events = trace(profile(*LINES), tmp_path)
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in of(events, "M", name="thread_name")}
    assert list(names.values()) == ["S", "MTE2", "V", "MTE3"]
    assert of(events, "M", name="process_name")[0]["args"]["name"] == "b0.aiv0"
    # Worked out in tests/timing/test_pipes.py; a cycle is a microsecond.
    work = [(names[e["pid"], e["tid"]], e["name"], e["ts"], e["dur"]) for e in of(events, "X", cat="work")]
    assert work == [
        ("MTE2", "pto.mte_gm_ub", 3, 96),
        ("V", "pto.vecscope", 100, 53),
        ("MTE3", "pto.mte_ub_gm", 154, 96),
    ]
    copy = of(events, "X", name="pto.mte_gm_ub")[0]["args"]
    assert copy["source"] == "x + 0" and copy["dest"] == 0
    assert copy["len_burst"] == copy["bytes"] == 4096 and copy["n_burst"] == 1
    waits = [(names[e["pid"], e["tid"]], e["ts"], e["dur"], e["args"]["for"]) for e in of(events, "X", cat="wait")]
    assert waits == [("V", 5, 95, "flag MTE2 -> V id 0"), ("MTE3", 8, 146, "flag V -> MTE3 id 0")]
    assert [(e["ts"], e["dur"]) for e in of(events, "X", cat="scalar")] == [(0, 9)]


def test_arrows_leave_a_slice_and_reach_the_next(tmp_path: Path):
    events = trace(profile(*LINES), tmp_path)
    starts, ends = of(events, "s"), of(events, "f")
    assert [start["id"] for start in starts] == [end["id"] for end in ends] and len(starts) == 2
    slices = of(events, "X")
    for start, end in zip(starts, ends, strict=True):
        assert any(
            s["tid"] == start["tid"] and s["ts"] < start["ts"] < s["ts"] + s["dur"] and s["cat"] == "work"
            for s in slices
        )
        assert any(s["tid"] == end["tid"] and s["ts"] >= end["ts"] for s in slices)


def test_arrows_between_cores(tmp_path: Path):
    kernel = ptosim.load(SKELETON / "mixed_signal.pto").kernel()
    found = ptosim.profile(kernel, *(np.zeros(128, np.float32) for _ in range(3)))
    events = trace(found, tmp_path)
    joined = {(start["pid"], end["pid"]) for start, end in zip(of(events, "s"), of(events, "f"), strict=True)}
    cores = {event["args"]["name"]: event["pid"] for event in of(events, "M", name="process_name")}
    aic, aiv0, aiv1 = (cores[name] for name in ("b0.aic", "b0.aiv0", "b0.aiv1"))
    assert {(aiv0, aic), (aiv1, aic), (aic, aiv0), (aic, aiv1)} <= joined


def test_bytes_in_flight(tmp_path: Path):
    # 4096 bytes come in from 3 to 99, of which the scope reads 256 until 153; it writes 256 from 100 on, and 4096
    # bytes beside them, never written, are stored with them until 250.
    levels = [(e["ts"], e["args"]["bytes"]) for e in of(trace(profile(*LINES), tmp_path), "C")]
    assert levels == [(3, 4096), (99, 256), (100, 512), (153, 256), (250, 0)]


def test_a_million_events(tmp_path: Path, full: bool):
    count = 1_000_000 if full else 100_000
    found = long_run(count)
    assert len(found.timeline) == count // 3 * 3
    begin = time.process_time()
    found.save_trace(tmp_path / "long.json")
    assert time.process_time() - begin < 20 * count / 1_000_000
    with (tmp_path / "long.json").open() as file:
        assert sum(1 for line in file if '"cat":"work"' in line) == count // 3 * 3


@pytest.mark.parametrize("count", [0, 3])
def test_short_runs_are_well_formed(tmp_path: Path, count: int):
    events = trace(profile(*[COPY_IN] * count), tmp_path)
    assert len(of(events, "X", cat="work")) == count
