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
EXAMPLES = Path(__file__).parents[2] / "examples"
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


def around(events: Events, moment: Mapping[str, Any]) -> Mapping[str, Any]:
    """The slice that an end of an arrow lies in, which is what it belongs to in the viewer."""
    track = of(events, "X", pid=moment["pid"], tid=moment["tid"])
    (found,) = [e for e in track if e["ts"] < moment["ts"] < e["ts"] + e["dur"]]
    return found


def test_arrows_leave_the_work_and_reach_the_wait(tmp_path: Path):
    events = trace(profile(*LINES), tmp_path)
    starts, ends = of(events, "s"), of(events, "f", bp="e")
    assert [start["id"] for start in starts] == [end["id"] for end in ends]
    joined = [[around(events, end)["name"] for end in pair] for pair in zip(starts, ends, strict=True)]
    assert joined == [["pto.mte_gm_ub", "pto.wait_flag"], ["pto.vecscope", "pto.wait_flag"]]


def test_an_arrow_to_a_wait_that_held_nothing_reaches_what_follows(tmp_path: Path):
    late = [COPY_IN, set_flag("MTE2", "MTE3"), COPY_IN, set_flag("MTE2", "V"), wait_flag("MTE2", "V"), SCOPE]
    late += [set_flag("V", "MTE3", 1), wait_flag("V", "MTE3", 1), wait_flag("MTE2", "MTE3")]
    events = trace(profile(*late, COPY_OUT), tmp_path)
    ends = [around(events, end)["name"] for end in of(events, "f")]
    assert ends == ["pto.wait_flag", "pto.wait_flag", "pto.mte_ub_gm"]
    # V does nothing: the wait gets a slice of its own.
    idle = [COPY_IN, set_flag("MTE2", "V"), COPY_IN, set_flag("MTE2", "S"), wait_flag("MTE2", "S")]
    events = trace(profile(*idle, wait_flag("MTE2", "V")), tmp_path)
    names = {event["tid"]: event["args"]["name"] for event in of(events, "M", name="thread_name")}
    ends = [around(events, end) for end in of(events, "f")]
    assert {(names[end["tid"]], end["cat"], end["name"]) for end in ends} == {
        ("S", "wait", "pto.wait_flag"),
        ("V", "signal", "pto.wait_flag"),
    }


@pytest.mark.parametrize("target, arrays", [("a5", 2), ("a2a3", 3)])
def test_every_arrow_between_cores_is_bound(tmp_path: Path, target: str, arrays: int):
    kernel = ptosim.load(EXAMPLES / f"producer_consumer_{target}.pto").kernel()
    found = ptosim.profile(kernel, *(np.ones(1280, np.float32) for _ in range(arrays)), 5)
    events = trace(found, tmp_path)
    starts, ends = of(events, "s"), of(events, "f", bp="e")
    assert [start["id"] for start in starts] == [end["id"] for end in ends]
    assert len(starts) == len(found.recording.signals) > 20
    for start, end in zip(starts, ends, strict=True):
        assert around(events, start)["cat"] in ("work", "scalar", "signal") and around(events, end)["name"]
        assert end["ts"] >= start["ts"]


def started_meanwhile(events: Events, wait: Mapping[str, Any]) -> Events:
    """Work that the core of a wait begins while it lasts."""
    work = of(events, "X", cat="work", pid=wait["pid"])
    return [event for event in work if wait["ts"] < event["ts"] < wait["ts"] + wait["dur"]]


def test_a_wait_for_another_core_holds_one_pipe_of_an_a5(tmp_path: Path):
    kernel = ptosim.load(EXAMPLES / "producer_consumer_a5.pto").kernel()
    events = trace(ptosim.profile(kernel, *(np.ones(1280, np.float32) for _ in range(2)), 5), tmp_path)
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in of(events, "M", name="thread_name")}
    waits = of(events, "X", cat="wait", name="pto.wait_intra_block")
    assert {names[wait["pid"], wait["tid"]] for wait in waits} == {"MTE1", "V", "MTE3"}
    beside = [event for wait in waits for event in started_meanwhile(events, wait) if event["tid"] != wait["tid"]]
    # The consumer copies out what it has while V waits for more.
    assert {names[event["pid"], event["tid"]] for event in beside} == {"MTE3"}


def test_a_wait_for_another_core_holds_a_whole_core_of_an_a2a3(tmp_path: Path):
    kernel = ptosim.load(EXAMPLES / "producer_consumer_a2a3.pto").kernel()
    events = trace(ptosim.profile(kernel, *(np.ones(1280, np.float32) for _ in range(3)), 5), tmp_path)
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in of(events, "M", name="thread_name")}
    waits = of(events, "X", cat="wait", name="pto.wait_flag_dev")
    assert {names[wait["pid"], wait["tid"]] for wait in waits} == {"S"} and len(waits) == 15
    for wait in waits:
        end = wait["ts"] + wait["dur"]
        # Nothing is issued, and what was issued before is done when the signal for the cube core starts and, 20 cycles
        # each way, the one back arrives.
        assert not [event for event in of(events, "X", cat="scalar", pid=wait["pid"]) if wait["ts"] < event["ts"] < end]
        assert all(event["ts"] + event["dur"] <= end - 40 for event in started_meanwhile(events, wait))


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
