"""A profile as a value: text, JSON, comparison, occupancy of UB, the ping/pong example, the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptosim
from ptosim.cli.commands import main
from ptosim.report.profile import Profile
from ptosim.report.time_accounts import bound
from tables import table
from timing.kernels import A5, COPY_IN, COPY_OUT, SCOPE, profile, set_flag, wait_flag

EXAMPLES = Path(__file__).parents[2] / "examples"
LINES = [COPY_IN, set_flag("MTE2", "V"), wait_flag("MTE2", "V"), SCOPE]
LINES += [set_flag("V", "MTE3"), wait_flag("V", "MTE3"), COPY_OUT]

TILES = 20


@pytest.fixture(scope="module")
def buffered() -> tuple[Profile, Profile]:
    """The single-buffered and the double-buffered example."""
    return profile_of("singlebuffer"), profile_of("pingpong")


def profile_of(name: str) -> Profile:
    kernel = ptosim.load(EXAMPLES / f"{name}.pto").kernel()
    x, y = np.ones(TILES * 1024, np.float32), np.zeros(TILES * 1024, np.float32)
    return ptosim.profile(kernel, x, y, TILES, 1024, target=A5)


def overlap(found: Profile, one: str, other: str) -> int:
    """Cycles in which both pipes work."""
    busy = {pipe: {c for e in found.timeline if e.pipe == pipe for c in range(e.start, e.end)} for pipe in (one, other)}
    return len(busy[one] & busy[other])


def test_double_buffering_pays(buffered: tuple[Profile, Profile]):
    single, double = buffered
    assert single.cycles >= 1.6 * double.cycles
    # MTE2 and MTE3 take 96 cycles a tile, V takes 68; with two buffers the slowest of them decides.
    assert double.least == 96 * TILES and double.cycles < 96 * TILES + 2 * 96 + 68
    for pipe in ("MTE2", "MTE3"):
        assert overlap(double, "V", pipe) > 0.9 * (TILES - 2) * 68 and overlap(single, "V", pipe) == 0


def test_comparison(buffered: tuple[Profile, Profile]):
    comparison = buffered[0].compare(buffered[1])
    assert comparison.speedup == buffered[0].cycles / buffered[1].cycles
    one, other = comparison.pipes["MTE2"]
    assert one.busy == other.busy == 96 * TILES and one.waiting > other.waiting
    copies = [entry for entry in comparison.lines if "pto.mte_ub_gm" in entry.text]
    assert len(copies) == 1 and copies[0].line != copies[0].other_line and copies[0].busy == (96 * TILES, 96 * TILES)
    text = str(comparison)
    assert "times fewer cycles" in text and "they do not predict wall time" in text.replace("\n", " ")
    assert comparison.to_json()["cycles"] == [buffered[0].cycles, buffered[1].cycles]


def test_a_profile_compared_with_itself():
    one = profile(*LINES)
    comparison = one.compare(profile(*LINES))
    assert comparison.speedup == 1 and list(comparison.lines) == [] and "no difference" in str(comparison)


def test_copies_against_their_limit():
    gm_ub, ub_gm = profile(*LINES).transfers
    assert (gm_ub.path, gm_ub.bytes, gm_ub.copies, gm_ub.busy, gm_ub.limit) == ("gm_ub", 4096, 1, 96, 128)
    assert gm_ub.rate == 4096 / 96 and gm_ub.achieved == 4096 / 250
    assert ub_gm.path == "ub_gm"


def test_use_of_the_unified_buffer():
    # See the counter in test_trace.py. Stretches are cut where only a part of them is read or written again.
    lives = {(life.low, life.high, life.begin, life.end) for life in profile(*LINES).occupancy}
    assert lives == {(0, 256, 3, 153), (256, 4096, 3, 99), (4096, 4352, 100, 250)}


def test_events():
    found = profile(*LINES)
    event = found.timeline[0]
    assert (event.core, event.pipe, event.name, event.bytes) == ("b0.aiv0", "MTE2", "pto.mte_gm_ub", 4096)
    assert found.source.line(event.line or 0).strip().startswith("pto.mte_gm_ub")
    assert event.arguments["len_burst"] == 4096 and event.arguments["source"] == "x + 0"
    assert [other.pipe for other in found.timeline[1:]] == ["V", "MTE3"]
    assert len([other for other in found.timeline if other.pipe == "V"]) == 1


def test_json_is_plain_data():
    found = profile(*LINES)
    data = json.loads(json.dumps(found.to_json()))["result"]
    assert data["cycles"] == 250 and data["bound"] == "memory"
    assert data["pipes"]["V"] == {"busy": 53, "waiting": 95, "idle": 102}
    assert sum(step["cycles"] for step in data["critical_path"]) == 250
    assert "dma.gm_ub" in data["rests_on"]["R"] and "wall time" in data["caveat"]


def test_copies_in_and_out_are_memory_together():
    assert bound({"vector issue": 120, "memory in": 96, "memory out": 96}) == ("memory", 192)
    assert bound({"vector issue": 200, "memory in": 96, "memory out": 96}) == ("vector issue", 200)
    assert bound({}) == ("launch", 0)


def test_text():
    text = str(profile(*LINES))
    assert text.startswith("kernel on a5: 250 cycles for 1 block\nbound by memory: 76.8 % of the critical path")
    assert "flag MTE2 -> V id 0" in text and "rests on R" in text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_text_fits_the_terminal(buffered: tuple[Profile, Profile], width: int):
    for shown in (*buffered, buffered[0].compare(buffered[1])):
        assert max(map(len, shown.text(width).split("\n"))) <= width
    hottest = buffered[0].source.line(buffered[0].lines[0].line).strip()
    assert hottest[:20] in buffered[0].text(width) and (hottest[:50] in buffered[0].text(width)) == (width > 80)


def test_the_command_asks_the_terminal_for_its_width(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(*PINGPONG)
    assert code == 0 and 60 < max(map(len, out.split("\n"))) <= 80


def test_files_of_the_same_name_are_told_apart_by_their_directories(tmp_path: Path):
    shown: list[Profile] = []
    for name in ("singlebuffer", "pingpong"):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "kernel.pto"
        path.write_text((EXAMPLES / f"{name}.pto").read_text())
        x, y = np.ones(1024, np.float32), np.zeros(1024, np.float32)
        shown.append(ptosim.profile(ptosim.load(path).kernel(), x, y, 1, 1024))
    heading, *_ = str(shown[0].compare(shown[1])).split("\n")
    assert "singlebuffer/kernel.pto" in heading and "pingpong/kernel.pto" in heading and len(heading) <= 100


def test_a_comparison_names_the_figures_of_both():
    after = profile(*LINES, target=A5.with_overrides({"vector.startup": 1}))
    assert "rests on user (set by you): vector.startup" in str(profile(*LINES).compare(after))


def test_a_figure_that_the_kernel_does_not_use_is_said_to_be_idle():
    text = str(profile(*LINES, target=A5.with_overrides({"exp.latency": 8, "vector.startup": 1})))
    assert "rests on user (set by you): vector.startup\n" in text
    assert "set by you, but not used: class.exp.latency\n" in text
    assert "not used" not in str(profile(*LINES))


# --- the command line -------------------------------------------------------------------------------------------------


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["profile", *words])
    return result.exit_code, result.stdout, result.stderr


PINGPONG = [str(EXAMPLES / "pingpong.pto"), "rand:4096", "zeros:4096", "4", "1024"]


def test_command(tmp_path: Path):
    html, trace = tmp_path / "a.html", tmp_path / "a.json"
    code, out, _ = run(*PINGPONG, "--html", str(html), "--trace", str(trace))
    assert code == 0 and "pingpong on a5" in out
    assert html.read_text().startswith("<!doctype html>") and json.loads(trace.read_text())["traceEvents"]


def test_command_in_json():
    code, out, _ = run(*PINGPONG, "--json")
    only = json.loads(out)
    assert code == 0 and (only["command"], only["kernel"]) == ("profile", "pingpong")
    assert only["result"]["cycles"] > 0 and "others" not in only["result"]


def test_max_steps():
    assert run(*PINGPONG, "--max-steps", "68")[0] == 0  # 4 tiles of 16 registers
    code, _, problem = run(*PINGPONG, "--max-steps", "67")
    assert code == 1
    assert "error: limit: more than 67 loop iterations and calls in one block (max_steps)" in problem
    assert run(*PINGPONG, "--max-steps", "0")[0] == 2


def test_what_if():
    code, out, _ = run(*PINGPONG, "--what-if", "vabs.latency=25", "--json")
    before = json.loads(out)["result"]
    (after,), (comparison,) = before["others"], before["comparisons"]
    # Twenty cycles more in each vector function of the four; forwarding moves with the latency.
    assert code == 0 and comparison["cycles"] == [before["cycles"], after["cycles"]]
    assert after["pipes"]["V"]["busy"] - before["pipes"]["V"]["busy"] == 4 * 20
    assert "class.abs.latency" in after["rests_on"]["user"]


def test_compare():
    code, out, _ = run(str(EXAMPLES / "singlebuffer.pto"), *PINGPONG[1:], "--compare", PINGPONG[0])
    assert code == 0 and "singlebuffer.pto" in out and "times fewer cycles" in out


def test_a_target_of_ones_own(tmp_path: Path):
    (tmp_path / "mine.toml").write_text('inherits = "a5"\n[dma]\ngm_ub = { bytes_per_cycle = 32, startup = 10 }\n')
    code, out, _ = run(*PINGPONG, "--target", str(tmp_path / "mine.toml"), "--json")
    found = json.loads(out)
    assert code == 0 and found["target"] == "mine" and found["result"]["pipes"]["MTE2"]["busy"] == 4 * (10 + 4096 // 32)


def test_check_goes_with_it(tmp_path: Path):
    code, _, _ = run(*PINGPONG, "--check", "--html", str(tmp_path / "a.html"))
    assert code == 0 and '"findings":[]' in (tmp_path / "a.html").read_text()
    broken = (EXAMPLES / "abs.pto").read_text().replace('pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]', "")
    (tmp_path / "broken.pto").write_text(broken)
    code, _, err = run(str(tmp_path / "broken.pto"), "rand:1024", "zeros:1024", "--check")
    assert code == 1 and "error: race" in err


@table(
    "words, said",
    (["--what-if", "vexpp.latency=8"], "did you mean vexp.latency"),
    (["--what-if", "vexp.latency"], "FIGURE=VALUE"),
    (["--what-if", "vexp.latency=fast"], "must be a whole number"),
    (["--target", "a6"], "no target 'a6'"),
    (["--html", "/no/such/directory/a.html"], "cannot write"),
)
def test_misuse(words: list[str], said: str):
    code, _, err = run(*PINGPONG, *words)
    assert code == 2 and said in err and "Traceback" not in err
